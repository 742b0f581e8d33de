"""Functions that users' code may call, and what stands for them in kernels."""

import builtins
import math
import operator
from typing import Any

import numpy as np

from saltus.number import functions
from saltus.number.python import local_arrays, numbers, selection

#: Kernels in place of functions of one or more numbers; the arguments stay.
DIRECT: list[tuple[Any, Any]] = [
    (builtins.abs, numbers.magnitude),
    (builtins.float, numbers.number),
    (builtins.int, numbers.whole),
    (builtins.bool, selection.truth),
    (builtins.round, numbers.rounded),
    (builtins.pow, numbers.of_pow),
    (operator.pow, numbers.of_pow),
    (operator.mod, numbers.of_mod),
    (functions.where, selection.select),
    (np.where, selection.select),
    (np.minimum, numbers.least),
    (np.maximum, numbers.most),
    (np.clip, numbers.limited),
    (np.abs, numbers.magnitude),
    (np.fabs, numbers.magnitude),
    (np.sign, numbers.sign),
    (np.rint, numbers.rounded),
    (np.round, numbers.rounded),
    (np.mod, numbers.of_mod),
    (np.fmod, numbers.of_fmod),
    (np.float_power, numbers.of_pow),
    (np.power, numbers.of_pow),
    (np.floor_divide, numbers.of_floordiv),
    (np.logical_and, selection.both),
    (np.logical_or, selection.either),
    (np.logical_not, selection.negated),
    (math.fabs, numbers.magnitude),
]
#: Names in `math` and NumPy of functions that are called the same in both.
_OF_BOTH = {
    "sqrt": functions.sqrt,
    "exp": functions.exp,
    "floor": functions.floor,
    "ceil": numbers.ceil,
    "trunc": numbers.trunc,
    "sin": numbers.of_sin,
    "cos": numbers.of_cos,
    "tan": numbers.of_tan,
    "sinh": numbers.of_sinh,
    "cosh": numbers.of_cosh,
    "tanh": numbers.of_tanh,
    "log": numbers.of_log,
    "log2": numbers.of_log2,
    "log10": numbers.of_log10,
    "log1p": numbers.of_log1p,
    "expm1": numbers.of_expm1,
    "hypot": numbers.of_hypot,
    "copysign": numbers.of_copysign,
    "isnan": numbers.isnan,
    "isfinite": numbers.isfinite,
    "degrees": numbers.degrees,
    "radians": numbers.radians,
}
#: Names of functions that differ.
_IN_MATH = {
    "asin": numbers.of_asin,
    "acos": numbers.of_acos,
    "atan": numbers.of_atan,
    "atan2": functions.atan2,
    "asinh": numbers.of_asinh,
    "acosh": numbers.of_acosh,
    "atanh": numbers.of_atanh,
    "pow": numbers.of_pow,
    "fmod": numbers.of_fmod,
    "erf": numbers.of_erf,
}
_IN_NUMPY = {
    "arcsin": numbers.of_asin,
    "arccos": numbers.of_acos,
    "arctan": numbers.of_atan,
    "arctan2": functions.atan2,
    "arcsinh": numbers.of_asinh,
    "arccosh": numbers.of_acosh,
    "arctanh": numbers.of_atanh,
    "deg2rad": numbers.radians,
    "rad2deg": numbers.degrees,
    "square": numbers.square,
}
DIRECT += [(getattr(module, name), meaning) for name, meaning in _OF_BOTH.items() for module in (math, np)]
DIRECT += [(getattr(math, name), meaning) for name, meaning in _IN_MATH.items()]
DIRECT += [(getattr(np, name), meaning) for name, meaning in _IN_NUMPY.items()]
DIRECT += [(np.linalg.norm, local_arrays.norm), (np.dot, local_arrays.dot), (np.sum, local_arrays.total)]
DIRECT += [(builtins.sum, local_arrays.total), (np.array, local_arrays.array_of), (np.asarray, local_arrays.array_of)]
#: Functions that make arrays of one number.
FILLED = {np.zeros: 0.0, np.ones: 1.0, np.empty: 0.0}
#: Functions that are called on the arguments two by two.
PAIRWISE = [(builtins.min, numbers.lesser), (builtins.max, numbers.larger)]

#: Variables of rewritten functions for what stands for operators and functions.
HELPERS: dict[str, Any] = {
    "_saltus_any": functions.any_lane,
    **{f"_saltus_{x}": getattr(selection, x) for x in ("truth", "negated", "both", "either", "select", "single")},
    **{f"_saltus_{x}": getattr(numbers, x) for x in ("number", "of_pow", "of_mod", "of_floordiv")},
    **{f"_saltus_{x}": getattr(local_arrays, x) for x in ("array_of", "replaced", "item", "returned")},
    "_saltus_sqrt": functions.sqrt,
    **{f"_saltus_to_{n}": numbers.POWERS[n] for n in range(1, len(numbers.POWERS))},
}


def _named(meaning: Any) -> str:
    name = f"_saltus_{getattr(meaning, 'py_func', meaning).__name__}"
    HELPERS.setdefault(name, meaning)
    return name


#: Variables for functions that a user calls, by the functions.
MEANING: dict[Any, str] = {function: _named(meaning) for function, meaning in DIRECT}
IN_PAIRS: dict[Any, str] = {function: _named(meaning) for function, meaning in PAIRWISE}


def similar(function: Any) -> list[str]:
    """Names of the functions of the same module that can be called."""
    module = getattr(function, "__module__", None)
    names = {*_OF_BOTH, *(_IN_MATH if module == "math" else _IN_NUMPY)}
    return sorted(names)
