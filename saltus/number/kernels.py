"""The one decorator of compiled code, the way in from Python, and the way back to plain Python.

`kernel` compiles a function on scalars for whichever kind of number it is called with. `Entry` calls a kernel from
Python on flat structs at little cost. `interpret` runs the same source uncompiled, which is how symbols go through it.
"""

import functools
import inspect
import pickle
import sys
import types as pytypes
from contextlib import contextmanager

from numba import njit
from numba.core import event, serialize
from numba.core.dispatcher import Dispatcher
from numba.extending import _Intrinsic, overload

from saltus.number.cache import EntryCache, PartCache
from saltus.number.kinds import dual
from saltus.number.parts import EntryCompiler, PartCompiler


class _Flags(set):
    """Flags as text in one order in all processes: the names of compiled functions hold them."""

    def __repr__(self):
        return f"{{{', '.join(map(repr, sorted(self)))}}}"

    def copy(self):
        return _Flags(self)


# nnan and ninf are left out: a NaN must stay visible
FASTMATH = frozenset({"contract", "nsz", "arcp"})


def kernel(function=None, *, strict=False, inline=False, sums=False):
    """Compile `function` for the types that it is called with from other kernels, when an `Entry` needs it.

    `strict` keeps the order of floating-point operations as written (for code that relies on rounding). `inline` is for
    small functions: they always become part of their callers. `sums` is for long sums: their terms are added in any
    order, several at once.
    """
    if function is None:
        return functools.partial(kernel, strict=strict, inline=inline, sums=sums)
    fastmath = False if strict else _Flags([*FASTMATH, *(["reassoc"] if sums else [])])
    dispatcher = njit(
        error_model="numpy",
        fastmath=fastmath,
        forceinline=inline,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=PartCompiler,
    )(function)
    dispatcher._cache = PartCache(function, also=(strict, inline, sums))
    dispatcher.get_call_template = functools.partial(_shared_template, dispatcher)
    options = {"strict": strict, "inline": inline, "sums": sums}
    dispatcher.__reduce_ex__ = functools.partial(_reduced, dispatcher, options)
    dispatcher.__deepcopy__ = functools.partial(_itself, dispatcher)
    return dispatcher


def _itself(dispatcher, memo):
    return dispatcher  # a kernel never changes


def _reduced(dispatcher, options, protocol):
    """What a kernel is pickled as: its name where it can be imported, else its function's code and what that needs."""
    module, name = dispatcher.py_func.__module__, dispatcher.py_func.__qualname__
    if module != "__main__" and vars(sys.modules.get(module, object)).get(name) is dispatcher:
        return name
    return _kernel_again, (serialize.dumps(dispatcher.py_func), options)


def _kernel_again(code: bytes, options):
    return kernel(pickle.loads(code), **options)


def _shared_template(dispatcher, args, kws):
    """Numba's look-up of a kernel for argument types, where a struct with features is plain if they do not matter.

    So all models share what is compiled once for the plain layout.
    """
    if _sees_features(dispatcher):
        return Dispatcher.get_call_template(dispatcher, args, kws)
    plain = [getattr(t, "plain", t) for t in args]
    return Dispatcher.get_call_template(dispatcher, plain, {k: getattr(t, "plain", t) for k, t in kws.items()})


def _sees_features(function) -> bool:
    """Whether what a kernel does may depend on its structs' features: not if all that it refers to is known not to."""
    known = _FEATURED.get(function.py_func)
    if known is None:
        _FEATURED[function.py_func] = False  # while a kernel that calls itself is looked at
        code, names = function.py_func.__code__, function.py_func.__globals__
        inside = any(inspect.iscode(x) for x in code.co_consts) or bool(function.py_func.__closure__)
        known = inside or any(_may_see(names[name]) for name in code.co_names if name in names)
        _FEATURED[function.py_func] = known
    return known


def _may_see(value) -> bool:
    if isinstance(value, int | float | str | tuple | _Intrinsic):
        return False
    if isinstance(value, Dispatcher):
        return _sees_features(value)
    featured = hasattr(value, "py_func") or not inspect.isfunction(value)
    return featured or value.__module__ != "saltus.number.functions"


