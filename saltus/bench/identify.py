"""`saltus bench identify`: identification from the same noisy motion beside MuJoCo's sysid, in this process, in turn.

An arm with motors moves in MuJoCo; both know its start, and both fit positions and velocities over the whole motion,
from the same wrong values and within the same bounds. sysid takes its derivatives by finite differences.
"""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MISSING = "MuJoCo's sysid: not measured, it is not installed; pip install 'mujoco[sysid]'"
EVERY, NOISE = 5, (1e-3, 1e-2)  # steps from sample to sample; rad and rad/s
LENGTHS = (0.4, 0.3, 0.25, 0.2)  # m
TRUE, START, BOUNDS = (0.2, 0.15, 0.1, 0.05), 0.3, (0.001, 1.0)  # N m s/rad, of the joints
MASSES, FIRST, RANGE = (2.0, 1.5, 1.0, 0.6), 1.2, (0.2, 4.0)  # kg, of the links


@dataclass(frozen=True)
class Figure:
    """One side. `seconds`: of CPU time. `rollouts`: of the whole motion. `error`: root mean square, relative."""

    name: str
    seconds: float
    rollouts: float
    error: float
    values: dict[str, float]


def bench_identify(*, quick: bool, json_path: Path | None) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.bench.harness.timing import Contender, in_turn
    from saltus.record.files.atomic_write import check_writable, write_whole

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    links, duration, repeats = (2, 1.0, 3) if quick else (4, 4.0, 5)
    log, found = recorded(links, duration), dict[str, tuple[dict[str, float], float]]()
    sides: dict[str, Callable[[int, dict[str, Array]], tuple[dict[str, float], float]]] = {"saltus": by_saltus}
    if has_sysid():
        sides["sysid"] = by_sysid
    else:
        print(MISSING)

    def contender(name: str) -> Contender:
        return Contender(name, lambda: None, lambda: found.__setitem__(name, sides[name](links, log)), 1)

    timings = in_turn([contender(name) for name in sides], repeats=repeats, least=0.0, clock=time.process_time)
    figures = []
    for name, (values, rollouts) in found.items():
        errors = [values[key] / value - 1 for key, value in true_values(links).items()]
        figures.append(Figure(name, timings[name].median, rollouts, float(np.sqrt(np.mean(np.square(errors)))), values))
    about = machine.description(1)
    print(f"{2 * links} parameters of an arm of {links} joints, from {duration:g} s of noisy positions and velocities")
    rows = [(f.name, f"{f.seconds:.3g} s", f"{f.rollouts:.0f}", f"{f.error:.1e}") for f in figures]
    print_table(("", "CPU time", "rollouts", "error of values"), rows, left=("",))
    print(f"{about['cpu']}; medians of {repeats} repeats; a rollout with tangents counts once for each group")
    if json_path is not None:
        content = {"machine": about, "figures": [asdict(f) for f in figures]}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def has_sysid() -> bool:
    """Whether MuJoCo's sysid is there with all that it needs."""
    try:
        import mujoco.sysid
    except ImportError:
        return False
    return hasattr(mujoco.sysid, "optimize")


def arm(links: int, masses: tuple[float, ...], damping: tuple[float, ...]) -> str:
    """MJCF of an arm that hangs from its first hinge, with a motor and sensors for each hinge."""
    bodies, place = "", 0.0
    for k, (length, mass, b) in enumerate(zip(LENGTHS[:links], masses, damping, strict=False)):
        bodies += (
            f'<body name="link{k}" pos="0 0 {place}"><joint name="joint{k}" axis="0 1 0" damping="{b}" armature=".02"/>'
            f'<inertial pos="0 0 {-length / 2}" mass="{mass}" diaginertia=".01 .01 .002"/>'
        )
        place = -length
    motors = "".join(f'<motor name="motor{k}" joint="joint{k}"/>' for k in range(links))
    sensors = "".join(
        f'<joint{what} name="{what}{k}" joint="joint{k}"/>' for what in ("pos", "vel") for k in range(links)
    )
    return (
        f'<mujoco><option timestep=".002" integrator="implicitfast"/><worldbody>{bodies}{"</body>" * links}</worldbody>'
        f"<actuator>{motors}</actuator><sensor>{sensors}</sensor></mujoco>"
    )


def true_values(links: int) -> dict[str, float]:
    """The values by which the motion was made."""
    return {f"body_mass[link{k}]": MASSES[k] for k in range(links)} | {
        f"dof_damping[joint{k}]": TRUE[k] for k in range(links)
    }


