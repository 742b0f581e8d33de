"""`saltus bench radau`: error and time of `radau` on stiff motions, beside `dopri5` and SciPy's Radau, by tolerance.

SciPy's method is the same Radau IIA of order five, on accelerations of MuJoCo; errors are those at the end against
SciPy's at a tolerance of 1e-11. Absolute tolerances are a hundredth of the relative ones, for all. A batch on one
thread has the time of each of its simulations, which begin at somewhat different speeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import usable_cores
from saltus.bench.harness.timing import Contender, in_turn

if TYPE_CHECKING:
    from saltus.simulate.batch import Batch
    from saltus.simulate.simulation import Simulation

TOLERANCES = (1e-3, 1e-6, 1e-9)
TIGHT = 1e-11  # of the reference, also in steps of at most LONGEST s
LONGEST = 1e-3
DIFFERENCE = 1e-7  # of Jacobians; those that SciPy chooses overflow where nothing depends on a position
OURS = ("radau", "dopri5")
SIMULATIONS, SPREAD = 64, 0.1  # in a batch: their number, and the range of the first velocity (m/s, rad/s)
BATCH = f"radau, batch of {SIMULATIONS}"


@dataclass(frozen=True)
class Scene:
    """A motion from the model's keyframe over a duration (s)."""

    name: str
    xml: str
    duration: float


SOLVER = '<option tolerance="1e-14" iterations="200"/>'  # of contact forces, in both programs
SCENES = (
    Scene(
        "two links, damper of 1e4 N m s/rad",
        f"""<mujoco>{SOLVER}<worldbody><body pos="0 0 1"><joint axis="0 1 0"/>
  <inertial pos="0 0 -.5" mass="1" diaginertia=".1 .1 .1"/>
  <body pos="0 0 -1"><joint axis="0 1 0" stiffness="1e5" damping="1e4"/>
    <inertial pos="0 0 -.2" mass=".5" diaginertia=".01 .01 .01"/></body></body></worldbody>
  <keyframe><key qpos="1 0"/></keyframe></mujoco>""",
        1.0,
    ),
    Scene(
        "two balls come to rest, k/m = 1e6 /s²",
        f"""<mujoco>{SOLVER}<default><geom condim="1" solref="-1e6 -1e4"/></default><worldbody>
  <geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .101"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>
  <body pos="0 0 .303"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="2"/></body></worldbody>
  <keyframe><key/></keyframe></mujoco>""",
        1.0,
    ),
    Scene(
        "a spinning ball falls and rolls, k/m = 1e6 /s²",
        f"""<mujoco>{SOLVER}<default><geom solref="-1e6 -1e4"/></default><worldbody>
  <geom type="plane" size="5 5 .1"/><body><freejoint/><geom size=".1" mass="1"/></body></worldbody>
  <keyframe><key qpos="0 0 .105 1 0 0 0" qvel="1 0 0 0 -5 2"/></keyframe></mujoco>""",
        0.5,
    ),
)


@dataclass(frozen=True)
class Figure:
    """A run: its method and tolerance, error at the end (m, rad; quaternions as they are), steps and seconds.

    Of a batch error and steps are those of its first simulation, which begins as the others of the scene do.
    """

    scene: str
    method: str
    tolerance: float
    error: float
    steps: int
    seconds: float


def bench_radau(*, quick: bool, json_path: Path | None) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    import scipy

    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    figures: list[Figure] = []
    repeats = 3 if quick else 5
    with screen.Activity() as activity, screen.collected_warnings() as said:
        for scene in SCENES[:1] if quick else SCENES:
            figures += measure(scene, repeats, activity.progress(f"measuring {scene.name}"))
            activity.end(f"measuring {scene.name}")
    for warning in said:
        screen.say(f"warning: {warning}")
    about = machine.description(usable_cores())
    print("stiff motions by tolerance: error at the end, steps, and time of a run")
    headers = ("motion", "method", "tolerance", "error", "steps", "time")
    print_table(headers, [_cells(f) for f in figures], left=("motion", "method"))
    print(f"{about['cpu']}; medians of {repeats} repeats in turn; SciPy {scipy.__version__}, MuJoCo {about['mujoco']}")
    if json_path is not None:
        content = {"machine": about, "figures": [asdict(f) for f in figures]}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def _cells(figure: Figure) -> tuple[str, ...]:
    numbers = f"{figure.tolerance:.0e}", f"{figure.error:.1e}", str(figure.steps), f"{figure.seconds * 1e3:.3g} ms"
    return figure.scene, figure.method, *numbers


