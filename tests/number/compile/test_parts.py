"""Parts: each kernel's intermediate code by itself, linked once by the entry that calls it.

Reference: plain Python on the same numbers, in processes that share a cache and compile different kernels of one name.
"""

import subprocess
import sys
from itertools import pairwise

import pytest

from saltus.number.compile.parts import callers_first
from saltus.number.kernels import Entry, kernel
from saltus.number.structs import Field, Layout, Struct

SCRIPT = """
import sys
from saltus.number.kernels import Entry, kernel
from saltus.number.structs import Field, Layout, Struct

def times(k):
    @kernel
    def scaled(d):
        return k * d.x[0]
    return scaled

@kernel
def unused(d):
    return never(d)

@kernel
def never(d):
    return d.x[1]

@kernel
def twice(d):
    if False:
        unused(d)
    return 2.0 * never(d)

names = {f"k{i}": times(float(k)) for i, k in enumerate(sys.argv[1:])}
body = "return twice(d) + " + " + ".join(f"{name}(d)" for name in names)
total = Entry("total", "", body, twice=twice, **names)
m = Struct(Layout("Nothing", {"n": Field("int", ())}, frozen=True), {"n": 1})
d = Struct(Layout("Pair", {"x": Field("real", ("two",))}), {"two": 2})
d.x[0], d.x[1] = 1.0, 100.0
print(total(m, d))
"""


@pytest.fixture
def total(tmp_path):
    """A function of factors: their sum, and 200, by a process of its own whose cache is that of the others."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(*factors, seed=0):
        given = [sys.executable, "-W", "error", str(script), *map(str, factors)]
        environment = {"SALTUS_CACHE_DIR": str(cache), "PYTHONPATH": ":".join(sys.path), "HOME": str(tmp_path)}
        environment["PYTHONHASHSEED"] = str(seed)
        done = subprocess.run(given, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return float(done.stdout)

    run.files = lambda name: sorted(cache.rglob(f"{name}*.nbc"))
    return run


@pytest.mark.slow
def test_kernels_of_one_name_from_different_processes(total):
    assert (total(1), total(20)) == (201, 220)
    assert len(total.files("times.locals.scaled")) == 2
    assert total(1, 20) == 221  # both from files
    assert len(total.files("times.locals.scaled")) == 2


@pytest.mark.slow
def test_names_do_not_depend_on_the_order_of_sets(total):
    """Of two processes that compile the same at once, one's caller may come to lie beside the other's callee."""
    total(1, seed=1)
    (caller,), (callee,), (entry,) = map(total.files, ("twice", "never", "entry_total"))
    of_the_first = caller.read_bytes()
    for seed in range(2, 6):
        callee.unlink()
        caller.unlink()
        entry.unlink()
        total(1, seed=seed)
        caller.write_bytes(of_the_first)
        entry.unlink()
        assert total(1, seed=1) == 201


def test_a_kernel_whose_callee_is_gone_is_compiled_anew(total):
    total(1)
    (file,) = total.files("never")
    file.unlink()
    assert total(1, 1) == 202
    assert total.files("never") == [file]


def test_each_file_holds_one_kernel(total):
    """A caller's file has the name of what it calls, and none of its code."""
    total(1)
    (caller,), (callee,) = total.files("twice"), total.files("never")
    assert callee.name.encode() in caller.read_bytes()
    assert caller.stat().st_size < 1.5 * callee.stat().st_size


ONE = Layout("One", {"n": Field("int", ())}, frozen=True)
FEW = Layout("Few", {"x": Field("real", ("n",))})


def test_functions_from_outside_may_use_all_of_numba():
    @kernel
    def squares(m, d):
        return sum([x * x for x in range(m.n)])

    entry = Entry("squares", "", "return squares(m, d)", squares=squares)
    assert entry(Struct(ONE, {"n": 4}), Struct(FEW, {"n": 1})) == 14


class Part:
    is_unit = False

    def __init__(self, *calls):
        self.calls = calls


def test_callers_are_linked_before_what_they_call():
    """A diamond whose lower end one side reaches at once, the other late."""
    low = Part()
    left, right = Part(low), Part(Part(Part(low)))
    order = callers_first([left, right])
    assert len(order) == 5 and order[-1] is low
    assert all(order.index(a) < order.index(b) for a, b in pairwise([right, right.calls[0], right.calls[0].calls[0]]))
