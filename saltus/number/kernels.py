"""The one decorator of compiled code, the way in from Python, and the way back to plain Python.

`kernel` compiles a function on scalars for whichever kind of number it is called with. `Entry` calls a kernel from
Python on flat structs at little cost. `interpret` runs the same source uncompiled, which is how symbols go through it.
"""

import contextlib
import functools
import inspect
import pickle
import sys
import types as pytypes
from collections.abc import Callable
from typing import Any, overload

from numba import config, njit, typeof

from saltus.errors import OptionError
from saltus.number.cache.fingerprint import fingerprint, lasts
from saltus.number.compile import prefetch
from saltus.number.compile.dispatchers import LateDispatcher
from saltus.number.compile.function_cache import PartCache
from saltus.number.compile.loading import LoadingCache
from saltus.number.compile.parts import PartCompiler
from saltus.number.compile.progress import watch_the_compiler
from saltus.number.compile.units import EntryCompiler
from saltus.number.conditions import has
from saltus.number.features import Choice, ChoiceType, narrowed
from saltus.number.internals import (
    Dispatcher,
    Intrinsic,
    compile_for,
    dumps_function,
    forget_compiled,
    keep_in,
    leave_out_extensions,
    make_dispatcher,
)
from saltus.number.struct_types import KINDS, StructType, kind_of_buffer, view_of
from saltus.number.structs import LAYOUTS


class _Flags(set):
    """Flags as text in one order in all processes: the names of compiled functions hold them."""

    def __repr__(self):
        return f"{{{', '.join(map(repr, sorted(self)))}}}"

    def copy(self):
        return _Flags(self)


# nnan and ninf are left out: a NaN must stay visible
FASTMATH = frozenset({"contract", "nsz", "arcp"})

# `jit_options` of overloads that choose a kernel: a part, since Numba would optimise all that it calls with each choice
CHOICE: dict[str, Any] = dict(
    forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=PartCompiler
)


def kernel(function=None, *, strict=False, inline=False, sums=False) -> Any:
    """Compile `function` for the types that it is called with from other kernels, when an `Entry` needs it.

    `strict` keeps the order of floating-point operations as written (for code that relies on rounding). `inline` is for
    small functions: they always become part of their callers. `sums` is for long sums: their terms are added in any
    order, several at once. Python's own calls run the source, uncompiled.
    """
    if function is None:
        return functools.partial(kernel, strict=strict, inline=inline, sums=sums)
    if not inspect.isfunction(function):
        raise TypeError(f"a kernel is made of a function, got {type(function).__name__}")
    options = f"strict {strict}, inline {inline}, sums {sums}"
    return LateDispatcher(function, options, functools.partial(_make, function, strict, inline, sums))


def _make(function, strict, inline, sums, dispatcher):
    """Make the dispatcher as Numba's `njit` does, with the package's own compiler and cache."""
    options = dict(
        error_model="numpy",
        fastmath=False if strict else _Flags([*FASTMATH, *(["reassoc"] if sums else [])]),
        forceinline=inline,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        nopython=True,
        boundscheck=None,
    )
    make_dispatcher(dispatcher, function, options, PartCompiler)
    keep_in(PartCache(function, also=(strict, inline, sums)), dispatcher)
    dispatcher.compile = functools.partial(compile_for, dispatcher)
    dispatcher.templates = {}
    dispatcher.also = strict, inline, sums
    template = _template if lasts(function) else _template_now
    dispatcher.get_call_template = functools.partial(template, dispatcher)
    dispatcher.__reduce_ex__ = functools.partial(_reduced, dispatcher, dict(strict=strict, inline=inline, sums=sums))
    dispatcher.__deepcopy__ = functools.partial(_itself, dispatcher)
    dispatcher.interpreted = functools.partial(_interpreted, dispatcher)


def _interpreted(dispatcher, *args, **kws):
    return interpret(dispatcher)(*args, **kws)


def _itself(dispatcher, memo):
    return dispatcher  # a kernel never changes