def recorded(links: int, duration: float, seed: int = 0) -> dict[str, Array]:
    """Samples of MuJoCo's motion under held torques, noisy but for the start: time, qpos, qvel, ctrl; see `NOISE`."""
    m = mujoco.MjModel.from_xml_string(arm(links, MASSES, TRUE))  # type: ignore
    d, random = mujoco.MjData(m), np.random.default_rng(seed)
    rates, phases = random.uniform(2, 9, (links, 3)), random.uniform(0, 6, (links, 3))
    rows = []
    for _ in range(round(duration / (EVERY * m.opt.timestep)) + 1):
        d.ctrl[:] = np.sin(rates * d.time + phases).sum(axis=1) * np.array([3.0, 2.0, 1.0, 0.5])[:links]
        rows.append((d.time, d.qpos.copy(), d.qvel.copy(), d.ctrl.copy()))
        mujoco.mj_step(m, d, EVERY)
    times, qpos, qvel, ctrl = (np.array(part) for part in zip(*rows, strict=True))
    for values, size in zip((qpos, qvel), NOISE, strict=True):
        values[1:] += size * random.normal(size=values[1:].shape)
    return {"time": times, "qpos": qpos, "qvel": qvel, "ctrl": ctrl}


def by_saltus(links: int, log: dict[str, Array]) -> tuple[dict[str, float], float]:
    """Values and rollouts of `saltus.identify`, from the known start over the whole motion."""
    from saltus.inverse.identification.identify import identify

    start = arm(links, (FIRST,) * links, (START,) * links)
    bounds = {name: RANGE if name.startswith("body") else BOUNDS for name in true_values(links)}
    fit = identify(start, log, bounds, window=float(log["time"][-1]), estimate_start=False, holdout=0.0)
    return fit.values, fit.rollouts


def by_sysid(links: int, log: dict[str, Array]) -> tuple[dict[str, float], float]:
    """Values and rollouts of MuJoCo's sysid, by its own optimizer, residuals over the size of the noise."""
    from mujoco import sysid

    spec = mujoco.MjSpec.from_string(arm(links, (FIRST,) * links, (START,) * links))
    m, count = spec.compile(), 0
    steps = np.repeat(log["ctrl"][:-1], EVERY, axis=0)
    times = m.opt.timestep * np.arange(len(steps) + 1)
    control = sysid.TimeSeries(times, np.vstack([steps, log["ctrl"][-1:]]))
    readings = np.hstack([log["qpos"], log["qvel"]])[1:]
    measured = sysid.TimeSeries.from_names(log["time"][1:], readings, m)
    begin = sysid.create_initial_state(m, log["qpos"][0], log["qvel"][0], np.zeros(0))
    sequences = sysid.ModelSequences("arm", spec, "motion", begin, control, measured)
    parameters = sysid.ParameterDict()
    for name, value in true_values(links).items():
        of_mass = name.startswith("body")
        low, high = RANGE if of_mass else BOUNDS
        parameters.add(sysid.Parameter(name, value, low, high, modifier=_setter(name)))
        parameters[name].value[:] = FIRST if of_mass else START

    def rolled(**given: Any) -> Any:
        nonlocal count
        count += len(given["models"])
        given.pop("param_dicts")
        return sysid.sysid_rollout(**given)

    def missed(_: Any, predicted: Any, data: Any, *rest: Any, state: Array, **named: Any) -> Any:
        """Residuals of states at the samples' times: readings in a rollout are those of the step before."""
        found = state[EVERY - 1 :: EVERY, 1 : 1 + 2 * links]
        return (found - readings) / np.repeat(NOISE, links), measured, measured

    residual = sysid.build_residual_fn(
        models_sequences=[sequences],
        custom_rollout=rolled,
        modify_residual=missed,
        n_threads=1,
        resample_true=False,
    )
    with contextlib.redirect_stdout(io.StringIO()):  # its optimizer prints each iteration
        found, _ = sysid.optimize(parameters, residual, optimizer="mujoco", verbose=False)
    return {name: float(found[name].value[0]) for name in true_values(links)}, float(count)


def _setter(name: str) -> Callable[[Any, Any], None]:
    """Writer of a parameter into a spec."""
    field, _, place = name.removesuffix("]").partition("[")

    def write(spec: Any, parameter: Any) -> None:
        if field == "body_mass":
            spec.body(place).mass = parameter.value[0]
        else:
            spec.joint(place).damping = np.array([[parameter.value[0]], [0.0], [0.0]])

    return write
