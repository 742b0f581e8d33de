"""Model files of packages on PyPI: found where installed, else downloaded; which of them load, and step.

    PYTHONPATH=tests python -m helpers.packages > docs/reference/models.md

writes the report on every package below, which takes some minutes and downloads 200 MB. A file is a model if MuJoCo
compiles it by itself; the rest are parts that models include, or need what is not there.
"""

import functools
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

import saltus
from saltus.model.layout import model_layout

PACKAGES = ("dm_control==1.0.50", "gymnasium==1.4.0", "myosuite==2.3.0", "myosuite==3.0.0", "robosuite==1.5.2")
SUFFIXES = (".xml", ".mjcf", ".urdf")
PLACE = "SALTUS_TEST_MODELS"  # environment variable: the directory that packages are downloaded to
PATIENCE = 600  # s, for a download


class Absent(Exception):
    """A package that is neither installed nor to be had."""


# what models need compiled: all that have the same integrator and solver share their kernels
FREE = {"tendon", "wrap", "tendon_force", "transmission", "act", "muscle", "servo", "dcmotor", "so3", "delay", "fluid"}
FREE |= {"mocap", "actuation"}
SENSED = {f"sense_{kind}" for kind in ("body", "frame", "motion", "subtree", "touch", "geometry")}
SENSED |= {"rangefinder", "foreign_ray", "distance"}
CONSTRAINED = FREE | {"constraint", "contact", "cylinder", "box", "boxes", "ellipsoid", "foreign", "adhere"}


class File(NamedTuple):
    """A file of a package, by its path inside it; `reason`: why MuJoCo does not compile it, None if it does."""

    name: str
    path: Path
    model: mujoco.MjModel | None
    reason: str | None


@functools.cache
def root(package: str) -> Path:
    """Directory of a package's files, for a name or name==version; Absent if there is none."""
    name, _, version = package.partition("==")
    spec = importlib.util.find_spec(name)
    if spec and spec.origin and version in ("", importlib.metadata.version(name)):
        return Path(spec.origin).parent
    if not version:
        raise Absent(f"{name} is not installed")
    home = (
        os.environ.get(PLACE) or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "saltus" / "models"
    )
    place = Path(home) / f"{name}-{version}"
    if not place.exists():
        _fetch(name, version, place)
    return place / name


