"""MuJoCo and Saltus, set up alike: one model, no constraints, semi-implicit Euler, the same start."""

from __future__ import annotations

from typing import Any

import mujoco
import mujoco.batch
import numpy as np

from saltus.bench.timing import Contender
from saltus.errors import SaltusError
from saltus.model.features import IGNORABLE
from saltus.model.load import load
from saltus.simulate.batch import Batch
from saltus.simulate.simulation import Simulation

SEED = 1
ALIKE_STEPS = 10  # after which both peers are still at the same place


class Setup:
    """A model for both, and a start that moves.

    `spread`: standard deviation of the start's positions (rad, m) and velocities (rad/s, m/s) about the model's own.
    """

    def __init__(self, model: Any, *, spread: float = 0.3):
        flags = mujoco.mjtDisableBit
        whole = load(model, ignore=list(IGNORABLE))
        self.name = whole.name
        self.mujoco = whole.mujoco
        # MuJoCo computes sensors in each step, Saltus does not
        self.mujoco.opt.disableflags |= flags.mjDSBL_CONSTRAINT.value | flags.mjDSBL_SENSOR.value
        self.mujoco.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER.value
        self.model = load(self.mujoco, ignore=list(IGNORABLE))
        self.timestep = float(self.model.opt.timestep)
        self.spread = spread
        self.ctrl = np.zeros(self.model.nu)
        rng = np.random.default_rng(SEED)
        self.qvel = spread * rng.normal(size=self.model.nv)
        self.qpos = self.model.qpos0.copy()
        mujoco.mj_integratePos(self.mujoco, self.qpos, spread * rng.normal(size=self.model.nv), 1.0)

    def simulation(self) -> Simulation:
        """Saltus's, at the start."""
        sim = Simulation(self.model, "euler")
        self.put(sim)
        return sim

    def data(self) -> mujoco.MjData:
        """MuJoCo's, at the start."""
        data = mujoco.MjData(self.mujoco)
        self.put(data)
        return data

    def put(self, state: Any) -> None:
        """Go to the start."""
        state.time = 0.0
        state.qpos[:] = self.qpos
        state.qvel[:] = self.qvel
        state.ctrl[:] = self.ctrl

    def difference(self) -> float:
        """Largest difference of a position or velocity between the peers after a few steps."""
        sim, data = self.simulation(), self.data()
        sim.step(ALIKE_STEPS)
        mujoco.mj_step(self.mujoco, data, ALIKE_STEPS)
        return float(max(abs(sim.qpos - data.qpos).max(), abs(sim.qvel - data.qvel).max()))


def single(setup: Setup, steps: int) -> list[Contender]:
    """One simulation: `mj_step(m, d, n)` and `Simulation.step(n)`; a unit is a step."""
    sim, data = setup.simulation(), setup.data()
    return [
        Contender("mujoco", lambda: setup.put(data), lambda: mujoco.mj_step(setup.mujoco, data, steps), steps),
        Contender("saltus", lambda: setup.put(sim), lambda: sim.step(steps), steps),
    ]


def batches(setup: Setup, n: int, steps: int, threads: int) -> list[Contender]:
    """n simulations at once: `mujoco.batch.Batch` and `saltus.Batch`; a unit is a step of one of them on one core."""
    units = n * steps / threads
    rng = np.random.default_rng(SEED)
    qvel = setup.qvel + 0.3 * setup.spread * rng.normal(size=(n, setup.model.nv))
    qpos = np.tile(setup.qpos, (n, 1))
    peer = mujoco.batch.Batch(setup.mujoco, n, nthread=threads)

    def begin(batch):
        def put():
            batch.time, batch.qpos, batch.qvel = 0.0, qpos, qvel

        return put

    contenders = [Contender("mujoco", begin(peer), lambda: peer.step(nstep=steps), units)]
    for precision in ("float64", "float32"):
        own = Batch(setup.model, n, threads=threads, precision=precision, integrator="euler")
        contenders.append(Contender(f"saltus {precision}", begin(own), lambda own=own: own.step(steps), units))
    for contender in contenders:
        contender.begin()
        contender.work()
    for name, batch in (("mujoco", peer), ("saltus", own)):
        what = f"{setup.name}, batch of {name}"
        require_motion(what, np.asarray(batch.qpos), qpos, np.asarray(batch.time), steps * setup.timestep)
    return contenders


def derivatives(setup: Setup) -> tuple[list[Contender], float]:
    """Derivatives of a step: `mjd_transitionFD` (forward differences) and `linearize`; and their largest difference.

    A unit is one pair of matrices A, B.
    """
    sim, data = setup.simulation(), setup.data()
    m = setup.mujoco
    size = 2 * m.nv + m.na
    A, B = np.zeros((size, size)), np.zeros((size, m.nu))
    out: dict[str, np.ndarray] = {}

    def differences():
        mujoco.mjd_transitionFD(m, data, 1e-6, False, A, B, None, None)

    def duals():
        out["A"], out["B"] = sim.linearize()

    contenders = [
        Contender("mujoco", lambda: setup.put(data), differences, 1),
        Contender("saltus", lambda: setup.put(sim), duals, 1),
    ]
    for contender in contenders:
        contender.begin()
        contender.work()
    apart = max(float(abs(x - y).max(initial=0.0)) for x, y in ((A, out["A"]), (B, out["B"])))
    return contenders, apart


def require_motion(what: str, after: np.ndarray, before: np.ndarray, time: Any, expected: float) -> None:
    """A benchmark of numbers that are not finite, or of something at rest, would say nothing.

    MuJoCo starts anew when a state diverges; its clock (s) tells.
    """
    if not np.isfinite(after).all() or not np.allclose(time, expected, rtol=1e-4):
        raise SaltusError(f"{what}: the motion diverged in the timed steps")
    if np.allclose(after, before, rtol=0, atol=1e-9):
        raise SaltusError(f"{what}: nothing moved in the timed steps")
