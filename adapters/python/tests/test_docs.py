"""The programs of the pages about Python run, block after block."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(os.environ.get("ISOTACT_SOURCE", pathlib.Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(ROOT / "tests/docs"))
from blocks import read_blocks  # noqa: E402

LONGEST = 15  # Lines of a quick start's program.


class Pages(unittest.TestCase):
    def run_page(self, page):
        blocks = [b for b in read_blocks((ROOT / page).read_text(encoding="utf-8"), page)
                  if b.language == "python" and b.is_run]
        self.assertGreater(len(blocks), 3)
        names = {}
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.chdir(folder)
            try:
                for block in blocks:
                    with contextlib.redirect_stdout(io.StringIO()), self.subTest(block.where):
                        code = block.remarks.get("setup", "") + "\n" + block.code
                        exec(compile(code, block.where, "exec"), names)
            finally:
                os.chdir(here)
        return blocks

    def test_quick_start(self):
        for block in self.run_page("docs/start/python.md"):
            self.assertLessEqual(len(block.code.splitlines()), LONGEST, block.where)

    def test_reference(self):
        self.run_page("docs/python.md")


if __name__ == "__main__":
    unittest.main()
