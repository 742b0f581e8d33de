"""Fields of `Simulation.data`, or parts of them, with their tangents: positions, forces, energies, constraint rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import EQUALITY, PYRAMID
from saltus.errors import OptionError
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.record.table.columns import COLUMNS
from saltus.simulate.engine.data import CONSTRAINTS
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.sensing import BODY_FIELDS
from saltus.simulate.running.signals import Signals

Array = NDArray[np.float64]
ROWS = "efc_force"
WITHOUT = ("actuator_moment", "M", "qLD", "qLDiagInv", "qfrc_inverse", "time")  # fields without derivatives here
#: Beginnings of the names of fields that depend on positions and velocities alone.
MOTION = ("x", "geom_", "site_", "subtree_", "ten_", "cinert", "crb", "cdof", "cvel", "energy", "q")
FORCES = ("qfrc_", "qacc")
_VALUE, _TANGENT = 0, 1  # parts of a dual


class DataParts:
    """Numbers of the data, one part after the other.

    of_forces: whether any depends on contacts; reads_sensors, reads_bodies: what must be computed beyond `forward`.
    """

    reads_sensors = False

    def __init__(self, engine: Engine, names: Sequence[str]):
        self._parts: list[tuple[str, NDArray[np.intp], list[str]]] = []
        for name in names:
            self._parts += [(ROWS, np.zeros(0, int), [])] if name == ROWS else _parts(engine, name)
        if not self._parts:
            raise OptionError("linearize_data: name at least one field of the data, such as qacc or xpos[hand]")
        fields = {field for field, _, _ in self._parts}
        self.of_forces = any(f.startswith(FORCES) or not f.startswith(MOTION) for f in fields)
        self.reads_bodies = bool(fields & {*BODY_FIELDS})

    def tangents(self, m: Struct, d: Struct) -> Array:
        """Tangents [r, NTANGENT] of the numbers in a dual Data."""
        found = []
        for field, places, _ in self._parts:
            if field == ROWS:
                found.append(row_forces(m, d)[:, _TANGENT])
            elif not d.views[field].size:  # constraint forces of a model without constraints
                found.append(np.zeros((len(places), NTANGENT)))
            else:
                found.append(d.views[field][..., _TANGENT, :NTANGENT].reshape(-1, NTANGENT)[places])
        return np.concatenate(found)

    def names(self, m: Struct, d: Struct) -> tuple[str, ...]:
        """Names of the numbers."""
        found: list[str] = []
        for field, _, labels in self._parts:
            found += [f"{ROWS}[{k}]" for k in range(len(row_forces(m, d)))] if field == ROWS else labels
        return tuple(found)


def _parts(engine: Engine, name: str) -> list[tuple[str, NDArray[np.intp], list[str]]]:
    """The places and labels that a name means.

    Raises:
        OptionError: there is no such field, or it has no derivatives.
    """
    field = name.partition("[")[0]
    if field in ("sensor", "sensordata"):
        raise OptionError("linearize_data: derivatives of sensors are those of linearize_sensors")
    if field in CONSTRAINTS:
        raise OptionError(f"linearize_data: of contacts and constraint rows only {ROWS} has derivatives, not {field}")
    if field in WITHOUT:
        raise OptionError(f"linearize_data: {field} has no derivatives here; inverse dynamics has linearize_inverse")
    asked = [name]
    if name in COLUMNS and name in engine.d.views:
        asked = [f"{name}[{k}]" for k in range(len(engine.d.views[name]))]
    signals = Signals(engine, asked)
    found = []
    for signal, span in sorted(signals.parts, key=lambda part: part[1].start):
        numbers = np.arange(engine.d.views[signal.field].size).reshape(engine.d.views[signal.field].shape)
        chosen = numbers if signal.rows is None else numbers[(signal.rows, *signal.rest)]
        count = span.stop - span.start  # fields may have room for more
        places = np.arange(count) if signal.rows is None else chosen.ravel()
        found.append((signal.field, places, signals.labels[span]))
    if not found:
        raise OptionError(f"linearize_data: {name} is a column of recordings and no field of the data")
    return found


def row_forces(m: Struct, d: Struct) -> Array:
    """Forces of the constraint rows in MuJoCo's order with their tangents [nefc, 2, NTANGENT]; values in column 0.

    A pyramidal contact is unfolded into its edges, whose force is -D (E r) where that is positive, of residuals r and
    the edges E of the pyramid.
    """
    n = int(d.views["count"][NBLOCK])
    kind, index = d.views["block_kind"][:n], d.views["block_id"][:n]
    order = sorted(range(n), key=lambda b: (0, index[b]) if kind[b] == EQUALITY else (1, b))
    found = [np.zeros((0, 2, NTANGENT))]
    for b in order:
        first, dim = int(d.views["block_row"][b]), int(d.views["block_dim"][b])
        if kind[b] == PYRAMID:
            found.append(_edge_forces(m, d, int(d.views["block_law"][b]), first, dim))
        else:
            found.append(d.views["row_force"][first : first + dim])
    return np.concatenate(found)


def _edge_forces(m: Struct, d: Struct, law: int, first: int, dim: int) -> Array:
    """Forces of the edges of a pyramidal contact [2 (dim - 1), 2, NTANGENT]."""
    friction = m.views["law_friction"][law][: dim - 1]
    if m.kind != "dual":
        friction = np.stack([np.repeat(friction[:, None], NTANGENT, 1), np.zeros((dim - 1, NTANGENT))], axis=1)
    residual, D = d.views["row_residual"][first : first + dim], d.views["row_D"][first]
    out = np.zeros((2 * (dim - 1), 2, NTANGENT))
    for k in range(dim - 1):
        for edge, sign in ((2 * k, 1.0), (2 * k + 1, -1.0)):
            total = residual[0] + sign * _product(friction[k], residual[1 + k])
            if total[_VALUE, 0] < 0.0:
                out[edge] = -_product(D, total)
    return out


def _product(a: Array, b: Array) -> Array:
    """The product of two duals [2, NTANGENT]."""
    value = a[_VALUE, 0] * b[_VALUE, 0]
    return np.stack([np.full(NTANGENT, value), a[_VALUE, 0] * b[_TANGENT] + a[_TANGENT] * b[_VALUE, 0]])
