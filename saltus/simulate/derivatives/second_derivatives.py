"""Second derivatives of accelerations and of inverse dynamics without constraints, exact to rounding.

With the residual r(x, a) = M a + c - f of the equations of motion, x = (q, v, w, u, τ), and r(x, a(x)) = 0,

    a_x = -M⁻¹ r_x,    a_xy = -M⁻¹ (r_xy + r_xa a_y + r_ya a_x),

since r is linear in a (Singh, Russell & Wensing, On second-order derivatives of rigid-body dynamics: theory &
implementation, arXiv:2302.06001 (2023), for the rigid-body part). The bracket is the second derivative of r where the
accelerations are a + a_x x. The kernels of the simulation run as plain Python on numbers with all their derivatives
(see `saltus.number.second_order`); nothing is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NBLOCK
from saltus.dynamics.equations import inverse_dynamics
from saltus.dynamics.smooth import applied_forces, position_stage
from saltus.errors import EventError, OptionError
from saltus.integrate.fixed.euler_tangents import SUPPORTED
from saltus.model.enums import BALL, FREE
from saltus.model.layout import DATA
from saltus.number.kernels import interpret
from saltus.number.second_order import SecondOrder, seeds
from saltus.number.symbols import Kind, SymbolicStruct, symbolic_model
from saltus.simulate.derivatives.linearize import STATE
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking
from saltus.spatial.quaternions import quat_multiply

Array = NDArray[np.float64]
_NUMBER: Any = Kind(float, None)
_position_stage, _inverse_dynamics, _applied_forces = map(interpret, (position_stage, inverse_dynamics, applied_forces))
_quat_multiply = interpret(quat_multiply)


@dataclass(frozen=True, eq=False)
class SecondDerivatives:
    """First and second derivatives of accelerations, or of the forces of inverse dynamics, at one state.

    first [nv, n] and second [nv, n, n] are along all n directions, one block after the other; `places` has the
    columns of each: "qpos" and "qvel" [nv], and of accelerations "act" [na], "ctrl" [nu] and "qfrc" [nv], forces that
    are added; of inverse dynamics "qacc" [nv]. SI units. `second` is symmetric in its last two axes.
    """

    first: Array
    second: Array
    places: dict[str, slice]

    def by(self, one: str, other: str | None = None) -> Array:
        """First derivatives [nv, n1] by a block of directions, or second ones [nv, n1, n2] by two blocks.

        OptionError for a name that `places` has not.
        """
        for name in (one, *([] if other is None else [other])):
            if name not in self.places:
                raise OptionError.unknown("block of directions", name, self.places)
        if other is None:
            return self.first[:, self.places[one]]
        return self.second[:, self.places[one], self.places[other]]


def second_derivatives(engine: Engine, qacc: Array) -> SecondDerivatives:
    """First and second derivatives of the accelerations qacc [nv] of the present state.

    OptionError where constraints act or kernels only run compiled, EventError at a kink.
    """
    check_smooth(engine, "second_derivatives")
    nv, nact, nu = engine.model.nv, engine.m.nact, engine.model.nu
    places = _places({"qpos": nv, "qvel": nv, "act": nact, "ctrl": nu, "qfrc": nv})
    with peeking(engine):
        inertia = engine.inertia()
        slope, _ = _derivatives(_residual(engine, qacc, None, places, True), places)
        first = _divided(-slope, inertia)
        _, curvature = _derivatives(_residual(engine, qacc, first, places, True), places)
    second = _divided(-curvature, inertia)
    return _checked(engine, SecondDerivatives(first, second, places))


def second_derivatives_inverse(engine: Engine, qacc: Array) -> SecondDerivatives:
    """First and second derivatives of the forces of inverse dynamics for the accelerations qacc [nv].

    OptionError where constraints act or kernels only run compiled, EventError at a kink.
    """
    check_smooth(engine, "second_derivatives_inverse")
    nv = engine.model.nv
    places = _places({"qpos": nv, "qvel": nv, "qacc": nv})
    with peeking(engine):
        own = np.zeros((nv, 3 * nv))
        own[:, places["qacc"]] = np.eye(nv)
        first, second = _derivatives(_residual(engine, qacc, own, places, False), places)
    return _checked(engine, SecondDerivatives(first, second, places))


def check_smooth(engine: Engine, what: str) -> None:
    """OptionError, which begins with `what`, for an engine whose motion is not smooth, at its present computed state.

    The engine must have computed its present state.
    """
    if engine.law.name != "soft":
        raise OptionError(f"{what}: choose contact='soft'; second derivatives are those of motion without contacts")
    if engine.motions or engine.dynamics is not None or engine.control is not None:
        raise OptionError(
            f"{what} does not support prescribed motions, equations of motion or controllers of users; set sim.ctrl"
        )
    if engine.sleeps:
        raise OptionError(f"{what} does not support bodies that sleep; leave the sleep flag off")
    if lacking := sorted(engine.m.layout.features - SUPPORTED):
        raise OptionError(f"{what}: no second derivatives of models with {', '.join(lacking)}")
    count = engine.d.views["count"]
    if "constraint" in engine.m.layout.features and count[NBLOCK]:
        raise OptionError(
            f"{what}: {int(count[NBLOCK])} constraints act here (contacts, limits, dry friction or equalities), and "
            "second derivatives are those of motion without any; move the state away, or leave them out of the model"
        )


def _places(sizes: dict[str, int]) -> dict[str, slice]:
    """Columns of blocks of directions, one after the other."""
    ends = np.cumsum([0, *sizes.values()])
    return {name: slice(int(a), int(b)) for name, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}


def _residual(engine: Engine, qacc: Array, by: Array | None, places: dict[str, slice], driven: bool) -> list[Any]:
    """M a + c - f [nv] as numbers with derivatives, for accelerations qacc with derivatives `by` [nv, n]; None: none.

    f: passive forces, and where `driven` all others.
    """
    m, d = _structs(engine)
    n = list(places.values())[-1].stop
    _seed_positions(engine, d, n)
    for name in ("qvel", "act", "ctrl"):
        if name in places:
            count = places[name].stop - places[name].start
            d.views[name][:count] = seeds(engine.d.views[name][:count].tolist(), places[name].start, n)
    if "qfrc" in places:
        d.views["qfrc_applied"][:] = seeds(engine.d.views["qfrc_applied"].tolist(), places["qfrc"].start, n)
    none = np.zeros((n, n))
    d.views["qacc"][:] = (
        qacc.tolist() if by is None else [SecondOrder(x, g, none) for x, g in zip(qacc, by, strict=True)]
    )
    _position_stage(m, d, 0)
    _inverse_dynamics(m, d)
    _applied_forces(m, d)
    forces = d.views["qfrc_tau"] if driven else d.views["qfrc_passive"]
    return [force - other for force, other in zip(d.views["qfrc_inverse"], forces, strict=True)]


def _structs(engine: Engine) -> tuple[SymbolicStruct, SymbolicStruct]:
    """Model and Data for plain Python, with the engine's inputs."""
    if "plain_model" not in engine.memo:
        engine.memo["plain_model"] = symbolic_model(engine.m, _NUMBER)
    d = SymbolicStruct(DATA, engine.d.sizes, _NUMBER)
    lists = [name for name, field in DATA.fields.items() if field.kind == "int" and name in engine.d.views]
    for name in (*STATE, *lists):
        if np.size(engine.d.views[name]):
            d.fill(name, engine.d.views[name])
    d.has_xfrc = int(engine.d.ints[DATA.slot["has_xfrc"]])
    return engine.memo["plain_model"], d


