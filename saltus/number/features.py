"""Features of a struct on which the code of a kernel depends: structs that differ in others share what is compiled.

Features are words of a struct's layout. A kernel depends on one where it, or what it calls, asks for it by
`saltus.number.conditions.has`, is left out without it (see `saltus.number.kernels.only_with`), or is a function that
`overload` compiles by it (see `looks_at`). What is found is an upper bound: code of which nothing is known may depend
on all of them.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import models, register_model

from saltus.number.conditions import CONDITIONS, Features, live_code, met
from saltus.number.internals import Dispatcher, Intrinsic

NONE: Features = frozenset()


def looks_at(*begun: str):
    """A function that `overload` compiles by words of features that begin so: by nothing else where there are none."""

    def mark(function):
        function.looks_at = begun
        return function

    return mark


def looked_at(kernel: Any, features: Features) -> Features:
    """The features of a struct on which a kernel may depend."""
    return _Look(features).into(kernel.py_func)


_LOOKED_AT: dict[tuple[Any, Features], Features] = {}


class _Look:
    """A look into a kernel, and into those that it calls, which may call each other in a circle."""

    def __init__(self, features: Features):
        self.features = features
        self._open: dict[Any, int] = {}  # functions that are being looked into, and how deep
        self._back = 0  # the least depth of those that were met again since a function was opened

    def into(self, function: Any) -> Features:
        """Features that a function depends on, but for those of the open functions that it calls."""
        found = _LOOKED_AT.get((function, self.features))
        if found is not None:
            return found
        if function in self._open:
            self._back = min(self._back, self._open[function])
            return NONE
        depth, outside = len(self._open), self._back
        self._open[function] = self._back = depth
        found = self._in_code(function)
        del self._open[function]
        if self._back >= depth:  # nothing of it was left to a function that is still open
            _LOOKED_AT[function, self.features] = found
        self._back = min(self._back, outside)
        return found

    def _in_code(self, function: Any) -> Features:
        code, names = function.__code__, function.__globals__
        if any(inspect.iscode(x) for x in code.co_consts):
            return self.features
        try:
            cells = [cell.cell_contents for cell in function.__closure__ or ()]
        except ValueError:  # not there yet
            return self.features
        live = live_code(function, self.features)
        values = [*[names[name] for name in live.names], *cells]
        return live.met.union(*[self._in_value(value) for value in values])

    def _in_value(self, value: Any) -> Features:
        """Features that a value depends on to which a kernel refers."""
        features = self.features
        if isinstance(value, int | float | str | tuple | Intrinsic) or any(value is known for known in CONDITIONS):
            return NONE
        if isinstance(value, Dispatcher):
            return self.into(value.py_func)
        if isinstance(value, Choice):
            found = met(features, value.features)
            return found | self.into(value.kernel.py_func) if found else NONE
        begun = getattr(value, "looks_at", None)
        if begun is not None:
            return features if any(word.startswith(begun) for word in features) else NONE
        return NONE if inspect.isfunction(value) and value.__module__ == "saltus.number.functions" else features


class Choice:
    """A kernel of a struct with any of some features, and another one for structs without."""

    otherwise: Any  # the other kernel
    py_func: Any  # the choice in plain Python

    def __init__(self, kernel: Any, features: tuple[str, ...]):
        self.kernel, self.features = kernel, features

    def chosen(self, arguments: tuple) -> tuple[Dispatcher, Features]:
        """The kernel for arguments of these types, and the features by which it was chosen."""
        found = met(getattr(arguments[0], "features", NONE), self.features)
        return (self.kernel if found else self.otherwise), found


class ChoiceType(types.Callable, types.Opaque):
    """A choice in compiled code. A call is one of the kernel that is chosen; nothing is compiled of the other."""

    def __init__(self, choice: Choice, signature: inspect.Signature, template: Callable):
        self.choice, self._signature, self._template = choice, signature, template
        super().__init__(f"choice {choice.kernel.py_func.__name__} {id(choice):x}")

    def get_call_type(self, context, args, kws):
        arguments = self._signature.bind(*args, **kws).args
        kernel, met = self.choice.chosen(arguments)
        template, pysig, args, kws = self._template(kernel, arguments, {}, keep=met)
        found = template(context).apply(args, kws)
        return found and found.replace(pysig=pysig)

    def get_call_signatures(self):
        return [], True

    def get_impl_key(self, sig):
        # the features by which it was chosen are kept in the types of the signature
        kernel, _ = self.choice.chosen(sig.args)
        return kernel.get_overload(sig.args)


register_model(ChoiceType)(models.OpaqueModel)


def narrowed(ty: Any, kernel: Any, keep: Features = NONE) -> Any:
    """The type of an argument for a kernel: of a struct with features without those that do not matter, of a constant
    that of its numbers, of starred arguments that of a tuple. So types of the same name are the same.
    """
    if isinstance(ty, types.StarArgTuple | types.StarArgUniTuple):
        ty = types.Tuple(ty.types)
    ty = types.unliteral(ty)
    features = getattr(ty, "features", NONE)
    return ty.narrowed(looked_at(kernel, features) | (keep & features)) if features else ty
