"""What every page of the site has around its text."""
import html
import posixpath


def relative(target, page, anchor=""):
    """How a page of the site names another one."""
    path = posixpath.relpath(target, posixpath.dirname(page) or ".")
    same = target == page and anchor
    return ("" if same else path) + (f"#{anchor}" if anchor else "")


def navigation(sections, page):
    """sections: [(heading, [(title, page)])]; the one that holds this page is open."""
    out = []
    for heading, entries in sections:
        is_here = any(target == page or (target == "api/index.html" and page.startswith("api/")) for _, target in entries)
        links = "".join(f'<li><a{" class=here" if target == page else ""} href="{relative(target, page)}">'
                        f"{html.escape(title)}</a></li>" for title, target in entries)
        out.append(f'<details{" open" if is_here or page == "index.html" else ""}><summary>{html.escape(heading)}'
                   f"</summary><ul>{links}</ul></details>")
    return "".join(out)


def contents(headings, page):
    """The page's own headings, where there are enough of them to lose one's way."""
    inner = [(text, anchor) for level, text, anchor in headings if level == 2]
    if len(inner) < 4:
        return ""
    links = " · ".join(f'<a href="#{anchor}">{html.escape(text)}</a>' for text, anchor in inner)
    return f'<p class="contents">{links}</p>'


def make_page(page, title, body, sections):
    home = relative("index.html", page)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)}{'' if title == 'Isotact' else ' - Isotact'}</title>
<link rel="stylesheet" href="{relative('style.css', page)}">
</head>
<body>
<input type="checkbox" id="menu" aria-label="Show the pages">
<header><a class="home" href="{home}">Isotact</a><label for="menu">Pages</label></header>
<nav>{navigation(sections, page)}</nav>
<main>
{body}
</main>
</body>
</html>
"""
