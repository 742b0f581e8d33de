"""A model with fields that differ between simulations: MuJoCo's values, and the kernels' fields derived from them."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.compile.constraints.constraints import safe_timestep
from saltus.model.model import Model
from saltus.model.vary.fields import check_names, check_values, needs_constants, value_of
from saltus.model.vary.stack import Stack, constants, put
from saltus.model.vary.values import kernel_values
from saltus.number.structs import Struct


class VariedModel:
    """Values of fields of MuJoCo's model for n simulations: `fields`, by name, [n, ...], which may be written to.

    `rows` [groups, rows, width]: the kernels' fields that follow from them, each number by the lanes of its group.
    `places` [rows]: places in the memory of the kernels' Model. Written values take effect with `update`. `nominal`:
    nominal values of fields of which `fields` holds changed copies.
    """

    def __init__(self, model: Model, names: Sequence[str], n: int, groups: int, timestep: float | None, struct: Struct):
        self.model, self.n, self._struct = model, n, struct
        self._m = copy.copy(model.mj_model)  # to be written to
        if model.muscles:
            raise OptionError("vary: laws of muscles that replace those of actuators cannot vary")
        self.names = check_names(self._m, names)
        self._with_constants = needs_constants(self.names)
        # time constants are not limited by the steps of adaptive integrators
        self._safe = safe_timestep(self._m, float(model.opt.timestep if timestep is None else timestep))
        self.fields: dict[str, NDArray[np.float64]] = {}
        for name in self.names:
            value = np.asarray(value_of(self._m, name), float)
            self.fields[name] = np.broadcast_to(value, (n, *value.shape)).copy()
        self.nominal: dict[str, NDArray[np.float64]] = {}
        self._seen = {name: values.copy() for name, values in self.fields.items()}
        for name in self.names:
            alone = Stack(model.mj_model, {name: self.fields[name][:1]})
            if not (needs_constants([name]) or kernel_values(alone, struct, model.left_out, self._safe)):
                raise OptionError(f"vary: nothing in the model reads {name}")
        one = np.zeros(1, int)
        self._first = first = self._derived(one, self._of(one), whole=True)
        starts = {name: int(struct.ints[struct.layout.slot[name]]) for name in first}
        width = struct.views[next(iter(first))].shape[-1]
        self.places = np.concatenate([starts[name] + width * np.arange(value[0].size) for name, value in first.items()])
        self.rows = np.zeros((groups, len(self.places), width), struct.real.dtype)
        self._write(np.arange(groups * width), {})

    def update(self) -> NDArray[np.int64]:
        """Apply values that were written into `fields`; returns the numbers of the simulations concerned.

        Written values also become the nominal values of fields that have them. OptionError for invalid values.
        """
        written = {name: values != self._seen[name] for name, values in self.fields.items()}
        index = np.flatnonzero(np.any([x.reshape(self.n, -1).any(axis=1) for x in written.values()], axis=0))
        if not len(index):
            return index
        self._write(index, self._derived(index, self._of(index)))
        for name, values in self.fields.items():
            self._seen[name][index] = values[index]
            if name in self.nominal:
                self.nominal[name][written[name]] = values[written[name]]
        return index

    def numbers_for(self, index: NDArray[np.int64], others: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """`rows` [simulations, rows] of the simulations with these numbers, for the given values of fields.

        Fields have the values [simulations, ...] in `others`, otherwise the present ones.
        """
        return self._flat(index, self._derived(index, self._of(index) | dict(others)))

    def replace(self, index: NDArray[np.int64], others: Mapping[str, NDArray[np.float64]]) -> None:
        """Replace values of fields in simulations whose `rows` already follow from the new values."""
        for name, values in others.items():
            self.fields[name][index] = self._seen[name][index] = values

    def fill_spare_lanes(self) -> None:
        """Give lanes beyond n the values of the first simulation."""
        width = self.rows.shape[-1]
        spare = np.arange(self.n, len(self.rows) * width)
        self.rows[spare // width, :, spare % width] = self.rows[0, :, 0]

    def take(self, other: "VariedModel", i: int) -> None:
        """Give all simulations the values of simulation i of another varied model."""
        width = self.rows.shape[-1]
        for name, values in self.fields.items():
            values[:] = self._seen[name][:] = other.fields[name][i]
        self.rows[:] = other.rows[i // width, :, i % width, None]

    def changed_model(self, i: int) -> Model:
        """The model of simulation i by itself."""
        self.update()
        m = copy.copy(self.model.mj_model)
        put(m, self.fields, i)
        if self._with_constants:
            mujoco.mj_setConst(m, mujoco.MjData(m))
        return self.model.with_values_of(m, {})

    def _of(self, index: np.ndarray) -> dict[str, np.ndarray]:
        """The values of the simulations with these numbers."""
        return {name: values[index] for name, values in self.fields.items()}

    def _derived(
        self, index: np.ndarray, values: Mapping[str, np.ndarray], whole: bool = False
    ) -> dict[str, np.ndarray]:
        """The kernels' fields of the simulations with these numbers, derived from values of MuJoCo's fields.

        Unless `whole`, fields that are equal to the model's own in all simulations are left out.
        """
        arrays: dict[str, Any] = dict(values)
        for name, given in values.items():
            check_values(self.model.mj_model, name, given, index)
        if self._with_constants:
            arrays |= constants(self._m, arrays)
        if not whole:
            arrays = {name: given for name, given in arrays.items() if self._differs(name, given)}
        return kernel_values(Stack(self.model.mj_model, arrays), self._struct, self.model.left_out, self._safe)

    def _differs(self, name: str, values: np.ndarray) -> bool:
        """Whether values of a field of MuJoCo's model [n, ...] differ anywhere from the model's own."""
        return name.startswith("stat.") or bool((values != value_of(self.model.mj_model, name)).any())

    def _write(self, index: np.ndarray, values: dict[str, np.ndarray]) -> None:
        width = self.rows.shape[-1]
        self.rows[index // width, :, index % width] = self._flat(index, values)

    def _flat(self, index: np.ndarray, values: dict[str, np.ndarray]) -> np.ndarray:
        """Numbers [simulations, rows] of as many simulations, with those of the model for fields without values."""
        flat = np.empty((len(index), len(self.places)))
        at = 0
        for name, own in self._first.items():
            given = values.get(name, own)
            flat[:, at : at + own.size] = given.reshape(len(given), own.size)
            at += own.size
        return flat