def _seed_positions(engine: Engine, d: SymbolicStruct, n: int) -> None:
    """Positions along the axes of qvel: quaternions by the exponential q ∘ (1 - |ω|²/8, ω/2), to second order."""
    mj, qpos, values = engine.model.mj_model, d.views["qpos"], engine.d.views["qpos"].tolist()
    units, none = np.eye(n), np.zeros((n, n))
    for kind, a, i in zip(mj.jnt_type.tolist(), mj.jnt_qposadr.tolist(), mj.jnt_dofadr.tolist(), strict=True):
        shift = 3 if kind == FREE else 0 if kind == BALL else 1
        qpos[a : a + shift] = seeds(values[a : a + shift], i, n)
        if kind in (FREE, BALL):
            first = i + shift
            turning = np.zeros((n, n))
            turning[range(first, first + 3), range(first, first + 3)] = -0.25
            turn = [SecondOrder(1.0, np.zeros(n), turning)]
            turn += [SecondOrder(0.0, 0.5 * units[first + k], none) for k in range(3)]
            qpos[a + shift : a + shift + 4] = _quat_multiply(tuple(values[a + shift : a + shift + 4]), tuple(turn))


def _derivatives(numbers: Sequence[Any], places: dict[str, slice]) -> tuple[Array, Array]:
    """First [nv, n] and second [nv, n, n] derivatives of numbers, 0 of plain ones."""
    n = list(places.values())[-1].stop
    first, second = np.zeros((len(numbers), n)), np.zeros((len(numbers), n, n))
    for k, number in enumerate(numbers):
        if isinstance(number, SecondOrder):
            first[k], second[k] = number.gradient, number.second
    return first, second


def _divided(forces: Array, inertia: Array) -> Array:
    """M⁻¹ forces, along the first axis of an array [nv, ...]."""
    return np.array(np.linalg.solve(inertia, forces.reshape(len(forces), -1)), float).reshape(forces.shape)


def _checked(engine: Engine, found: SecondDerivatives) -> SecondDerivatives:
    """Derivatives that are finite; EventError names a degree of freedom that has none."""
    bad = np.flatnonzero(~np.isfinite(found.second).all(axis=(1, 2)))
    if bad.size:
        raise EventError(
            f"{engine.model.dof_names()[bad[0]]} has no second derivatives here: a force has a kink, such as a damper "
            "of the square of its speed at rest",
            time=engine.time,
        )
    return found
