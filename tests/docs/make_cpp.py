"""make_cpp.py SOURCE OUTPUT: turns the C++ blocks of all pages into sources.

Blocks with a main() become programs of their own, OUTPUT/program_<block>.cpp; the others become functions, in
OUTPUT/core.cpp, gpu.cpp or bullet.cpp by what they need, whose main() runs those that it is asked for. Files
are written only where they change; their names go to stdout, as a list of CMake's.
"""
import argparse
import re
from pathlib import Path

from blocks import BlockError, read_blocks
from pages import all_pages

BULLET = re.compile(r"\bbt[A-Z]\w+|adapters/bullet|\b(GivenContacts|BulletPlugin|install|cook_bullet_shape)\b")
GPU = re.compile(r"\bGpu[A-Z]\w+|isotact/gpu/")


def group_of(block):
    text = block.code + block.remarks.get("setup", "")
    return "bullet" if BULLET.search(text) else "gpu" if GPU.search(text) else "core"


def public_headers(source, group):
    headers = [p.relative_to(source / "src") for p in sorted((source / "src/isotact").rglob("*.h"))]
    skip = {"detail", "gpu"} if group == "core" else {"detail"}
    found = [str(h) for h in headers
             if not skip & set(h.parts) and h.name not in ("convert_eigen.h", "convert_glm.h", "lanes.h",
                                                           "texel_kernel.h")]
    if group == "bullet":
        found += ["isotact/adapters/bullet/" + n for n in ("bullet.h", "batch.h", "gpu_batch.h", "given_contacts.h")]
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
    headers = "".join(f'#include "{h}"\n' for h in public_headers(source, group))
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
