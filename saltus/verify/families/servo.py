"""Servos: step responses of linear systems in closed form."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import saltus
from saltus.verify.case import Curve, Data, Figure, Result, checks, family

benchmark = family("servo")

ALLOWED = "the integrator's tolerance, 1e-13 a step, over a hundred steps"
TIGHT = (1e-13, 1e-14)
STEP = 0.02


def slide(actuator: str) -> str:
    """Model of 1 kg on a slide without gravity, and an actuator."""
    return f"""<mujoco><option gravity="0 0 0" timestep="{STEP}"/><worldbody>
      <body><joint name="x" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    </worldbody><actuator>{actuator}</actuator></mujoco>"""


def response(sim: saltus.Simulation, steps: int) -> NDArray[np.float64]:
    """x at the start and after each step."""
    path = [float(sim.qpos[0])]
    for _ in range(steps):
        sim.step()
        path.append(float(sim.qpos[0]))
    return np.array(path)


def result(path: NDArray[np.float64], closed: NDArray[np.float64], at: dict[float, float], target: float) -> Result:
    """Response at some times, beside the closed form at all."""
    t = STEP * np.arange(len(path))
    places: Sequence[int] = [round(time / STEP) for time in at]
    found = checks([f"x at {time:g} s" for time in at], path[places], list(at.values()), 1e-11, "m")
    found += checks(["x, furthest from the closed form"], [float(np.max(np.abs(path - closed)))], [0.0], 1e-11, "m")
    curves = [Curve("reached", t, path), Curve("closed form", t[::5], closed[::5], "marks")]
    return Result(found, Figure("t (s)", "x (m)", [*curves, Curve("target", t, np.full(len(t), target), "dashed")]))


@benchmark(
    "servo-position",
    "Position servo",
    source="closed form: x = 1 - e^(-2t) (cos √96 t + 2/√96 sin √96 t)",
    allowed=ALLOWED,
)
def position(data: Data) -> Result:
    """x'' = kp (1 - x) - kv x' with m = 1 kg, kp = 100, kv = 4, from rest at 0; dopri5."""
    sim = saltus.Simulation(slide('<position joint="x" kp="100" kv="4"/>'), "dopri5", tolerance=TIGHT)
    sim.ctrl = 1.0
    path = response(sim, 100)
    t, w = STEP * np.arange(101), np.sqrt(96)
    closed = 1 - np.exp(-2 * t) * (np.cos(w * t) + 2 / w * np.sin(w * t))
    return result(path, closed, {0.1: 0.4050337673621122, 1.0: 1.136092047595601}, 1.0)


@benchmark(
    "servo-pid",
    "PID servo under a load",
    source="closed form: partial fractions of the response of x''' + kd x'' + kp x' + ki x = 0 about the target",
    allowed=ALLOWED,
)
def pid(data: Data) -> Result:
    """x'' = u - 5 N with u = kp e + ki ∫e dt - kd x', m = 1 kg, kp = 100, ki = 50, kd = 10, target 1 m, from rest at
    0: the integral removes the load's offset; dopri5."""
    servo = saltus.PID(100.0, 50.0, 10.0, target=1.0)
    sim = saltus.Simulation(slide('<motor joint="x"/>'), "dopri5", tolerance=TIGHT, control=servo)
    sim.qfrc_applied = -5.0
    path = response(sim, 200)
    # e = 1 - x and its derivatives at first: e, e', e'' = -x''
    roots = np.roots([1, 10, 100, 50])
    amplitudes = np.linalg.solve(np.vander(roots, 3, increasing=True).T, [1.0, 0.0, -(100.0 - 5.0)])
    t = STEP * np.arange(201)
    closed = np.asarray(1 - (np.exp(np.outer(t, roots)) @ amplitudes).real, np.float64)
    return result(path, closed, {0.5: 1.087635183640279, 2.0: 1.000003452772977}, 1.0)
