"""Kernels are dispatchers of Numba from the moment when anything is asked of them, and cost nothing before."""

import copy
import inspect
import pickle
import subprocess
import sys
import threading
import time

import pytest
from helpers.schedules import Schedule, ScheduledLock
from numba import float64, njit
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

from saltus.number.compile import dispatchers
from saltus.number.compile.dispatchers import KernelDispatcher, LateDispatcher
from saltus.number.kernels import kernel
from saltus.spatial.vectors import cross, length3


def doubled(x):
    """Twice as much."""
    return 2 * x


@kernel
def importable(x):
    return x


def test_nothing_is_made_of_a_kernel_that_nobody_looks_at():
    late = kernel(doubled)
    assert late.py_func is doubled and isinstance(late, Dispatcher) and isinstance(late, LateDispatcher)
    assert vars(late).keys() == {"py_func", "options", "_make"}
    del late  # its part in C was never filled


@pytest.mark.parametrize(
    "look",
    [
        lambda law: law.overloads,
        lambda law: law.targetoptions,
        lambda law: law._numba_type_,
        lambda law: law.compile((float64,)),
        lambda law: setattr(law, "method", None),
        inspect.signature,
        inspect.getdoc,
        copy.deepcopy,
        copy.copy,
    ],
)
def test_made_when_looked_at(look):
    law = kernel(doubled)
    look(law)
    assert type(law) is KernelDispatcher and law.__name__ == "doubled" and "Twice" in law.__doc__
    assert law.targetoptions["error_model"] == "numpy" and law._can_compile


@pytest.mark.parametrize("seed", range(6))
def test_made_once_whichever_of_several_threads_looks_first(seed, monkeypatch):
    schedule, calls = Schedule(seed, often=0.5, traced=(dispatchers,)), []
    monkeypatch.setattr(dispatchers, "_making", ScheduledLock(schedule))
    law = kernel(doubled)
    make = vars(law)["_make"]
    vars(law)["_make"] = lambda made: (calls.append(schedule.thread), schedule.switch(), make(made))
    found = []
    schedule.run([lambda: found.append(law.targetoptions["error_model"])] * 3)
    assert found == ["numpy"] * 3 and len(calls) == 1 and type(law) is KernelDispatcher


def test_its_name_and_type_are_those_of_a_dispatcher():
    """They are in the names of compiled code."""
    law = kernel(doubled)
    before = repr(law)
    assert before == repr(njit(doubled)) == repr(law)
    assert str(law._numba_type_) == f"type({before})"


def test_called_from_compiled_code():
    law = kernel(doubled)

    @njit
    def twice(f, x):
        return f(x) + law(x)

    assert twice(kernel(doubled), 1.5) == 6.0 and len(law.overloads) == 1


def test_called_from_python_a_kernel_is_its_source():
    """There is no compiled way in: ez = ex x ey, and |(3, 4, 0)|, by kernels that call others."""
    assert cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)) == (0.0, 0.0, 1.0)
    assert length3((3.0, 4.0, 0.0)) == 5.0
    law = kernel(doubled)
    law.compile((float64,))
    assert law(4.0) == 8.0


def test_pickled_by_its_name_or_its_code():
    assert pickle.loads(pickle.dumps(importable)) is importable
    assert copy.deepcopy(importable) is importable


def test_kernels_are_made_of_functions():
    with pytest.raises(TypeError, match="made of a function, got CPUDispatcher"):
        kernel(njit(doubled))


def test_made_once_by_many_threads():
    made = []

    def make(dispatcher):
        made.append(threading.get_ident())
        time.sleep(0.05)  # the others come meanwhile
        CPUDispatcher.__init__(dispatcher, doubled, targetoptions={"nopython": True})

    law, seen = LateDispatcher(doubled, "plain", make), []
    threads = [threading.Thread(target=lambda: seen.append(law.overloads)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(seen) == 4 and all(found is law.overloads for found in seen)


def test_made_again_after_an_error():
    tries = []

    def make(dispatcher):
        tries.append(dispatcher)
        if len(tries) == 1:
            raise OSError("no cache")
        CPUDispatcher.__init__(dispatcher, doubled, targetoptions={"nopython": True})

    law = LateDispatcher(doubled, "plain", make)
    with pytest.raises(OSError, match="no cache"):
        _ = law.overloads
    assert not law.overloads and len(tries) == 2


def test_importing_the_package_makes_next_to_none():
    code = """
import gc, saltus.simulate.simulation
from numba.core.registry import CPUDispatcher
kinds = [type(x) for x in gc.get_objects() if issubclass(type(x), CPUDispatcher)]
print(len(kinds), sum(kind.__name__ != "LateDispatcher" for kind in kinds))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kernels, made = map(int, result.stdout.split())
    assert kernels > 1000 and made < 10
