"""A plugin of pytest that notes where the time of each test goes: `python -m helpers.test_times` starts it.

Each process of the run writes a file of JSON into the folder that the environment variable SALTUS_TEST_TIMES names. All
seconds are CPU seconds but `wall` and `waiting`, so that a busy machine changes little.
"""

import contextlib
import functools
import importlib
import json
import os
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest

FOLDER = "SALTUS_TEST_TIMES"
FRONT, LLVM, LOADING, IMPORTING = "front end", "LLVM", "loading", "importing"
COUNTED = (FRONT, LLVM, LOADING, IMPORTING)
START = "(start and collection)"
# what llvmlite does when machine code is made, and when it is loaded
MAKING = {"ModulePassManager": "run", "FunctionPassManager": "run", "TargetMachine": "emit_object"}
LINKING = {"ModuleRef": "link_in"}


class Clock:
    """CPU seconds by what threads do. A thread that does one thing inside another does the inner one."""

    def __init__(self):
        self.seconds = Counter()
        self.kernels = defaultdict(lambda: {"seconds": 0.0, "keys": []})
        self._own = threading.local()

    def begin(self, what, kernel=""):
        """This thread begins with something; without the name of a kernel, for the kernel that it is at."""
        stack = self._charge()
        stack.append((what, kernel or (stack[-1][1] if stack else "")))

    def end(self):
        """This thread goes on with what it did before."""
        open_ = self._charge()
        if open_:  # an exception can end what never began
            open_.pop()

    def _charge(self):
        """Count the time since the last change; what this thread is at, the innermost last."""
        own, now = self._own, time.thread_time()
        stack = own.__dict__.setdefault("stack", [])
        if stack:
            what, kernel = stack[-1]
            self.seconds[what] += now - own.since
            if kernel and what in (FRONT, LLVM):
                self.kernels[kernel]["seconds"] += now - own.since
        own.since = now
        return stack

    def timed(self, what, function, kernel=None):
        """The function, whose calls are counted; `kernel` gives the name of a kernel from its arguments."""

        @functools.wraps(function)
        def call(*args, **kws):
            self.begin(what, kernel(*args) if kernel else "")
            try:
                return function(*args, **kws)
            finally:
                self.end()

        return call

    def time(self, what, place, name, kernel=None):
        """Count the calls of a function of a module or class from now on."""
        setattr(place, name, self.timed(what, getattr(place, name), kernel))


def watch(clock):
    """Have a clock count what imports, compiles and loads in this process."""
    # the interpreter's C code calls this for each module that is not there yet
    clock.time(IMPORTING, importlib._bootstrap, "_find_and_load")

    import llvmlite.binding as llvm

    from saltus.number.compile import function_cache, loading, units
    from saltus.number.internals import cache_of, event

    class Kernels(event.Listener):
        def on_start(self, ev):
            function = ev.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            clock.begin(FRONT, name)
            key = ""
            with contextlib.suppress(Exception):  # a function that is not kept has no name of a file
                key = cache_of(ev.data["dispatcher"]).file_name(ev.data["args"])
            clock.kernels[name]["keys"].append(key or str(ev.data["args"]))

        def on_end(self, ev):
            clock.end()

    def unit(file, codegen):
        name = f"unit {file.partition('-')[0]}"
        clock.kernels[name]["keys"].append(file)
        return name

    event.register("numba:compile", Kernels())
    for name, method in (MAKING | LINKING).items():
        clock.time(LLVM, getattr(llvm, name), method)
    clock.time(LOADING, llvm.ExecutionEngine, "finalize_object")
    clock.time(LLVM, units, "compile_unit", unit)
    clock.time(LOADING, units, "load")
    for cache in (function_cache.EntryCache, function_cache.PartCache, loading.LoadingCache):
        clock.time(LOADING, cache, "load_overload")


def now(clock):
    """Seconds up to now: wall, CPU of this process and of its ended children, held up by others, and of each kind."""
    children = os.times()
    found = {"wall": time.monotonic(), "cpu": time.process_time(), "held up": held_up()}
    found["children"] = children.children_user + children.children_system
    return found | {what: clock.seconds[what] for what in COUNTED}


def held_up():
    """Seconds for which this thread could have run but for others; 0 where the system does not tell."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    return 0.0


def between(before, after):
    """Seconds from one moment to another, by kind."""
    spent = {what: after[what] - before[what] for what in after}
    counted = sum(spent[what] for what in COUNTED)
    return {
        **{what: spent[what] for what in ("wall", *COUNTED)},
        "running": max(0.0, spent["cpu"] - counted),
        "children": spent["children"],
        "waiting": max(0.0, spent["wall"] - spent["cpu"] - spent["children"] - spent["held up"]),
    }


def part_of(nodeid):
    """The part of the tests that a test belongs to: the folder or file in `tests/`."""
    folders = nodeid.partition("::")[0].split("/")
    return folders[1] if len(folders) > 1 and folders[0] == "tests" else folders[0]


class Times:
    """Notes the time of each test, and writes all of it when the process ends its part."""

    def __init__(self, folder):
        self._folder, self._clock, self._tests = Path(folder), Clock(), {}
        watch(self._clock)
        self._began = dict.fromkeys(now(self._clock), 0.0) | {"wall": time.monotonic() - sum(os.times()[:2])}
        self._last = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        before = now(self._clock)
        if self._last is None:
            self._tests[START] = between(self._began, before)
            os.environ.pop(FOLDER, None)  # a test that runs pytest is a test that has a sub-process
        try:
            return (yield)
        finally:
            self._last = now(self._clock)
            self._tests[item.nodeid] = between(before, self._last)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        if self._last is None:  # no test ran here: the process that hands them out, and waits for those that run them
            self._tests[START] = between(self._began, now(self._clock)) | {"children": 0.0, "waiting": 0.0}
        found = {"tests": self._tests, "kernels": self._clock.kernels}
        (self._folder / f"{os.getpid()}.json").write_text(json.dumps(found))


def pytest_configure(config):
    if folder := os.environ.get(FOLDER):
        config.pluginmanager.register(Times(folder), "saltus-times")
