"""Builds the wheel of the package: a PEP 517 backend without dependencies.

CMake builds the extension module with the Python that runs this; the wheel is written here.
`pip install . -C build-dir=DIR` keeps the build in DIR (default: build/python/cmake);
`-C cmake-args=...` passes further arguments to CMake.
"""

import base64
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ABOUT = """Metadata-Version: 2.1
Name: isotact
Version: {version}
Summary: Collision detection and contact with signed distance fields
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

{readme}
"""


def _version():
    text = (ROOT / "src/isotact/version.h").read_text()
    return re.search(r'VERSION_STRING "([^"]+)"', text).group(1)


def _tag():
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{version}-{version}-{platform}"


def _metadata():
    readme = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    return ABOUT.format(version=_version(), readme=readme)


def _build(settings):
    settings = settings or {}
    folder = pathlib.Path(settings.get("build-dir", ROOT / "build/python/cmake"))
    arguments = [
        "cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release",
        "-DISOTACT_WITH_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}",
        "-DISOTACT_BUILD_TOOL=OFF", "-DISOTACT_BUILD_TESTS=OFF", "-DISOTACT_BUILD_EXAMPLES=OFF",
        "-DISOTACT_INSTALL=OFF", "-DISOTACT_WITH_BULLET=OFF", "-DISOTACT_WITH_OPENVDB=OFF",
        "-DISOTACT_WITH_WASM=OFF", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8",
    ]
    if not (folder / "CMakeCache.txt").exists():
        arguments += ["-G", "Ninja"]
    arguments += shlex.split(settings.get("cmake-args", ""))
    subprocess.run(arguments, check=True)
    subprocess.run(["cmake", "--build", str(folder), "--target", "isotact_python"], check=True)
    return folder / "python/isotact"


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = f"isotact-{_version()}.dist-info"
    folder = pathlib.Path(metadata_directory) / name
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(_metadata(), encoding="utf-8")
    (folder / "WHEEL").write_text(_wheel_text())
    return name


def _wheel_text():
    return f"Wheel-Version: 1.0\nGenerator: isotact\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = _build(config_settings)
    name = f"isotact-{_version()}-{_tag()}.whl"
    info = f"isotact-{_version()}.dist-info"
    records = []
    path = pathlib.Path(wheel_directory) / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(place, data, mode=0o644):
            entry = zipfile.ZipInfo(place, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            records.append(f"{place},sha256={digest.decode()},{len(data)}")

        for file in sorted(os.listdir(package)):
            if file.endswith((".py", ".pyi", ".so")) or file == "py.typed":
                mode = 0o755 if file.endswith(".so") else 0o644
                add(f"isotact/{file}", (package / file).read_bytes(), mode)
        add(f"{info}/METADATA", _metadata().encode())
        add(f"{info}/WHEEL", _wheel_text().encode())
        records.append(f"{info}/RECORD,,")
        entry = zipfile.ZipInfo(f"{info}/RECORD", (1980, 1, 1, 0, 0, 0))
        wheel.writestr(entry, "\n".join(records) + "\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("isotact has no source archives: install from a clone")
