"""A copy of the package's sources: what its kernels are told by, what programs of it compute, which test fails with it.

Each question is answered by a process of its own, forked from one that has imported all but the package: so an answer
takes about a second.
"""

import base64
import compileall
import contextlib
import gc
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import saltus

PACKAGE = Path(saltus.__file__).parent
PROGRAMS = Path(__file__).with_name("changed_programs.py")
OTHERS = ("numpy", "scipy.linalg", "scipy.special", "mujoco", "numba.cpython.unicode", "numba.np.arrayobj")
MORE = ("llvmlite.binding", "sympy", "symengine", "gymnasium", "gymnasium.vector", "websockets.frames", "pytest")
STEPS = ("euler", "implicitfast", "moreau_jean")  # integrators whose loops are asked for
LAYOUTS = ("Model", "Model_hill", "Data", "ConeProblem", "ImpactProblem")


class Copy:
    """A copy of the package in a folder, with the programs beside it as the module `changed_programs`.

    `ahead`: modules that are imported before all others, once for all answers.
    """

    def __init__(self, root: Path, package: Path = PACKAGE, ahead: tuple[str, ...] = (*OTHERS, *MORE)):
        self.root = root
        unused = shutil.ignore_patterns("__pycache__", "node_modules", "*.html")
        shutil.copytree(package, root / "saltus", ignore=unused)
        shutil.copy2(PROGRAMS, root)
        compileall.compile_dir(root, quiet=2)
        self._server = subprocess.Popen(
            [sys.executable, "-P", __file__, *ahead],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": str(root), "NUMBA_NUM_THREADS": "1"},
            cwd=root,
        )

    def close(self) -> None:
        """End the process."""
        self._server.communicate("")

    def keys(self, names: list[str]) -> dict[str, str] | None:
        """Fingerprints by the names of kernels, entries and layouts; None where a module cannot be imported."""
        found = self._answer({"names": names})
        return None if "error" in found else found

    def results(self, programs: list[str], cache: Path) -> dict[str, str]:
        """Memory after programs, as text, or their errors; with the kernels in a directory."""
        return self._answer({"programs": programs, "cache": str(cache)})

    @contextlib.contextmanager
    def replaced(self, file: Path, text: str) -> Iterator[None]:
        """Another text for a file, which is given by its path in the copy; afterwards it is as before."""
        path = self.root / file
        kept, times = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(kept, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def tested(self, root: Path, stages: list[list[str]], limit: float, patience: float, cache: Path | None) -> dict:
        """Result of pytest with the copy, in the folder `root`, called with these arguments until the first failure.

        "end": "passed", "failed", "crash", "hang" (a test took more than `limit` seconds of the processor) or "out of
        time" (all took more than `patience` seconds, on a clock). "test" is the one that
        failed, or the last one; "error" the type of what it raised; "message" that as text; "count" how many have
        begun. `cache`: the directory of kernels, the usual one where None.
        """
        question = {"tests": stages, "root": str(root), "limit": limit, "patience": patience}
        return self._answer(question | ({"cache": str(cache)} if cache else {}))

    def _answer(self, question):
        assert self._server.stdin and self._server.stdout
        print(json.dumps(question), file=self._server.stdin, flush=True)
        return json.loads(self._server.stdout.readline())


# ---------------------------------------------------------------- in the process that answers


def serve(ahead: list[str]) -> None:
    """Answer each line of standard input with a line, after importing modules."""
    import importlib

    for name in ahead:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.disable()  # processes that end soon have little garbage
    sys.dont_write_bytecode = True  # two sources of the same second and size would have the same name
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _answer_in_child(json.loads(line), writing)
        os.close(writing)
        question = json.loads(line)
        if "tests" in question:
            text = json.dumps(_watched(child, reading, question["patience"]))
        else:
            with os.fdopen(reading) as answer:
                text = answer.read()
            os.waitpid(child, 0)
        print(text or '{"error": "the process ended"}', flush=True)


def _watched(child, reading, patience):
    """The end of a process that tests: it writes a line where a test begins, and a last one."""
    until, lines, end = time.monotonic() + patience, b"", ""
    try:
        while not end:
            ready = select.select([reading, sys.stdin], [], [], max(until - time.monotonic(), 0.0))[0]
            if reading not in ready:  # too late, or whoever asked has ended
                end = "out of time"
            elif not (found := os.read(reading, 65536)):
                break
            else:
                lines += found
    finally:  # Ctrl-C ends what it waits for, too
        if end or sys.exc_info()[0]:
            os.killpg(child, signal.SIGKILL)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    begun = [json.loads(line) for line in lines.splitlines()]
    if begun and "end" in begun[-1] and not end:
        return begun[-1]
    crashed = "hang" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU else "crash"
    known = {"test": "", "count": len(begun), "error": "", "message": ""}
    for line in begun[-2:]:  # where pytest itself fails, its error is the last one
        known |= {"message": line["error"]} if "error" in line else {"test": line["begins"]}
    return known | {"end": end or crashed}


def _answer_in_child(question, writing) -> None:
    try:
        if "cache" in question:
            os.environ["SALTUS_CACHE_DIR"] = question["cache"]
        if "tests" in question:
            answer = test_outcome(writing, question["root"], question["tests"], question["limit"])
        elif "programs" in question:
            answer = program_results(question["programs"])
        else:
            answer = all_keys(question["names"])
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    with os.fdopen(writing, "w") as pipe:
        pipe.write(json.dumps(answer))
    os._exit(0)


def test_outcome(writing, root, stages, limit):
    """Result of pytest; each test's name is written as it begins."""
    os.setpgid(0, 0)
    import pytest

    with contextlib.suppress(ImportError):  # a package without a compiler
        from saltus.number.compile import worker_pool

        worker_pool.MOST = 0  # one process
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    os.chdir(root)
    watch = _Watch(writing, limit)
    good = pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED
    for arguments in stages:
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *arguments], plugins=[watch])
        if code not in good and watch.found["end"] == "passed":
            watch.found |= {"end": "failed", "error": "CollectionError"}
        if watch.found["end"] != "passed":
            break
    return watch.found | {"count": watch.count}


