"""Kernels that users give to the time loop: controllers (`saltus.dynamics.control`), equations of motion
(`saltus.dynamics.equations`).

Which ones belong to a model is told by words among the features of its layout (see `saltus.model.layout`), so that a
step is compiled with them, and without any where there are none. A word changes with all that its kernels depend on.
"""

from types import MethodType
from typing import Any

from numba.core.dispatcher import Dispatcher

from saltus.errors import OptionError
from saltus.number.cache.fingerprint import fingerprint
from saltus.number.kernels import kernel
from saltus.number.methods import plain_function

LAWS: dict[str, tuple] = {}  # word, without how it begins -> its kernels
CHANGED = "a value that it refers to has changed since its first use; what changes must be one of its parameters"
INLINE = dict(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # of the calls that choose a kernel


def user_kernel(what: str, form: str, function: Any, inline: bool = False) -> Any:
    """The kernel of a function that a user gives, or of a method, what it reads of its object being constants.

    `what` it is and which `form` it must have, as errors say. OptionError for anything else, and for a method that
    compiled code cannot be made of.
    """
    if isinstance(function, Dispatcher):
        return function
    if isinstance(function, MethodType):
        try:
            made = plain_function(function, lambda other: user_kernel(what, form, other, inline=True))
        except OptionError as error:
            raise OptionError(f"{what}: {error}") from None
        law = kernel(made, inline=inline)
        law.method = function
        return law
    if not hasattr(function, "__code__"):
        raise OptionError(f"{what} must be a function {form}, or a method, got {type(function).__name__}")
    return kernel(function, inline=inline)


def feature_key(*kernels: Any) -> str:
    """The word of kernels, of their names and all that their code depends on.

    Raises OptionError where that cannot be told.
    """
    functions = [law.py_func for law in kernels]
    names = [f.__name__ if f.__name__.isidentifier() else "law" for f in functions]
    return "_".join(part for part in (*names, *(fingerprint(f)[:12] for f in functions)) if part)


def register(kernels: tuple, before: str = "") -> str:
    """Keep kernels for when a step is compiled with them; returns their word.

    `before`: their word at the last use, if any; OptionError if it is another one now, or if a method's object is not
    what it was when its kernel was made.
    """
    word = feature_key(*kernels)
    if before not in ("", word) or not all(map(_as_its_object, kernels)):
        raise OptionError(f"{_names(kernels)}: {CHANGED}")
    LAWS[word] = kernels
    return word


def laws_of(m: Any, beginning: str) -> tuple | None:
    """The kernels of a layout's word that begins so, when it is compiled; None without such a word.

    What they refer to must still be what the word tells, else OptionError.
    """
    for word in m.layout.features:
        if word.startswith(beginning):
            kernels = LAWS[word.removeprefix(beginning)]
            if word != beginning + feature_key(*kernels):
                raise OptionError(f"{_names(kernels)}: {CHANGED}")
            return kernels
    return None


def _as_its_object(law: Any) -> bool:
    """Whether a kernel of a method has the constants that its object has now."""
    method = getattr(law, "method", None)
    if method is None:
        return True
    now = plain_function(method, lambda other: user_kernel(law.py_func.__name__, "", other, inline=True))
    return fingerprint(now) == fingerprint(law.py_func)


def _names(kernels) -> str:
    return ", ".join(law.py_func.__name__ for law in kernels)
