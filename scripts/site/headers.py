"""What a header of ours tells: its opening comment, and then item by item what it declares.

An item is what stands between two blank lines outside of all braces: a comment and the declarations below it.
Bodies of functions and private members are left out; everything else stays as it was written."""
import re
from dataclasses import dataclass, field


@dataclass
class Item:
    comment: str = ""  # Markdown
    code: str = ""
    names: list = field(default_factory=list)


@dataclass
class Header:
    path: str  # as included: isotact/queries/collide.h
    about: str = ""  # Markdown
    items: list = field(default_factory=list)

    @property
    def summary(self):
        """The first sentence of what it says about itself."""
        first = re.split(r"\n\s*\n|```", self.about)[0].replace("\n", " ").strip()
        sentence = re.match(r"(.+?[.?!:])(?= +[A-Z`]|$)", first)
        return (sentence[1] if sentence else first).rstrip(":")


def parse_header(path, text):
    lines = text.split("\n")
    start = next((i for i, l in enumerate(lines) if not l.startswith("//")), 0)
    header = Header(path, comment_to_markdown(lines[:start]))
    for chunk in chunks(lines[start:]):
        split = next((i for i, l in enumerate(chunk) if not l.lstrip().startswith("//")), len(chunk))
        code = shorten("\n".join(chunk[split:])) if split < len(chunk) else ""
        item = Item(comment_to_markdown(chunk[:split]), code, names_of(code))
        last = header.items[-1] if header.items else Item()
        if last.code and not item.comment and not last.comment and "{" not in last.code + item.code:
            last.code += "\n" + item.code  # short functions, one below the other
            last.names += [n for n in item.names if n not in last.names]
        elif item.code or item.comment:
            header.items.append(item)
    return header


def chunks(lines):
    """Lines of each item, without preprocessor and namespaces."""
    depth, skipped, chunk = 0, 0, []
    for line in lines:
        bare = strip_text(line)
        if skipped:  # a namespace that is nobody's business
            skipped += bare.count("{") - bare.count("}")
        elif depth == 0 and re.match(r"namespace ([\w:]*detail)? ?\{$", line):
            skipped = 1
        elif depth == 0 and re.match(r"#|namespace (ISOTACT_PUBLIC )?[\w:]+ \{$|\}|(class|struct|enum class) [\w: ]+;( *//.*)?$", line):
            pass
        elif depth == 0 and not line.strip():
            if chunk:
                yield chunk
            chunk = []
        else:
            depth += bare.count("{") - bare.count("}")
            chunk.append(line)
    if chunk:
        yield chunk


def strip_text(line):
    """Without strings, characters and comments, whose braces do not count."""
    line = re.sub(r"\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])'", '""', line)
    return line.split("//")[0]


def comment_to_markdown(lines):
    """Comments are nearly Markdown: what is indented, other than items of lists, is code."""
    out, code, in_item = [], [], False

    def flush():
        if code:
            out.extend(["", "```cpp", *code, "```", ""])
            code.clear()

    for line in lines:
        text = re.sub(r"^\s*// ?", "", line)
        item = re.match(r"\s*[*-] ", text)
        if text.startswith("  ") and not item and not in_item:
            code.append(text[2:])
            continue
        flush()
        in_item = bool(item) or (in_item and text.startswith(" "))
        out.append(re.sub(r"^\s+([*-] )", r"\1", text) if item else text)
        if not text.strip():
            in_item = False
    flush()
    return "\n".join(out).strip()


