"""Code in colours: comments, strings, numbers, keywords; names that are known become links."""
import html
import re

KEYWORDS = {
    "cpp": "alignas auto bool break case catch char class co_return concept const constexpr continue default delete do "
           "double else enum explicit extern false final float for friend if inline int mutable namespace new "
           "noexcept nullptr operator override private protected public requires return signed sizeof static "
           "static_assert struct switch template this throw true try typename union unsigned using virtual void "
           "volatile while",
    "python": "and as assert class def elif else for from if import in is lambda not or pass return while with",
    "sh": "do done else fi for if in then while",
    "json": "true false null",
    "cmake": "PRIVATE PUBLIC REQUIRED COMPONENTS",
}
TOKENS = {
    "cpp": r"(?P<comment>//[^\n]*|/\*.*?\*/|^\s*#\w+)|(?P<string>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])')"
           r"|(?P<number>\b\d[\d'.]*(?:e[-+]?\d+)?[fFuUlL]*\b)|(?P<word>[A-Za-z_]\w*)",
    "python": r"(?P<comment>#[^\n]*)|(?P<string>b?\"(?:\\.|[^\"\\])*\")|(?P<number>\b\d[\w.]*)|(?P<word>[A-Za-z_]\w*)",
    "sh": r"(?P<comment>(?:(?<=\s)|^)#[^\n]*)|(?P<string>\"[^\"]*\"|'[^']*')|(?P<number>(?!))|(?P<word>[\w./-]+)",
    "json": r"(?P<comment>(?!))|(?P<string>\"[^\"]*\")|(?P<number>-?\b\d[\d.e+-]*)|(?P<word>[a-z]+)",
}
TOKENS["cmake"] = TOKENS["sh"]


def highlight(code, language, link=lambda name: None):
    if language not in TOKENS:
        return html.escape(code, quote=False)
    keywords = set(KEYWORDS[language].split())
    out, at = [], 0
    for m in re.finditer(TOKENS[language], code, re.M | re.S):
        out.append(html.escape(code[at:m.start()], quote=False))
        at, text = m.end(), html.escape(m[0], quote=False)
        kind = m.lastgroup
        if kind == "word":
            is_member = code[:m.start()].endswith((".", "->"))
            target = link(m[0]) if language == "cpp" and m[0] not in keywords and not is_member else None
            if m[0] in keywords:
                text = f'<span class="keyword">{text}</span>'
            elif target:
                text = f'<a href="{html.escape(target)}">{text}</a>'
        elif kind != "number":
            text = f'<span class="{kind}">{text}</span>'
        out.append(text)
    return "".join(out) + html.escape(code[at:], quote=False)
