"""Symbols, the fourth kind of number: structs of expressions through which uncompiled kernels run.

    m = symbolic_model(model.struct(), keep=["body_mass"])
    d = symbolic_data(DATA, data_sizes(model.sizes()))
    trace(bias, m, d)                               # d.qfrc_bias[0] is now an expression in qpos_0, ...

Expressions are SymPy's ("sympy") or SymEngine's ("symengine"), which is many times faster and converts to SymPy by
`sympy.sympify`. Numbers become the fractions that they were meant to be, so that what cancels on paper cancels here.
A comparison that symbols leave open makes `where` a `Piecewise`; where a kernel branches on one, Python refuses.
"""

import itertools
import math
from collections import namedtuple
from fractions import Fraction

import numpy as np
import symengine
import sympy

from saltus.number.kernels import interpret

# ---------------------------------------------------------------- elementary functions of expressions


def library_of(*numbers):
    """The library that names its functions as SymPy does: that of an expression with a `library`, SymEngine, or SymPy.

    Expressions of further libraries have the attributes `library` and `free_symbols`.
    """
    own = next((x.library for x in numbers if hasattr(x, "library")), None)
    return own or (symengine if any(isinstance(x, symengine.Basic) for x in numbers) else sympy)


def sqrt(x):
    """Square root."""
    return library_of(x).sqrt(x)


def exp(x):
    """e to the power x."""
    return library_of(x).exp(x)


def floor(x):
    """Largest integer not above x."""
    return library_of(x).floor(x)


def sincos(x):
    """(sin x, cos x)."""
    library = library_of(x)
    return library.sin(x), library.cos(x)


def atan2(y, x):
    """Angle of the point (x, y) from the x-axis."""
    return library_of(y, x).atan2(y, x)


def where(condition, a, b):
    """a or b if the condition is decided, else both."""
    return library_of(condition).Piecewise((a, condition), (b, True))


def any_lane(condition):
    """Whether the condition may hold: an open one counts as true."""
    try:
        return bool(condition)
    except TypeError:
        return True


# ---------------------------------------------------------------- exact numbers


def simple_fraction(x, limit):
    """The simplest fraction p/q (a convergent) within two roundings of a float; None if p q is not below the limit."""
    exact = abs(Fraction(x))
    before, p, q = (0, 1), 1, 0
    rest = exact
    while True:
        whole = math.floor(rest)
        before, p, q = (p, q), whole * p + before[0], whole * q + before[1]
        if max(p, 1) * q >= limit:
            return None
        if abs(Fraction(p, q) - exact) <= 2 * math.ulp(x) and (p or not x):
            return Fraction(p if x > 0 else -p, q)
        rest = 1 / (rest - whole)


def _exact(library):
    """Floats as what they were meant to be: simple fractions, roots of simpler ones, or else their shortest decimals.

    0.25 is 1/4, 9.81 is 981/100, 1.0 / 12.0 is 1/12, 0.7071067811865476 is sqrt(2)/2. Of numbers that mean none of
    these, one in about 1e4 is mistaken for one, and moves by two roundings.
    """

    def rational(f):
        return library.Rational(f.numerator, f.denominator)

    def number(x):
        x = float(x)
        if not math.isfinite(x):
            return library.nan if math.isnan(x) else library.oo if x > 0 else -library.oo
        f = simple_fraction(x, 10**12)
        if f is None and 1e-3 < abs(x) < 1e3:
            square = simple_fraction(x * x, 10**6)
            if square is not None:
                return library.sqrt(rational(square)) * (1 if x > 0 else -1)
        return rational(Fraction(repr(x)) if f is None else f)

    return number


def _rounded(library, real):
    """Floats as floats of a library, whole numbers as integers: zeros and ones must still vanish."""

    def number(x):
        return library.Integer(int(x)) if math.isfinite(x) and x == int(x) else real(x)

    return number


def _real_symbol(name):
    return sympy.Symbol(name, real=True)


# number: makes an element from a float; symbol: makes a symbol from its name, None where there are none
Kind = namedtuple("Kind", "number symbol")
KINDS = {
    "sympy": Kind(_exact(sympy), _real_symbol),
    "symengine": Kind(_exact(symengine), symengine.Symbol),
    "sympy_float": Kind(_rounded(sympy, sympy.Float), _real_symbol),
    "symengine_float": Kind(_rounded(symengine, symengine.RealDouble), symengine.Symbol),
    "float": Kind(float, None),
}


# ---------------------------------------------------------------- structs of expressions


