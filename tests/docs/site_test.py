"""Tests of the machinery itself: what the site and the checks of blocks must not let pass. The environment variable
ISOTACT_TOOL names the program."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts/site")]

from blocks import BlockError, inline_commands, read_blocks
from commands import Commands, unknown_options
from headers import parse_header
from links import find_broken_links
from make_cpp import group_of
from markdown import Renderer, slug


class Markdown(unittest.TestCase):
    def render(self, text):
        return Renderer().render(text)

    def test_html_is_shown_and_not_passed_through(self):
        self.assertIn("&lt;script&gt;", self.render("a <script>alert(1)</script> b"))
        self.assertIn("&lt;b&gt;", self.render("`<b>`"))
        self.assertNotIn("<script", self.render("| a |\n|---|\n| <script> |"))
        self.assertNotIn('"onerror', self.render('![x](y"onerror=z)').replace("&quot;", ""))

    def test_comments_are_dropped(self):
        self.assertEqual(self.render("<!-- setup:\n<b>\n-->\ntext"), "<p>text</p>")

    def test_lists_nest_and_hold_code(self):
        html = self.render("- one\n  more\n  - two\n- three\n\n  ```sh\n  ls\n  ```\n\nend")
        self.assertEqual(html.count("<ul>"), 2)
        self.assertEqual(html.count("<li>"), 3)
        self.assertIn("<li>one\nmore", html)
        self.assertLess(html.index("<pre>"), html.index("</ul>", html.index("three")))
        self.assertTrue(html.endswith("<p>end</p>"))

    def test_bars_in_cells_can_be_escaped(self):
        self.assertIn("<td><code>a|b</code></td><td>c</td>", self.render("| h | i |\n|---|---|\n| `a\\|b` | c |"))

    def test_emphasis_leaves_names_and_products_alone(self):
        self.assertEqual(self.render("a_b_c 2 * 3 * 4 *so* **and** x"),
                         "<p>a_b_c 2 * 3 * 4 <em>so</em> <strong>and</strong> x</p>")

    def test_spans_go_over_lines_and_numbers_do_not_make_lists(self):
        self.assertEqual(self.render("grids of\n512. `a\nb` end"), "<p>grids of\n512. <code>a b</code> end</p>")
        renderer = Renderer()
        renderer.render("a ` b")
        self.assertEqual(len(renderer.flaws), 1)

    def test_anchors_are_as_on_github_and_unlike_each_other(self):
        self.assertEqual(slug("`world` and, `run`!"), "world-and-run")
        html = self.render("# A\n# A")
        self.assertIn('id="a"', html)
        self.assertIn('id="a-1"', html)


class Headers(unittest.TestCase):
    def parse(self, code):
        return parse_header("isotact/x.h", "// What it is. More.\n#pragma once\n\nnamespace isotact {\n\n" + code +
                            "\n}  // namespace isotact\n")

    def test_private_members_and_bodies_are_left_out(self):
        header = self.parse("// Of use.\nclass A {\n public:\n  explicit A(int x) : x_(x), y_{x} {}\n"
                            "  int x() const { return x_; }  // metres\n  int z{};\n\n private:\n  int x_, y_;\n};\n")
        self.assertEqual(header.summary, "What it is.")
        code = header.items[0].code
        self.assertEqual(header.items[0].names, ["A"])
        self.assertEqual(header.items[0].comment, "Of use.")
        self.assertNotIn("private", code)
        self.assertNotIn("return", code)
        self.assertNotIn("x_", code)
        for kept in ("explicit A(int x);", "int x() const;  // metres", "int z{};"):
            self.assertIn(kept, code)

    def test_defaults_in_braces_and_overloads_stay(self):
        header = self.parse("// Both.\nint f(const S& s = {});\nint f(double);\n\nenum class E { kA, kB };\n")
        self.assertEqual([i.names for i in header.items], [["f"], ["E"]])
        self.assertIn("= {}", header.items[0].code)
        self.assertIn("kB", header.items[1].code)

    def test_every_public_header_has_something_to_say(self):
        from api import Api
        api = Api(HERE.parents[1])
        self.assertGreater(len(api.headers), 100)
        for header in api.headers.values():
            self.assertTrue(header.about, f"{header.path} does not say what it is")
        for name, header in (("collide", "queries/collide.h"), ("BrickField", "field/models/brick_field.h"),
                             ("World", "dynamics/rigid/world.h"), ("GpuContext", "gpu/core/context.h")):
            self.assertEqual(api.names[name][0], "isotact/" + header)


class Links(unittest.TestCase):
    def test_broken_ones_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "a.html").write_text('<p id="x"><a href="b.html#y">b</a> <a href="#x">x</a> '
                                           '<a href="https://example.org/">out</a>')
            (folder / "b.html").write_text('<p id="y"></p><img src="none.png"><a href="a.html#z">z</a>'
                                           '<a href="../up.html">up</a>')
            broken = find_broken_links(folder)
            self.assertEqual(len(broken), 3, broken)


class Blocks(unittest.TestCase):
    def test_what_cannot_be_tested_is_refused(self):
        for text in ("```\nls\n```\n", "text\n\n    indented code\n", "```ruby\nx\n```\n", "```sh\nno end\n",
                     "<!-- not run: -->\n```sh\nls\n```\n", "<!-- not run: why -->\ntext\n"):
            with self.assertRaises(BlockError, msg=text):
                read_blocks(text, "page.md")

    def test_remarks_belong_to_the_next_block(self):
        blocks = read_blocks("<!-- setup:\nint x = 1;\n-->\n```cpp\nf(x);\n```\n\n```cpp\ng();\n```\n", "page.md")
        self.assertEqual(blocks[0].remarks, {"setup": "int x = 1;"})
        self.assertEqual(blocks[1].remarks, {})
        self.assertEqual(blocks[0].line, 5)

    def test_groups(self):
        def block(code):
            return read_blocks(f"```cpp\n{code}\n```\n", "page.md")[0]
        self.assertEqual(group_of(block("collide(a, b);")), "core")
        self.assertEqual(group_of(block("GpuContext gpu;")), "gpu")
        self.assertEqual(group_of(block("btRigidBody b; GpuContext gpu;")), "bullet")

    def test_inline_commands(self):
        text = "`isotact\nbuild x` and `isotact` and `make test`\n```sh\n`isotact no`\n```\n`make demo`"
        self.assertEqual(inline_commands(text), [(1, "isotact build x"), (2, "make test"), (6, "make demo")])


class CommandChecks(unittest.TestCase):
    def test_unknown_options_are_found(self):
        self.assertIsNone(unknown_options(["a", "--json", "-o", "x"], "-o,--output  --json"))
        self.assertIsNone(unknown_options(["[--json]"], "--json"))
        self.assertIn("--jason", unknown_options(["--jason"], "--json"))

    def test_verbs_targets_and_programs(self):
        commands = Commands(HERE.parents[1], os.environ["ISOTACT_TOOL"])
        for good in ("isotact build a.obj -o b --json", "make demo", "cmake --preset release", "scripts/deps --list",
                     "bench_swept --quick", "isotact --version", "ISOTACT_GPU=none isotact doctor", "--keep-thin refine",
                     "--quick"):
            self.assertIsNone(commands.find_flaw(good), good)
        for bad in ("isotact bild a.obj", "isotact build --resolutoin 3", "make tests", "cmake --preset fast",
                    "scripts/none", "bench_none", "bench_swept --quik", "rm -rf x", "--keep-thick"):
            self.assertIsNotNone(commands.find_flaw(bad), bad)


class Pages(unittest.TestCase):
    def run_page(self, text):
        """Exit code and output of run_page.py for a page with this text."""
        with tempfile.TemporaryDirectory() as name:
            source = Path(name)
            (source / "page.md").write_text(text)
            (source / "scenes").mkdir()
            (source / "examples").mkdir()
            run = subprocess.run([sys.executable, HERE / "run_page.py", source, "page.md", "--tool",
                                  os.environ["ISOTACT_TOOL"], "--programs", source], capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr

    def test_good_pages_pass(self):
        code, said = self.run_page("<!-- as: a.txt -->\n```json\n{}\n```\n\n```sh\nisotact make box -o b.obj\n"
                                   "cat a.txt && isotact info b.obj --json\n```\n")
        self.assertEqual(code, 0, said)
        self.assertIn("page.md:7: sh: run", said)

    def test_bad_blocks_fail(self):
        for text, why in (("```sh\nisotact info none.obj\n```\n", "none.obj"),
                          ("```sh\nisotact make box -o b.obj | cat\nisotact info c.obj\n```\n", "c.obj"),
                          ("```sh\nisotact make box --sighs 3 -o b.obj\n```\n", "--sighs"),
                          ("<!-- not run: it is slow -->\n```sh\nisotact buld x\n```\n", "buld"),
                          ("```sh\nif true; then\n```\n", "syntax error"),
                          ("```json\n{,}\n```\n", "page.md:2"),
                          ('```json\n{"isotact_scene": 1, "bodys": []}\n```\n', "bodys"),
                          ("```python\nimport nothing_of_this_name\n```\n", "nothing_of_this_name"),
                          ("```cmake\nfind_package(isotact REQUIRED COMPONENTS bulet)\n```\n", "bulet"),
                          ("see `isotact info --jsn`\n", "--jsn")):
            code, said = self.run_page(text)
            self.assertEqual(code, 1, text + said)
            self.assertIn(why, said)


if __name__ == "__main__":
    unittest.main()
