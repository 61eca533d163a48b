"""Writes docs/python-reference.md, all that the package has, from its docstrings.

    make_reference.py FOLDER_OF_THE_PACKAGE [PAGE]      default: the page goes to stdout
"""

import importlib
import inspect
import pathlib
import re
import sys
import textwrap

WIDTH = 118
HEAD = """# Python reference

Made from the docstrings of the package, which `help(isotact.distance)` shows as well. [Python](python.md) explains how
the parts belong together. `PoseLike` is a `Pose`, a 4 x 4 matrix, seven numbers x y z qw qx qy qz, or `None`;
`MeshLike` is a `Mesh`, a path, a pair of arrays, or anything with `vertices` and `faces` or `triangles`.
"""
SIGNATURE = re.compile(r"^(?:\d+\. )?(\w+\(.*\) -> .+)$")
POSES = re.compile(r"\b(pose|pose_a|pose_b|from_a|to_a|from_b|to_b): object")


def tidy(signature):
    """In Python's words, without the types that say nothing."""
    s = signature.replace("isotact._core.", "").replace("os.PathLike", "path")
    s = re.sub(r"numpy\.ndarray\[[^\]]*\]", "numpy.ndarray", s)
    s = re.sub(r"\((self: \w+|arg0: \w+)(, )?", "(", s, count=1)
    s = POSES.sub(r"\1: PoseLike", s)
    s = re.sub(r"\bmesh: object", "mesh: MeshLike", s)
    s = re.sub(r"(\w+): (?:object|handle)\b", r"\1", s)
    return re.sub(r" -> (object|None)$", "", s)


def split_doc(doc, name):
    """([signature], text) of a docstring of pybind11 or of a function in Python."""
    signatures, text = [], []
    for line in (doc or "").splitlines():
        found = SIGNATURE.match(line)
        if found and found.group(1).startswith(name + "("):
            if "*args, **kwargs) -> Any" not in line:
                signatures.append(tidy(found.group(1)))
        elif line not in ("Overloaded function.", f"{name}(*args, **kwargs)"):
            text.append(line)
    return signatures, "\n".join(text).strip("\n")


def wrap_code(line):
    return "\n".join(textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_long_words=False))


def write_text(out, text):
    """Paragraphs, and blocks of code that are indented by four."""
    for part in re.split(r"\n\s*\n", text):
        if not part.strip():
            continue
        if part.startswith("    "):
            out.append("```text\n" + textwrap.dedent(part).rstrip() + "\n```\n")
        else:
            out.append("\n".join(textwrap.wrap(" ".join(part.split()), WIDTH)) + "\n")


def write_callable(out, name, member, level):
    signatures, text = split_doc(inspect.getdoc(member), name)
    if not signatures and inspect.isfunction(member):
        signatures = [f"{name}{inspect.signature(member)}"]
    out.append(f"{'#' * level} {name}\n")
    if signatures:
        out.append("```text\n" + "\n".join(wrap_code(s) for s in signatures) + "\n```\n")
    write_text(out, text)


def write_class(out, name, cls):
    out.append(f"## {name}\n")
    write_text(out, inspect.getdoc(cls) or "")
    if issubclass(cls, Exception):
        return
    properties, methods = [], []
    for key, member in vars(cls).items():
        if key == "__init__":
            methods.insert(0, (key, member))
        elif key.startswith("_"):
            continue
        elif isinstance(member, property):
            text = " ".join(split_doc(member.fget.__doc__, "")[1].split())
            kind = re.search(r"-> (.+)", member.fget.__doc__ or "")
            kind = tidy("x() -> " + kind.group(1))[len("x()"):].removeprefix(" -> ") if kind else ""
            doc = " ".join((member.__doc__ or text).split())
            if re.match(r"\((self|arg0): ", doc):  # a signature alone
                doc = ""
            properties.append((key, kind, doc))
        else:
            methods.append((key, getattr(cls, key)))
    for key, kind, doc in properties:
        line = f"- `{key}`" + (f" ({kind})" if kind else "") + (f": {doc}" if doc else "")
        out.append("\n".join(textwrap.wrap(line, WIDTH, subsequent_indent="  ")))
    if properties:
        out.append("")
    for key, member in methods:
        signatures, text = split_doc(inspect.getdoc(member), key)
        if key == "__init__":
            signatures = [s.replace("__init__(", f"{name}(", 1) for s in signatures]
        if not signatures:
            continue
        out.append("```text\n" + "\n".join(wrap_code(s) for s in signatures) + "\n```\n")
        write_text(out, text)


def make(package):
    out = [HEAD]
    for name in sorted(package.__all__, key=lambda n: (n.lower(), n)):
        member = getattr(package, name)
        if inspect.isclass(member):
            write_class(out, name, member)
        elif callable(member):
            write_callable(out, name, member, 2)
    text = "\n".join(out)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(folder.parent))
    sys.dont_write_bytecode = True
    text = make(importlib.import_module("isotact"))
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
