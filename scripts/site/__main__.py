"""python3 scripts/site [--output FOLDER]: the documentation as a site (build/site).

Pages are README and docs/*.md; the API reference comes from the comments of public headers; files of the project
that a page links to (examples, scenes) get pages of their own. docs/index.md says what there is, and its lists
are the navigation. No script, no network, nothing but Python's standard library. A link that leads nowhere, and a
page that the index does not name, end it with exit code 1.
"""
import argparse
import html
import posixpath
import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from api import Api
from highlight import highlight
from layout import contents, make_page, relative
from links import find_broken_links
from markdown import Renderer, plain

TOP_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".json": "json", ".py": "python", "": "text"}
MOST_FILE_BYTES = 400_000
MARK = "api/names.html"  # what only a site of ours has


class Site:
    def __init__(self, source, output):
        self.source, self.output = source, output
        self.api = Api(source)
        self.pages = {name: name.lower().replace(".md", ".html") for name in TOP_PAGES}
        for path in sorted((source / "docs").rglob("*.md")):
            name = str(path.relative_to(source))
            self.pages[name] = name.removeprefix("docs/").replace(".md", ".html")
        self.linked_files, self.problems = set(), []

    def link(self, target, source_page):
        """A link of a Markdown page, as the site has it."""
        if re.match(r"https?://", target):
            return target
        path, _, anchor = target.partition("#")
        page = self.pages[source_page]
        if not path:
            return "#" + anchor
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source_page), path))
        if file in self.pages:
            return relative(self.pages[file], page, anchor)
        if file == "docs/api":  # on disk: the headers themselves
            return relative("api/index.html", page)
        header = re.sub(r"^src/|^adapters/\w+/(?=isotact/)", "", file)
        if header in self.api.headers:
            return relative(self.api.page_of(header), page, anchor)
        if file == "src/isotact":
            return relative("api/index.html", page)
        if not (self.source / file).exists():
            self.problems.append(f"{source_page}: {target}: no such file in the project")
            return "#"
        self.linked_files.add(file)
        return relative(self.file_page(file), page)

    def file_page(self, file):
        return f"files/{file}/index.html" if (self.source / file).is_dir() else f"files/{file}.html"

    def picture(self, target, source_page):
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source_page), target))
        copied = file.removeprefix("docs/")
        if not (self.source / file).is_file():
            self.problems.append(f"{source_page}: {target}: no such picture")
            return "#"
        (self.output / copied).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.source / file, self.output / copied)
        return relative(copied, self.pages[source_page])

    def navigation(self):
        """[(heading, [(title, page)])] from the lists of docs/index.md."""
        sections, text = [], (self.source / "docs/index.md").read_text()
        for part in re.split(r"^## ", text, flags=re.M)[1:]:
            heading, _, body = part.partition("\n")
            entries = []
            for title, target in re.findall(r"^ *- \[([^\]]+)\]\(([^)]+)\)", body, flags=re.M):
                page = posixpath.normpath(posixpath.join("index.html", "..", self.link(target, "docs/index.md")))
                entries.append((plain(title), page))
            if entries:
                sections.append((plain(heading), entries))
        named = {page for _, entries in sections for _, page in entries} | {"index.html"}
        for name, page in self.pages.items():
            if page not in named and not page.startswith("decisions/"):
                self.problems.append(f"{name}: docs/index.md does not name it")
        return sections

    def write(self, page, title, body, sections):
        path = self.output / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make_page(page, title, body, sections))

    def write_file_page(self, file, sections):
        page, path = self.file_page(file), self.source / file
        body = f"<h1>{html.escape(file)}</h1>"
        if path.is_dir():
            for inner in sorted(path.iterdir()):
                name = f"{file}/{inner.name}"
                if inner.is_dir() or name in self.pages or inner.stat().st_size <= MOST_FILE_BYTES:
                    target = self.pages.get(name) or self.file_page(name)
                    body += f'<p><a href="{relative(target, page)}">{html.escape(inner.name)}</a></p>'
                    if name not in self.pages and name not in self.linked_files:
                        self.linked_files.add(name)
                        self.write_file_page(name, sections)
        else:
            code = highlight(path.read_text(), LANGUAGES.get(path.suffix, "text"), lambda n: self.api.link(n, page))
            body += f"<pre><code>{code}</code></pre>"
        self.write(page, file, body, sections)

    def build(self):
        shutil.copyfile(Path(__file__).parent / "style.css", self.output / "style.css")
        sections = self.navigation()
        for name, page in self.pages.items():
            text = (self.source / name).read_text()
            renderer = Renderer(lambda t, n=name: self.link(t, n), lambda c, p=page: self.api.link(c, p),
                                lambda s, n=name: self.picture(s, n))
            body = renderer.render(text)
            if not renderer.headings or renderer.headings[0][0] != 1:
                self.problems.append(f"{name}: does not begin with a title")
                continue
            self.problems += [f"{name}: {flaw}" for flaw in renderer.flaws]
            title = "Isotact" if name in ("docs/index.md", "README.md") else renderer.headings[0][1]
            body = body.replace("</h1>", "</h1>" + contents(renderer.headings, page), 1)
            self.write(page, title, body, sections)
        for page, title, body in self.api.pages():
            self.write(page, title, body, sections)
        for file in sorted(self.linked_files):
            self.write_file_page(file, sections)
        return self.problems + find_broken_links(self.output)


def main():
    source = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(prog="scripts/site", description=__doc__)
    parser.add_argument("--output", type=Path, default=source / "build/site")
    output = parser.parse_args().output
    if output.exists() and any(output.iterdir()) and not (output / MARK).exists():
        sys.exit(f"scripts/site: {output} has something else in it, and is left alone")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    problems = Site(source, output).build()
    for problem in problems:
        print(problem, file=sys.stderr)
    count = sum(1 for _ in output.rglob("*.html"))
    print(f"{output / 'index.html'}: {count} pages, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
