"""Hashes of what the program computes, to the last bit, for as many kinds of models and methods as there are.

`PYTHONPATH=tests python -m helpers.bits [WORD...]` compares those of the cases whose names hold all words with those in
tests/helpers/bits.json; `--record` writes all of them there. They are those of one family of processors and one set of
libraries.
"""

import hashlib
import json
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import mujoco
import numba
import numpy as np

import saltus
from helpers import everything
from helpers.files import SHARED
from saltus.number.processor import cpu_name

FILE = Path(__file__).parent / "bits.json"
OTHERS = (
    "mujoco/humanoid",
    "mujoco/newton_cradle",
    "mujoco/slider_crank",
    "mujoco/flag",
    "robots/g1_feetonly_flat",
    "robots/go1_flat",
    "benchmarks/A02_fourbar_N2",
    "benchmarks/A03_andrews",
)
RAGDOLL = "humanoid"
HARD = ("bouncing_ball", "newtons_cradle", "sit_to_stand", RAGDOLL)
BATCHES = ("arm", "cart_pole", "free_body", RAGDOLL, "spring", "bouncy_disc", "robots/go1_flat")
#: Models whose files name RK4, which are moved by Euler where a case names no integrator, as when bits were recorded.
BY_EULER = ("arm", "bouncing_ball", "cart_pole", "chain", "double_pendulum", "pendulum", "spring")
SEEN = ("pendulum", RAGDOLL, "trampoline")

Case = Callable[[], dict[str, Any]]  # arrays by name


def machine() -> str:
    """Processor and libraries, on which the bits depend besides the sources."""
    versions = (f"{module.__name__} {module.__version__}" for module in (numba, llvmlite, np, mujoco))
    return ", ".join((cpu_name(), " ".join(platform.libc_ver()), f"Python {platform.python_version()}", *versions))


def cases() -> Iterator[tuple[str, Case]]:
    """All cases by name; those of models that are not there are left out."""
    for name in (*saltus.models(), *OTHERS):
        if source := _source(name):
            yield f"soft {name}", lambda source=source: _run(source)
    yield "soft everything", lambda: _run(everything.xml())
    for integrator in saltus.integrators():
        if integrator != "moreau_jean":
            for name in ("double_pendulum", RAGDOLL):
                yield f"{integrator} {name}", lambda i=integrator, name=name: _run(name, i)
    for integrator in ("dopri5", "rk4", "moreau_jean"):
        for name in HARD:
            yield f"hard {integrator} {name}", lambda i=integrator, name=name: _run(name, i, "hard")
    for precision in ("float64", "float32"):
        for name in BATCHES:
            if source := _source(name):
                yield f"{precision} {name}", lambda source=source, p=precision: _batch(source, p)
    for name in ("cart_pole", "arm", RAGDOLL, "bouncy_disc"):
        yield f"linearize {name}", lambda name=name: _linearized(name)
    for name in SEEN:
        yield f"picture {name}", lambda name=name: {"pixels": np.asarray(saltus.Simulation(name).picture())}


def hash_of(value: Any) -> str:
    """The hash of a number, an array or a text."""
    array = np.ascontiguousarray(value)
    return hashlib.sha256(f"{array.dtype} {array.shape}".encode() + array.tobytes()).hexdigest()[:12]


def hashes(case: Case) -> dict[str, str]:
    """Hashes of a case's arrays by their names."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", saltus.SaltusWarning)
        return {key: hash_of(value) for key, value in _made(case).items()}


def recorded() -> dict[str, dict[str, str]]:
    """The cases that were recorded on a machine like this; none where there was none."""
    return json.loads(FILE.read_text())["cases"] if json.loads(FILE.read_text())["machine"] == machine() else {}


def _made(case: Case) -> dict[str, Any]:
    try:
        return case()
    except saltus.SaltusError as error:
        return {"error": type(error).__name__}


def _source(name: str) -> str | Path | None:
    if name in saltus.models():
        return name
    path = SHARED / f"{name}.xml"
    return path if path.exists() else None


def _own(source: Any) -> str | None:
    """The integrator of a case that names none; None: the file's."""
    return "euler" if source in BY_EULER else None


def _disturbed(sim: Any) -> None:
    """Motion and controls that are none of the special values of the start."""
    random = np.random.default_rng(7)
    sim.qvel = sim.qvel + 0.05 * random.standard_normal(sim.qvel.shape)
    sim.ctrl = sim.ctrl + 0.1 * random.standard_normal(sim.ctrl.shape)


def _run(source: Any, integrator: str | None = None, contact: str = "soft") -> dict[str, Any]:
    """Some steps: all columns of the recording, its events, its ledger, and what is computed in the last state."""
    sim = saltus.Simulation(source, integrator or _own(source), contact)
    _disturbed(sim)
    duration = (100 if contact == "soft" else 300) * sim.timestep
    recording = sim.run(duration, sample=10 * sim.timestep, ledger=contact == "soft").to_xarray()
    arrays = {name: column.values for name, column in recording.variables.items() if column.dtype.kind in "bif"}
    arrays |= {name: getattr(sim.data, name) for name in ("xpos", "qacc", "qfrc_constraint", "qfrc_actuator")}
    return arrays | {"sensordata": sim.sensordata}


def _batch(source: Any, precision: str) -> dict[str, Any]:
    batch = saltus.Batch(source, 16, threads=1, precision=precision, integrator=_own(source))
    _disturbed(batch)
    batch.step(100)
    return {name: getattr(batch, name) for name in ("qpos", "qvel", "act", "sensordata")}


def _linearized(name: str) -> dict[str, Any]:
    sim = saltus.Simulation(name, _own(name))
    _disturbed(sim)
    sim.step(20)
    return dict(zip("AB", sim.linearize(), strict=True))


def _compare(words: list[str]) -> None:
    wanted, different = recorded(), []
    if not wanted:
        sys.exit(f"bits were recorded on another machine than this: {machine()}")
    for name, case in cases():
        if set(words) <= set(name.split()) and name in wanted:
            found = hashes(case)
            others = sorted(
                key for key in wanted[name].keys() | found.keys() if wanted[name].get(key) != found.get(key)
            )
            print(f"{name}: {', '.join(others) or 'the same'}", flush=True)
            different += [name] * bool(others)
    if different:
        sys.exit(f"other bits: {'; '.join(different)}")


def _record() -> None:
    made = {}
    for name, case in cases():
        print(name, flush=True)
        made[name] = hashes(case)
    FILE.write_text(json.dumps({"machine": machine(), "cases": made}, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    _record() if "--record" in sys.argv else _compare(sys.argv[1:])
