"""Every installed header compiles alone, and brings nothing that users should not need.

    headers.py INCLUDE_FOLDER --compiler g++ --work FOLDER

Most of the time goes into large standard headers. A few sets of them are precompiled; a header is compiled
with the largest set whose members it all includes itself, in the end. What it forgets is still missing.
"""
import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What users of the core need not have, and what would cost their compiler most.
FORBIDDEN = re.compile(r"/(Eigen|tbb|oneapi|fmt|nlohmann|CLI|glm|epoxy|bullet|openvdb)/|/\w*intrin\.h$|/xxhash\.h$")
LARGE = ["algorithm", "array", "atomic", "chrono", "cmath", "filesystem", "functional", "map", "memory", "mutex",
         "optional", "span", "string", "unordered_map", "variant", "vector"]
MOST_LINES = {"isotact/queries/collide.h": 60000}  # preprocessed, with gcc's standard library
SHOWN = ["isotact/isotact.h", "isotact/queries/shape.h"]


SETS = 8


class Header:
    def __init__(self, path, folder):
        self.name = str(path.relative_to(folder))
        self.adapts = "/adapters/" in self.name or "/convert_" in self.name
        self.includes = re.findall(r"^ *# *include [<\"]([^>\"]+)[>\"]", path.read_text(), re.M)
        self.large = frozenset()  # of LARGE, those that it reaches
        self.faults = []


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def foreign_flags():
    """Where headers that adapt other libraries find those."""
    flags = []
    for package in ("bullet", "eigen3"):
        found = run(["pkg-config", "--cflags-only-I", package])
        flags += found.stdout.split() if found.returncode == 0 else []
    return flags


def reach_of(name, options):
    """All files that a foreign header includes, in the end."""
    done = run([*options.command, *options.foreign, "-M", "-x", "c++", "-"], f"#include <{name}>\n")
    return done.stdout.replace("\\\n", " ").split()


def read(headers, options):
    """Finds out what each header reaches, and whether it may."""
    ours = {h.name: h for h in headers}
    foreign = sorted({name for h in headers for name in h.includes if name not in ours})
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reach = dict(zip(foreign, pool.map(lambda name: reach_of(name, options), foreign)))
    for header in headers:
        seen, waiting, large = {header.name}, [header.name], set()
        while waiting:
            for name in ours[waiting.pop()].includes:
                if name in ours and name not in seen:
                    seen.add(name)
                    waiting.append(name)
                for file in reach.get(name, []):
                    if FORBIDDEN.search(file) and not header.adapts:
                        header.faults.append(f"reaches {file}, by {name}")
                    if "/c++/" in file and file.rsplit("/", 1)[1] in LARGE:
                        large.add(file.rsplit("/", 1)[1])
        header.large = frozenset(large)


def precompile(number, names, options):
    common = options.work / f"set{number}.h"
    common.write_text("".join(f"#include <{name}>\n" for name in sorted(names)))
    run([*options.command, "-x", "c++-header", str(common), "-o", f"{common}.gch"])
    return common


def compile_alone(header, sets, options):
    command = [*options.command, *(options.foreign if header.adapts else [])]
    for names, common in sets:  # the largest first
        if names <= header.large and not header.adapts:
            command += ["-include", str(common)]
            break
    done = run([*command, "-fsyntax-only", "-x", "c++", "-"], f"#include <{header.name}>\n")
    if done.returncode != 0:
        header.faults.append(done.stderr)


def count_lines(name, options):
    """Preprocessed lines."""
    done = run([*options.command, "-E", "-x", "c++", "-"], f"#include <{name}>\n")
    return done.stdout.count("\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    options.command = [options.compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{options.folder}"]
    options.foreign = foreign_flags()

    headers = [Header(path, options.folder) for path in sorted((options.folder / "isotact").rglob("*.h"))]
    read(headers, options)
    common = Counter(h.large for h in headers if not h.adapts).most_common(SETS)
    chosen = sorted((names for names, _ in common if names), key=len, reverse=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        files = list(pool.map(lambda item: precompile(*item, options), enumerate(chosen)))
        list(pool.map(lambda h: compile_alone(h, list(zip(chosen, files)), options), headers))

    if len(headers) < 100:
        print(f"only {len(headers)} headers: is the folder right?")
        return 1
    lines = {name: count_lines(name, options) for name in [*MOST_LINES, *SHOWN]}
    for header in headers:
        if lines.get(header.name, 0) > MOST_LINES.get(header.name, sys.maxsize):
            header.faults.append(f"{lines[header.name]} preprocessed lines; {MOST_LINES[header.name]} are allowed")
        for fault in header.faults:
            print(f"{header.name}: {fault}")
    print(f"{len(headers)} headers compile alone but for those above; preprocessed lines:")
    for name, count in lines.items():
        print(f"  {count:7} {name}")
    return 1 if any(h.faults for h in headers) else 0


if __name__ == "__main__":
    sys.exit(main())