def _reduced(dispatcher, options, protocol):
    """A kernel as it is pickled: its name where it can be imported, else its function's code and what this needs."""
    module, name = dispatcher.py_func.__module__, dispatcher.py_func.__qualname__
    if module != "__main__" and vars(sys.modules.get(module, object)).get(name) is dispatcher:
        return name
    return _kernel_again, (dumps_function(dispatcher.py_func), options)


def _kernel_again(code: bytes, options):
    return kernel(pickle.loads(code), **options)


def _template(dispatcher, args, kws, keep=frozenset()):
    """Numba's look-up of a kernel for argument types, where a struct lacks the features that do not matter.

    So all models that agree in the others share what is compiled. `keep`: features that stay though they do not matter.
    """
    args = [narrowed(t, dispatcher, keep) for t in args]
    kws = {name: narrowed(t, dispatcher, keep) for name, t in kws.items()}
    asked = tuple(args), tuple(kws.items())
    if asked not in dispatcher.templates:
        dispatcher.templates[asked] = Dispatcher.get_call_template(dispatcher, args, kws)
    return dispatcher.templates[asked]


def _template_now(dispatcher, args, kws, keep=frozenset()):
    """`_template` for a kernel of a user: compiled anew where a value that it refers to has changed since.

    In a notebook a cell may run again with another number.
    """
    own, now = vars(dispatcher), ""
    with contextlib.suppress(OptionError):  # what cannot be told is not kept either
        now = fingerprint(dispatcher.py_func)
    if own.setdefault("fingerprint", now) != now:
        forget_compiled(dispatcher)
        dispatcher.templates.clear()
        keep_in(PartCache(dispatcher.py_func, also=own["also"]), dispatcher)
        own["fingerprint"] = now
    return _template(dispatcher, args, kws, keep)


def _chosen_template(dispatcher, args, kws, keep):
    """The look-up of a kernel that was chosen by the features `keep`."""
    return dispatcher.get_call_template(args, kws, keep)