class _Watch:
    """A plugin of pytest: which test fails, with what, and a limit to the time of the processor for each."""

    def __init__(self, writing, limit):
        self.writing, self.limit, self.count = writing, limit, 0
        self.found = {"end": "passed", "test": "", "error": "", "message": ""}

    def pytest_runtest_logstart(self, nodeid, location):
        self.count += 1
        os.write(self.writing, (json.dumps({"begins": nodeid}) + "\n").encode())
        used = resource.getrusage(resource.RUSAGE_SELF)
        ends = int(used.ru_utime + used.ru_stime + self.limit) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (ends, resource.getrlimit(resource.RLIMIT_CPU)[1]))

    def pytest_exception_interact(self, node, call, report):
        if self.found["end"] == "passed":
            error = "CollectionError" if report.when == "collect" else call.excinfo.typename
            text = str(call.excinfo.value)[:300]
            self.found = {"end": "failed", "test": report.nodeid, "error": error, "message": text}

    def pytest_runtest_logreport(self, report):
        if report.failed and self.found["end"] == "passed":  # what must fail and passes raises nothing
            self.found = {"end": "failed", "test": report.nodeid, "error": "", "message": str(report.longrepr)[:300]}


def program_results(names):
    """The memory that programs leave."""
    import warnings

    import changed_programs

    from saltus.number.compile import worker_pool

    warnings.simplefilter("ignore")
    worker_pool.MOST = 0  # one process
    found = {}
    for name in names:
        try:
            found[name] = base64.b64encode(changed_programs.PROGRAMS[name]().tobytes()).decode()
        except Exception as error:
            found[name] = f"{type(error).__name__}"
    return found


def all_keys(names):
    """Fingerprints of what modules define."""
    import importlib

    for name in names:
        importlib.import_module(name)

    from saltus.model.layout import model_layout
    from saltus.number.cache.fingerprint import base_key, fingerprint
    from saltus.number.compile.dispatchers import LateDispatcher
    from saltus.number.features import Choice
    from saltus.number.kernels import Entry
    from saltus.number.structs import LAYOUTS as layouts

    def described(value):
        if isinstance(value, Choice):
            return described(value.kernel) + fingerprint(value.py_func)
        if isinstance(value, Entry):
            return fingerprint(value.function(tuple(value._short), view=lambda s: 0))
        return fingerprint(value.py_func) + vars(value)["options"]

    model_layout(frozenset({"hill"}))  # a feature that adds fields
    found = {"": base_key()}
    for module in [sys.modules[name] for name in names]:
        for name, value in vars(module).items():
            kernel = value.kernel if isinstance(value, Choice) else value
            here = type(kernel) is LateDispatcher and kernel.py_func.__module__ == module.__name__
            if here or isinstance(value, Entry):
                found[f"{module.__name__}.{name}"] = described(value)
    found |= {f"layout {name}": layouts[name].digest for name in LAYOUTS if name in layouts}
    return found | _loops(described)


def _loops(described):
    """Fingerprints of the time loops of integrators, of simulations and of batches, and of their derivatives."""
    from saltus.integrate.registry import find_integrator
    from saltus.simulate.engine import loops

    found = {}
    for name in STEPS:
        integrator = find_integrator(name, "")
        found[f"loop {name}"] = described(loops.advance(integrator))
        found[f"batch {name}"] = described(loops.advance_batch(integrator))
        if name != "moreau_jean":
            found[f"derivative {name}"] = described(loops.linearize(integrator, True))
    return found


if __name__ == "__main__":
    serve(sys.argv[1:])
