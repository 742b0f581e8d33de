"""User-supplied kernels of the time loop, such as controllers and equations of motion.

See `saltus.dynamics.control` and `saltus.dynamics.equations`.

Feature keys in a model's layout name them (see `saltus.model.layout`), so that each step is compiled with its own user
kernels, or without any. A key changes with everything that its kernels depend on.
"""

from functools import partial
from types import MethodType
from typing import Any

from numba.extending import is_jitted

from saltus.dynamics.users.messages import explained
from saltus.dynamics.users.rewriting import Role, rewrite, rewritten
from saltus.dynamics.users.signature import check_signature
from saltus.errors import OptionError
from saltus.number.cache.fingerprint import fingerprint
from saltus.number.internals import NumbaError, return_type_of
from saltus.number.kernels import kernel
from saltus.number.methods import plain_function

LAWS: dict[str, tuple] = {}  # feature key without its prefix -> kernels
CHANGED = "a value that it refers to has changed since its first use; what changes must be one of its parameters"


def user_kernel(what: str, form: str, function: Any, inline: bool = False) -> Any:
    """The kernel of a user's function or method; values that a method reads from its object become constants.

    The function is Python as people write it: see `saltus.dynamics.users.rewriting`. `what` (the role) and `form` (the
    required signature) appear in error messages. OptionError for anything else, for other arguments, for what cannot be
    compiled, and for a name that no field has.
    """
    if is_jitted(function):
        return function
    if not hasattr(function, "__code__"):
        raise OptionError(f"{what} must be a function {form}, or a method, got {type(function).__name__}")
    check_signature(what, form, function)
    return _made(what, Role.of(form), function, inline)


def _made(what: str, role: Role, function: Any, inline: bool) -> Any:
    """The kernel of a user's function, or of one that a method calls, which may have any arguments."""
    if is_jitted(function):
        return function
    if isinstance(function, MethodType):
        try:
            made = plain_function(function, lambda other: _made(what, role.inner, other, True), partial(rewrite, role))
        except OptionError as error:
            raise OptionError(f"{what}: {error}") from None
        law = kernel(made, inline=inline)
        law.method, law.role = function, role
        return law
    return kernel(rewritten(role, function), inline=inline)


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


def check_types(what: str, law: Any, arguments: tuple) -> None:
    """Raise OptionError, with file, line and reason, if a kernel cannot be compiled for arguments of these types."""
    try:
        return_type_of(law, arguments)
    except NumbaError as error:
        raise OptionError(explained(what, law.py_func, str(error))) from None


def _as_its_object(law: Any) -> bool:
    """Whether the constants of a method's kernel equal its object's present values."""
    method = getattr(law, "method", None)
    if method is None:
        return True
    now = _made(law.py_func.__name__, law.role, method, True).py_func
    return fingerprint(now) == fingerprint(law.py_func)


def _names(kernels) -> str:
    return ", ".join(law.py_func.__name__ for law in kernels)
