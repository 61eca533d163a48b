"""run_page.py SOURCE PAGE --tool PROGRAM --programs FOLDER [--without GROUP]...

Runs the blocks of one page in their order, in one scratch folder, where `scenes` and `examples` are those of the
project. Blocks of shell are lines that a user types: each must succeed, but for those with a remark (blocks.py).
C++ was compiled before (make_cpp.py); what it needs that was not built in is named by --without. Prints what
was done with each block; exit code 1 and a message for the first that fails, 77 for one that needs pages which were not
built in.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from blocks import BlockError, inline_commands, read_blocks
from commands import Commands
from make_cpp import group_of

STEP = "set -euo pipefail\nexport PATH=\"{tool}:$PATH\"\n"


# What the tool says where the build had no npm to make its pages with.
NO_PAGES = "pages (.html) are not built into this program"
SKIPPED = 77  # as CMakeLists.txt has it


class Failure(Exception):
    pass


class Missing(Exception):
    """A part that this build does not have."""


class Page:
    def __init__(self, arguments, folder):
        self.source, self.page = arguments.source.resolve(), arguments.page
        self.tool, self.programs = arguments.tool.resolve(), arguments.programs.resolve()
        self.without, self.folder = arguments.without, folder
        self.commands = Commands(self.source, self.tool)
        self.is_about_python = "import isotact" in (self.source / self.page).read_text(encoding="utf-8")
        for name in ("scenes", "examples"):
            (folder / name).symlink_to(self.source / name)

    def call(self, words, block):
        environment = {**os.environ, "ISOTACT_CACHE": str(self.folder / "cache")}
        run = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, errors="replace",
                             env=environment, stdin=subprocess.DEVNULL)
        if run.returncode == 2 and NO_PAGES in run.stderr:
            raise Missing(f"{block.where}: {NO_PAGES}")
        if run.returncode != 0:
            raise Failure(f"{block.where}: exit code {run.returncode}\n{run.stdout[-1500:]}{run.stderr[-3000:]}")
        return run.stdout

    def run(self, block):
        """What was done with it, in a word or two."""
        if "as" in block.remarks:
            (self.folder / block.remarks["as"]).write_text(block.code)
        return getattr(self, "run_" + block.language)(block)

    def run_text(self, block):
        return "no code"

    def run_sh(self, block):
        self.call(["bash", "-n", "-c", block.code], block)
        for command in commands_of(block.code):
            flaw = self.commands.find_flaw(command)
            if flaw:
                raise Failure(f"{block.where}: {command}: {flaw}")
        if not block.is_run:
            return "checked: " + block.remarks["not run"]
        code = block.code
        if "shortened" in block.remarks:
            options, _, why = block.remarks["shortened"].partition(":")
            code, count = re.subn(r"^(isotact simulate \S+)", rf"\1 {options}", code, flags=re.M)
            if count == 0 or not why:
                raise Failure(f"{block.where}: nothing to shorten, or no reason for it")
        setup = block.remarks.get("setup", "")
        script = STEP.format(tool=self.tool.parent) + setup + "\n" + code
        self.call(["bash", "-c", script], block)
        return "run, shortened" if "shortened" in block.remarks else "run"

    def run_cpp(self, block):
        group = group_of(block)
        if group in self.without:
            return f"left out: this build has no {group}"
        if not block.is_run:
            return "compiled: " + block.remarks["not run"]
        program = f"docs_program_{group}_{block.symbol}" if block.is_program else f"docs_{group}"
        self.call([str(self.programs / program), *([] if block.is_program else [block.name])], block)
        return "compiled and run"

    def run_json(self, block):
        try:
            value = json.loads(block.code)
        except ValueError as e:
            raise Failure(f"{block.where}: {e}") from None
        if "isotact_scene" not in value:
            return "parsed"
        path = self.folder / "scene_of_page.json"
        path.write_text(block.code)
        self.call([str(self.tool), "simulate", str(path), "--steps", "1"], block)
        return "one step"

    def run_python(self, block):
        if self.is_about_python:  # The tests of the package run these pages (adapters/python/tests).
            try:
                compile(block.code, block.where, "exec")
            except SyntaxError as e:
                raise Failure(f"{block.where}: {e}") from None
            return "compiled"
        code = block.remarks.get("setup", "")
        if code:
            self.call(["bash", "-c", STEP.format(tool=self.tool.parent) + code], block)
        self.call([sys.executable, "-c", block.code], block)
        return "run"

    def run_cmake(self, block):
        exported = self.commands.text_of("adapters/*/CMakeLists.txt") + self.commands.text_of("cmake/*") + \
            self.commands.text_of("src/isotact/*/CMakeLists.txt")
        for name in re.findall(r"isotact::(\w+)", block.code) + re.findall(r"COMPONENTS (\w+)", block.code):
            if name not in exported:
                raise Failure(f"{block.where}: no target isotact::{name}")
        return "targets checked"


def commands_of(code):
    """The simple commands of a script that begin a line; loops and the like are left to bash."""
    joined = re.sub(r"\\\n\s*", " ", code)
    for line in joined.split("\n"):
        line = line.strip()
        if line and not re.match(r"#|for |do\b|done|if |then|fi\b|else|while |\w+=(\$\(|\S*$)|[{}]|printf|echo|cat|mkdir", line):
            yield re.split(r" (?:\||&&|;|<|>)", line)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("page")
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--without", action="append", default=[])
    arguments = parser.parse_args()
    text = (arguments.source / arguments.page).read_text()
    try:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(arguments, Path(folder))
            for block in read_blocks(text, arguments.page):
                print(f"{block.where}: {block.language}: {page.run(block)}", flush=True)
            for line, command in inline_commands(text):
                flaw = page.commands.find_flaw(command)
                if flaw:
                    raise Failure(f"{arguments.page}:{line}: {command}: {flaw}")
    except Missing as e:
        print(f"skipped: {e}", file=sys.stderr)
        sys.exit(SKIPPED)
    except (BlockError, Failure) as e:
        print(e, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
