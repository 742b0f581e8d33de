"""User-supplied kernels of the time loop, such as controllers and equations of motion.

See `saltus.dynamics.control` and `saltus.dynamics.equations`.

Feature keys in a model's layout name them (see `saltus.model.layout`), so that each step is compiled with its own user
kernels, or without any. A key changes with everything that its kernels depend on.
"""

from types import MethodType
from typing import Any

from numba.extending import is_jitted

from saltus.errors import OptionError
from saltus.number.cache.fingerprint import fingerprint
from saltus.number.kernels import kernel
from saltus.number.methods import plain_function

LAWS: dict[str, tuple] = {}  # feature key without its prefix -> kernels
CHANGED = "a value that it refers to has changed since its first use; what changes must be one of its parameters"


def user_kernel(what: str, form: str, function: Any, inline: bool = False) -> Any:
    """The kernel of a user's function or method; values that a method reads from its object become constants.

    `what` (the role) and `form` (the required signature) appear in error messages. OptionError for anything else, and
    for a method that cannot be compiled.
    """
    if is_jitted(function):
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
    """Feature key of kernels: their names and a fingerprint of everything that their code depends on.

    Raises OptionError if that cannot be determined.
    """
    functions = [law.py_func for law in kernels]
    names = [f.__name__ if f.__name__.isidentifier() else "law" for f in functions]
    return "_".join(part for part in (*names, *(fingerprint(f)[:12] for f in functions)) if part)


def register(kernels: tuple, before: str = "") -> str:
    """Register kernels for the steps that will be compiled with them; returns their feature key.

    `before`: their key at the last use, if any; OptionError if it has changed, or if a method's object has changed
    since its kernel was made.
    """
    word = feature_key(*kernels)
    if before not in ("", word) or not all(map(_as_its_object, kernels)):
        raise OptionError(f"{_names(kernels)}: {CHANGED}")
    LAWS[word] = kernels
    return word


def laws_of(m: Any, beginning: str) -> tuple | None:
    """Kernels of the layout's feature key with the prefix `beginning`, at compile time; None without such a key.

    OptionError if anything they refer to has changed since the key was made.
    """
    for word in m.layout.features:
        if word.startswith(beginning):
            kernels = LAWS[word.removeprefix(beginning)]
            if word != beginning + feature_key(*kernels):
                raise OptionError(f"{_names(kernels)}: {CHANGED}")
            return kernels
    return None


def _as_its_object(law: Any) -> bool:
    """Whether the constants of a method's kernel equal its object's present values."""
    method = getattr(law, "method", None)
    if method is None:
        return True
    now = plain_function(method, lambda other: user_kernel(law.py_func.__name__, "", other, inline=True))
    return fingerprint(now) == fingerprint(law.py_func)


def _names(kernels) -> str:
    return ", ".join(law.py_func.__name__ for law in kernels)
