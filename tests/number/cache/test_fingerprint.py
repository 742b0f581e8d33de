"""Fingerprints: they differ where compiled code does, else they are the same; what cannot be told is refused.

Reference: Numba's rule that a compiled function takes the values of its globals, closure cells and defaults as
constants (Numba manual, "Global and closure variables"). So each pair below differs in the value of one of these alone.
Fingerprints are compared as words: exact.
"""

import dis
import enum
import importlib
import inspect
import math
import re
import types
from pathlib import PurePath

import numpy as np
import pytest
from numba import config, njit

from saltus.dynamics.tree.rnea import inverse, newton_euler_backward
from saltus.env.bundled.legged import down, fallen
from saltus.errors import OptionError
from saltus.number.cache.fingerprint import (
    CHOOSING,
    EXTENSIONS,
    KERNEL_ROOMS,
    PACKAGE,
    SETTINGS,
    base_key,
    fingerprint,
    global_names,
    names_in,
)
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.number.python.numbers import of_floordiv, of_mod, of_pow
from saltus.spatial.vectors import cross, dot3

BEFORE = np.array([1.0, 2.0])


class Mode(enum.IntEnum):
    SLOW = 1


def made(source, **names):
    """The function `law` that a source defines, with global names."""
    names = dict(names)
    exec(source, names)
    return names["law"]


def of_global(value):
    return made("def law(x): return x + VALUE", VALUE=value)


def of_closure(value):
    def law(x):
        return x + value

    return law


def of_default(value):
    def law(x, gain=value):
        return x + gain

    return law


def of_keyword_default(value):
    def law(x, *, gain=value):
        return x + gain

    return law


def of_called(value):
    helper = kernel(of_closure(value))

    def law(x):
        return helper(x)

    return law


def of_inner_function(value):
    def law(x):
        def inner(y):
            return y + value

        return inner(x)

    return law


def of_module(value):
    module = types.ModuleType("gains")
    module.inner = types.ModuleType("gains.inner")
    module.inner.VALUE = value
    return made("def law(x): return x + gains.inner.VALUE", gains=module)


