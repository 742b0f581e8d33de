"""Flat structs: many named arrays in one buffer.

A `Layout` names fields and their shapes. A `Struct` is a layout with sizes and memory: one aligned buffer of numbers of
one kind and one of integers, whose head holds the integer scalars and the offsets of the arrays. For what kernels see
of it, see `saltus.number.struct_types`.
"""

import copy
import hashlib
import math
from collections import namedtuple
from typing import Any

import numpy as np

from saltus.errors import OptionError
from saltus.number.cache.checked import CHECKED
from saltus.number.kinds import NTANGENT, lane32, lane64

#: kind: "real", "int", or "lane" for real numbers of one lane; shape: sizes by name, extents by number.
Field = namedtuple("Field", "kind shape")
_ELEMENT_SHAPE = {
    "float64": (np.float64, ()),
    "float32": (np.float32, ()),
    "lane64": (np.float64, (lane64.width,)),
    "lane32": (np.float32, (lane32.width,)),
    "dual": (np.float64, (2, NTANGENT)),
}


def ints(*names, shape=()):
    """Fields of these names, of whole numbers."""
    return {name: Field("int", shape) for name in names}


def reals(*names, shape=()):
    """Fields of these names, of real numbers."""
    return {name: Field("real", shape) for name in names}


def lane_reals(*names, shape):
    """Fields of these names, of real numbers that belong to one lane: memory for work on one lane after the other."""
    return {name: Field("lane", shape) for name in names}


LANE_KIND = {"float64": "lane64", "float32": "lane32"}  # lanes of numbers of a kind


class Layout:
    """Named fields in order: `fields` maps a name to `Field`.

    `frozen`: kernels never write it. `varied`: fields of real numbers that differ from lane to lane although the others
    are the same in all lanes. `features`: words by which kernels leave out, when they are compiled, what a
    struct of this layout does not need (see `saltus.number.conditions.has`); `narrowed`: a function that gives the
    layout of the same fields with some of the features only, by which, where it can be imported, a layout is pickled.
    """

    def __init__(self, name, fields, frozen=False, features=frozenset(), narrowed=None, varied=frozenset()):
        self._narrowed = narrowed
        self.name, self.fields, self.frozen, self.features = name, fields, frozen, frozenset(features)
        self.varied = frozenset(varied)
        self.slot = {f: i for i, f in enumerate(fields)}  # place of each field's offset (or value) in the head
        self.digest = hashlib.sha256(repr((fields, frozen, sorted(features), *sorted(varied))).encode()).hexdigest()[:8]
        if LAYOUTS.get(name, self).digest != self.digest:
            raise ValueError(f"there is another layout with the name {name!r}")
        LAYOUTS[name] = self

    @property
    def head(self) -> int:
        """Integers before the first array of them: an offset or value for each field, and in checked builds a count."""
        return len(self.fields) * (2 if CHECKED else 1)

    def count_slot(self, field: str) -> int:
        """Place in the head, in checked builds, of the number of a field's elements."""
        return len(self.fields) + self.slot[field]

    def narrowed(self, features):
        """The layout of the same fields with no features but these."""
        return self if self._narrowed is None or features == self.features else self._narrowed(features)

    def __reduce__(self):
        return (_layout_named, (self.name,)) if self._narrowed is None else (self._narrowed, (self.features,))

    def shape(self, field, sizes):
        return tuple(sizes[s] if isinstance(s, str) else s for s in self.fields[field].shape)


LAYOUTS: dict[str, Layout] = {}


def _layout_named(name):
    return LAYOUTS[name]


