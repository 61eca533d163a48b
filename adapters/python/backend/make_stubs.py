"""Writes _core.pyi, the types of isotact._core, from the signatures that pybind11 puts into
docstrings.

    make_stubs.py FOLDER_OF_THE_PACKAGE
"""

import importlib
import inspect
import pathlib
import re
import sys

HEAD = '''"""Types of the compiled part. Made from its docstrings by make_stubs.py."""

import typing

import numpy

class _HasFaces(typing.Protocol):
    vertices: typing.Any

PoseLike = typing.Union["Pose", numpy.ndarray, typing.Sequence[float], None]
MeshLike = typing.Union["Mesh", typing.Tuple[typing.Any, typing.Any], str, _HasFaces]
Progress = typing.Union[None, bool, typing.Callable[[str, int, int], None]]
'''

POSE = re.compile(r"\b(pose|pose_a|pose_b|from_a|to_a|from_b|to_b): object")


def of_signature(line):
    """A def line from 'name(self: isotact._core.Mesh, ...) -> type'."""
    line = line.replace("isotact._core.", "").replace("numpy.ndarray", "numpy.ndarray")
    line = re.sub(r"numpy\.ndarray\[[^\]]*\]", "numpy.ndarray", line)
    line = re.sub(r"\(self: \w+", "(self", line)
    line = re.sub(r"\(arg0: \w+, arg1: (\w+)", r"(self, other: \1", line)
    line = re.sub(r"\(arg0: \w+", "(self", line)
    line = POSE.sub(r"\1: PoseLike", line)
    line = re.sub(r"\bmesh: object", "mesh: MeshLike", line)
    line = re.sub(r"\bprogress: object", "progress: Progress", line)
    line = re.sub(r": object\b", ": typing.Any", line)
    line = re.sub(r"-> object\b", "-> typing.Any", line)
    line = re.sub(r"\*\*kwargs\b(?!:)", "**parameters: float", line)
    line = re.sub(r"\bOptional\[", "typing.Optional[", line)
    line = re.sub(r"\bList\[", "typing.List[", line)
    line = re.sub(r"\bDict\[", "typing.Dict[", line)
    line = re.sub(r"\bTuple\[", "typing.Tuple[", line)
    line = re.sub(r"= <[^>]*>", "= ...", line)
    line = re.sub(r"= (inf|nan)\b", r'= float("\1")', line)
    line = re.sub(r"\bcapsule\b(?=[,)\]])", "typing.Any", line)
    return f"def {line}: ..."


def signatures(doc, name):
    found = re.findall(rf"^(?:\d+\. )?({re.escape(name)}\(.*\) -> .+)$", doc or "", re.M)
    return found if len(found) < 2 or "Overloaded" not in doc else [f for f in found if "*args" not in f]


def write_function(lines, name, member, indent, is_static=False):
    defs = [of_signature(s) for s in signatures(member.__doc__, name)]
    for text in defs:
        if len(defs) > 1:
            lines.append(f"{indent}@typing.overload")
        if is_static:
            lines.append(f"{indent}@staticmethod")
        lines.append(indent + text)


def write_class(lines, name, cls):
    lines.append(f"\nclass {name}:")
    start = len(lines)
    for key, member in sorted(vars(cls).items()):
        if key in ("__doc__", "__module__", "__getstate__", "__setstate__", "__reduce__"):
            continue
        if isinstance(member, property):
            kind = re.search(r"-> (.+)", member.fget.__doc__ or "")
            kind = of_signature(f"x() -> {kind.group(1)}")[len("def x() -> "):-5] if kind else "typing.Any"
            lines += ["    @property", f"    def {key}(self) -> {kind}: ..."]
        elif isinstance(member, staticmethod):
            write_function(lines, key, member.__func__, "    ", True)
        elif callable(member):
            write_function(lines, key, member, "    ")
    if len(lines) == start:
        lines.append("    ...")


def make(core):
    lines = [HEAD]
    for name, member in sorted(vars(core).items()):
        if name.startswith("__") and name != "__version__":
            continue
        if inspect.isclass(member) and issubclass(member, Exception):
            lines.append(f"\nclass {name}(Exception): ...")
        elif inspect.isclass(member):
            write_class(lines, name, member)
        elif callable(member):
            lines.append("")
            write_function(lines, name, member, "")
        else:
            lines.append(f"{name}: {type(member).__name__}")
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(folder.parent))
    sys.dont_write_bytecode = True
    # Without the package around it, which needs NumPy only when arrays are used.
    core = importlib.import_module("isotact._core")
    (folder / "_core.pyi").write_text(make(core), encoding="utf-8")


main()
