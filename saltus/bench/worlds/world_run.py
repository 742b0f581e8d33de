"""One world beside MuJoCo, in a process of its own, so that memory is that of this world alone.

`python -m saltus.bench.worlds.world_run '{"world": "heap", "arguments": {"n": 30}, ...}'` prints lines of JSON, each as
soon as it is known: MuJoCo's loading, ours, compiling, then the comparison.
"""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import mujoco
import numpy as np

from saltus.bench.harness import peers
from saltus.bench.harness.memory import PeakMemory
from saltus.bench.harness.solver_work import counts
from saltus.bench.harness.timing import Contender, in_turn
from saltus.bench.worlds.scenes import WORLDS, Scene, start
from saltus.errors import SaltusError
from saltus.model.load import load
from saltus.model.model import Model
from saltus.simulate.simulation import Simulation
from saltus.terminal import screen

TIMED_SECONDS = 0.5  # s of MuJoCo's steps in a timing, about
FEWEST, MOST = 3, 100  # steps of a timing


def say(**facts: Any) -> None:
    """Print a line of JSON, in which nan is null."""
    plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in facts.items()}
    print(json.dumps(plain), flush=True)


class Settled(peers.Setup):
    """A world on both sides, at the state that MuJoCo has reached."""

    warming = 2
    integrator = None

    def __init__(self, model: Model, scene: Scene, data: mujoco.MjData):
        super().__init__(model, scene.name)
        self.start = peers.starting(self.mujoco, np.array(data.qpos), np.array(data.qvel))


def of_mujoco(scene: Scene) -> mujoco.MjData:
    """Load and settle with MuJoCo; report time and memory.

    The world settles by conjugate gradients, which take less time for a large heap than factoring its Hessian does.
    """
    memory, began = PeakMemory(), time.process_time()
    m = mujoco.MjModel.from_xml_string(scene.xml)  # type: ignore
    loading = time.process_time() - began
    say(mujoco_loading=loading)
    m.opt.solver = mujoco.mjtSolver.mjSOL_CG.value
    data = start(scene, m)
    steps = round(scene.settle / m.opt.timestep)
    mujoco.mj_step(m, data, steps)
    peers.require_sound(scene.name, data.qpos, data.time, steps * m.opt.timestep)
    say(mujoco_memory=memory.growth(), dof=int(m.nv))
    return data


def of_saltus(scene: Scene, data: mujoco.MjData) -> tuple[Settled, Simulation]:
    """Load and compile; report time and memory of each."""
    memory, began = PeakMemory(), time.process_time()
    model = load(scene.xml)
    loading = time.process_time() - began
    simulation = Simulation(model)
    making = time.process_time() - began - loading
    say(loading=loading, making=making, memory=memory.growth())
    setup = Settled(model, scene, data)
    setup.put(simulation, setup.start)
    began = time.perf_counter()
    simulation.step()
    first = time.perf_counter() - began
    began = time.perf_counter()
    simulation.step()
    say(compiling=max(0.0, first - (time.perf_counter() - began)), memory_compiling=memory.growth())
    return setup, simulation


def compare(setup: Settled, simulation: Simulation, repeats: int, least: float) -> None:
    """Time steps from the same state, in turn."""
    data = setup.data()
    setup.begin(data, setup.start)
    began = time.process_time()
    setup.advance(data, FEWEST)
    steps = int(np.clip(round(TIMED_SECONDS * FEWEST / (time.process_time() - began)), FEWEST, MOST))
    sides: dict[str, Any] = {"mujoco": data, "saltus": simulation}
    found = in_turn(
        [_contender(setup, *side, steps) for side in sides.items()],
        repeats=repeats,
        least=least,
        clock=time.process_time,
    )
    peer, own = found["mujoco"], found["saltus"]
    say(peer=peer.median, saltus=own.median, ratio=own.ratio_to(peer), steps=steps)
    after = {name: state.qvel.copy() for name, state in _after_a_step(setup, sides)}
    scale = max(abs(after["mujoco"] - setup.start.qvel).max(), 1e-300)
    say(difference=float(abs(after["saltus"] - after["mujoco"]).max() / scale))
    for name, state in sides.items():
        contacts, rows, iterations, _ = counts(state)
        say(**{f"{name}_counts": [int(contacts), int(rows), float(iterations)]})


def compare_threads(setup: Settled, alone: Simulation, threads: int, repeats: int, least: float) -> None:
    """Time steps by one thread and by several, in turn, by the wall clock, and compare the bits."""
    if threads < 2 or "threads" not in alone.engine.m.layout.features:
        return
    sides = {"alone": alone, "together": Simulation(alone.model, threads=threads)}
    found = in_turn(
        [_contender(setup, *side, MOST) for side in sides.items()],
        repeats=repeats,
        least=least,
        clock=time.perf_counter,
    )
    same = _bits_of_steps(setup, sides["alone"]) == _bits_of_steps(setup, sides["together"])
    one, several = found["alone"], found["together"]
    say(threads=threads, alone=one.median, together=several.median, same_bits=same)


def _bits_of_steps(setup: Settled, state: Simulation) -> bytes:
    """Velocities after some steps, without the solver's memory of earlier ones."""
    state.reset()
    setup.put(state, setup.start)
    setup.advance(state, FEWEST)
    return state.qvel.tobytes()


def _contender(setup: Settled, name: str, state: Any, steps: int) -> Contender:
    return setup.contender(name, state, setup.start, steps, steps)


def _after_a_step(setup: Settled, sides: dict[str, Any]) -> Any:
    for name, state in sides.items():
        setup.put(state, setup.start)
        setup.advance(state, 1)
        yield name, state


def main() -> None:
    """Measure the world that the argument names."""
    given = json.loads(sys.argv[1])
    with screen.collected_warnings() as warnings:
        scene = WORLDS[given["world"]](**given["arguments"])
        say(bodies=scene.bodies)
        try:
            setup, simulation = of_saltus(scene, of_mujoco(scene))
            compare(setup, simulation, given["repeats"], given["least"])
            compare_threads(setup, simulation, given.get("threads", 1), given["repeats"], given["least"])
        except SaltusError as error:
            say(failed=str(error))
    say(warnings=warnings, done=True)


if __name__ == "__main__":
    main()
