"""make_cpp.py SOURCE OUTPUT: turns the C++ blocks of all pages into sources.

Blocks with a main() become programs of their own, OUTPUT/program_<block>.cpp; the others become functions, in
OUTPUT/core.cpp, gpu.cpp or bullet.cpp by what they need, whose main() runs those that it is asked for. Headers that
declare what a block uses are included for it; programs have their own, and must have all they need. Files
are written only where they change; their names go to stdout, as a list of CMake's.
"""
import argparse
import re
import sys
from pathlib import Path

from blocks import BlockError, read_blocks
from pages import all_pages

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts/site"))
from api import public_headers
from headers import parse_header

BULLET = re.compile(r"\bbt[A-Z]\w+|adapters/bullet|\b(GivenContacts|BulletPlugin|install|cook_bullet_shape)\b")
GPU = re.compile(r"\bGpu[A-Z]\w+|isotact/gpu/")


def group_of(block):
    text = block.code + block.remarks.get("setup", "")
    return "bullet" if BULLET.search(text) else "gpu" if GPU.search(text) else "core"


def headers_for(source, group, blocks):
    """Public headers that declare a name which the blocks use."""
    words = set(re.findall(r"[A-Za-z_]\w+", " ".join(b.code + b.remarks.get("setup", "") for b in blocks)))
    found = []
    for name, path in public_headers(source).items():
        is_beyond = ("/gpu/" in name and group == "core") or ("/adapters/" in name and group != "bullet") or "openvdb" in name
        declared = {n for item in parse_header(name, path.read_text()).items for n in item.names}
        if not is_beyond and "/convert_" not in name and declared & words:
            found.append(name)
    return found


def as_function(block):
    """Includes, and the function's text."""
    setup = block.remarks.get("setup", "")
    includes = re.findall(r"^#include.*$", setup + "\n" + block.code, re.M)
    setup, code = (re.sub(r"^#include.*$", "", t, flags=re.M) for t in (setup, block.code))
    return includes, (f"void {block.symbol}() {{\n{setup}\n#line {block.line} \"{block.page}\"\n{code}}}\n")


def make_group(source, group, blocks):
    includes, functions = [], []
    for block in blocks:
        more, text = as_function(block)
        includes += more
        functions.append(text)
    if group == "bullet":
        includes.append("#include <btBulletDynamicsCommon.h>")
    table = "".join(f'    {{"{b.name}", {b.symbol}}},\n' for b in blocks)
    headers = "".join(f'#include "{h}"\n' for h in headers_for(source, group, blocks))
    return ("// Written by tests/docs/make_cpp.py.\n#include <cstdio>\n#include <cstring>\n#include <exception>\n"
            + "".join(sorted({i + "\n" for i in includes})) + headers
            + "\nnamespace {\nusing namespace isotact;\n\n" + "\n".join(functions)
            + "\nconst struct {\n  const char* name;\n  void (*run)();\n} kBlocks[] = {\n" + table + "};\n"
            + "}  // namespace\n\n#line 1 \"main of the blocks\"\n" + MAIN)


MAIN = """int main(int count, char** names) {
  int found = 0;
  for (int i = 1; i < count; ++i)
    for (const auto& block : kBlocks)
      if (std::strcmp(block.name, names[i]) == 0) {
        try {
          block.run();
        } catch (const std::exception& e) {
          std::fprintf(stderr, "%s: %s\\n", block.name, e.what());
          return 1;
        }
        ++found;
      }
  return found == count - 1 ? 0 : 2;
}
"""


def make_all(source):
    """{file name: text} of all C++ blocks."""
    groups, files = {"core": [], "gpu": [], "bullet": []}, {}
    for page in all_pages(source):
        try:
            blocks = read_blocks((source / page).read_text(), page)
        except BlockError:
            continue  # the page's own test says so; the build goes on
        for block in blocks:
            if block.language != "cpp":
                continue
            if block.is_program:
                text = block.remarks.get("setup", "") + f"\n#line {block.line} \"{block.page}\"\n" + block.code
                files[f"program_{group_of(block)}_{block.symbol}.cpp"] = text
            else:
                groups[group_of(block)].append(block)
    for group, blocks in groups.items():
        files[group + ".cpp"] = make_group(source, group, blocks)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    files = make_all(arguments.source)
    for name, text in files.items():
        path = arguments.output / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    print(";".join(sorted(files)), end="")


if __name__ == "__main__":
    main()
