"""Checks the finished site: every link leads to a file of it, and to an anchor that is there."""
import posixpath
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.repeated = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.repeated += [value] if value in self.anchors else []
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


def find_broken_links(folder):
    """Messages, one a broken link; nothing outside of the folder is looked at."""
    pages = {str(p.relative_to(folder)): Page(p.read_text()) for p in sorted(folder.rglob("*.html"))}
    broken = []
    for name, page in pages.items():
        broken += [f"{name}: the anchor #{a} is there twice" for a in page.repeated]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else name
            if parts.scheme or not (folder / target).is_file():
                broken.append(f"{name}: {link}: no such file")
            elif parts.fragment and parts.fragment not in pages[target].anchors:
                broken.append(f"{name}: {link}: no such anchor")
    return broken
