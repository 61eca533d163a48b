"""words_test.py [--shrink]: the prose of pages, headers, messages and the tool's help has none of the phrases of
words.py.

words_allowed.txt names files, and folders with a slash at their end, that may still have some. It can only become
shorter: an entry without a hit fails the test. --shrink rewrites it: folders become the files in them that have hits,
entries without hits go. The environment variable ISOTACT_TOOL names the program whose `--help` is read; without it, only
the sources of the tool are.
"""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
sys.path[:0] = [str(HERE), str(SOURCE / "scripts/site")]

from api import public_headers
from pages import all_pages
from words import check_header, check_help, check_messages, check_page, check_printed_help, help_of

ALLOWED = HERE / "words_allowed.txt"


def areas():
    """{area: (check, [file])}, files from the project's folder."""
    headers = [str(p.relative_to(SOURCE)) for p in public_headers(SOURCE).values()]
    tools = [str(p.relative_to(SOURCE)) for p in sorted((SOURCE / "tools").rglob("*.cpp"))]
    sources = [str(p.relative_to(SOURCE)) for top in ("src", "tools", "adapters")
               for p in sorted((SOURCE / top).rglob("*")) if p.suffix in (".h", ".cpp")]
    private = [f for f in sources if f.startswith("src/") and f.endswith(".h") and f not in headers]
    return {"pages": (check_page, all_pages(SOURCE)), "headers": (check_header, headers),
            "private headers": (check_header, private), "help": (check_help, tools), "messages": (check_messages, sources)}


def find_hits():
    """{file: [message]} of files that have any."""
    hits = {}
    for check, files in areas().values():
        for file in files:
            found = sorted(check((SOURCE / file).read_text()))
            if found:
                hits[file] = hits.get(file, []) + [f"{file}:{line}: '{what}': write {better}" for line, what, better in found]
    return hits


def read_allowed():
    lines = (line.split("#")[0].strip() for line in ALLOWED.read_text().split("\n"))
    return [line for line in lines if line]


def covers(entry, file):
    return file == entry or (entry.endswith("/") and file.startswith(entry))


def shrink(allowed, hits):
    return sorted({file for file in hits if any(covers(entry, file) for entry in allowed)})


class Checks(unittest.TestCase):
    """What must not pass, and what must."""

    def found(self, check, text):
        return [what for _, what, _ in check(text)]

    def test_phrases_are_found_in_pages(self):
        for text in ("It goes the other way.", "All ways to look.", "There is\nroom.", "It is told.", "It is held against it.",
                     "A row a step.", "10 bytes a point", "It is so, too.", "one where asked for", "| a | way |",
                     "```cpp\nint x;  // the way out\n```", "```sh\nls  # look here\n```"):
            self.assertTrue(self.found(check_page, text), text)

    def test_code_and_names_are_left_alone(self):
        for text in ("`way`", "[path](way.md)", "<!-- not run: no way -->", "```cpp\nint way = 0;\n```", "halfway, a one-way road",
                     "```text\nway\n```", "a first_check", "in a step, of a point", "a lookup",
                     "ten points\n\na step"):
            self.assertEqual(self.found(check_page, text), [], text)

    def test_defined_terms_are_left_alone(self):
        text = "A **room** is a folder. Each room has files; rooms have no cycles."
        self.assertEqual(self.found(check_page, text), [])
        self.assertEqual(self.found(check_page, text + " It goes this way."), ["way"])
        self.assertTrue(self.found(check_page, "Each **room** has files."))

    def test_openings_of_sentences(self):
        for text in ("What it finds is a point.", "It ends. Where it ends is known.", "- Of these two.", "| What it is |", "**What** it is."):
            self.assertTrue(self.found(check_page, text), text)
        for text in ("What is it?", "It says what it is.", "Whatsoever.", "## Offers"):
            self.assertEqual(self.found(check_page, text), [], text)

    def test_long_lines_are_found(self):
        self.assertEqual(self.found(check_page, "x" * 121), ["121 columns"])
        self.assertEqual(self.found(check_page, "x" * 120), [])

    def test_lines_are_right(self):
        self.assertEqual([line for line, _, _ in check_page("a\n\nno\nway\n")], [4])
        self.assertEqual([line for line, _, _ in check_header("#pragma once\n\n// a\n// way\n")], [4])

    def test_comments_of_headers(self):
        for text in ("// What it is.", "int x;  // Of a body.", "// No\n// way."):
            self.assertTrue(self.found(check_header, text), text)
        for text in ("// It is what it is.\n// What follows is inside of a comment.", "int way = f(\"// a way\");", "//     way = 1;"):
            self.assertEqual(self.found(check_header, text), [], text)

    def test_help_of_commands(self):
        text = 'add_command("a", "One way"); c.add({.names = "--x", .help = "A row a "\n "step", .required = true}); "a way"'
        self.assertEqual(self.found(check_help, text), ["way", "row a step"])

    def test_messages(self):
        text = 'throw Error("no way");  // "a way"\nf("one", "two "\n  "ways", "way");'
        self.assertEqual([(line, what) for line, what, _ in check_messages(text)], [(1, "way"), (2, "ways")])

    def test_printed_help(self):
        for text in ("  --sign auto|winding    How inside is defined", "  -o FILE    A row an interval, body first",
                     "  --maps intervals|fragments\n                  With --maps: where A is", "One way\nUsage: isotact a",
                     "  --long-name VALUE REQUIRED  come on their ways"):
            self.assertTrue(self.found(check_printed_help, text), text)
        for text in ("Usage: isotact [WAY]", "Examples:\n  isotact make way", "  --what    Print what is known"):
            self.assertEqual(self.found(check_printed_help, text), [], text)

    def test_help_is_where_we_read_it(self):
        text = "".join(p.read_text() for p in sorted((SOURCE / "tools").rglob("*.cpp")))
        self.assertGreater(len(list(help_of(text))), 100)


class Words(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hits, cls.allowed = find_hits(), read_allowed()

    def test_prose(self):
        messages = [m for file, found in self.hits.items() for m in found if not any(covers(e, file) for e in self.allowed)]
        if messages:
            self.fail("\n".join(["phrases of words.py:", *messages[:60], f"{len(messages)} in all"]))

    @unittest.skipUnless("ISOTACT_TOOL" in os.environ, "ISOTACT_TOOL names no program")
    def test_help_that_the_tool_prints(self):
        def help_of_verb(*verb):
            return subprocess.run([os.environ["ISOTACT_TOOL"], *verb, "--help"], capture_output=True, text=True, check=True).stdout
        main = help_of_verb()
        verbs = re.findall(r"^  (\w+)  ", main.split("Subcommands:")[1], re.M)
        self.assertGreater(len(verbs), 10)
        messages = [f"isotact {' '.join(verb)} --help: '{what}': write {better}" for verb in [(), *([v] for v in verbs)]
                    for _, what, better in check_printed_help(help_of_verb(*verb))]
        if messages:
            self.fail("\n".join(messages))

    def test_the_list_of_exceptions_only_shrinks(self):
        idle = [e for e in self.allowed if not any(covers(e, file) for file in self.hits)]
        if idle:
            self.fail(f"remove from {ALLOWED.name}, nothing is left to allow: {', '.join(idle)}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--shrink"]:
        kept = [line for line in ALLOWED.read_text().split("\n") if line.startswith("#")]
        ALLOWED.write_text("\n".join(kept + shrink(read_allowed(), find_hits())) + "\n")
    else:
        unittest.main()