def measure(scene: Scene, repeats: int, show: Callable[[float], None]) -> list[Figure]:
    """Figures of all methods and tolerances in a scene, timed in turn."""
    reference = scipy_run(scene, TIGHT, LONGEST)[0]
    figures: list[Figure] = []
    for k, tolerance in enumerate(TOLERANCES):
        contenders, ends = [], {}
        for name in OURS:
            sim = simulation(scene, name, tolerance)
            run = partial(sim.run, scene.duration, sample=scene.duration, progress=False)
            contenders.append(Contender(name, partial(sim.reset, 0), run, 1.0))
            sim.reset(0)
            run()
            ends[name] = np.append(sim.qpos, sim.qvel), int(sim.engine.d.views["memory"][2:4].sum())
        batch = side_by_side(scene, tolerance)
        contenders.append(Contender(BATCH, partial(begin, batch), batch.step, SIMULATIONS))
        begin(batch)
        batch.step()
        steps = int(batch.lanes.of(0, "memory")[2:4].sum())
        ends[BATCH] = np.append(batch.qpos[0], batch.qvel[0]), steps
        contenders.append(Contender("SciPy's Radau", lambda: None, partial(scipy_run, scene, tolerance), 1.0))
        ends["SciPy's Radau"] = scipy_run(scene, tolerance)
        times = in_turn(contenders, repeats=repeats, least=0.01)
        for name, (end, steps) in ends.items():
            error = float(np.abs(end - reference).max())
            figures.append(Figure(scene.name, name, tolerance, error, steps, times[name].median))
        show((k + 1) / len(TOLERANCES))
    return figures


def simulation(scene: Scene, method: str, tolerance: float) -> Simulation:
    """The simulation of a scene by a method of ours."""
    from saltus.simulate.simulation import Simulation

    return Simulation(scene.xml, method, tolerance=tolerance)


def side_by_side(scene: Scene, tolerance: float) -> Batch:
    """A batch of the scene on one thread whose single timestep is the run, so that lanes do not wait within it."""
    from saltus.simulate.batch import Batch

    return Batch(scene.xml, SIMULATIONS, "radau", tolerance=tolerance, timestep=scene.duration, threads=1)


def begin(batch: Batch) -> None:
    """Put the first simulation at the scene's start, and the others at somewhat higher speeds."""
    batch.reset(key=0)
    qvel = batch.read("qvel")
    qvel[:, 0] += np.linspace(0.0, SPREAD, batch.n)
    batch.qvel = qvel


def scipy_run(scene: Scene, tolerance: float, longest: float = np.inf) -> tuple[NDArray[np.float64], int]:
    """State [nq + nv] at the end, and accepted steps, of SciPy's Radau on MuJoCo's accelerations."""
    import mujoco
    from scipy.integrate import Radau

    m: Any = mujoco.MjModel.from_xml_string(scene.xml)  # type: ignore
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)

    def slopes(t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        d.qpos[:], d.qvel[:] = y[: m.nq], y[m.nq :]
        mujoco.mj_forward(m, d)
        return np.concatenate([rates(m, d.qpos, d.qvel), d.qacc])

    def jacobian(t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        here = slopes(t, y)
        return np.stack([(slopes(t, y + DIFFERENCE * one) - here) / DIFFERENCE for one in np.eye(len(y))], axis=1)

    start = np.concatenate([d.qpos, d.qvel])
    method = Radau(slopes, 0.0, start, scene.duration, longest, tolerance, tolerance / 100, jacobian)
    steps = 0
    while method.status == "running":
        method.step()
        steps += 1
    return method.y, steps


def rates(m: Any, qpos: NDArray[np.float64], qvel: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rates of positions [nq]: of hinges and slides the velocities, of a free joint's quaternion q ω / 2."""
    import mujoco

    if m.nq == m.nv:
        return qvel
    found = np.zeros(m.nq)
    found[:3] = qvel[:3]
    turn, quat = np.array([0.0, *qvel[3:6]]), np.zeros(4)
    mujoco.mju_mulQuat(quat, qpos[3:7], turn)
    found[3:7] = 0.5 * quat
    return found
