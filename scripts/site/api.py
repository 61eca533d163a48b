"""Pages of the API reference: one a public header, an overview by module, and all names."""
import html
import re
from pathlib import PurePosixPath

from headers import parse_header
from highlight import highlight
from layout import relative
from markdown import Renderer

MODULES = {
    "isotact": "one header for most programs, and the version",
    "base": "vectors, poses, errors, threads",
    "geometry": "meshes: files, flaws, mending, hierarchies, procedural shapes",
    "field": "signed distance fields, and building them",
    "pointshell": "surfaces as points, with trees of spheres",
    "queries": "contacts, distances, times of contact",
    "asset": "assets: built once, kept in a file, loaded as shapes",
    "dynamics": "bodies that move and touch",
    "scene": "scene files, runs and replays",
    "gpu": "all that runs on a GPU",
    "adapters": "Bullet and OpenVDB",
}


def module_of(path):
    parts = PurePosixPath(path).parts
    return parts[1] if len(parts) > 2 else parts[0]  # isotact/isotact.h and its neighbours


def public_headers(source):
    """{as included: file}"""
    found = {}
    for root in [source / "src", *sorted((source / "adapters").glob("*"))]:
        for path in sorted((root / "isotact").rglob("*.h")):
            if "detail" not in path.parts:
                found[str(path.relative_to(root))] = path
    return found


class Api:
    def __init__(self, source):
        self.headers = {name: parse_header(name, path.read_text()) for name, path in public_headers(source).items()}
        self.names, twice = {}, set()
        for header in self.headers.values():
            for item in header.items:
                for name in item.names:
                    place = (header.path, anchor(name))
                    twice |= {name} if self.names.get(name, place)[0] != header.path else set()
                    self.names.setdefault(name, place)
        self.linked = {n: p for n, p in self.names.items() if n not in twice and
                       (re.search(r"[a-z][A-Z]|_|^[A-Z][a-z]+\d?$", n) and len(n) > 3)}

    def page_of(self, header):
        return f"api/{header.removeprefix('isotact/')}.html"

    def link(self, code, page):
        """Where a piece of code leads to, from a page, or None."""
        text = code.removeprefix("src/").removeprefix("isotact/")
        if text.endswith(".h") and "isotact/" + text in self.headers:
            return relative(self.page_of("isotact/" + text), page)
        name = re.sub(r"^isotact::|\(.*\)$", "", code)
        owner, _, member = name.partition("::")
        if owner in self.linked and (not member or re.match(r"\w+$", member)):
            header, place = self.linked[owner]
            target = self.page_of(header)
            return relative(target, page, place)
        return None

    def pages(self):
        """(page, title, body) of each."""
        yield "api/index.html", "API reference", self.overview()
        yield "api/names.html", "All names", self.name_list()
        for header in self.headers.values():
            yield self.page_of(header.path), header.path, self.header_page(header)

    def overview(self):
        out = ["<h1>API reference</h1>",
               "<p>Made from the headers, which are the manual. Everything is in the namespace <code>isotact</code>. "
               "Folders named <code>detail</code> are private. <a href='names.html'>All names</a> in one list.</p>"]
        for module, what in MODULES.items():
            out.append(f'<h2 id="{module}">{module}</h2><p>{what.capitalize()}.</p><div class="table"><table>')
            for header in self.headers.values():
                if module_of(header.path) == module:
                    page = self.page_of(header.path)
                    summary = Renderer(code_link=lambda c: self.link(c, "api/index.html")).inline(header.summary)
                    out.append(f'<tr><td><a href="{relative(page, "api/index.html")}">'
                               f'<code>{header.path.removeprefix("isotact/")}</code></a></td><td>{summary}</td></tr>')
            out.append("</table></div>")
        return "\n".join(out)

    def name_list(self):
        out = ["<h1>All names</h1>", '<ul class="names">']
        for name, (header, place) in sorted(self.names.items(), key=lambda n: (n[0].lower(), n[0])):
            target = relative(self.page_of(header), "api/names.html", place)
            out.append(f'<li><a href="{target}"><code>{html.escape(name)}</code></a> '
                       f'<small>{header.removeprefix("isotact/")}</small></li>')
        return "\n".join(out) + "</ul>"

    def header_page(self, header):
        page = self.page_of(header.path)
        text = Renderer(code_link=lambda c: self.link(c, page))
        module = module_of(header.path)
        out = [f'<p class="contents"><a href="{relative("api/index.html", page)}">API reference</a> / '
               f'<a href="{relative("api/index.html", page, module)}">{module}</a></p>',
               f"<h1>{header.path.removeprefix('isotact/')}</h1>",
               f'<pre><code>#include "{header.path}"</code></pre>', text.render(header.about)]
        used = set()
        for item in header.items:
            for name in item.names:  # overloads in several places: the first has the anchor
                if anchor(name) not in used:
                    out.append(f'<span id="{anchor(name)}"></span>')
                    used.add(anchor(name))
            if item.names:
                title = ", ".join(f"<code>{html.escape(n)}</code>" for n in item.names[:6])
                out.append(f"<h3>{title}{' ...' if len(item.names) > 6 else ''}</h3>")
            out.append(text.render(item.comment))
            if item.code:
                here = set(item.names)
                code = highlight(item.code, "cpp", lambda n: None if n in here else self.link(n, page))
                out.append(f"<pre><code>{code}</code></pre>")
        return "\n".join(out)


def anchor(name):
    return re.sub(r"\W", lambda m: f"-{ord(m[0]):x}", name)
