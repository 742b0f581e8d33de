"""Terms: plain Python functions f(m, d, e) of one simulation, compiled for many simulations."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from numba import types

from saltus.dynamics.user_laws import CHANGED, feature_key, user_kernel
from saltus.dynamics.users.messages import explained
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.number.internals import NumbaError, return_type_of
from saltus.number.kinds import LaneType, MaskType
from saltus.number.struct_types import KINDS, StructType
from saltus.number.structs import Struct

#: A function f(m, d, e) of the kernels' Model and Data and of the episode.
Term: TypeAlias = Callable[[Struct, Struct, Struct], object]
F = TypeVar("F", bound=Callable[..., object])


def term(function: F) -> F:
    """Make a term of a plain Python function f(m, d, e), as a decorator or by a call.

    `m` and `d` are the kernels' Model and Data with MuJoCo's names (`d.qpos[i]`, `d.xpos[b, 2]`, `d.ctrl[k]`, ...), `e`
    is the episode: `e.action[k]`, `e.previous_action[k]`, `e.steps` (since the reset), `e.dt` (duration of a step of
    the environment, s), `e.terminated` (1 or 0, for rewards), and the parameters, memory and ids of the environment by
    their names. A term returns a number or a tuple of numbers. Any term may set memory, before_step also controls and
    applied forces, reset also the state.

    A term is compiled for many simulations at once, of which each takes its own branches: docs/howto/compiled_code.md
    shows what can be written. Objects that it refers to (numbers, tuples, arrays, other terms) become part of its code.
    """
    return user_kernel("term", "f(m, d, e)", function, inline=True)


def term_kernel(function: Term) -> Kernel:
    """The kernel of a term or of a plain function; a function always has the same kernel.

    OptionError: an object that it refers to cannot be compiled, or has changed since its first use.
    """
    made = _KERNELS.get(id(function), (None, None))[1]
    if made is None:
        made = user_kernel("term", "f(m, d, e)", function, inline=True)
        _KERNELS[id(function)] = function, made
    word = feature_key(made)
    if _WORDS.setdefault(id(made), word) != word:
        raise OptionError(f"{made.py_func.__name__}: {CHANGED}")
    return made


_KERNELS: dict[int, tuple[Any, Any]] = {}  # functions are kept here so that their ids stay unique
_WORDS: dict[int, str] = {}  # feature keys of kernels at their first use


def value_count(name: str, function: Kernel, structs: tuple[Struct, Struct, Struct]) -> int:
    """Size of the tuple that a term returns; 0 for a number. OptionError if it cannot be compiled."""
    found = result_type(name, function, structs)
    if isinstance(found, types.BaseTuple):
        kinds = [*getattr(found, "types", ())]
        if kinds and all(map(_is_number, kinds)):
            return len(kinds)
    elif _is_number(found):
        return 0
    raise OptionError(f"{name}: a term must return a number or a tuple of numbers, not {found}")


def result_type(name: str, function: Any, structs: tuple[Struct, Struct, Struct]) -> Any:
    """Type of the result of a term for these structs; OptionError if it cannot be compiled."""
    kinds = [StructType(s.layout.name, KINDS[s.kind]) for s in structs]
    try:
        return return_type_of(function, tuple(kinds))
    except NumbaError as error:
        raise OptionError(explained(f"{name} cannot be compiled", function.py_func, str(error))) from None


def _is_number(ty: Any) -> bool:
    return isinstance(ty, LaneType | MaskType | types.Float | types.Integer | types.Boolean)
