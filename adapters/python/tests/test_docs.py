"""The programs of the pages about Python run, block after block."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(os.environ.get("ISOTACT_SOURCE", pathlib.Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(ROOT / "tests/docs"))
from blocks import read_blocks  # noqa: E402

QUICK_START = "docs/start/python.md"
GALLERY = "docs/python/gallery.md"
LONGEST = 15  # Lines of a quick start's program.


class Pages(unittest.TestCase):
    def run_page(self, page):
        blocks = [b for b in read_blocks((ROOT / page).read_text(encoding="utf-8"), page)
                  if b.language == "python" and b.is_run]
        self.assertGreater(len(blocks), 0)
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

    def test_pages(self):
        """All pages with programs that import the package, and those that build on them."""
        pages = [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
                 if "import isotact" in p.read_text(encoding="utf-8")]
        names = [str(p.relative_to(ROOT)) for p in pages]
        self.assertTrue({"README.md", "docs/python.md", QUICK_START} <= set(names))
        for name in names:
            if name == GALLERY and "ISOTACT_SANITIZED" in os.environ:
                continue  # tens of thousands of queries
            blocks = self.run_page(name)
            if name == QUICK_START:
                for block in blocks:
                    self.assertLessEqual(len(block.code.splitlines()), LONGEST, block.where)

    def test_reference(self):
        """The reference is that of the package's docstrings."""
        import isotact
        page = "docs/python-reference.md"
        if not (ROOT / page).exists():
            self.skipTest("the sources are not here")
        if "has no GPU" in isotact.GpuTracer.__doc__:
            self.skipTest("the reference is that of a package with GPU queries")
        maker = ROOT / "adapters/python/backend/make_reference.py"
        made = subprocess.run([sys.executable, maker, pathlib.Path(isotact.__file__).parent],
                              check=True, capture_output=True, text=True).stdout
        self.assertEqual(made, (ROOT / page).read_text(encoding="utf-8"),
                         f"write it anew: {maker.name} FOLDER_OF_THE_PACKAGE {page}")


if __name__ == "__main__":
    unittest.main()