_FEATURED: dict = {}  # by a kernel's Python function


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

    def _source(self, layouts):
        parameters = [f"{s}_{part}" for s in self._short for part in ("real", "ints")]
        parameters += [a.strip() for a in self._arguments.split(",") if a.strip()]
        lines = [f"def entry_{self.name}({', '.join(parameters)}):"]
        lines += [f"    {s} = view_{t}({s}_real, {s}_ints)" for s, t in zip(self._short, layouts, strict=True)]
        lines += [f"    {line}" for line in self._body.strip("\n").splitlines()]
        return "\n".join(lines)

    def compiled(self, *layouts: str) -> Dispatcher:
        """The dispatcher for structs of layouts with these names, made on first use."""
        if layouts not in self._compiled:
            from saltus.number.structs import LAYOUTS, VIEWS

            namespace = {f"view_{s}": VIEWS[s] for s in layouts} | self._namespace
            namespace["__name__"] = __name__  # cached code is found again through its module
            exec(compile(self._source(layouts), f"<saltus kernel {self.name}>", "exec"), namespace)
            function = namespace[f"entry_{self.name}"]
            options = dict(
                nogil=True,
                error_model="numpy",
                fastmath=_Flags(FASTMATH),
                no_cfunc_wrapper=True,
                pipeline_class=EntryCompiler,
            )
            dispatcher = njit(**options)(function)
            dispatcher._cache = EntryCache(function, also=tuple((s, LAYOUTS[s].digest) for s in layouts))
            self._compiled[layouts] = dispatcher
        return self._compiled[layouts]

    def __call__(self, *arguments):
        """Call with the structs, then the arguments."""
        count = len(self._short)
        structs = arguments[:count]
        buffers = [buffer for struct in structs for buffer in (struct.real, struct.ints)]
        return self.compiled(*[s.layout.name for s in structs])(*buffers, *arguments[count:])


_PART = dict(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=PartCompiler)


def only_with(*features, otherwise="None"):
    """A kernel of a struct and more that is compiled only where the struct's layout has any of `features`.

    A feature that ends with "_" means any word that begins so.
    For structs of other layouts the call is `otherwise`: an expression of the arguments, or another kernel. So nobody
    waits for the compilation of what their model does not have.
    """
    whole, begun = frozenset(features), tuple(f for f in features if f.endswith("_"))

    def condition(m, *_):
        return not whole.isdisjoint(m.layout.features) or any(word.startswith(begun) for word in m.layout.features)

    return lambda dispatcher: _where_compiled(dispatcher, otherwise, condition)


def without_tangents(otherwise):
    """A kernel of model and data that is compiled only for numbers without tangents; duals get the other kernel."""
    return lambda dispatcher: _where_compiled(dispatcher, otherwise, lambda m, d: d.real is not dual)


def _where_compiled(dispatcher, otherwise, condition):
    """A kernel that is `otherwise`, an expression or another kernel, for arguments that do not meet a condition.

    In compiled code the condition is on the arguments' types, and what is not chosen is not compiled.
    """
    name = dispatcher.py_func.__name__
    arguments = ", ".join(inspect.signature(dispatcher.py_func).parameters)
    instead = otherwise if isinstance(otherwise, str) else f"other({arguments})"
    source = f"""
def {name}({arguments}):
    return kernel({arguments}) if condition({arguments}) else {instead}
def choose({arguments}):
    if condition({arguments}):
        return lambda {arguments}: kernel({arguments})
    return lambda {arguments}: {instead}
"""
    namespace = {"kernel": dispatcher, "other": otherwise, "condition": condition}
    namespace["__name__"] = dispatcher.py_func.__module__
    exec(source, namespace)
    stub = namespace[name]
    stub.__doc__ = dispatcher.py_func.__doc__
    stub.py_func = stub  # its own source, for `interpret`
    overload(stub, strict=False, jit_options=_PART)(namespace["choose"])
    return stub


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
    """What a source refers to by name, in plain Python."""
    if hasattr(value, "py_func"):
        return _interpret(value, constant, done)
    return PLAIN[value] if isinstance(value, _Intrinsic) else _convert(constant, value)


def _convert(constant, x):
    """A constant of a source with its floats converted."""
    if isinstance(x, tuple):
        return tuple(_convert(constant, e) for e in x)
    return constant(x) if isinstance(x, float) else x


class _CompileClock(event.Listener):
    """Reports compilations of the package's kernels to whoever waits for them."""

    def __init__(self, report):
        self._report, self._depth = report, 0

    def on_start(self, ev):
        if self._ours(ev):
            self._depth += 1
            self._report(ev.data["dispatcher"].py_func.__name__.removeprefix("entry_"), self._depth)

    def on_end(self, ev):
        if self._ours(ev):
            self._depth -= 1
            if self._depth == 0:
                self._report(None, 0)

    @staticmethod
    def _ours(ev):
        return (ev.data["dispatcher"].py_func.__module__ or "").startswith("saltus.")


@contextmanager
def compile_progress(report):
    """While inside, call `report(kernel name or None, depth)` when a kernel starts or all have finished compiling."""
    reports.append(report)
    try:
        yield
    finally:
        reports.remove(report)


def _announce(name, depth):
    """A line in the terminal while the outermost kernel compiles."""
    if depth == 1:
        sys.stderr.write(f"saltus: compiling {name}, once for this machine ...")
    elif depth == 0:
        sys.stderr.write("\r\033[K")
    sys.stderr.flush()


def _tell(name, depth):
    """Pass on what compiles: to those who asked, or else to a person at a terminal."""
    if reports:
        reports[-1](name, depth)
    elif sys.stderr.isatty():
        _announce(name, depth)


reports: list = []  # who wants to know, the last one is told
event.register("numba:compile", _CompileClock(_tell))
