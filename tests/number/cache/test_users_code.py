"""Users' code after a change: what is called by name, captured or given is what it is now, as with an empty cache.

Reference: the same function as plain Python, on numbers without rounding. Each is computed before the change, with its
code kept, and after it; in a file that is imported again, and in a notebook, where one cell runs again.
"""

import enum
import functools
import importlib.util
import math
import sys
import types

import numpy as np
import pytest
from numba import float32, njit

import saltus
from saltus.dynamics.user_laws import feature_key
from saltus.env.terms import term_kernel
from saltus.errors import OptionError
from saltus.integrate.dense.substep import method_word
from saltus.number.cache.fingerprint import fingerprint
from saltus.number.kernels import Entry, kernel
from saltus.simulate.laws.contact import Compliant
from saltus.simulate.laws.motions import MotionLaws

X = 0.5
HEAD = """
import enum, math
from collections import namedtuple
import numpy as np
import gains_of_a_user as gains
from gains_of_a_user import GAIN as MINE
from numba import njit
from saltus.number.kernels import kernel
"""
# what changes, and the law that refers to it
WAYS = {
    "number": ("VALUE = {v}.0", "def law(x): return x * VALUE"),
    "tuple": ("VALUE = (1.0, ({v}.0, 3.0))", "def law(x): return x * VALUE[1][0]"),
    "array": ("VALUE = np.array([1.0, {v}.0])", "def law(x): return x * VALUE[1]"),
    "number of numpy": ("VALUE = np.float32({v})", "def law(x): return x * VALUE"),
    "member of an enum": (
        "class Mode(enum.IntEnum):\n    ON = {v}",
        "def law(x): return x * (2.0 if Mode.ON == 2 else 3.0)",
    ),
    "value of a member": ("class Mode(enum.Enum):\n    ON = {v}", "def law(x): return x * Mode.ON.value"),
    "alias in an enum": (
        "class Mode(enum.IntEnum):\n    SLOW = 2\n    FAST = 3\n    ON = {v}",
        "def law(x): return x * (2.0 if Mode.ON == 2 else 3.0)",
    ),
    "named tuple": ("VALUE = namedtuple('Gains', 'a b')(1.0, {v}.0)", "def law(x): return x * VALUE.b"),
    "default": ("pass", "def law(x, gain={v}.0): return x * gain"),
    "constant": ("pass", "def law(x): return x * {v}.0"),
    "lambda": ("pass", "law = lambda x: x * {v}.0"),
    "closure": ("def scaled(gain):\n    def law(x): return x * gain\n    return law", "law = scaled({v}.0)"),
    "captured kernel": (
        "def through(first):\n    def law(x): return first(x)\n    return law",
        "law = through(kernel(lambda x: x * {v}.0))",
    ),
    "inner function": ("VALUE = {v}.0", "def law(x):\n    def inner(y): return y * VALUE\n    return inner(x)"),
    "chosen at import": (
        "if {v} > 2:\n    def f(x): return x * 3.0\nelse:\n    def f(x): return x * 2.0\nused = kernel(f)",
        "def law(x): return used(x)",
    ),
    "calls itself": (
        "VALUE = {v}.0",
        "@kernel\ndef power(x, n): return x if n == 0 else VALUE * power(x, n - 1)\ndef law(x): return power(x, 1)",
    ),
    "tuple of kernels": (
        "LAWS = (kernel(lambda x: x), kernel(lambda x: x * {v}.0))",
        "def law(x): return LAWS[1](x)",
    ),
    "kernel's kernel": (
        "VALUE = {v}.0",
        "@kernel\ndef inner(x): return x * VALUE\n@kernel\ndef outer(x): return inner(x)\ndef law(x): return outer(x)",
    ),
    "function of numba": ("@njit\ndef helper(x): return x * {v}.0", "def law(x): return helper(x)"),
}


def computed(law):
    """law(X), compiled."""
    return Entry("users", "x", "return law(x)", short=(), law=kernel(law))(X)


@pytest.fixture
def gains(monkeypatch):
    """A module of numbers that others import."""
    module = types.ModuleType("gains_of_a_user")
    module.GAIN = 2.0
    monkeypatch.setitem(sys.modules, "gains_of_a_user", module)
    return module


@pytest.fixture
def imported(tmp_path, gains, monkeypatch):
    """A function that imports a file of a text, again each time."""

    def load(text):
        path = tmp_path / "laws_of_a_user.py"
        path.write_text(HEAD + text)
        spec = importlib.util.spec_from_file_location("laws_of_a_user", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "laws_of_a_user", module)
        exec(compile(path.read_text(), str(path), "exec"), vars(module))  # not by a file of Python's own cache
        return module

    return load


@pytest.mark.filterwarnings("ignore:First-class function type feature")
@pytest.mark.parametrize("way", WAYS)
def test_changed_files(way, imported):
    found = [computed(imported("\n".join(WAYS[way]).format(v=v)).law) for v in (2, 3, 2)]
    assert found == [2 * X, 3 * X, 2 * X]


