"""MuJoCo and Saltus, set up alike: one model, semi-implicit Euler, equal starts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import mujoco
import mujoco.batch
import numpy as np

from saltus.bench.harness.timing import Contender
from saltus.errors import SaltusError
from saltus.model.features import IGNORABLE, unsupported
from saltus.model.load import load
from saltus.model.model import Model
from saltus.simulate.batch import Batch
from saltus.simulate.simulation import Simulation

SEED = 1
ALIKE_STEPS = 10  # steps after which both peers are still at the same place
PRECISIONS = ("float64", "float32")
FLAGS = mujoco.mjtDisableBit


class Start(NamedTuple):
    """Initial state of a simulation, or of many: positions, velocities, activations.

    Forces on the joints (N, N m) and controls stay constant.
    """

    qpos: np.ndarray
    qvel: np.ndarray
    force: np.ndarray
    act: np.ndarray
    ctrl: np.ndarray


def starting(m: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray, force: np.ndarray | None = None) -> Start:
    """Make a start, or many, without activations and controls; without forces if none are given."""
    rows = qpos.shape[:-1]
    force = np.zeros_like(qvel) if force is None else force
    return Start(qpos, qvel, force, np.zeros((*rows, m.na)), np.zeros((*rows, m.nu)))


class Setup:
    """A model for both sides, and starts: `start`, and `starts(n)` for batches.

    `warming`: untimed steps with which every timing begins, after which a solver starts from its last solution.
    `integrator`: of Saltus; None: what the model asks for. `scheme`: of MuJoCo, where `_alike` sets it.
    """

    warming = 0
    integrator: str | None = "euler"
    scheme = mujoco.mjtIntegrator.mjINT_EULER

    def __init__(self, model: Model, name: str):
        self.model, self.mujoco, self.name = model, model.mujoco, name
        self.timestep = float(model.opt.timestep)
        self.start = starting(self.mujoco, model.qpos0.copy(), np.zeros(model.nv))

    def starts(self, n: int) -> Start:
        """Starts of n simulations."""
        raise NotImplementedError

    def simulation(self) -> Simulation:
        """Saltus's simulation, at the start."""
        sim = Simulation(self.model, self.integrator)
        self.put(sim, self.start)
        return sim

    def data(self) -> mujoco.MjData:
        """MuJoCo's data, at the start."""
        data = mujoco.MjData(self.mujoco)
        self.put(data, self.start)
        return data

    def put(self, state: Any, start: Start) -> None:
        """Set a simulation or batch of either side to its start."""
        state.time, state.qpos, state.qvel = 0.0, start.qpos, start.qvel
        if start.force.any():
            state.qfrc_applied = start.force
        if start.act.size:
            state.act = start.act
        if start.ctrl.size:
            state.ctrl = start.ctrl

    def advance(self, state: Any, n: int) -> None:
        """Take n steps of a simulation or batch of either side."""
        if n == 0:
            return
        if isinstance(state, mujoco.MjData):
            mujoco.mj_step(self.mujoco, state, n)
        elif isinstance(state, mujoco.batch.Batch):
            state.step(nstep=n)
        else:
            state.step(n)

    def begin(self, state: Any, start: Start) -> None:
        """Get ready for a timing."""
        self.put(state, start)
        self.advance(state, self.warming)

    def contender(self, name: str, state: Any, start: Start, steps: int, units: float) -> Contender:
        """A simulation or batch that is timed for so many steps; SaltusError if its motion is not worth timing."""
        found = Contender(name, partial(self.begin, state, start), partial(self.advance, state, steps), units)
        found.begin()
        found.work()
        expected = (steps + self.warming) * self.timestep
        self.require(f"{self.name}, {name}", np.asarray(state.qpos), start.qpos, state.time, expected)
        return found

    def require(self, what: str, after: np.ndarray, before: np.ndarray, time: Any, expected: float) -> None:
        """Raise SaltusError if the timed motion is not worth timing."""
        require_motion(what, after, before, time, expected)


class Free(Setup):
    """Motion without constraints.

    `spread`: standard deviation of the start's positions (rad, m) and velocities (rad/s, m/s) about the model's own.
    """

    def __init__(self, model: Any, *, spread: float = 0.3):
        whole = load(model, ignore=list(IGNORABLE))
        free = _alike(whole.mujoco, self.scheme)
        free.opt.disableflags |= FLAGS.mjDSBL_CONSTRAINT.value
        super().__init__(load(free, ignore=list(IGNORABLE)), whole.name)
        self.spread = spread
        rng = np.random.default_rng(SEED)
        qpos, qvel = self.model.qpos0.copy(), spread * rng.normal(size=self.model.nv)
        mujoco.mj_integratePos(self.mujoco, qpos, spread * rng.normal(size=self.model.nv), 1.0)
        self.start = starting(self.mujoco, qpos, qvel)

    def starts(self, n: int) -> Start:
        qpos, qvel = (np.tile(x, (n, 1)) for x in self.start[:2])
        rng = np.random.default_rng(SEED)
        return starting(self.mujoco, qpos, qvel + 0.3 * self.spread * rng.normal(size=qvel.shape))

    def difference(self) -> float:
        """Largest difference of a position or velocity between the peers after a few steps."""
        sim, data = self.simulation(), self.data()
        for state in (sim, data):
            self.advance(state, ALIKE_STEPS)
        return float(max(abs(sim.qpos - data.qpos).max(), abs(sim.qvel - data.qvel).max()))


