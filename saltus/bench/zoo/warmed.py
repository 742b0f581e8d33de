"""States of a model that differ between simulations: MuJoCo's own, each after a different time.

A simulation begins at the first keyframe, or at the model's reference position if there is none, with small random
velocities. Each moves for a different number of steps, under controls that change at random, and keeps the last
of them from then on. So contacts, activations and velocities differ between simulations in one register.
"""

from __future__ import annotations

from typing import Any

import mujoco
import mujoco.batch
import numpy as np

from saltus.bench.harness.peers import SEED, Setup, Start, require_sound
from saltus.errors import SaltusError
from saltus.model.load import load
from saltus.model.model import Model

BLOCK = 20  # steps with the same controls
FEWEST = 4  # blocks of the shortest motion; the next is a block longer
SPREAD = 0.05  # spread of the velocities at the beginning (m/s, rad/s)
WIDTHS = (1.0, 0.1, 0.0)  # scales of the random parts: the next is tried where MuJoCo's motion diverges
ENABLE, DISABLE = mujoco.mjtEnableBit, mujoco.mjtDisableBit


class Warmed(Setup):
    """A model as its file says, integrator and solver included, and n states to begin from.

    `width`: of the random controls, as a part of their range, and of the velocities at the beginning, as one of SPREAD.
    `counts` [n, 3]: contacts, rows and solver iterations of MuJoCo at the states. `off`: computations that only MuJoCo
    makes in a step, switched off.
    """

    warming = 2
    integrator = None

    def __init__(self, model: Model, n: int):
        alike, self.off = without_extras(model.mujoco)
        super().__init__(load(alike), model.name)
        for width in WIDTHS:
            found = self._moved(n, width)
            if found is not None:
                break
        else:
            raise SaltusError("MuJoCo's simulation diverges, even without random controls and velocities")
        self.width, self._starts = width, found
        self.counts = self._counted()
        middle = np.argsort(self.counts[:, 0], kind="stable")[n // 2]
        self.start = Start(*(x[middle] for x in self._starts))

    def starts(self, n: int) -> Start:
        return Start(*(x[:n] for x in self._starts))

    def require(self, what: str, after: np.ndarray, before: np.ndarray, time: Any, expected: float) -> None:
        require_sound(f"{what}, in the timed steps", after, time, expected)

    def _moved(self, n: int, width: float) -> Start | None:
        """States reached by MuJoCo; None if one of them diverges on the way."""
        m = self.mujoco
        rng = np.random.default_rng(SEED)
        blocks = FEWEST + rng.permutation(n)
        peer = mujoco.batch.Batch(m, n, nthread=1)
        first, middle = _beginning(m)
        velocities = first.qvel + width * SPREAD * rng.normal(size=(n, m.nv))
        self.put(peer, Start(np.tile(first.qpos, (n, 1)), velocities, *(np.tile(x, (n, 1)) for x in first[2:])))
        ctrl = np.tile(middle, (n, 1))
        try:
            for block in range(blocks.max()):
                moving = np.flatnonzero(blocks > block)
                ctrl[moving] = random_controls(m, middle, width, rng, n)[moving]
                peer.ctrl = ctrl
                peer.step(moving, nstep=BLOCK)
            qpos, qvel, act = (np.array(x, float) for x in (peer.qpos, peer.qvel, peer.act))
            require_sound("", np.hstack([qpos, qvel, act]), peer.time / (blocks * BLOCK), self.timestep)
        except (SaltusError, mujoco.batch.SimulationError):
            return None
        return Start(qpos, qvel, np.zeros((n, m.nv)), act, ctrl)

    def _counted(self) -> np.ndarray:
        data = mujoco.MjData(self.mujoco)
        found = []
        for start in zip(*self._starts, strict=True):
            self.put(data, Start(*start))
            mujoco.mj_forward(self.mujoco, data)
            found.append((data.ncon, data.nefc, int(np.max(data.solver_niter)) if data.nefc else 0))
        return np.array(found, float)


def without_extras(m: mujoco.MjModel) -> tuple[mujoco.MjModel, list[str]]:
    """The model without computations that MuJoCo makes in each step and Saltus on demand, and their names."""
    off = []
    if m.nsensor:
        m.opt.disableflags |= DISABLE.mjDSBL_SENSOR.value
        off.append("sensors")
    for name, flag in (("energy", ENABLE.mjENBL_ENERGY), ("fwdinv", ENABLE.mjENBL_FWDINV)):
        if m.opt.enableflags & flag.value:
            m.opt.enableflags &= ~flag.value
            off.append(name)
    return m, off


def _beginning(m: mujoco.MjModel) -> tuple[Start, np.ndarray]:
    """Start of all motions, and the controls there."""
    data = mujoco.MjData(m)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, data, 0)
    qpos, qvel, act, ctrl = (np.array(x) for x in (data.qpos, data.qvel, data.act, data.ctrl))
    return Start(qpos, qvel, np.zeros(m.nv), act, ctrl), ctrl


def random_controls(m: mujoco.MjModel, middle: np.ndarray, width: float, rng: np.random.Generator, n: int) -> Any:
    """Controls [n, nu], uniform in a part of their range about `middle`; controls without a range move by 1 at most."""
    low, high = m.actuator_ctrlrange.T
    limited = m.actuator_ctrllimited.astype(bool)
    low, high = np.where(limited, low, middle - 1.0), np.where(limited, high, middle + 1.0)
    return middle + width * (rng.uniform(low, high, (n, m.nu)) - middle)
