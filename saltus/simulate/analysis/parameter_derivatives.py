"""Derivatives of one step by parameters of the model and of its controller, by dual numbers in the kernels' Model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.mujoco.collision import attach
from saltus.errors import OptionError
from saltus.model.layout import DATA
from saltus.model.vary.columns import Column
from saltus.model.vary.tangents import model_tangents
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.simulate.analysis.parameter_columns import CONTROL, GEOMETRY, constant_normals, step_columns
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine

_INPUTS = ("eq_active", "history", "mocap_pos", "mocap_quat", "userdata", CONTROL, "qfrc_applied", "xfrc_applied")
_TANGENT = 1  # part of a dual, after its value


class ParameterDerivatives:
    """Derivatives of the steps of an engine by parameters, with memory for them.

    `names`: of the columns. `parameters`: those of the integrator for tangents; `room`: sizes for the controller.
    """

    def __init__(self, engine: Engine, given: Sequence[str], parameters: Sequence[Any], room: dict[str, int]):
        self._columns = step_columns(engine, given)
        self.names = tuple(column.name for column in self._columns)
        self._parameters, self._plain = tuple(parameters), engine.model.mj_model
        of_model = [column for column in self._columns if column.field != CONTROL]
        vary = frozenset(column.field for column in of_model)
        laws = engine.laws._replace(sleeps=False)
        kind = "dual" if of_model else "float64"
        self._m = engine.model.struct(kind, engine.law_timestep, laws, vary)
        if of_model:
            self._m = self._m.duplicate()
        self._d = Struct(DATA, engine.integrator.data_sizes(self._m.sizes, tangents=True, **room), "dual")
        attach(engine.model, self._d)
        self._loop = loops.parameter_tangents(engine.integrator)
        self._tangents = [self._of_group(engine, vary, group) for group in self._groups()]

    def _groups(self) -> list[list[Column]]:
        """The columns, as many at a time as a dual has tangents."""
        return [self._columns[k : k + NTANGENT] for k in range(0, len(self._columns), NTANGENT)]

    def _of_group(self, engine: Engine, vary: frozenset[str], group: list[Column]) -> dict[str, NDArray[np.float64]]:
        """Tangents of the kernels' fields along the columns of a group: by field, [..., columns]."""
        own = [k for k, column in enumerate(group) if column.field != CONTROL]
        if not own:
            return {}
        floats = engine.model.struct(timestep=engine.law_timestep, vary=vary)
        timestep = engine.model.opt.timestep if engine.law_timestep is None else engine.law_timestep
        found = model_tangents(engine.model, [group[k] for k in own], timestep, floats)
        tangents = {name: np.zeros((*value.shape[1:], len(group))) for name, value in found.items()}
        for name, value in found.items():
            tangents[name][..., own] = np.moveaxis(value, 0, -1)
        return tangents

    def begin(self, data: Struct, timestep: float) -> None:
        """Take over the inputs of the step that will be taken on `data`."""
        self._d.ints[DATA.slot["has_xfrc"]] = data.ints[DATA.slot["has_xfrc"]]
        self._d.fill("timestep", timestep)
        for name in _INPUTS:
            self._d.fill(name, data.views[name])

    def matrix(self, data: Struct, start: Sequence[Any], sizes: Sequence[int], timestep: float) -> NDArray[np.float64]:
        """P [2 nv + nact, columns] of the step that `data` has taken.

        `start`: qpos, qvel, act, ctrl and time at its start; `sizes`: of the integrator's memory and of the solver's
        warm start.
        """
        out = np.zeros((2 * self._m.nv + self._m.nact, len(self._columns)))
        for k, (group, tangents) in enumerate(zip(self._groups(), self._tangents, strict=True)):
            views = [self._m.views[name] for name in tangents]
            for view, values in zip(views, tangents.values(), strict=True):
                view[..., _TANGENT, : len(group)] = values
            parameters = self._d.views[CONTROL]
            for row, (_, field, place) in enumerate(group):
                if field == CONTROL:
                    parameters[place, _TANGENT, row] = 1.0
            self._loop(self._m, data, self._d, *start, *sizes, timestep, out, NTANGENT * k, *self._parameters)
            parameters[:, _TANGENT] = 0.0
            for view in views:
                view[..., _TANGENT, :] = 0.0
        self._check(out)
        return out

    def _check(self, out: NDArray[np.float64]) -> None:
        """Raise OptionError for columns that depend on derivatives that do not exist."""
        turned = [column.name for column in self._columns if column.field in GEOMETRY]
        if turned and (geoms := constant_normals(self._plain, self._m, self._d)):
            raise OptionError(
                f"{turned[0]} has no derivative here: the normal of the contact of {geoms}, which is searched, counts "
                "as constant"
            )
        for k in np.flatnonzero(np.isnan(out).any(axis=0)):
            tangents = self._tangents[k // NTANGENT]
            unknown = [name for name, values in tangents.items() if np.isnan(values[..., k % NTANGENT]).any()]
            if unknown:
                raise OptionError(f"{self._columns[k].name} has no derivative here: {_reason(unknown)}")


def _reason(unknown: Sequence[str]) -> str:
    """Why fields of the kernels' Model have no derivatives."""
    if any(name.startswith("law_") for name in unknown):
        return (
            "it is equal to a bound, or to the value of the other geom in a contact, of which the larger counts; let "
            "them differ, or give one geom the priority"
        )
    return "constants of tendons that wrap, and of muscles on balls and sites, have no derivatives by geometry"