class Constrained(Setup):
    """Motion with every feature that Saltus simulates, from settled states of MuJoCo's simulations.

    `n` simulations move for `settle` seconds from the model's start, each with velocities of its own, of standard
    deviation `spread` (rad/s, m/s), and with forces of its own on its joints, of standard deviation `push` (N m, N).
    `off`: what is switched off for both; `solver`: that both use.
    """

    warming = 2

    def __init__(self, model: Any, n: int, *, spread: float = 0.3, settle: float = 3.0, push: float = 0.0):
        whole = load(model, ignore=list(IGNORABLE))
        constrained = _alike(whole.mujoco, self.scheme)
        self.off = list(dict.fromkeys(feature.kind for feature in unsupported(constrained)))
        switch_off(constrained, self.off)
        super().__init__(load(constrained), whole.name)
        self.solver = ("PGS", "CG", "Newton")[constrained.opt.solver]
        rng = np.random.default_rng(SEED)
        shape = n, self.model.nv
        qpos = self.model.qpos0 if whole.initial_key is None else self.model.key_qpos[whole.initial_key]
        velocities, forces = spread * rng.normal(size=shape), push * rng.normal(size=shape)
        begin = starting(self.mujoco, np.tile(qpos, (n, 1)), velocities, forces)
        peer = mujoco.batch.Batch(self.mujoco, n)
        steps = round(settle / self.timestep)
        self.put(peer, begin)
        self.advance(peer, steps)
        self._starts = starting(self.mujoco, np.array(peer.qpos), np.array(peer.qvel), begin.force)
        require_sound(f"{self.name}, before the timed steps", self._starts.qpos, peer.time, steps * self.timestep)
        self.start = Start(*(x[0] for x in self._starts))

    def starts(self, n: int) -> Start:
        return Start(*(x[:n] for x in self._starts))


def _alike(m: mujoco.MjModel, scheme: mujoco.mjtIntegrator) -> mujoco.MjModel:
    """Let both integrate alike; MuJoCo computes no sensors, as Saltus does not."""
    m.opt.disableflags |= FLAGS.mjDSBL_SENSOR.value
    m.opt.integrator = scheme.value
    return m


def switch_off(m: mujoco.MjModel, kinds: list[str]) -> None:
    """Switch off kinds of features in the model, where they can be."""
    for kind in kinds:
        if kind == "actuator":
            m.opt.disableflags |= FLAGS.mjDSBL_ACTUATION.value
        elif kind == "noslip":
            m.opt.noslip_iterations = 0
        elif kind in ("diagexact", "speculative"):
            m.opt.enableflags &= ~getattr(mujoco.mjtEnableBit, f"mjENBL_{kind.upper()}").value
        elif kind == "fluid":
            m.opt.density = m.opt.viscosity = 0.0
        elif kind == "adhesion":
            m.geom_adhesion[:], m.pair_adhesion[:] = 0.0, 0.0
        elif kind == "tendon":
            for field in ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "armature"):
                getattr(m, f"tendon_{field}")[:] = 0.0


def single(setup: Setup, steps: int) -> list[Contender]:
    """One simulation: `mj_step(m, d, n)` and `Simulation.step(n)`; a unit is a step."""
    sides = {"mujoco": setup.data(), "saltus": setup.simulation()}
    return [setup.contender(name, state, setup.start, steps, steps) for name, state in sides.items()]


def batches(setup: Setup, n: int, steps: int, threads: int, precisions: Sequence[str] = PRECISIONS) -> list[Contender]:
    """n simulations at once: `mujoco.batch.Batch` and `saltus.Batch`; a unit is a step of one of them on one core."""
    sides: dict[str, Any] = {"mujoco": mujoco.batch.Batch(setup.mujoco, n, nthread=threads)}
    for precision in precisions:
        own = Batch(setup.model, n, threads=threads, precision=precision, integrator=setup.integrator)
        sides[f"saltus {precision}"] = own
    starts, units = setup.starts(n), n * steps / threads
    return [setup.contender(name, state, starts, steps, units) for name, state in sides.items()]


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
        Contender("mujoco", partial(setup.begin, data, setup.start), differences, 1),
        Contender("saltus", partial(setup.begin, sim, setup.start), duals, 1),
    ]
    for contender in contenders:
        contender.begin()
        contender.work()
    apart = max(float(abs(x - y).max(initial=0.0)) for x, y in ((A, out["A"]), (B, out["B"])))
    return contenders, apart


def batch_derivatives(setup: Setup, n: int, threads: int, precision: str) -> Contender:
    """Derivatives of a step of n simulations at once, `Batch.linearize`; a unit is those of one of them."""
    batch = Batch(setup.model, n, threads=threads, precision=precision, integrator=setup.integrator)
    begin = partial(setup.begin, batch, setup.starts(n))
    return Contender(f"saltus {precision}", begin, batch.linearize, n)


def require_motion(what: str, after: np.ndarray, before: np.ndarray, time: Any, expected: float) -> None:
    """Raise SaltusError for numbers that are not finite, or for something at rest: timing it would say nothing."""
    require_sound(f"{what}, in the timed steps", after, time, expected)
    if np.allclose(after, before, rtol=0, atol=1e-9):
        raise SaltusError(f"{what}: nothing moved in the timed steps")


def require_sound(what: str, after: np.ndarray, time: Any, expected: float) -> None:
    """Raise unless positions are finite and the clock (s) shows the `expected`: MuJoCo's restarts if it diverges."""
    if not np.isfinite(after).all() or not np.allclose(time, expected, rtol=1e-4):
        raise SaltusError(f"{what}: the motion diverged")