class SymbolicField:
    """An array field as kernels see it: one index gives a number, or a row as a tuple; two give a number of a row.

    Indices are checked, which compiled kernels do not do.
    """

    def __init__(self, name, array):
        self._name, self._array = name, array

    def _checked(self, index):
        ok = np.ndim(index) == 0 or len(index) <= self._array.ndim
        if not ok or not all(0 <= i < n for i, n in zip(np.atleast_1d(index), self._array.shape, strict=False)):
            raise IndexError(f"{self._name}[{index}] is outside the field's shape {self._array.shape}")
        return index

    def __getitem__(self, index):
        value = self._array[self._checked(index)]
        return tuple(value) if isinstance(value, np.ndarray) else value

    def __setitem__(self, index, value):
        index = self._checked(index)
        if isinstance(self._array[index], np.ndarray) and len(value) != self._array.shape[1]:
            raise ValueError(f"{self._name}[{index}] takes {self._array.shape[1]} numbers")
        self._array[index] = value

    def __len__(self):
        return len(self._array)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype=dtype)

    def __repr__(self):
        return f"{self._name}: {self._array.tolist()}"


class SymbolicStruct:
    """A struct for uncompiled kernels: what `Struct` is for compiled ones, with any objects as numbers.

    Every field is an attribute: a `SymbolicField`, or the number itself for scalars, which can be assigned. `views`
    holds the fields' object arrays. `kind` is a name in `KINDS` or a `Kind`; all numbers start as its 0.
    """

    def __init__(self, layout, sizes, kind="symengine"):
        kind = KINDS[kind] if isinstance(kind, str) else kind
        views, scalars = {}, {}
        for name, field in layout.fields.items():
            shape = layout.shape(name, sizes)
            if shape:
                views[name] = np.full(shape, kind.number(0.0) if field.kind != "int" else 0, object)
            else:
                scalars[name] = kind.number(0.0) if field.kind != "int" else int(sizes.get(name, 0))
        self.__dict__.update(layout=layout, sizes=dict(sizes), kind=kind, views=views, _scalars=scalars)
        self.__dict__["_fields"] = {name: SymbolicField(name, view) for name, view in views.items()}

    def __getattr__(self, name):
        for part in ("_fields", "_scalars"):
            if name in self.__dict__.get(part, ()):
                return self.__dict__[part][name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if name not in self._scalars:
            raise AttributeError(f"{name} cannot be assigned")
        self._scalars[name] = value

    def fill(self, name, values):
        """Set an array field or a scalar to plain numbers."""
        convert = self.kind.number if self.layout.fields[name].kind != "int" else int
        if name in self._scalars:
            self._scalars[name] = convert(values)
            return
        view = self.views[name]
        values = np.broadcast_to(values, view.shape)
        for index in np.ndindex(view.shape):
            view[index] = convert(values[index])

    def name(self, field, names=None, zeros=True):
        """Put symbols into a real field, called field_0, field_1, ... (field_0_2 in rows) or as `names` says in order.

        Without `zeros`, entries that are zero stay so. Returns {symbol: what was there}.
        """
        put = {}
        view = self.views[field]
        names = iter(names) if names is not None else ("_".join(map(str, (field, *i))) for i in np.ndindex(view.shape))
        for index, name in zip(np.ndindex(view.shape), names, strict=True):
            if zeros or view[index] != 0:
                symbol = self.kind.symbol(name)
                put[symbol], view[index] = view[index], symbol
        return put


def symbolic_model(struct, kind="symengine", keep=()):
    """The numbers of a `Struct` of floats as a `SymbolicStruct`; the fields in `keep` become symbols where not zero.

    A kept field stands for itself alone: what else was computed from it (`body_inv_subtreemass` from `body_mass`)
    keeps its numbers unless it is assigned. `values` of the result is {symbol: number}.
    """
    out = SymbolicStruct(struct.layout, struct.sizes, kind)
    for name in struct.layout.fields:
        out.fill(name, getattr(struct, name))
    values = itertools.chain.from_iterable(out.name(field, zeros=False).items() for field in keep)
    out.__dict__["values"] = dict(values)
    return out


def symbolic_data(layout, sizes, kind="symengine", fields=("qpos", "qvel", "ctrl")):
    """A `SymbolicStruct` of zeros with symbols in the given fields: qpos_0, qpos_1, ..."""
    out = SymbolicStruct(layout, sizes, kind)
    for field in fields:
        out.name(field)
    return out


def trace(kernel, model, data, *arguments):
    """Run a kernel uncompiled on symbolic structs; the constants in its source become numbers of the data's kind."""
    return interpret(kernel, data.kind.number)(model, data, *arguments)
