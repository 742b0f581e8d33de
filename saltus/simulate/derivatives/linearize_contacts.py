"""Derivatives of contact forces at one state, exact to rounding, by dual numbers.

Forces of soft contacts follow from the implicit function theorem at the solution of the constraint problem (see
`saltus.simulate.derivatives.linearize_sensors`), those of hard ones from the linear problem of the active set.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NCON
from saltus.number.components import tangent_of, value_of
from saltus.number.kernels import entry, kernel
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.sense.forces import contact_force
from saltus.simulate.derivatives.linearize_sensors import sensor_tangents
from saltus.simulate.engine.engine import Engine

Array = NDArray[np.float64]
PARTS = ("force normal", "force tangent1", "force tangent2", "torque normal", "torque tangent1", "torque tangent2")


@dataclass(frozen=True, eq=False)
class ContactLinearization:
    """Derivatives of contact forces f at one state, which unpack as C, D, P: df = C (dq, dv, dw) + D du + P dp.

    dq are changes of positions along the axes of qvel, dw of the states of actuators, dp of the parameters `names`. The
    contacts are those of `sim.data.contact`, in its order; derivatives of those without force are zero.
    """

    C: Array
    """[ncon, 6, 2 nv + na] by the state, in SI units."""
    D: Array
    """[ncon, 6, nu] by the controls."""
    P: Array
    """[ncon, 6, k] by the parameters."""
    names: tuple[str, ...]
    """[k] the parameters: "body_mass[ball]", "geom_friction[floor][0]"."""
    force: Array
    """[ncon, 6] force (N) and torque (N m) on the second geom, along the rows of the contact's frame: normal, two
    tangents, as `mj_contactForce` gives them."""

    def __iter__(self) -> Iterator[Array]:
        return iter((self.C, self.D, self.P))


# ---------------------------------------------------------------- reading


@entry
def read_forces(m, d, out):
    """Forces and torques of all contacts of a dual Data into out [ncon, 6, 1 + NTANGENT]: value, then tangents."""
    for k in range(d.count[NCON]):
        force, torque = contact_force(m, d, k)
        for i in range(3):
            store(out, k, i, force[i])
            store(out, k, 3 + i, torque[i])


@kernel(inline=True)
def store(out, k, i, number):
    """Write a dual number into a row of `out`."""
    out[k, i, 0] = value_of(number)
    for t in range(NTANGENT):
        out[k, i, 1 + t] = tangent_of(number, t)


class ContactParts:
    """Forces of the contacts of a dual Data, with their tangents. force [ncon, 6]: the values at the last state."""

    of_forces, reads_sensors, reads_bodies = True, False, False

    def __init__(self) -> None:
        self.force = np.zeros((0, 6))

    def tangents(self, m: Struct, d: Struct) -> Array:
        """Tangents [6 ncon, NTANGENT] of the forces."""
        out = np.zeros((_count(m, d), 6, 1 + NTANGENT))
        if len(out):
            read_forces(m, d, out)
        self.force = out[..., 0].copy()
        return out[..., 1:].reshape(-1, NTANGENT)

    def names(self, m: Struct, d: Struct) -> tuple[str, ...]:
        """Names [6 ncon] of the numbers."""
        return tuple(f"contact[{k}] {part}" for k in range(_count(m, d)) for part in PARTS)


def _count(m: Struct, d: Struct) -> int:
    """Number of contacts."""
    return int(d.views["count"][NCON]) if m.nconmax else 0


def linearize_contacts(engine: Engine, parameters: Sequence[str]) -> ContactLinearization:
    """Derivatives of contact forces at the present state; see `saltus.Simulation.linearize_contacts`."""
    read = ContactParts()
    found = sensor_tangents(engine).linearize(read, tuple(parameters))
    C, D, P = (part.reshape(len(part) // 6, 6, part.shape[1]) for part in found)
    return ContactLinearization(C, D, P, found.names, read.force)
