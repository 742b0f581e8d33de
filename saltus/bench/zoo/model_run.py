"""One model beside MuJoCo, in a process of its own, so that compiled code and crashes end with it.

`python -m saltus.bench.zoo.model_run '{"path": "humanoid.xml", ...}'` prints lines of JSON, each as soon as it is
known: what the model is, then one comparison after the other.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from saltus.bench.harness import peers
from saltus.bench.harness.timing import in_turn
from saltus.bench.zoo.warmed import Warmed
from saltus.errors import ModelError, SaltusError
from saltus.model.load import load
from saltus.model.model import Model
from saltus.simulate.batch import Batch
from saltus.terminal import screen

SINGLE_SECONDS, BATCH_SECONDS = 0.2, 0.5  # s of MuJoCo's steps in a timing, about
FEWEST, MOST = 5, 200  # steps of a timing


def say(**facts: Any) -> None:
    """Print a line of JSON."""
    print(json.dumps(facts), flush=True)


def loaded(path: str) -> Model | None:
    """The model; None, after the reason is printed, if MuJoCo cannot load it or Saltus refuses it."""
    try:
        return load(path)
    except SaltusError as error:
        refusal = error
    try:
        mujoco.MjModel.from_xml_path(path)  # type: ignore
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        say(outcome="not loaded", reason=first_line(error))
    else:
        say(outcome="refused", reason=first_line(refusal).removeprefix(f"{path}: "))
    return None


def first_line(error: BaseException) -> str:
    """The first line of an error's text that is not empty."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def about(m: mujoco.MjModel) -> dict[str, Any]:
    """Properties of a model that decide the cost of a step."""
    integrator = mujoco.mjtIntegrator(m.opt.integrator).name.removeprefix("mjINT_").lower()
    return {
        **{name: int(getattr(m, name)) for name in ("nbody", "nv", "nu", "na", "ngeom", "nmesh", "ntendon", "nflex")},
        "solver": mujoco.mjtSolver(m.opt.solver).name.removeprefix("mjSOL_"),
        "cone": mujoco.mjtCone(m.opt.cone).name.removeprefix("mjCONE_").lower(),
        "integrator": integrator,
        "timestep": float(m.opt.timestep),
    }


def difference(setup: Warmed) -> float:
    """Largest difference of accelerations in the first step, relative to MuJoCo's largest there."""
    sim, data = setup.simulation(), setup.data()
    before = setup.start.qvel
    for state in (sim, data):
        setup.advance(state, 1)
    of_mujoco = data.qvel - before
    return float(abs(sim.qvel - data.qvel).max() / max(abs(of_mujoco).max(), 1e-300))


def seconds_of(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


def compared(found: dict[str, Any], own: str, compiling: float, steps: int) -> dict[str, Any]:
    """A comparison, in seconds of a step of one simulation."""
    mine, peer = found[own], found["mujoco"]
    ratio = mine.ratio_to(peer)
    return {"peer": peer.median, "saltus": mine.median, "ratio": ratio, "compiling": compiling, "steps": steps}


def steps_for(seconds: float, step: float) -> int:
    return int(np.clip(round(seconds / step), FEWEST, MOST))


def measure(setup: Warmed, n: int, repeats: int, least: float) -> None:
    """Print the comparisons: a simulation, and batches of n in either precision."""
    data = setup.data()
    peer = min(seconds_of(lambda: setup.advance(data, FEWEST), time.process_time) for _ in range(3)) / FEWEST
    timed: dict[str, Any] = {"repeats": repeats, "least": least, "clock": time.process_time}
    compiling = seconds_of(lambda: setup.advance(setup.simulation(), 1))
    steps = steps_for(SINGLE_SECONDS, peer)
    say(difference=difference(setup))
    say(single=compared(in_turn(peers.single(setup, steps), **timed), "saltus", compiling, steps))
    steps = steps_for(BATCH_SECONDS, n * peer)
    for precision in peers.PRECISIONS:
        compiling = seconds_of(lambda p=precision: _first_step(setup, n, p))
        found = in_turn(peers.batches(setup, n, steps, 1, [precision]), **timed)
        say(**{precision: compared(found, f"saltus {precision}", compiling, steps)})


def _first_step(setup: Warmed, n: int, precision: str) -> None:
    batch = Batch(setup.model, n, threads=1, precision=precision, integrator=setup.integrator)
    setup.put(batch, setup.starts(n))
    setup.advance(batch, 1)


def main() -> None:
    """Measure the model that the argument names."""
    given = json.loads(sys.argv[1])
    with screen.collected_warnings() as warnings:
        model = loaded(given["path"])
        if model is None:
            return
        say(about=about(model.mujoco))
        if model.nv == 0:
            say(outcome="still", reason="it has no degrees of freedom")
            return
        try:
            setup = Warmed(model, given["n"])
            contacts, rows, iterations = map(float, setup.counts.mean(axis=0))
            spread = [int(setup.counts[:, 0].min()), int(setup.counts[:, 0].max())]
            say(contacts=contacts, contacts_range=spread, rows=rows, iterations=iterations)
            say(controls=setup.width, off=setup.off)
            measure(setup, given["n"], given["repeats"], given["least"])
        except ModelError as error:
            say(outcome="refused", reason=first_line(error))
        except SaltusError as error:
            say(outcome="failed", reason=first_line(error))
        else:
            say(outcome="measured")
    if warnings:
        say(warnings=warnings)


if __name__ == "__main__":
    main()