class Entry:
    """A kernel as a Python callable, compiled on first use and kept on disk. It releases the GIL.

    Structs go in as their buffers, whose types Numba finds in nanoseconds. It is compiled for the layouts of the
    structs that it is called with.

    `body` is the source of the compiled function; in it, the structs have the names in `short`, by default `m` and
    `d` for model and data, `arguments` names what follows them, and `namespace` holds the kernels used.
    """

    def __init__(self, name, arguments, body, *, short=("m", "d"), **namespace):
        self.name = name
        self._arguments, self._body, self._short, self._namespace = arguments, body, short, namespace
        self._compiled: dict = {}  # by the names of the structs' layouts

    @property
    def arguments(self) -> list[str]:
        """Names of what follows the structs."""
        return [a.strip() for a in self._arguments.split(",") if a.strip()]

    def _source(self, layouts, begin):
        parameters = [f"{s}_{part}" for s in self._short for part in ("real", "ints")]
        lines = [f"def entry_{self.name}({', '.join([*parameters, *self.arguments])}):"]
        lines += [f"    {s} = view_{t}({s}_real, {s}_ints)" for s, t in zip(self._short, layouts, strict=True)]
        lines += [f"    {line}" for line in [*begin, *self._body.strip("\n").splitlines()]]
        return "\n".join(lines)

    def function(self, layouts, view=view_of, begin=(), **namespace):
        """The source to be compiled, for structs of these layouts, which `view(layout)` makes of their buffers.

        `begin`: lines before the body; `namespace`: what they refer to.
        """
        namespace = {f"view_{s}": view(s) for s in layouts} | self._namespace | namespace
        namespace["__name__"] = __name__  # cached code is found again through its module
        exec(compile(self._source(layouts, begin), f"<saltus kernel {self.name}>", "exec"), namespace)
        return namespace[f"entry_{self.name}"]

    def compiled(self, *layouts: str) -> Dispatcher:
        """The dispatcher for structs of layouts with these names, made on first use."""
        if layouts not in self._compiled:
            if config.DISABLE_JIT:
                raise OptionError("Numba's compiler is switched off, and simulations need it: unset NUMBA_DISABLE_JIT")
            function = self.function(layouts)
            options = dict(
                nogil=True,
                error_model="numpy",
                fastmath=_Flags(FASTMATH),
                no_cfunc_wrapper=True,
                pipeline_class=EntryCompiler,
            )
            dispatcher = njit(**options)(function)
            leave_out_extensions(dispatcher)
            dispatcher.features = frozenset(word for s in layouts for word in LAYOUTS[s].features)
            also = tuple((s, LAYOUTS[s].digest) for s in layouts)
            missing = functools.partial(self._begin, function, layouts)
            keep_in(LoadingCache(function, also, missing=missing), dispatcher)
            self._compiled[layouts] = dispatcher
        return self._compiled[layouts]

    def _structs(self, layouts, kinds):
        named = zip(self._short, layouts, kinds, strict=True)
        return {short: StructType(layout, kind) for short, layout, kind in named}

    def _begin(self, function, layouts, types):
        """Have free cores begin with what it calls; its arguments have these types."""
        prefetch.begin(function, self._structs(layouts, [kind_of_buffer(t) for t in types[: 2 * len(layouts) : 2]]))

    def soon(self, *structs):
        """Have free cores begin with this entry for such structs as soon as anything must be compiled."""
        layouts = tuple(struct.layout.name for struct in structs)
        prefetch.soon(self.compiled(*layouts).py_func, self._structs(layouts, [KINDS[s.kind] for s in structs]))

    def __call__(self, *arguments: Any) -> Any:
        """Call with the structs, then the arguments."""
        if len(self._short) == 2:  # as `_flat` does, at a third of the cost
            m, d, *rest = arguments
            return self.compiled(m.layout.name, d.layout.name)(m.real, m.ints, d.real, d.ints, *rest)
        dispatcher, flat = self._flat(arguments)
        return dispatcher(*flat)

    def bound(self, *structs: Any) -> Callable[..., Any]:
        """A function of the arguments that calls with these structs, which costs less than a call with all."""
        dispatcher, flat = self._flat(structs)
        return functools.partial(dispatcher, *flat)

    def address(self, *arguments: Any, result: Any) -> int:
        """Address of the machine code for such a call in this process; see `saltus.number.intrinsics.calls`.

        `result`: the type of what it returns, as who calls it there expects it.
        """
        dispatcher, flat = self._flat(arguments)
        signature = tuple(map(typeof, flat))
        dispatcher.compile(signature)
        found = dispatcher.overloads[signature]
        if found.signature.return_type != result:
            raise TypeError(f"{self.name} returns {found.signature.return_type}, not {result}")
        return found.library.get_pointer_to_function(found.fndesc.llvm_func_name)

    def _flat(self, arguments):
        """The dispatcher for a call's structs, and what it takes: their buffers, then the arguments."""
        count = len(self._short)
        structs = arguments[:count]
        buffers = [buffer for struct in structs for buffer in (struct.real, struct.ints)]
        return self.compiled(*[s.layout.name for s in structs]), (*buffers, *arguments[count:])


@overload
def entry(
    function: Callable[..., Any], *, name: str = "", structs: tuple[str, ...] = ("m", "d"), parameters: int = 0
) -> Entry: ...


@overload
def entry(
    *, name: str = "", structs: tuple[str, ...] = ("m", "d"), parameters: int = 0
) -> Callable[[Callable[..., Any]], Entry]: ...


def entry(function=None, *, name="", structs=("m", "d"), parameters=0):
    """Make a function that begins with structs callable from Python, or a kernel: an `Entry` that calls it.

    `name`: what compiled code is called, by default as the function. `structs`: what its first arguments are called.
    Two kinds of argument are not those of the call: one called like a struct's buffer (`d_real`) is that buffer, and
    `parameters`, the last, is a tuple of the last numbers of the call, as many as `parameters` says.
    """
    if function is None:
        return functools.partial(entry, name=name, structs=structs, parameters=parameters)
    plain = getattr(function, "py_func", function)
    names = list(inspect.signature(plain).parameters)
    if tuple(names[: len(structs)]) != structs:
        raise TypeError(f"{plain.__qualname__} begins with {names[: len(structs)]}, not with {list(structs)}")
    buffers = [f"{struct}_{part}" for struct in structs for part in ("real", "ints")]
    numbers = [f"p{k}" for k in range(parameters)]
    given = [x for x in names[len(structs) :] if x not in (*buffers, "parameters")]
    passed = [f"({', '.join(numbers)}{',' * (parameters == 1)})" if x == "parameters" else x for x in names]
    made = Entry(
        name or plain.__name__,
        ", ".join([*given, *numbers]),
        f"return loop({', '.join(passed)})",
        short=structs,
        loop=kernel(function, inline=True) if plain is function else function,
    )
    functools.update_wrapper(made, plain, updated=())
    return made


