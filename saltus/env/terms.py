"""Terms: plain Python functions f(m, d, e) of one simulation, which the step compiles for all of them."""

import re
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from numba import types

from saltus.dynamics.user_laws import CHANGED, feature_key, user_kernel
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.number.internals import NumbaError, return_type_of
from saltus.number.kinds import LaneType, MaskType
from saltus.number.struct_types import KINDS, StructType
from saltus.number.structs import Struct

#: f(m, d, e): of the kernels' Model and Data and of the episode.
Term: TypeAlias = Callable[[Struct, Struct, Struct], object]
F = TypeVar("F", bound=Callable[..., object])


def term(function: F) -> F:
    """Make a term of a plain Python function f(m, d, e), as a decorator or by a call.

    `m` and `d` are the kernels' Model and Data with MuJoCo's names (`d.qpos[i]`, `d.xpos[b, 2]`, `d.ctrl[k]`, ...), `e`
    the episode: `e.action[k]`, `e.previous_action[k]`, `e.steps` (since the reset), `e.dt` (s, of a step of the
    environment), `e.terminated` (1 or 0, for rewards), and the parameters, memory and ids of the environment by their
    names. A term gives a number, or a tuple of numbers; it may set memory, and where it comes before the step controls
    and applied forces, at a reset the state.

    It is compiled for many simulations at once, so that a number that differs between them never chooses a branch:
    `where(condition, a, b)` does. What it refers to (numbers, tuples, arrays, other terms) becomes part of its code.
    """
    return user_kernel("term", "f(m, d, e)", function, inline=True)


def term_kernel(function: Term) -> Kernel:
    """The kernel of a term, or of a function that is none yet: for one function always the same.

    OptionError where what it refers to cannot be compiled, or has changed since its first use.
    """
    made = _KERNELS.get(id(function), (None, None))[1]
    if made is None:
        made = user_kernel("term", "f(m, d, e)", function, inline=True)
        _KERNELS[id(function)] = function, made
    word = feature_key(made)
    if _WORDS.setdefault(id(made), word) != word:
        raise OptionError(f"{made.py_func.__name__}: {CHANGED}")
    return made


_KERNELS: dict[int, tuple[Any, Any]] = {}  # of functions that are kept, so that their numbers stay theirs
_WORDS: dict[int, str] = {}  # of their kernels, at the first use


def value_count(name: str, function: Kernel, structs: tuple[Struct, Struct, Struct]) -> int:
    """Size of the tuple that a term gives; 0 if it gives a number. OptionError where it cannot be compiled."""
    found = result_type(name, function, structs)
    if isinstance(found, types.BaseTuple):
        kinds = [*getattr(found, "types", ())]
        if kinds and all(map(_is_number, kinds)):
            return len(kinds)
    elif _is_number(found):
        return 0
    raise OptionError(f"{name}: a term must give a number or a tuple of numbers, not {found}")


def result_type(name: str, function: Any, structs: tuple[Struct, Struct, Struct]) -> Any:
    """The type of what a term gives for these structs; OptionError where it cannot be compiled."""
    kinds = [StructType(s.layout.name, KINDS[s.kind]) for s in structs]
    try:
        return return_type_of(function, tuple(kinds))
    except NumbaError as error:
        raise OptionError(f"{name} cannot be compiled: {_reason(str(error))}") from error


def _reason(text: str) -> str:
    """The reason that Numba gives for refusing a term, in the words of its author."""
    missing = re.search(r"Unknown attribute '(\w+)' of type (Model|Data|Episode)", text)
    if missing:
        return f"{missing[2].lower()[0]} has no field {missing[1]!r}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Failed in")), text)


def _is_number(ty: Any) -> bool:
    return isinstance(ty, LaneType | MaskType | types.Float | types.Integer | types.Boolean)