def _fetch(name: str, version: str, place: Path) -> None:
    """Download a wheel and unpack its models into `place`, which appears whole or not at all."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as directory:
            wheels = _wheels(place.parent, name, version)
            if not wheels:
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
                command += ["--disable-pip-version-check", "--dest", directory, f"{name}=={version}"]
                done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
                if done.returncode:
                    raise Absent(f"{name} {version} cannot be downloaded: {done.stderr.strip().splitlines()[-1:]}")
                wheels = _wheels(Path(directory), name, version)
            _unpack(wheels[0], Path(directory) / "models")
            # another process may have been faster
            if not place.exists():
                (Path(directory) / "models").rename(place)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Absent(f"{name} {version} cannot be downloaded: {error}") from None


def _wheels(place: Path, name: str, version: str) -> list[Path]:
    return [w for w in place.glob("*.whl") if w.name.lower().startswith(f"{name}-{version}-")]


def _unpack(wheel: Path, place: Path) -> None:
    """The model files of a wheel, and the meshes, textures and height fields that any of them names."""
    with zipfile.ZipFile(wheel) as archive:
        texts = [i for i in archive.infolist() if i.filename.endswith(SUFFIXES)]
        named = set()
        for info in texts:
            for path in re.findall(r'file\w*\s*=\s*["\']([^"\']+)', archive.read(info).decode("utf-8", "replace")):
                named.add(path.replace("\\", "/").rsplit("/", 1)[-1])
        kept = [i for i in archive.infolist() if i in texts or i.filename.rsplit("/", 1)[-1] in named]
        archive.extractall(place, kept)


def files(package: str) -> list[File]:
    """All model files of a package, compiled."""
    return list(each_file(package))


def each_file(package: str) -> Iterator[File]:
    """Files of a package one by one: together they can take a gigabyte."""
    place = root(package)
    for path in sorted(p for p in place.rglob("*") if p.suffix in SUFFIXES):
        name = path.relative_to(place).as_posix()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compiled = mujoco.MjSpec.from_file(str(path)).compile()
        except (ValueError, RuntimeError, mujoco.FatalError) as error:
            yield File(name, path, None, str(error).splitlines()[0])
        else:
            yield File(name, path, compiled, None)


def share_kernels(model: saltus.Model) -> saltus.Model:
    """Let a model that was just loaded need what all do, in simulations at its own timestep and in reading sensors."""
    timestep = model.opt.timestep
    struct, sensing = model.struct(timestep=timestep), model.sensing_struct(timestep=timestep)
    needed, read = struct.layout.features, sensing.layout.features
    struct.layout = model_layout(needed | (CONSTRAINED if "constraint" in needed else FREE))
    sensing.layout = model_layout(struct.layout.features | (read | SENSED if model.nsensor else read))
    return model


def step(model: saltus.Model) -> saltus.Simulation:
    """A simulation of the model after one step."""
    sim = saltus.Simulation(share_kernels(model))
    sim.step()
    return sim


def outcome(file: File) -> str | None:
    """Why Saltus does not take a model, or None if it loads and a step leaves it somewhere."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim = step(saltus.load(file.path))
    except saltus.SaltusError as error:
        return str(error).removeprefix(f"{file.path}: ")
    return None if np.isfinite(sim.qpos).all() and np.isfinite(sim.qvel).all() else "not a number"


HEADER = """# Models of packages on PyPI

| package | files | models | load and step | |
|---|---|---|---|---|
"""
EXPLAINED = """
A file counts as a model if MuJoCo {version} compiles it on its own. Each model is loaded with `saltus.load(path)`,
without `ignore`, and takes one step with its own integrator. Written by
`PYTHONPATH=tests python -m helpers.packages > docs/reference/models.md`; a test repeats this where the packages are
available.
"""


def line(package: str, found: list[File], refused: dict[str, str]) -> str:
    """The package's line in the report."""
    models = [file for file in found if file.model]
    taken = len(models) - len(refused)
    share = f"{100 * taken / len(models):.0f} %"
    return f"| {package.replace('==', ' ')} | {len(found)} | {len(models)} | {taken} | {share} |"


def details(package: str, found: list[File], refused: dict[str, str]) -> list[str]:
    """Models of a package that are refused, and files that MuJoCo does not compile, each with the reason."""
    reasons: dict[str, int] = {}
    for file in found:
        if file.reason:
            reason = re.sub(r"['\"][^'\"]*['\"]", "...", file.reason.split(": ", 1)[-1]).removeprefix("Error: ")
            reasons[reason] = reasons.get(reason, 0) + 1
    if not (reasons or refused):
        return []
    lines = ["", f"## {package.replace('==', ' ')}", ""]
    lines += [f"- refused: {name}: {why}" for name, why in refused.items()]
    return lines + [f"- {n} not compiled by MuJoCo: {why}" for why, n in sorted(reasons.items(), key=lambda r: -r[1])]


def report(package: str) -> tuple[str, list[str], dict[str, str]]:
    """Line and details of a package, and which of its models are refused."""
    found = files(package)
    outcomes = {file.name: outcome(file) for file in found if file.model}
    refused = {name: why for name, why in outcomes.items() if why}
    return line(package, found, refused), details(package, found, refused), refused


def document() -> str:
    """The report on all packages as Markdown."""
    reports = [report(package) for package in PACKAGES]
    text = HEADER + "\n".join(one for one, _, _ in reports) + "\n" + EXPLAINED.format(version=mujoco.__version__)
    return text + "\n".join(line for _, more, _ in reports for line in more) + "\n"


if __name__ == "__main__":
    print(document(), end="")
