"""CasADi's scalar expressions as numbers of uncompiled kernels, beside SymPy's and SymEngine's."""

from __future__ import annotations

import operator
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from casadi import SX


def casadi_library():
    """The module casadi. ImportError that says how to install it, where it is missing or broken."""
    try:
        return import_module("casadi")
    except Exception as error:  # whatever a broken installation raises
        absent = isinstance(error, ModuleNotFoundError) and error.name == "casadi"
        why = "" if absent else f" (the one that is found gives {type(error).__name__}: {error})"
        raise ImportError(f"saltus.casadi needs CasADi: pip install 'saltus[casadi]'{why}", name="casadi") from error


class Expression:
    """A scalar expression `sx`, with Python's operators; what NumPy takes for one object.

    A condition that symbols leave open has no truth: kernels may select by it, not branch on it.
    """

    __slots__ = ("sx",)

    def __init__(self, sx: SX):
        self.sx = sx

    @property
    def library(self):
        """Functions of expressions by SymPy's names."""
        return Functions

    def free_symbols(self) -> list[str]:
        """Names of the symbols; kernels' functions know expressions by this attribute."""
        return [str(x) for x in casadi_library().symvar(self.sx)]

    def __bool__(self) -> bool:
        if not self.sx.is_constant():
            raise TypeError(f"whether {str(self.sx)[:80]} holds is open")
        return bool(float(self.sx))

    def __float__(self) -> float:
        return float(self.sx)

    def __neg__(self) -> Expression:
        return Expression(-self.sx)

    def __abs__(self) -> Expression:
        return Expression(abs(self.sx))

    def __repr__(self) -> str:
        return f"Expression({str(self.sx)[:80]})"


def plain(x):
    """An expression or a number as CasADi takes it."""
    return x.sx if isinstance(x, Expression) else x


def _operator(name: str, mirrored: bool) -> None:
    """Give expressions the operator of this name, and its mirrored form."""
    own = getattr(operator, name)
    setattr(Expression, f"__{name}__", lambda a, b: Expression(own(a.sx, plain(b))))
    if mirrored:
        setattr(Expression, f"__r{name}__", lambda a, b: Expression(own(b, a.sx)))


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _operator(_name, mirrored=True)
for _name in ("lt", "le", "gt", "ge"):
    _operator(_name, mirrored=False)


class Functions:
    """CasADi's functions by the names that SymPy's have."""

    @staticmethod
    def sqrt(x):
        """Square root."""
        return Expression(casadi_library().sqrt(plain(x)))

    @staticmethod
    def exp(x):
        """e to the power x."""
        return Expression(casadi_library().exp(plain(x)))

    @staticmethod
    def floor(x):
        """Largest integer not above x."""
        return Expression(casadi_library().floor(plain(x)))

    @staticmethod
    def sin(x):
        """Sine."""
        return Expression(casadi_library().sin(plain(x)))

    @staticmethod
    def cos(x):
        """Cosine."""
        return Expression(casadi_library().cos(plain(x)))

    @staticmethod
    def atan2(y, x):
        """Angle of the point (x, y) from the x-axis."""
        return Expression(casadi_library().atan2(plain(y), plain(x)))

    @staticmethod
    def Piecewise(first, other):
        """The first of (value, condition), (value, True) whose condition holds."""
        (a, condition), (b, _) = first, other
        return Expression(casadi_library().if_else(plain(condition), plain(a), plain(b)))


def expressions(vector: SX) -> list[Expression]:
    """The entries of a vector."""
    return [Expression(vector[k]) for k in range(vector.numel())]


def matrix(array) -> SX:
    """A vector or matrix of numbers and expressions as CasADi's, sparse where entries are the number 0."""
    library = casadi_library()
    rows = np.array(array, object)
    rows = rows.reshape(len(rows), -1)
    return library.sparsify(library.vertcat(*(library.horzcat(*map(plain, row)) for row in rows)))
