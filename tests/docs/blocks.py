"""The code blocks of a Markdown page, and what remarks before them say about running them.

A block is fenced and names its language: sh, cpp, json, python, cmake, or text (formulas, and what programs
print), which is not code. Remarks are HTML comments between the block and whatever is before it:

    <!-- setup: lines that come before the block, unseen -->
    <!-- not run: why it cannot be run here -->          the block is checked as far as that goes
    <!-- shortened: --steps 20: why -->                   options for its `isotact simulate` lines
    <!-- as: name -->                                     the block is kept in a file of this name
"""
import re
from dataclasses import dataclass, field

LANGUAGES = ("sh", "cpp", "json", "python", "cmake", "text")
REMARKS = ("setup", "not run", "shortened", "as")


class BlockError(Exception):
    pass


@dataclass
class Block:
    page: str  # from the project's folder
    number: int  # on its page, from 1
    line: int  # of the first line of code
    language: str
    code: str
    remarks: dict = field(default_factory=dict)

    @property
    def name(self):
        return f"{self.page}#{self.number}"

    @property
    def where(self):
        return f"{self.page}:{self.line}"

    @property
    def symbol(self):
        return re.sub(r"\W", "_", self.name)

    @property
    def is_program(self):
        return self.language == "cpp" and re.search(r"^int main\(", self.code, re.M) is not None

    @property
    def is_run(self):
        return "not run" not in self.remarks


def read_remark(text, where):
    """(kind, text) of an HTML comment, or None for one that is not about blocks."""
    for kind in REMARKS:
        if text.startswith(kind + ":"):
            body = text[len(kind) + 1:].strip("\n")
            body = body.strip() if "\n" not in body else body
            if not body.strip():
                raise BlockError(f"{where}: the remark '{kind}' is empty")
            return kind, body
    return None


def read_blocks(text, page):
    """All blocks of a page, in order; BlockError for what a reader or a test could not make sense of."""
    lines = text.split("\n")
    blocks, remarks, i = [], {}, 0
    previous_blank = True
    while i < len(lines):
        line, where = lines[i], f"{page}:{i + 1}"
        fence = re.match(r"( {0,3})```(.*)$", line)
        if fence:
            end = next((j for j in range(i + 1, len(lines)) if lines[j].strip() == "```"), None)
            if end is None:
                raise BlockError(f"{where}: this block has no end")
            language = fence[2].strip()
            if language not in LANGUAGES:
                raise BlockError(f"{where}: a block of '{language}'; known are {', '.join(LANGUAGES)}")
            code = "\n".join(l.removeprefix(fence[1]) for l in lines[i + 1:end]) + "\n"
            blocks.append(Block(page, len(blocks) + 1, i + 2, language, code, remarks))
            remarks, previous_blank, i = {}, False, end + 1
        elif line.startswith("<!--"):
            end = next((j for j in range(i, len(lines)) if "-->" in lines[j]), None)
            if end is None:
                raise BlockError(f"{where}: this comment has no end")
            comment = "\n".join(lines[i:end + 1])[4:].split("-->")[0].strip(" ")
            remark = read_remark(comment, where)
            if remark:
                remarks = {**remarks, remark[0]: remark[1]}
            previous_blank, i = True, end + 1
        else:
            if line.startswith("    ") and previous_blank:
                raise BlockError(f"{where}: an indented block; fence it and name its language")
            if line.strip() and remarks:
                raise BlockError(f"{where}: a remark with no block behind it")
            # What is indented behind an item of a list is part of it.
            previous_blank = not line.strip() and not re.match(r" *([-*]|\d+\.) ", lines[i - 1])
            i += 1
    if remarks:
        raise BlockError(f"{page}: a remark with no block behind it at its end")
    return blocks


def inline_commands(text):
    """(line, code) of each `isotact ...` and `--option` within the text, outside of blocks."""
    def blank(m):
        return "\n" * m[0].count("\n")
    text = re.sub(r"^ *```.*?^ *```$|<!--.*?-->", blank, text, flags=re.M | re.S)
    found = []
    for m in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
        code = " ".join(m[1].split())
        if re.match(r"(isotact|bench_\w+|make|cmake|scripts/\w+) [\w\"'<\[(-]|--[a-z]", code):
            found.append((text.count("\n", 0, m.start()) + 1, code))
    return found
