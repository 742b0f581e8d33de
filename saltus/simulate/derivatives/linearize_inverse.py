"""Derivatives of constrained inverse dynamics, exact to rounding, by dual numbers.

Of rigid trees these are the derivatives of the recursive Newton-Euler algorithm (Carpentier & Mansard, Analytical
derivatives of rigid body dynamics algorithms (2018)); soft constraints add theirs, as forces that are functions of the
acceleration.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.contact.mujoco.collision import attach
from saltus.errors import OptionError
from saltus.model.layout import DATA
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.simulate.analysis.inverse_forces import OF_STEPS, check_inverse, given_accelerations
from saltus.simulate.derivatives.linearize import STATE
from saltus.simulate.derivatives.parameter_columns import CONSTANT, constant_normals, touching
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking

_TANGENT = 1  # part of a dual, after its value


class InverseLinearization(NamedTuple):
    """Derivatives of the forces of inverse dynamics: dτ = dqfrc_dqpos dq + dqfrc_dqvel dv + dqfrc_dqacc da.

    Row i belongs to the force of degree of freedom i (N, N m); changes dq of positions are along the axes of qvel.
    """

    dqfrc_dqpos: NDArray[np.float64]
    """[nv, nv] by the positions (N/m, N/rad, N m/m, N m/rad)."""
    dqfrc_dqvel: NDArray[np.float64]
    """[nv, nv] by the velocities (N s/m, N s/rad, N m s/m, N m s/rad)."""
    dqfrc_dqacc: NDArray[np.float64]
    """[nv, nv] by the accelerations: the inertia with armature, and what constraints add (kg, kg m, kg m²)."""


class InverseTangents:
    """Inverse dynamics of an engine with tangents along positions, velocities and accelerations, and memory for it."""

    def __init__(self, engine: Engine):
        self._engine, sizes = engine, engine.d.sizes
        room = {"control_states": sizes["nact_room"] - sizes["nact"], "control_prm": sizes["ncontrol_prm"]}
        self._d = Struct(DATA, engine.integrator.data_sizes(engine.m.sizes, tangents=True, **room), "dual")
        attach(engine.model, self._d)
        self._qacc = np.zeros(engine.model.nv)

    def linearize(self, qacc: NDArray[np.float64], discrete: bool) -> InverseLinearization:
        """Derivatives at the present state and at accelerations qacc [nv]."""
        engine, nv = self._engine, self._engine.model.nv
        found = np.zeros((nv, 3 * nv))
        engine.prepare()
        with peeking(engine):
            self._take_over(qacc)
            start = [engine.d.views[name].copy().reshape(-1) for name in ("qpos", "qvel", "act", "ctrl")]
            for column, count in self._groups():
                self._seed(start, column, count)
                if discrete:
                    OF_STEPS[engine.integrator.name](engine.m, self._d, engine.timestep)
                else:
                    loops.driving_forces(engine.m, self._d)
                found[:, column : column + count] = self._d.views["qfrc_inverse"][:, _TANGENT, :count]
        self._check_normals()
        return InverseLinearization(found[:, :nv].copy(), found[:, nv : 2 * nv].copy(), found[:, 2 * nv :].copy())

    def _groups(self) -> Iterator[tuple[int, int]]:
        """First column and size of each group of directions: of the state, then of the accelerations."""
        nv = self._engine.model.nv
        for first, last in ((0, 2 * nv), (2 * nv, 3 * nv)):
            for column in range(first, last, NTANGENT):
                yield column, min(NTANGENT, last - column)

    def _take_over(self, qacc: NDArray[np.float64]) -> None:
        """Copy the engine's inputs, without tangents, and accelerations."""
        data = self._engine.d
        self._d.ints[DATA.slot["has_xfrc"]] = data.ints[DATA.slot["has_xfrc"]]
        for name in STATE:
            if np.size(data.views[name]):
                self._d.fill(name, data.views[name])
        self._d.fill("timestep", self._engine.timestep)
        self._qacc = qacc

    def _seed(self, start: Sequence[NDArray[np.float64]], column: int, count: int) -> None:
        """Set tangents along directions column, ... of (dq, dv, da); `start`: qpos, qvel, act, ctrl."""
        engine, own, nv = self._engine, self._d.views, self._engine.model.nv
        none = 2 * nv + engine.m.nact + engine.model.nu  # behind all directions of the state
        loops.seed_run(engine.m, self._d, *start, column if column < 2 * nv else none)
        for name in ("act", "ctrl"):  # a group of the state may reach into theirs
            own[name][:, _TANGENT] = 0.0
        self._d.fill("qacc", self._qacc)
        if column >= 2 * nv:
            rows = np.arange(count)
            own["qacc"][column - 2 * nv + rows, _TANGENT, rows] = 1.0

    def _check_normals(self) -> None:
        """OptionError if a contact has a normal that does not turn in derivatives."""
        engine = self._engine
        if geoms := constant_normals(engine.model.mj_model, touching(engine.m, self._d)):
            raise OptionError(f"linearize_inverse: {CONSTANT.format(geoms)}")


def linearize_inverse(engine: Engine, qacc: Any, discrete: bool = False) -> InverseLinearization:
    """Derivatives of `inverse` by state and accelerations qacc [nv]; see `saltus.Simulation.linearize_inverse`."""
    given = given_accelerations("linearize_inverse", engine, qacc)
    check_inverse("linearize_inverse", engine, discrete)
    if engine.sleeps:
        raise OptionError("linearize_inverse does not support bodies that sleep; leave the sleep flag off")
    if "linearize_inverse" not in engine.memo:
        engine.memo["linearize_inverse"] = InverseTangents(engine)
    made: InverseTangents = engine.memo["linearize_inverse"]
    return made.linearize(given, discrete)