@pytest.mark.filterwarnings("ignore:First-class function type feature")
@pytest.mark.parametrize("way", [k for k, (changes, _) in WAYS.items() if "{v}" in changes])
def test_changed_cells(way, gains, monkeypatch):
    """The cell of the value runs again, then that of the law; kernels in between stay the objects that they are."""
    changes, uses = WAYS[way]
    *helpers, law = uses.rsplit("def law", 1)
    notebook = types.ModuleType("cells_of_a_user")
    monkeypatch.setitem(sys.modules, "cells_of_a_user", notebook)
    names = vars(notebook)
    exec(compile(HEAD + changes.format(v=2) + "\n" + "".join(helpers), "<stdin>", "exec"), names)
    found = []
    for v in (2, 3, 2):
        exec(compile(changes.format(v=v), "<stdin>", "exec"), names)
        exec(compile("def law" + law, "<stdin>", "exec"), names)
        found.append(computed(names["law"]))
    assert found == [2 * X, 3 * X, 2 * X]


@pytest.mark.parametrize("law", ["x * gains.GAIN", "x * MINE", "(lambda y: y * gains.GAIN)(x)"])
def test_changed_modules(law, gains, imported):
    found = []
    for v in (2.0, 3.0):
        gains.GAIN = v
        found.append(computed(imported(f"def law(x): return {law}").law))
    assert found == [2 * X, 3 * X]


def test_what_numba_has_compiled_is_refused_once_it_is_stale():
    """Numba would call what it compiled, and that would be kept under the name of what it should be."""
    names = {"GAIN": 2.0}
    exec("def plain(x): return x * GAIN", names)
    helper = njit(names["plain"])

    def law(x):
        return helper(x)

    assert computed(law) == 2 * X and helper(X) == 2 * X
    names["GAIN"] = 3.0
    with pytest.raises(OptionError, match="law refers to helper, which was compiled before a value"):
        fingerprint(law)
    helper = njit(names["plain"])
    assert computed(law) == 3 * X


# ---------------------------------------------------------------- doors for users' functions


def of_gain(gain):
    """Laws that differ in a variable that they capture."""

    def law(m, d, z):
        d.ctrl[0] = gain

    def force(m, d, gap, velocity):
        return gain * gap

    def motion(t):
        return gain * t

    def reward(m, d, e):
        return gain * d.qpos[0]

    def step(m, d, h):
        return gain

    def instant(m, d):
        return d.time - gain

    return law, force, motion, reward, step, instant


DOORS = {
    "controller": lambda laws: saltus.controller(laws[0]).feature_key,
    "held": lambda laws: saltus.controller(laws[0], hold=True).feature_key,
    "contact law": lambda laws: Compliant(laws[1]).feature_key,
    "motion": lambda laws: MotionLaws({"theta": laws[2]}, saltus.load("pendulum")).key,
    "event": lambda laws: feature_key(saltus.Event(laws[5]).function),
    "reward": lambda laws: feature_key(term_kernel(laws[3])),
    "integrator": lambda laws: method_word(kernel(laws[4])),
}


@pytest.mark.parametrize("door", DOORS)
def test_words_of_users_laws(door):
    """What tells models with users' functions apart tells these by what they refer to."""
    words = [DOORS[door](of_gain(gain)) for gain in (2.0, 3.0, 2.0)]
    assert words[0] == words[2] != words[1]


# ---------------------------------------------------------------- what one value looks like


class Loud(float):
    """A number that shows another one."""

    def __repr__(self):
        return "1.0"


def unit(value):
    """An enum that does not show its numbers."""

    class Unit(enum.IntEnum):
        LENGTH = value

        def __repr__(self):
            return "a length"

    return Unit.LENGTH


def aliases(value):
    """An enum of which a name stands for one or the other member."""
    return enum.IntEnum("Mode", {"SLOW": 1, "FAST": 2, "USED": value})


def compiled(**options):
    """A function under Numba's own decorator."""
    return njit(**options)(of_gain(1.0)[2])


PAIRS = {
    "numbers that show another": (Loud(2.0), Loud(3.0)),
    "members that do not show their numbers": (unit(1), unit(2)),
    "aliases": (aliases(1), aliases(2)),
    "signs of NaN": (math.nan, -math.nan),
    "orders of arrays": (np.eye(2), np.asfortranarray(np.eye(2))),
    "a number and an array of one": (np.float32(1), np.array(1, np.float32)),
    "types of variables": (compiled(), compiled(locals={"t": float32})),
    "signatures": (compiled(), njit("float32(float32)")(of_gain(1.0)[2])),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_values_that_look_alike(pair):
    def law(value):
        def law(x):
            return value

        return law

    first, second = (fingerprint(law(value)) for value in PAIRS[pair])
    assert first != second


@pytest.mark.parametrize(
    "value",
    [functools.partial(math.pow, 2.0), np.vectorize(math.sin), type("Gains", (), {"GAIN": 1.0})],
    ids=["partial", "vectorize", "class"],
)
def test_what_cannot_be_told_says_so(value):
    def law(x):
        return value

    with pytest.raises(OptionError, match=r"law refers to value, of type \w+; compiled code can take in"):
        fingerprint(law)


def test_a_folder_beside_the_package_is_not_the_package(tmp_path):
    """Its functions may change, whatever it is called."""
    from saltus.number.cache.fingerprint import PACKAGE, is_ours

    names = {}
    exec(compile("def law(x): return x", f"{PACKAGE}_of_mine/laws.py", "exec"), names)
    assert not is_ours(names["law"]) and is_ours(feature_key)
