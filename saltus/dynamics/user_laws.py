"""Kernels that users give to the time loop: controllers (`saltus.dynamics.control`), equations of motion
(`saltus.dynamics.equations`).

Which ones belong to a model is told by words among the features of its layout (see `saltus.model.layout`), so that a
step is compiled with them, and without any where there are none. A word changes with all that its kernels depend on.
"""

from typing import Any

from saltus.errors import OptionError
from saltus.number.fingerprint import fingerprint

LAWS: dict[str, tuple] = {}  # word, without how it begins -> its kernels
CHANGED = "a value that it refers to has changed since its first use; what changes must be one of its parameters"
INLINE = dict(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # of the calls that choose a kernel


def law_word(*kernels: Any) -> str:
    """The word of kernels, of their names and all that their code depends on.

    Raises OptionError where that cannot be told.
    """
    functions = [law.py_func for law in kernels]
    names = [f.__name__ if f.__name__.isidentifier() else "law" for f in functions]
    return "_".join(part for part in (*names, *(fingerprint(f)[:12] for f in functions)) if part)


def register(kernels: tuple, before: str = "") -> str:
    """Keep kernels for when a step is compiled with them; returns their word.

    `before`: their word at the last use, if any; OptionError if it is another one now.
    """
    word = law_word(*kernels)
    if before not in ("", word):
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
            if word != beginning + law_word(*kernels):
                raise OptionError(f"{_names(kernels)}: {CHANGED}")
            return kernels
    return None


def _names(kernels) -> str:
    return ", ".join(law.py_func.__name__ for law in kernels)