def only_with(*features, otherwise="None"):
    """A kernel of a struct and more that is compiled only where the struct's layout has any of `features`.

    They are named as for `has`. For structs of other layouts the call is `otherwise`, an expression of the arguments.
    So nobody waits for the compilation of what their model does not have.
    """
    return lambda kernel: _KernelChoice(kernel, features, otherwise)


class _KernelChoice(Choice):
    """Choice by the type of the first argument; the kernel that is not chosen is not compiled."""

    def __init__(self, kernel, features, expression):
        super().__init__(kernel, features)
        self._expression = expression
        functools.update_wrapper(self, kernel.py_func, updated=())
        del self.__wrapped__

    @functools.cached_property
    def _functions(self):
        return _plain_choice(self.kernel, self.features, self._expression)

    @property
    def py_func(self):
        return self._functions[0]

    @functools.cached_property
    def otherwise(self):
        return kernel(self._functions[1], inline=True)

    @functools.cached_property
    def _numba_type_(self):
        return ChoiceType(self, inspect.signature(self.py_func), _chosen_template)

    def __call__(self, *args, **kws):
        return self.py_func(*args, **kws)

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        if vars(sys.modules.get(self.__module__, object)).get(self.__qualname__) is self:
            return self.__qualname__
        return _KernelChoice, (self.kernel, self.features, self._expression)


def _plain_choice(kernel, features, expression):
    """A choice as a plain Python function, and that of the expression."""
    name = kernel.py_func.__name__
    arguments = ", ".join(inspect.signature(kernel.py_func).parameters)
    source = f"""
def {name}({arguments}):
    return kernel({arguments}) if has({arguments.partition(",")[0]}, *features) else other({arguments})
def other({arguments}):
    return {expression}
"""
    namespace = {"kernel": kernel, "has": has, "features": features, "__name__": kernel.py_func.__module__}
    exec(source, namespace)
    stub, other = namespace[name], namespace["other"]
    stub.__doc__ = kernel.py_func.__doc__
    for function in stub, other:
        function.py_func = function  # its own source, for `interpret`
    return stub, other


PLAIN: dict = {}  # functions that only compiled code has, and what they mean in plain Python


def interpret(function, constant=None):
    """`function` (a kernel) and all kernels that it calls as plain Python functions.

    `constant`, if given, turns the floats in their sources into another kind of number, as exact arithmetic needs.
    """
    return _interpret(function, constant or (lambda x: x), {})


def _interpret(dispatcher, constant, done):
    source = dispatcher.py_func
    if source not in done:
        convert = functools.partial(_convert, constant)
        code = source.__code__.replace(co_consts=tuple(map(convert, source.__code__.co_consts)))
        namespace = dict(source.__globals__)
        defaults = source.__defaults__ and tuple(map(convert, source.__defaults__))
        closure = tuple(pytypes.CellType() for _ in source.__closure__ or ())
        done[source] = pytypes.FunctionType(code, namespace, source.__name__, defaults, closure)
        for name in code.co_names:
            if name in namespace:
                namespace[name] = _meaning(namespace[name], constant, done)
        for cell, given in zip(closure, source.__closure__ or (), strict=True):
            cell.cell_contents = _meaning(given.cell_contents, constant, done)
    return done[source]


def _meaning(value, constant, done):
    """A value that a source refers to by name, as plain Python has it."""
    if hasattr(value, "py_func"):
        return _interpret(value, constant, done)
    return PLAIN[value] if isinstance(value, Intrinsic) else _convert(constant, value)


def _convert(constant, x):
    """A constant of a source with its floats converted."""
    if isinstance(x, tuple):
        return tuple(_convert(constant, e) for e in x)
    return constant(x) if isinstance(x, float) else x


watch_the_compiler()
