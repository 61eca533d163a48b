"""Phrases that the prose of the project does not use, and the checks that find them.

Prose is the pages, the comments of public headers and the help of the tool. Code, names in backticks, addresses of
links and remarks about blocks (blocks.py) are not prose. Every check yields (line, what was found, what to write).
"""
import re

MOST_COLUMNS = 120  # of a page's line

_RATED = "bytes?|bits?|rows?|columns?|times|seconds?|milliseconds|microseconds|nanoseconds|ms|us|ns|MB|KB|contacts?|" \
         "points?|cells?|samples?|values?|steps?|frames?|lanes?|digits?|maps?|calls?"
_UNITS = "step|second|frame|row|point|pair|segment|cell|node|sample|voxel|pixel|body|shape|patch|axis|side|vertex|" \
         "triangle|thread|query|call|level|part|brick|block|file|line|component|keyframe|manifold|direction|octant|turn|" \
         "interval|contact|hit|edge|corner|object|particle|ray|value|image|map|page|job|run|word|lane|motion|link|joint"

# (phrase, better words)
PHRASES = [
    (r"ways?", "direction, path, role or method"),
    (r"look(?:s|ed|ing)?", "test, search, read or appear"),
    (r"rooms?", "space, capacity or folder"),
    (r"h[eo]ld(?:s|ing)? (?:it |them |both |yours |ours )?against", "compared with, tested against"),
    (r"told", "stated, reported or given"),
    (r"what has come", "name the result"),
    (r"so,? too", "a sentence with its own verb"),
    (r"where asked for", "if requested"),
    (r"unless told otherwise", "by default"),
    (r"the end before anything was found", "stopped before any contact was found"),
    (rf"(?:{_RATED}) an? (?:{_UNITS})", "per"),
]
_BLANK = r"[ \t]*\n?[ \t]*(?<=\s)"  # a phrase may go over the end of a line, not of a paragraph
_PHRASES = [(re.compile(rf"(?<![\w-])(?:{phrase.replace(' ', _BLANK)})(?![\w-])", re.I), better)
            for phrase, better in PHRASES]

DEFINITIONS = re.compile(r"\bAn? \*\*(\w+)\*\* is\b")  # a page may use a word that it defines as a term of the project

OPENINGS = re.compile(r"(?:What|Of) ")  # of a comment
HELP_OPENINGS = re.compile(r"(?:What|Whatever|Where|Whose|Which|How|Of) ")  # of a help text, or of its part behind "With ...:"
PAGE_OPENINGS = re.compile(r"(?:What|Whatever|Where|Of) ")  # of a sentence; questions may begin so


def blank_out(pattern, text):
    """What matches becomes blanks, so that lines and places stay."""
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M | re.S)


def find_phrases(text, first_line=1):
    """In prose, also over the ends of lines."""
    for pattern, better in _PHRASES:
        for m in pattern.finditer(text):
            yield first_line + text.count("\n", 0, m.start()), " ".join(m[0].split()), better


def prose_of_page(text):
    """A page with everything blanked out that is not prose; comments in its code stay."""
    def keep_comments(block):
        language, *lines = block[0].split("\n")
        mark = {"```cpp": r"//", "```sh": r"(?<!\S)#", "```python": r"#"}.get(language.strip())
        kept = [""]
        for line in lines:
            comment = re.search(mark, line) if mark else None
            kept.append(line[comment.end():] if comment else "")
        return "\n".join(kept)
    text = blank_out(r"<!--.*?-->", text)
    text = re.sub(r"^ *```\w.*?^ *```$", keep_comments, text, flags=re.M | re.S)
    text = blank_out(r"`[^`]*`", text)
    return blank_out(r"\]\([^)]*\)", text)


def paragraphs(text):
    """(line, text) of paragraphs, items and cells of tables, without their marks."""
    lines, start = [], 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.startswith("|"):
            yield from ((number, cell.strip()) for cell in line.split("|") if cell.strip())
            line = ""
        item = re.match(r"\s*(?:[-*]|\d+\.|#+) ", line)
        if lines and (item or not line.strip()):
            yield start, " ".join(lines)
            lines = []
        if line.strip():
            start = start if lines else number
            lines.append(line[item.end():].strip() if item else line.strip())


def find_openings(text):
    """Sentences of a page that begin with a word which cannot be their subject."""
    for line, paragraph in paragraphs(text):
        for sentence in re.split(r"(?<=[.?!])[*\")]* +", paragraph):
            opening = PAGE_OPENINGS.match(re.sub(r"[*\"(]", "", sentence).lstrip())
            if opening and not sentence.endswith("?"):
                yield line, sentence[:40], "begin with the subject"


def check_page(text):
    prose = prose_of_page(text)
    terms = {term.lower() + ending for term in DEFINITIONS.findall(prose) for ending in ("", "s")}
    yield from (hit for hit in find_phrases(prose) if hit[1].lower() not in terms)
    yield from find_openings(prose)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MOST_COLUMNS:
            yield number, f"{len(line)} columns", f"at most {MOST_COLUMNS}"


def comments_of(text):
    """(line, text) of a header's comments; those on lines of their own that follow each other are one."""
    lines, start = [], 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        alone = re.match(r"\s*//+ ?(.*)$", line)
        if alone:
            start = start if lines else number
            is_code = alone[1].startswith("    ") and not re.match(r"\s+([-*]|\d+\.) ", alone[1])
            lines.append("" if is_code else alone[1])
            continue
        if lines:
            yield start, "\n".join(lines)
            lines = []
        trailing = re.search(r"//+ ?(.*)$", re.sub(r"\"(\\.|[^\"\\])*\"", '""', line))
        if trailing:
            yield number, trailing[1]


def check_header(text):
    for line, comment in comments_of(text):
        yield from find_phrases(blank_out(r"`[^`]*`", comment), line)
        if OPENINGS.match(comment):
            yield line, comment[:40].split("\n")[0], "begin with the subject"


def help_of(text):
    """(line, text) of what a command of the tool says about itself and its options."""
    string = r'\s*((?:"(?:\\.|[^"\\])*"\s*)+)'
    for m in re.finditer(r"(?:\.help =|add_command\(\s*\"\w+\",|set_footer\(|\.description =)" + string, text):
        words = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', m[1]))
        yield text.count("\n", 0, m.start(1)) + 1, words


def check_help(text):
    for line, words in help_of(text):
        yield from check_help_text(words, line)


def check_help_text(words, line):
    for _, found, better in find_phrases(blank_out(r"`[^`]*`", words)):
        yield line, found, better
    for part in (words, re.sub(r"^(?:With|At) [^:]*: ", "", words)):
        opening = HELP_OPENINGS.match(part[:1].upper() + part[1:])
        if opening:
            yield line, part[:40], "begin with the subject"
            return


def check_messages(text):
    """String literals of a source: errors, warnings, tables. A name in a program has no blank."""
    code = re.sub(r"(?<!:)//.*$", "", text, flags=re.M)
    for m in re.finditer(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', code):
        words = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', m[0]))
        if " " in words:
            yield from find_phrases(words, code.count("\n", 0, m.start()) + 1)


def check_printed_help(text):
    """The whole output of `isotact VERB --help`: all texts behind names, and the lines without names but for examples."""
    for number, line in enumerate(re.split(r"^Examples?:", text, flags=re.M)[0].split("\n"), 1):
        if line.startswith("Usage:"):
            continue
        words = re.match(r"  \S.*?\s{2,}(\S.*)$", line) or re.match(r"  \S.* REQUIRED (\S.*)$", line) or re.match(r"\s*(.*)$", line)
        yield from check_help_text(words[1], number)