def shorten(code):
    """Without bodies of functions and without what is private."""
    out, i, statement = [], 0, ""
    stack = []  # of braces: "type", whose members are shown, or "list"
    while i < len(code):
        token = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|.", re.S).match(code, i)[0]
        if token == "{" and is_body(statement):
            i = skip_block(code, i)
            out = list("".join(out).rstrip().rstrip(":"))
            cut = initialiser_at("".join(out))
            out = out if cut is None else out[:cut]
            if not code[i:].lstrip(" ").startswith(";"):
                out.append(";")
            statement = ""
            continue
        if token == "{":
            stack.append("type" if re.search(r"\b(class|struct|union)\b[^;={]*$", statement) else "list")
        closed = stack.pop() if token == "}" and stack else None
        private = re.compile(r"\n[ \t]*(private|protected):").match(code, i) if token == "\n" else None
        if private and stack and stack[-1] == "type":
            i = skip_private(code, private.end())
            while out and out[-1].isspace():
                out.pop()
            out.append("\n")
            statement = ""
            continue
        out.append(token)
        statement = "" if token == ";" or closed == "type" or (token == "{" and stack[-1] == "type") or \
            (token == ":" and re.search(r"\bpublic$", statement)) else statement + ("" if token.startswith("//") else token)
        i += len(token)
    return re.sub(r"\n{3,}", "\n\n", "".join(out)).strip("\n")


def is_body(statement):
    """Whether a brace behind this begins the body of a function."""
    text = re.sub(r"\s+", " ", statement).rstrip()
    if re.search(r"\b(class|struct|union|enum|namespace)\b[^()]*$", text) or "(" not in text:
        return False
    if re.search(r"=\s*$|\bconcept\b|[,(=]\s*$|\breturn$", text):
        return False
    if re.search(r"\) ?(noexcept)? ?: ", text) and re.search(r"[\w>]$", text):
        return False  # a member that is initialised with braces
    return re.search(r"\)( const| noexcept| override| final| &&?| ->.*)*$", text) is not None or \
        re.search(r"\) ?(noexcept)? ?: .*[})]$", text) is not None or \
        re.search(r"requires .*$", text) is not None


def initialiser_at(text):
    """Where the list of initialisers of a constructor begins, at the end of the text."""
    m = None
    for m in re.finditer(r"\)(?: noexcept)?(\s*: )(?!:)", text):
        pass
    tail = text[m.start(1):] if m else ""
    return m.start(1) if m and ";" not in tail and "{" not in tail.split("(")[0] and "?" not in tail else None


def skip_block(code, i):
    depth = 0
    while i < len(code):
        token = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|.", re.S).match(code, i)[0]
        depth += {"{": 1, "}": -1}.get(token, 0)
        i += len(token)
        if depth == 0:
            return i
    return i


def skip_private(code, i):
    """To the brace that ends the type, or to the next public part."""
    depth = 0
    while i < len(code):
        again = re.compile(r"\n[ \t]*public:").match(code, i)
        if depth == 0 and again:
            return i
        token = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|.", re.S).match(code, i)[0]
        if token == "}" and depth == 0:
            return i
        depth += {"{": 1, "}": -1}.get(token, 0)
        i += len(token)
    return i


def names_of(code):
    """What the declarations of an item are called, in order, each once."""
    flat = flatten(code)
    found = []
    for statement in re.split(r";", flat):
        statement = re.sub(r"template ?<.*?> (?=[\w\[])|requires \w+<[^>]*>", "", re.sub(r"\s+", " ", statement)).strip()
        statement = re.sub(r"\[\[\w+\]\] ?|\bfriend ", "", statement)
        for pattern in (r"^(?:enum class|enum|class|struct|union) (?:alignas\(.*?\) )?(\w+)", r"^using (\w+) =", r"^concept (\w+)",
                        r"^[^(=]*?\b(operator\W{1,2}?|\w+) ?\(", r"([A-Za-z_]\w*)(?: ?\[.*\])? ?(?:=|\{|$)"):
            m = re.search(pattern, statement)
            if m:
                if m[1] not in found and m[1] not in ("static_assert", "namespace"):
                    found.append(m[1])
                break
    return found


def flatten(code):
    """Without comments and without what is in braces."""
    code = "\n".join(strip_text(l) for l in code.split("\n"))
    while re.search(r"\{[^{}]*\}", code):
        code = re.sub(r"\{[^{}]*\}", " ", code)
    return code
