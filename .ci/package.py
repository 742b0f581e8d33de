#!/usr/bin/env python3
"""Check the sdist and the wheel: what is in them, and whether the wheel works where the sources are not.

    python .ci/package.py           builds both into a temporary folder, the wheel from the sdist
    python .ci/package.py dist      checks those that are in dist/, compiled kernels allowed

The sdist must hold every file that git tracks, a wheel every file of the package, and compiled kernels if and only if
its tag names a system. The wheel that pip would take here is installed into a fresh environment and used from an empty
folder as README's readers use it. Needs the `dev` extra, git and a package index.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.tags import Tag, sys_tags
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).resolve().parents[1]
ONLY_IN_GIT = {".gitattributes"}
PAGE_SOURCES = "saltus/lab/page/"  # what page.html is built from, and not in the wheel but for
PAGE_WORKER = "saltus/lab/page/src/worker/"  # what `saltus bench page` runs under Node
KERNELS = re.compile(r"saltus/number/cache/archived/kernels-\w+\.zip")
COMMANDS = (
    ["--help"],
    ["run", "pendulum", "--plot", "pendulum.png"],
    ["page", "pendulum", "-o", "pendulum.html"],
)
WRITTEN = {"pendulum.png", "pendulum.html", "pendulum.mp4"}


def tracked() -> set[str]:
    """Paths of all files that git tracks and that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


def sdist_differences(names: Iterable[str], expected: set[str]) -> list[str]:
    """What an sdist's files lack or have too many, given the tracked files; its top folder is left out of names."""
    return _differences(set(names), expected - ONLY_IN_GIT | {"PKG-INFO"})


def wheel_differences(names: Iterable[str], expected: set[str], licences: Iterable[str]) -> list[str]:
    """What a wheel's files lack or have too many, given the tracked files and the licence files of the project."""
    found = {name for name in names if not KERNELS.fullmatch(name)}
    others = sorted({name.partition("/")[0] for name in found} - {"saltus"})
    if len(others) != 1 or not others[0].endswith(".dist-info"):
        return [f"{others}: besides saltus/ there must be one .dist-info and nothing else"]
    info = others[0]
    own = {name for name in expected if name.startswith("saltus/")}
    wanted = {name for name in own if not name.startswith(PAGE_SOURCES) or name.startswith(PAGE_WORKER)}
    wanted |= {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    return _differences(found, wanted | {f"{info}/licenses/{name}" for name in licences})


def _differences(found: set[str], wanted: set[str]) -> list[str]:
    return [f"{name}: missing" for name in sorted(wanted - found)] + [
        f"{name}: does not belong there" for name in sorted(found - wanted)
    ]


def tag_differences(wheel: str, names: Iterable[str]) -> list[str]:
    """What is wrong with the tag of a wheel with these files: kernels are for one system, and nothing else is."""
    kernels, pure = any(map(KERNELS.fullmatch, names)), wheel.endswith("-py3-none-any.whl")
    if kernels and pure:
        return ["compiled kernels in a wheel for all systems"]
    return [] if kernels or pure else ["for one system, without compiled kernels"]


def fitting(wheels: Iterable[Path], tags: Iterable[Tag]) -> Path | None:
    """The wheel that an interpreter with these tags, the best first, would install; None if none fits."""
    by_tag = {tag: wheel for wheel in wheels for tag in parse_wheel_filename(wheel.name)[3]}
    return next((by_tag[tag] for tag in tags if tag in by_tag), None)


def check_contents(path: Path) -> None:
    """End the program with what is wrong in the files of an sdist or a wheel, if anything is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            inside = archive.namelist()
        wrong = wheel_differences(inside, tracked(), project["license-files"]) + tag_differences(path.name, inside)
    else:
        with tarfile.open(path) as archive:
            inside = [member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()]
        wrong = sdist_differences(inside, tracked())
    if wrong:
        sys.exit("\n".join(f"{path.name}: {what}" for what in wrong))
    print(f"{path.name}: {len(inside)} files, {path.stat().st_size / 1e6:.1f} MB")


def use(wheel: Path, folder: Path) -> None:
    """Install the wheel into an environment of its own and run what README shows, in an empty folder."""
    venv.create(folder / "environment", with_pip=True)
    scripts = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    python, place = str(scripts / "python"), folder / "empty"
    place.mkdir()
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(*command: str) -> str:
        start = time.monotonic()
        done = subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True)
        shown = " ".join([Path(command[0]).name, *command[1:]]).partition("\n")[0]
        if done.returncode:
            sys.exit(f"{shown}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        print(f"{time.monotonic() - start:6.1f} s  {shown}", flush=True)
        return done.stdout

    run(python, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", str(wheel))
    run(python, "-m", "pip", "check")
    where = run(python, "-c", "import saltus; print(saltus.__version__, saltus.__file__)")
    version, _, file = where.strip().partition(" ")
    if not wheel.name.startswith(f"saltus-{version}-") or not Path(file).is_relative_to(folder / "environment"):
        sys.exit(f"not the wheel's: version {version} at {file}")
    for words in COMMANDS:
        run(str(scripts / "saltus"), *words)
    (sample,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    run(python, "-W", "error", "-c", sample)
    if {path.name for path in place.iterdir()} != WRITTEN:
        sys.exit(f"written: {sorted(path.name for path in place.iterdir())}, expected {sorted(WRITTEN)}")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="saltus-package-") as directory:
        folder = Path(directory).resolve()
        dist = Path(sys.argv[1]).resolve() if sys.argv[1:] else folder / "dist"
        if not sys.argv[1:]:
            subprocess.run(
                [sys.executable, "-m", "build", "--outdir", dist, ROOT], check=True, stdout=subprocess.DEVNULL
            )
        sdists, wheels = sorted(dist.glob("*.tar.gz")), sorted(dist.glob("*.whl"))
        if len(sdists) > 1 or not wheels:
            sys.exit(
                f"{dist}: {len(sdists)} sdists and {len(wheels)} wheels: there must be wheels, and one sdist at most"
            )
        for path in (*sdists, *wheels):
            check_contents(path)
        subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *sdists, *wheels], check=True)
        wheel = fitting(wheels, sys_tags())
        if wheel is None:
            sys.exit(f"{dist}: no wheel is for this Python on this system")
        use(wheel, folder)


if __name__ == "__main__":
    main()
