#!/usr/bin/env python3
"""Run a small part of the tests on an emulated processor: 64-bit ARM under Linux, by qemu's translation of programs.

    python .ci/emulated.py DIRECTORY            what is listed below, in some 40 minutes
    python .ci/emulated.py DIRECTORY tests/...  other tests; arguments go to pytest

DIRECTORY keeps what is fetched: Debian's Python for ARM and its libraries, qemu unless it is installed, wheels for ARM,
and compiled kernels. Nothing is installed elsewhere, and no rights are needed. Needs a Debian or a system like it (apt,
dpkg-deb, and the keys of the package debian-archive-keyring), a mirror of Debian, and a package index.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MIRROR, RELEASE = "http://deb.debian.org/debian", "bookworm"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
PYTHON = "3.11"  # that of the release
PACKAGES = [f"python{PYTHON}", "libstdc++6", "zlib1g"]
PLATFORMS = [f"manylinux_2_{minor}_aarch64" for minor in (28, 27, 17)] + ["manylinux2014_aarch64"]
NEEDED = ["numpy", "numba", "llvmlite", "mujoco", "filelock"]  # of the dependencies, what simulating imports
TESTING = ["pytest", "mpmath", "scipy"]
TESTS = [
    "tests/number/test_processor.py",
    "tests/number/threads/test_atomics.py",
    "tests/number/cache/test_checksum.py",
    "tests/number/cache/test_turn.py",
    "tests/files",
    "tests/spatial",
    "tests/test_machines.py",
]
#: Programs that an emulated one starts are not emulated: they go through this script, which Python takes for itself.
START = """#!/bin/sh
EMULATED_PYTHON="$0" exec '{qemu}' -L '{root}' '{root}/usr/bin/python{version}' "$@"
"""
SITE = """import os, sys
sys.executable = os.environ.get("EMULATED_PYTHON", sys.executable)
"""


def apt(directory: Path, architecture: str, *words: str) -> None:
    """Call apt with lists and packages of its own in a directory, for an architecture."""
    state = directory / f"apt-{architecture}"
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    sources = state / "sources.list"
    sources.write_text(f"deb [signed-by={KEYS}] {MIRROR} {RELEASE} main\n")
    options = {
        "Dir::State": state,
        "Dir::State::status": "/dev/null",  # as if nothing were installed
        "Dir::Cache": state,
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "-",
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "root",
        "Acquire::Retries": 3,
    }
    given = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    subprocess.run(["apt-get", "-q", *given, *words], check=True, cwd=state)


def unpacked(directory: Path, architecture: str, packages: list[str], *options: str) -> Path:
    """Where the files of Debian's packages are, and of what they depend on unless `options` say otherwise."""
    place = directory / architecture
    if not place.exists():
        apt(directory, architecture, "update")
        archives = directory / f"apt-{architecture}" / "archives"
        if options:
            apt(directory, architecture, *options, *packages)
            archives = archives.parent
        else:
            apt(directory, architecture, "install", "-y", "--no-install-recommends", "--download-only", *packages)
        made = place.with_suffix(".new")
        made.mkdir(exist_ok=True)
        for package in sorted(archives.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", package, made], check=True)
        made.rename(place)
    return place


def qemu(directory: Path) -> str:
    """The emulator: that of this computer, or Debian's."""
    name = "qemu-aarch64-static"
    here = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()
    found = shutil.which(name)
    return found or str(unpacked(directory, here, ["qemu-user-static"], "download") / "usr/bin" / name)


def site(directory: Path) -> Path:
    """Packages for ARM, in the versions that the project accepts."""
    place = directory / "site"
    if not place.exists():
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        asked = [*project["dependencies"], *project["optional-dependencies"]["test"]]
        wanted = [requirement for requirement in asked if re.split("[<>=]", requirement)[0] in NEEDED + TESTING]
        platforms = [part for platform in PLATFORMS for part in ("--platform", platform)]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *platforms]
        command += ["--python-version", PYTHON, "--implementation", "cp", "--only-binary=:all:", "--no-compile"]
        subprocess.run([*command, "--target", f"{place}.new", *wanted], check=True)
        Path(f"{place}.new").rename(place)
        (place / "sitecustomize.py").write_text(SITE)
    return place


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    directory, arguments = Path(sys.argv[1]).resolve(), sys.argv[2:] or TESTS
    directory.mkdir(parents=True, exist_ok=True)
    root, packages = unpacked(directory, "arm64", PACKAGES), site(directory)
    python = directory / "python"
    python.write_text(START.format(qemu=qemu(directory), root=root, version=PYTHON))
    python.chmod(0o755)
    (directory / "cache").mkdir(mode=0o700, exist_ok=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_"))},
        "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}",
        "SALTUS_CACHE_DIR": str(directory / "cache"),
    }
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", "--durations=10", *arguments]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


if __name__ == "__main__":
    main()