class Struct:
    """Memory for a layout. Every field is an attribute: a NumPy view, or an int for integer scalars.

    `real` and `ints` are the buffers; `kind` is the kind of number in `real` ("float64", "float32", "lane64", "lane32",
    "dual"), whose lanes or tangents are the last axes of the views.
    """

    def __init__(self, layout, sizes, kind="float64"):
        self.layout, self.sizes, self.kind = layout, dict(sizes), kind
        self._shapes = {name: layout.shape(name, sizes) + self._lanes(name) for name in layout.fields}
        dtype, element = _ELEMENT_SHAPE[kind]
        nreal, nint, place = 0, layout.head, {}
        # what differs from lane to lane comes first, where every register of lanes is aligned
        for name, field in sorted(layout.fields.items(), key=lambda item: item[0] not in layout.varied):
            if field.kind == "int" and not field.shape:
                continue
            place[name] = nint if field.kind == "int" else nreal
            if field.kind == "int":
                nint += math.prod(self._shapes[name])
            else:
                nreal += self._extent(name)
        self.real = aligned_zeros((nreal, *element), dtype)
        self.ints = np.zeros(nint, np.int64)
        self.views = {}
        for name, at in place.items():
            self.ints[layout.slot[name]] = at
            if CHECKED:
                self.ints[layout.count_slot(name)] = math.prod(layout.shape(name, sizes))
            self.views[name] = self._view(name, at)
        for name in layout.fields:
            if name not in place:
                self.ints[layout.slot[name]] = sizes.get(name, 0)

    def _lanes(self, name: str) -> tuple[int, ...]:
        """The extent of a field by lanes, where it differs from lane to lane and the other fields do not."""
        return _ELEMENT_SHAPE[LANE_KIND[self.kind]][1] if name in self.layout.varied else ()

    def _extent(self, name: str) -> int:
        """Rows of `real` that a field takes."""
        count = math.prod(self._shapes[name])
        return -(-count // self._width) if self.layout.fields[name].kind == "lane" else count

    def _view(self, name: str, at: int) -> np.ndarray:
        """A field's memory, which begins with row `at` of its buffer."""
        shape, kind = self._shapes[name], self.layout.fields[name].kind
        if kind == "int":
            return self.ints[at : at + math.prod(shape)].reshape(shape)
        rows = self.real[at : at + self._extent(name)]
        if kind == "lane" and self.kind in LANE_KIND.values():
            return rows.reshape(-1)[: math.prod(shape)].reshape(shape)
        return rows.reshape(shape + rows.shape[1:])

    @property
    def _width(self) -> int:
        """Numbers of one lane in a row of `real`."""
        return _ELEMENT_SHAPE[self.kind][1][0] if self.kind in LANE_KIND.values() else 1

    def __getattr__(self, name: str) -> Any:
        views = self.__dict__.get("views", {})
        if name in views:
            return views[name]
        layout = self.__dict__.get("layout")
        if layout is not None and name in layout.slot:
            return int(self.ints[layout.slot[name]])
        raise AttributeError(name)

    def duplicate(self):
        """Copy with memory of its own."""
        other = Struct(self.layout, self.sizes, self.kind)
        other.real[...], other.ints[...] = self.real, self.ints
        return other

    def sharing(self, own, values):
        """View of the same memory, with fields of its own under the names `own`, and with integers of other `values`.

        Kernels find fields by offsets from the buffers' starts; those of shared integers lead out of its own buffer.
        """
        other = copy.copy(self)
        head = self.layout.head
        other.views = dict(self.views)
        whole = [name for name in own if self.layout.fields[name].kind == "int"]
        other.ints = np.zeros(head + sum(self.views[name].size for name in whole), np.int64)
        other.ints[:head] = self.ints[:head]
        away = (self.ints.ctypes.data - other.ints.ctypes.data) // self.ints.itemsize
        at, other.owned = head, []
        for name, field in self.layout.fields.items():
            slot = self.layout.slot[name]
            if name in whole:
                size = self.views[name].size
                other.views[name] = other.ints[at : at + size].reshape(self.views[name].shape)
                other.ints[slot], at = at, at + size
            elif name in own:
                view = aligned_zeros(self.views[name].shape, self.real.dtype)
                other.views[name] = view
                other.owned.append(view)
                other.ints[slot], rest = divmod(view.ctypes.data - self.real.ctypes.data, self.real.strides[0])
                if rest:
                    raise ValueError("numbers of more than 64 bytes cannot be in two buffers")
            elif field.kind == "int" and field.shape:
                other.ints[slot] += away
        for name, value in values.items():
            other.ints[self.layout.slot[name]] = value
        return other

    def __copy__(self):
        """View of the same memory."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __reduce_ex__(self, protocol):
        # kernels take its alignment for granted, and follow the addresses in it
        raise OptionError(
            "memory of compiled code cannot be copied or pickled; copy the Simulation or Batch that it belongs to"
        )

    def span(self, first, last):
        """Rows of `real` from field `first` to the end of field `last`."""
        start = int(self.ints[self.layout.slot[first]])
        end = int(self.ints[self.layout.slot[last]]) + self._extent(last)
        return slice(start, end)

    def fill(self, name, values):
        """Set a field to plain numbers, the same in every lane, without tangents."""
        view = self.views[name]
        if self.kind == "dual" and self.layout.fields[name].kind != "int":
            view[...] = 0.0
            view[..., 0, 0] = values
        elif self.layout.fields[name].kind == "real" and (self.kind.startswith("lane") or name in self.layout.varied):
            view[...] = np.asarray(values)[..., None]
        else:
            view[...] = values


def aligned_zeros(shape, dtype):
    """Zeros on a 64-byte boundary, as lanes need."""
    dtype = np.dtype(dtype)
    count = math.prod(shape) * dtype.itemsize
    raw = np.zeros(count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count].view(dtype).reshape(shape)
