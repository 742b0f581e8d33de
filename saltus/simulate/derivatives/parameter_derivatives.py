"""Derivatives of one step by parameters of the model and of its controller, by dual numbers in the kernels' Model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.mujoco.collision import attach
from saltus.model.layout import DATA
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.simulate.derivatives.dual_model import DualModel
from saltus.simulate.derivatives.parameter_columns import (
    CONTROL,
    GEOMETRY,
    constant_normal,
    constant_normals,
    touching,
)
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine

_INPUTS = ("eq_active", "history", "plastic", "mocap_pos", "mocap_quat", "userdata", CONTROL, "qfrc_applied")
_INPUTS += ("xfrc_applied",)


class ParameterDerivatives:
    """Derivatives of the steps of an engine by parameters, with memory for them.

    `names`: of the columns. `parameters`: those of the integrator for tangents; `room`: sizes for the controller.
    """

    def __init__(self, engine: Engine, given: Sequence[str], parameters: Sequence[Any], room: dict[str, int]):
        self._model = DualModel(engine, given)
        self.names, self._m = self._model.names, self._model.m
        self._parameters, self._plain = tuple(parameters), engine.model.mj_model
        self._d = Struct(DATA, engine.integrator.data_sizes(self._m.sizes, tangents=True, **room), "dual")
        attach(engine.model, self._d)
        self._loop = loops.parameter_tangents(engine.integrator)

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
        out = np.zeros((2 * self._m.nv + self._m.nact, len(self.names)))
        for k in range(len(self._model.groups)):
            self._model.seed(self._d, k)
            self._loop(self._m, data, self._d, start, sizes, timestep, out, NTANGENT * k, *self._parameters)
        self._model.seed(self._d, None)
        self._check_normals()
        self._model.check(out)
        return out

    def _check_normals(self) -> None:
        """OptionError for columns that turn normals that count as constant."""
        turned = [column.name for column in self._model.columns if column.field in GEOMETRY]
        if turned and (geoms := constant_normals(self._plain, touching(self._m, self._d))):
            raise constant_normal(turned[0], geoms)