WAYS = [of_global, of_closure, of_default, of_keyword_default, of_called, of_inner_function, of_module]
PAIRS = {
    "numbers": (1.0, 2.0),
    "signs of zero": (0.0, -0.0),
    "types": (1, 1.0),
    "complex numbers": (1j, 2j),
    "text": ("a", "b"),
    "tuples": ((1.0, (2.0, 3.0)), (1.0, (2.0, 4.0))),
    "nothing": (None, 0),
    "values of arrays": (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
    "types of arrays": (np.zeros(2), np.zeros(2, np.int64)),
    "shapes of arrays": (np.zeros((2, 3)), np.zeros((3, 2))),
    "middles of long arrays": (np.zeros(5000), np.where(np.arange(5000) == 2500, 1.0, 0.0)),
    "types of numbers": (np.float32(1), np.float64(1)),
    "arrays in tuples": ((BEFORE, 1), (BEFORE + 1, 1)),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("way", WAYS)
def test_values(way, pair):
    first, second = PAIRS[pair]
    again = first.copy() if isinstance(first, np.ndarray) else first
    assert fingerprint(way(first)) == fingerprint(way(again)) != fingerprint(way(second))


@pytest.mark.parametrize(
    "sources",
    [
        ("def law(x): return x + 1", "def law(x): return x + 2"),
        ("def law(x): return x + 1", "def law(x): return x - 1"),
        ("def law(x): return x.a", "def law(x): return x.b"),
        ("def law(x): return (lambda y: y + 1)(x)", "def law(x): return (lambda y: y + 2)(x)"),
        ("def law(x): return (lambda y: y + A)(x)", "def law(x): return (lambda y: y + B)(x)"),
        ("def law(x, y): return x - y", "def law(y, x): return x - y"),
        ("def law(x): return f(x)", "def law(x): return g(x)"),
        ("def law(x): return math.sin(x)", "def law(x): return math.cos(x)"),
        ("def law(x): return np.linalg.norm(x)", "def law(x): return np.linalg.det(x)"),
        ("def law(x): return f(x)", "def law(x): return strict(x)"),
        ("def law(x): return some(x)", "def law(x): return others(x)"),
    ],
)
def test_code(sources):
    def plain(x):
        return x + 1

    names = dict(A=1, B=2, f=kernel(plain), g=njit(of_closure(3)), strict=kernel(plain, strict=True), math=math, np=np)
    names |= dict(some=only_with("act")(kernel(plain)), others=only_with("contact")(kernel(plain)))
    first, second, again = (made(source, **names) for source in (*sources, sources[0]))
    assert fingerprint(first) == fingerprint(again) != fingerprint(second)


def test_functions_that_call_themselves():
    def countdown(step):
        @kernel
        def law(x):
            return law(x - step) if x > 0 else Mode.SLOW + where(x > 0, x, 0)

        return law.py_func

    assert fingerprint(countdown(1)) == fingerprint(countdown(1)) != fingerprint(countdown(2))


def test_the_packages_own_kernels_are_told_by_what_they_do(monkeypatch):
    """A kernel and those that call it, by way of others too, and no others, differ where a constant does."""
    ours = [inverse, newton_euler_backward, cross, dot3]
    before = [fingerprint(law.py_func) for law in ours]
    assert len({*before}) == 4 and all(before) and before == [fingerprint(law.py_func) for law in ours]
    changed = cross.py_func.__code__.replace(co_consts=(*cross.py_func.__code__.co_consts, 2.0))
    monkeypatch.setattr("saltus.number.cache.fingerprint._OWN", {})
    monkeypatch.setattr(cross.py_func, "__code__", changed)
    differ = [fingerprint(law.py_func) != old for law, old in zip(ours, before, strict=True)]
    assert differ == [law is cross or calls(law.py_func, cross) for law in ours] and 1 < sum(differ) < 4


def calls(function, wanted, seen=()):
    """Whether a kernel's function calls another kernel, directly or by way of others, found by names alone."""
    found = [function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__]
    inner = [x.py_func for x in found if hasattr(x, "py_func") and x.py_func not in seen]
    return any(x is wanted for x in found) or any(calls(x, wanted, (*seen, *inner)) for x in inner)


DOCUMENTED = [
    "def law(x): return A * x + 1.5",
    "def law(x): 'a docstring'; return A * x + 1.5",
    "# a comment\n\ndef law(x):\n    'another'\n    # one more\n    return A * x + 1.5",
]
NOTHING = [
    "def law(x):\n    y = 2.5\n    z = None\n    w = 3.5\n    return y, z, w",
    "def law(x):\n    'a docstring'\n    y = 2.5\n    z = None\n    w = 3.5\n    return y, z, w",
]


@pytest.mark.parametrize("sources", [DOCUMENTED, NOTHING], ids=["numbers", "with None among them"])
def test_docstrings_comments_and_lines_do_not_count(sources):
    assert len({fingerprint(made(source, A=2.0)) for source in sources}) == 1


def test_globals_that_a_function_loads():
    """As `dis` tells them, also beyond 256 names."""
    many = "def law(x): return " + " + ".join(f"a{k} + x.b{k}" for k in range(400))
    for function in (made(many), inverse.py_func, newton_euler_backward.py_func, made):
        loaded = [x.argval for x in dis.get_instructions(function) if x.opname == "LOAD_GLOBAL"]
        assert global_names(function.__code__) == list(dict.fromkeys(loaded))


def test_what_a_module_defines_later_does_not_count():
    """A field that is called as a function which is not there yet when a kernel is first looked at."""
    file = str(PACKAGE / "dynamics" / "later.py")
    names = {"__name__": "saltus.dynamics.later"}
    exec(compile("def law(m, d): return d.height", file, "exec"), names)
    before = fingerprint(names["law"])
    again = types.FunctionType(names["law"].__code__, names | {"height": math.sin})
    assert fingerprint(again) == before


def test_names_are_looked_up_without_a_trace():
    """A look-up of names alone changes no fingerprint; a term of environments calls kernels."""
    before = fingerprint(down.py_func)
    assert "qpos" in names_in(fallen.py_func) and fingerprint(down.py_func) == before


def test_files_that_extend_the_compiler_are_in_the_key_of_all():
    """No walk finds what they register."""
    registers = re.compile(
        rb"^\s*from (numba\.extending import (?!is_jitted$)|llvmlite"
        rb"|saltus\.number\.internals import (?!NumbaError(, return_type_of)?$))",
        re.M,
    )
    rooms = [PACKAGE / room for room in KERNEL_ROOMS if room != "number"]
    found = [p for room in rooms for p in room.rglob("*.py") if registers.search(p.read_bytes())]
    assert sorted(str(p.relative_to(PACKAGE)) for p in found) == sorted(EXTENSIONS)


@pytest.mark.parametrize(
    "value",
    [object(), types.SimpleNamespace(gain=1), np.array([None]), of_closure(1), Mode, math],
    ids=["object", "namespace", "array", "function", "class", "module"],
)
@pytest.mark.parametrize("way", [of_global, of_closure, of_default])
def test_what_cannot_be_told(way, value):
    if value is Mode:
        assert fingerprint(way(value))
    else:
        with pytest.raises(OptionError, match=r"law refers to (VALUE|value|a default), (of type|a module)"):
            fingerprint(way(value))


@pytest.mark.parametrize("source", ["def law(x): return x + VALUE", "def law(x): return math.nothing"])
def test_what_is_not_there(source):
    with pytest.raises(OptionError, match=r"law refers to (VALUE|math\.nothing), which is not defined"):
        fingerprint(made(source, math=math))


def test_nameless_functions_of_number_are_told_apart():
    """The room's sources are in the key of all, and a function's name says which it is; lambdas share one."""
    found = [inspect.getclosurevars(f).nonlocals["function"] for f in (of_pow, of_mod, of_floordiv)]
    assert {f.__qualname__ for f in found} == {"<lambda>"}
    assert len({fingerprint(f) for f in found}) == 3


def test_names_of_fields_are_not_globals():
    """A law that writes d.ctrl has nothing to do with a global of that name."""
    source = "def law(m, d, z): d.ctrl[0] = d.time"
    assert fingerprint(made(source)) == fingerprint(made(source, ctrl=object(), time=math))


def test_files_by_which_the_compiler_chooses_are_in_the_key_of_all():
    """Plain functions that run while it chooses, wherever they stand, are in no kernel that calls what it chose.

    Functions of `dynamics/users` make code, which is in the key as it is, and texts of errors.
    """
    for name in (*EXTENSIONS, *CHOOSING):
        module = importlib.import_module("saltus." + name.removesuffix(".py").replace("/", "."))
        plain = [x for x in vars(module).values() if isinstance(x, types.FunctionType) and "saltus" in x.__module__]
        own = [x for x in plain if x.__module__ == module.__name__]
        called = [x for x in plain for f in own if x.__name__ in f.__code__.co_names]
        files = {str(PurePath(x.__code__.co_filename).relative_to(PACKAGE)) for x in called}
        assert all(f.startswith(("number", "dynamics/users")) or f in (name, *CHOOSING) for f in files)


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_of_numba_are_in_the_key_of_all(setting, monkeypatch):
    """An unoptimised or checked kernel is another one."""
    before = base_key()
    monkeypatch.setattr(config, setting, "another value")
    assert base_key.__wrapped__() != before


def test_numpy_is_in_the_key_of_all(monkeypatch):
    """Numba types expressions by NumPy's rules, which its versions change."""
    before = base_key()
    monkeypatch.setattr(np, "__version__", "0.0")
    assert base_key.__wrapped__() != before
