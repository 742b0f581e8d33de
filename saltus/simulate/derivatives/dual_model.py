"""The kernels' Model with tangents along parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.compile.constraints.hard import LEAST_FRICTION, HardLaw, declares_static_friction, law_order
from saltus.model.compile.kernel_model import NO_LAWS, why_all_pairs, with_laws
from saltus.model.layout import model_layout
from saltus.model.vary.columns import Column
from saltus.model.vary.tangents import model_tangents
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.simulate.derivatives.parameter_columns import CONTROL, LAW, step_columns
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.coefficients import Coefficients

_BEGINS = "without friction there is none, and its effect would begin with a kink"
_TANGENT = 1  # part of a dual, after its value


class DualModel:
    """The kernels' Model of an engine in dual numbers, whose tangents are set along groups of `NTANGENT` parameters.

    columns: the parameters. m: the Model; of plain numbers if no parameter belongs to it. tangents: of its fields, by
    name [..., columns of the group], for each group.
    """

    def __init__(self, engine: Engine, names: Sequence[str], words: frozenset[str] = frozenset()):
        """`words`: features of the Model in addition to those of the engine's laws."""
        self.columns = step_columns(engine, names)
        self.names = tuple(column.name for column in self.columns)
        laws = engine.laws._replace(sleeps=False)
        of_model = frozenset(x for column in self.columns if not _elsewhere(column) for x in column.stored_in)
        listed = why_all_pairs(laws, of_model)
        kind = "dual" if any(column.field != CONTROL for column in self.columns) else "float64"
        base = _values(engine.model.struct(kind, engine.law_timestep, NO_LAWS, of_model, listed))
        plain = with_laws(base, laws)
        self.m = Struct(model_layout(plain.layout.features | words), plain.sizes, kind)
        for name, view in self.m.views.items():
            if view.size:
                self.m.fill(name, plain.views[name])
        self.groups = [self.columns[k : k + NTANGENT] for k in range(0, len(self.columns), NTANGENT)]
        self.tangents = [_of_group(engine, base, of_model, group) for group in self.groups]

    def seed(self, d: Struct, group: int | None) -> None:
        """Set the tangents of the Model, and of the controller's parameters in `d`, along a group; None: clear them."""
        names = {name for tangents in self.tangents for name in tangents}
        for name in names:
            self.m.views[name][..., _TANGENT, :] = 0.0
        parameters = d.views[CONTROL]
        if parameters.size:
            parameters[:, _TANGENT] = 0.0
        if group is None:
            return
        for name, values in self.tangents[group].items():
            self.m.views[name][..., _TANGENT, : values.shape[-1]] = values
        for row, (_, field, place) in enumerate(self.groups[group]):
            if field == CONTROL:
                parameters[place, _TANGENT, row] = 1.0

    def check(self, P: NDArray[np.float64]) -> None:
        """OptionError for columns of P [..., columns] that depend on derivatives that do not exist."""
        for k in np.flatnonzero(np.isnan(P).any(axis=0)):
            tangents = self.tangents[k // NTANGENT]
            unknown = [name for name, values in tangents.items() if np.isnan(values[..., k % NTANGENT]).any()]
            if unknown:
                raise OptionError(f"{self.columns[k].name} has no derivative here: {_reason(unknown)}")


def _values(m: Struct) -> Struct:
    """A Model of plain numbers, from one of duals."""
    if m.kind != "dual":
        return m
    plain = Struct(m.layout, m.sizes)
    for name, view in plain.views.items():
        view[...] = m.views[name] if m.layout.fields[name].kind == "int" else m.views[name][..., 0, 0]
    return plain


def _elsewhere(column: Column) -> bool:
    """Whether a parameter is no field of MuJoCo's model, but of the controller or of the hard contact law."""
    return column.field == CONTROL or column.field.startswith(LAW)


def _of_group(
    engine: Engine, base: Struct, vary: frozenset[str], group: Sequence[Column]
) -> dict[str, NDArray[np.float64]]:
    """Tangents of the kernels' fields along the columns of a group: by field, [..., columns].

    `base`: the Model without the engine's laws, of plain numbers; `vary`: the fields of all groups.
    """
    own = [k for k, column in enumerate(group) if not _elsewhere(column)]
    tangents: dict[str, NDArray[np.float64]] = {}
    if own:
        timestep = engine.model.opt.timestep if engine.law_timestep is None else engine.law_timestep
        varied = engine.model.struct(timestep=engine.law_timestep, vary=vary)
        for name, value in model_tangents(engine.model, [group[k] for k in own], timestep, varied).items():
            tangents[name] = np.zeros((*value.shape[1:], len(group)))
            tangents[name][..., own] = np.moveaxis(value, 0, -1)
        if engine.hard is not None:
            tangents |= _under_hard(base, engine.hard, tangents, group)
    for k, column in enumerate(group):
        if column.field.startswith(LAW):
            for name, value in _of_law(base, engine, column.field.removeprefix(LAW)).items():
                tangents.setdefault(name, np.zeros((*value.shape, len(group))))[..., k] += value
    return tangents


# ------------------------------------------------------------ the hard contact law


def _under_hard(
    base: Struct, law: HardLaw, tangents: dict[str, NDArray[np.float64]], group: Sequence[Column]
) -> dict[str, NDArray[np.float64]]:
    """Tangents of the fields of laws [laws of the hard Model, ..., columns], from those of the model's own laws."""
    order, first, last = law_order(base)
    found = {name: value[order] for name, value in tangents.items() if name.startswith("law_")}
    if "law_friction" in found:
        given = np.asarray(law.friction, float)
        sliding = found["law_friction"][first:last]
        none = np.isnan(given) & (base.views["law_friction"][order][first:last, 0] <= LEAST_FRICTION)
        for k in np.flatnonzero((sliding[none, 0] != 0.0).any(axis=0)).tolist():
            raise OptionError(f"{group[k].name} has no derivative here: {_BEGINS}")
        sliding[~np.isnan(given), :2] = 0.0
        # equal in all directions
        sliding[:, 1], sliding[:, 4] = sliding[:, 0], sliding[:, 3]
        if declares_static_friction(base):
            static = found.setdefault("law_static", np.zeros((len(order), len(group))))
            _as_sliding(base, law, static, found["law_friction"])
    return found


def _as_sliding(base: Struct, law: HardLaw, static: NDArray[np.float64], sliding: NDArray[np.float64]) -> None:
    """static [laws of the hard Model, ...] ← the tangents of sliding friction where static friction is not above it."""
    order, first, last = law_order(base)
    given = np.asarray(law.friction, float)
    friction = base.views["law_friction"][order, 0].copy()
    friction[first:last] = np.where(np.isnan(given), friction[first:last], given)
    alike = base.views["law_static"][order] <= friction
    static[alike] = sliding[alike, 0]


def _of_law(base: Struct, engine: Engine, name: str) -> dict[str, NDArray[np.float64]]:
    """Derivatives of fields of laws by a coefficient of `Hard`, in which they are linear."""
    order, first, last = law_order(base)
    restitution, friction, limits, tangential = _slopes(engine.law, name, engine.model)
    found: dict[str, NDArray[np.float64]] = {key: np.zeros(len(order)) for key in ("law_restitution", "law_tangential")}
    found["law_restitution"][first:last], found["law_restitution"][last:] = restitution, limits
    found["law_tangential"][first:last] = tangential
    found["law_friction"] = np.zeros((len(order), 5))
    found["law_friction"][first:last, :2] = np.nan_to_num(friction)[:, None]
    if engine.hard is not None and declares_static_friction(base):
        found["law_static"] = np.zeros(len(order))
        _as_sliding(base, engine.hard, found["law_static"], found["law_friction"])
    return found


def _slopes(law: Any, name: str, model: Any) -> list[NDArray[np.float64]]:
    """Derivatives of the coefficients of pairs and limits, in the order of `Coefficients`, by a number of `Hard`."""
    at: list[Coefficients] = [replace(law, **{name: x}).coefficients(model) for x in (0.0, 1.0)]
    return [one[0] - zero[0] for zero, one in zip(*at, strict=True)]


def _reason(unknown: Sequence[str]) -> str:
    """Why fields of the kernels' Model have no derivatives."""
    if any(name.startswith("law_") for name in unknown):
        return (
            "it is equal to a bound, or to the value of the other geom in a contact, of which the larger counts; let "
            "them differ, or give one geom the priority"
        )
    return "constants of tendons that wrap, and of muscles on balls and sites, have no derivatives by geometry"
