"""Markdown as the pages of this project have it, into HTML: headings, paragraphs, lists, tables, fenced code,
quotes, pictures, links, emphasis. HTML is not passed through; comments are dropped."""
import html
import re

from highlight import highlight

INLINE = re.compile(
    r"\\(?P<escaped>[\\`*_{}\[\]()#+\-.!|<>])"
    r"|(?P<ticks>`+)(?P<code>[^`]|[^`].*?[^`])(?P=ticks)(?!`)"
    r"|!\[(?P<alt>[^\]]*)\]\((?P<source>[^)\s]+)\)"
    r"|\[(?P<label>(?:`[^`]*`|[^\]`])*)\]\((?P<target>[^)\s]+)\)"
    r"|<(?P<bare>https?://[^>\s]+)>"
    r"|\*\*(?P<strong>(?:`[^`]*`|[^*`])+?)\*\*"
    r"|(?<![\w*])\*(?P<soft>(?:`[^`]*`|[^*`\s])(?:(?:`[^`]*`|[^*`])*?[^*\s])?)\*(?!\w)", re.S)
ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")
ROW = re.compile(r"^\s*\|.*\|\s*$")


def plain(text):
    """Without marks, for titles and anchors."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[`*]", "", text).replace("\\", "")


def slug(text):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", plain(text).strip().lower()).replace(" ", "-")


class Renderer:
    """`link` turns a target into one of the site, `code_link` a piece of code into one or None, and `picture`
    a picture's source; all know the page that they are on."""

    def __init__(self, link=None, code_link=None, picture=None):
        self.link = link or (lambda target: target)
        self.code_link = code_link or (lambda code: None)
        self.picture = picture or (lambda source: source)
        self.anchors, self.headings = {}, []
        self.flaws = []  # what was hardly meant so

    def inline(self, text, linked=False):
        out, at = [], 0
        for m in INLINE.finditer(text):
            out.append(self.words(text[at:m.start()], linked))
            out.append(self.span(m, linked))
            at = m.end()
        return "".join(out) + self.words(text[at:], linked)

    def words(self, text, linked):
        """Plain text, in which headers that are named become links."""
        if "`" in text:
            self.flaws.append(f"a backtick without its partner in '{text.strip()[:60]}'")
        text = html.escape(text, quote=False)
        if linked:
            return text

        def header(m):
            target = self.code_link(m[0])
            return f'<a href="{html.escape(target)}">{m[0]}</a>' if target else m[0]
        return re.sub(r"(?<![\w/.])[a-z][\w/]*\.h\b", header, text)

    def span(self, m, linked):
        if m["escaped"]:
            return html.escape(m["escaped"])
        if m["code"]:
            code = m["code"].replace("\\|", "|").replace("\n", " ")
            code = code[1:-1] if code.startswith(" ") and code.endswith(" ") and code.strip() else code
            inner = f"<code>{html.escape(code, quote=False)}</code>"
            target = None if linked else self.code_link(code)
            return f'<a href="{html.escape(target)}">{inner}</a>' if target else inner
        if m["source"]:
            return (f'<img src="{html.escape(self.picture(m["source"]))}" alt="{html.escape(plain(m["alt"]))}" '
                    f'loading="lazy">')
        if m["target"]:
            return f'<a href="{html.escape(self.link(m["target"]))}">{self.inline(m["label"], True)}</a>'
        if m["bare"]:
            return f'<a href="{html.escape(m["bare"])}">{html.escape(m["bare"])}</a>'
        if m["strong"]:
            return f"<strong>{self.inline(m['strong'], linked)}</strong>"
        return f"<em>{self.inline(m['soft'], linked)}</em>"

    def heading(self, level, text):
        anchor = slug(text)
        count = self.anchors.get(anchor, 0)
        self.anchors[anchor] = count + 1
        anchor = f"{anchor}-{count}" if count else anchor
        self.headings.append((level, plain(text), anchor))
        return f'<h{level} id="{anchor}"><a class="self" href="#{anchor}">{self.inline(text, True)}</a></h{level}>'

    def render(self, text):
        return self.blocks(re.sub(r"<!--.*?-->\n?", "", text, flags=re.S).split("\n"))

    def blocks(self, lines):
        out, i = [], 0
        while i < len(lines):
            line = lines[i]
            if not line.strip():
                i += 1
            elif line.lstrip().startswith("```"):
                i = self.fence(lines, i, out)
            elif m := re.match(r"(#{1,6}) +(.*)", line):
                out.append(self.heading(len(m[1]), m[2]))
                i += 1
            elif ITEM.match(line):
                i = self.list(lines, i, out)
            elif ROW.match(line) and i + 1 < len(lines) and re.match(r"^\s*\|[-| :]+\|\s*$", lines[i + 1]):
                i = self.table(lines, i, out)
            elif line.startswith(">"):
                end = next((j for j in range(i, len(lines)) if not lines[j].startswith(">")), len(lines))
                out.append("<blockquote>" + self.blocks([l[1:].lstrip() for l in lines[i:end]]) + "</blockquote>")
                i = end
            else:
                i = self.paragraph(lines, i, out)
        return "\n".join(out)

    def fence(self, lines, i, out):
        indent = len(lines[i]) - len(lines[i].lstrip())
        language = lines[i].strip()[3:]
        end = next(j for j in range(i + 1, len(lines)) if lines[j].strip() == "```")
        code = "\n".join(l[indent:] for l in lines[i + 1:end])
        out.append(f"<pre><code>{highlight(code, language, self.code_link)}</code></pre>")
        return end + 1

    def paragraph(self, lines, i, out):
        end = i
        while end < len(lines) and lines[end].strip() and (end == i or not begins_block(lines[end])):
            end += 1
        text = "\n".join(l.strip() for l in lines[i:end])
        alone = re.fullmatch(r"!\[[^\]]*\]\([^)]*\)", text)
        out.append(f"<figure>{self.inline(text)}</figure>" if alone else f"<p>{self.inline(text)}</p>")
        return end

    def list(self, lines, i, out):
        """Items at the indentation of the first; what is indented further belongs to them."""
        indent, ordered = len(ITEM.match(lines[i])[1]), ITEM.match(lines[i])[2][0].isdigit()
        items = []
        while i < len(lines):
            m = ITEM.match(lines[i])
            if m and len(m[1]) == indent:
                items.append([m[3]])
            elif not lines[i].strip():
                following = next((l for l in lines[i:] if l.strip()), "")
                if not following.startswith(" " * (indent + 2)) and \
                        not (ITEM.match(following) and len(ITEM.match(following)[1]) == indent):
                    break
                items[-1].append("")
            elif lines[i].startswith(" " * (indent + 1)):
                items[-1].append(re.sub(rf"^ {{0,{indent + 3}}}", "", lines[i]) if not ITEM.match(lines[i])
                                 else lines[i][indent + 2:])
            elif begins_block(lines[i]):
                break
            else:
                items[-1].append(lines[i])
            i += 1
        tag = "ol" if ordered else "ul"
        out.append(f"<{tag}>" + "".join(f"<li>{self.item(item)}</li>" for item in items) + f"</{tag}>")
        return i

    def item(self, lines):
        body = self.blocks(lines)
        only = re.fullmatch(r"<p>((?:(?!</p>).)*)</p>(.*)", body, flags=re.S)
        return only[1] + only[2] if only and "<p>" not in only[2] else body

    def table(self, lines, i, out):
        end = next((j for j in range(i, len(lines)) if not ROW.match(lines[j])), len(lines))
        head, rows = cells(lines[i]), [cells(l) for l in lines[i + 2:end]]
        text = "<tr>" + "".join(f"<th>{self.inline(c)}</th>" for c in head) + "</tr>\n"
        for row in rows:
            text += "<tr>" + "".join(f"<td>{self.inline(c)}</td>" for c in row) + "</tr>\n"
        out.append(f'<div class="table"><table>\n{text}</table></div>')
        return end


def begins_block(line):
    """Within a paragraph: a number that begins a line begins a list only if it is 1."""
    item = ITEM.match(line)
    return bool(re.match(r"#{1,6} |```|>", line) or (item and (item[2] in "-*" or item[2] == "1.")) or ROW.match(line))


def cells(line):
    return [c.strip() for c in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
