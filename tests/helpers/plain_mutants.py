"""Faults in kernels, judged by tests that run kernels as plain Python, in forks of one process that has imported all.

Tests are collected once. A first run, which is kept until a source changes, notes the statements of kernels that each
test executes, and its time. For each fault a fork gives the kernels of a file their changed code, and runs the tests
that execute the fault's statement, those of little time first, until the first that fails. No other test can see it.
Faults in what is no kernel are judged alike, by tests that run compiled kernels, which such a fault does not change.
"""

import ast
import contextlib
import functools
import gc
import hashlib
import json
import os
import resource
import selectors
import signal
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from _pytest import runner

from helpers.mutant_faults import TABLE, Fault, functions_of, kernels, statements
from helpers.mutant_tests import imports
from helpers.mutant_verdicts import FOUND, INVALID, NOT_COMPILED, NOT_RUN, SURVIVED, UNDECIDED, Limits, Verdict
from helpers.plain_python import plain_python
from saltus.number.kernels import Entry

PROCESSES = 2
KEPT = 7 * 86400.0  # s, age up to which notes of what tests execute are kept
LONGEST = 8.0  # seconds of the processor of a test that is compiled elsewhere
TOO_LONG = 2  # so many tests of a function that take longer stand for its others
TOGETHER = 12  # files whose tests are noted by one process
SLACK, SLOWER = 5.0, 10.0  # a test may take so many seconds more, and times its own, before it is a loop without end
NO_CODE = (*NOT_COMPILED, "TypeError")  # what compiled code has no types for
MARK = "_mark_statement"  # name of what changed code calls with the number of a statement that runs
Place = tuple[str, int]  # a file relative to the package, and the first line of a statement


class Run(NamedTuple):
    """Seconds of the processor that tests take, and the statements of kernels that they execute, by their names."""

    seconds: dict[str, float]
    statements: dict[str, set[Place]]

    def tests(self, place: Place) -> list[str]:
        """Tests that execute a statement: those of little time first, and later those of a function that had turns."""
        names = sorted((name for name, ran in self.statements.items() if place in ran), key=self.seconds.__getitem__)
        turns, cost = Counter(), {}
        for name in names:
            turns[name.partition("[")[0]] += 1
            cost[name] = self.seconds[name] * turns[name.partition("[")[0]]
        return sorted(names, key=cost.__getitem__)

    def runs(self, file: str, lines: tuple[int, int]) -> bool:
        """Whether any test executes a statement between two lines of a file."""
        return any(f == file and lines[0] <= n <= lines[1] for ran in self.statements.values() for f, n in ran)


def judge(
    package: Path,
    tests: list[Path],
    faults: list[tuple[Path, Fault]],
    limits: Limits,
    tell: Callable[[Path, Fault, Verdict, float], None],
    processes: int = PROCESSES,
    also: tuple[Path, ...] = (),
    functions: bool = False,
) -> None:
    """Tell the verdict of tests on each fault in kernels of a package, and the seconds of the processor that it took.

    RuntimeError: a test fails without a fault. `limits.all`: after so many seconds of the processor the tests that are
    left do not run, and the verdict says how many did. `also`: files of tests that run in plain Python here, for all
    that they are compiled elsewhere; those that then fail without a fault, or take long, are left out. `functions`:
    the faults are in functions that are no kernels.
    """
    driver = _Driver(package, faults, limits, tell, processes, also, functions)
    arguments = ["-q", "-s", "-p", "no:cacheprovider", "--no-header", "--no-summary"]
    arguments += ["-m", "not slow"]
    pytest.main([*arguments, *map(str, [*tests, *also])], plugins=[driver])
    if driver.error:
        raise RuntimeError(driver.error)


# ---------------------------------------------------------------- changed code


def _functions_of(package: Path) -> dict[str, list[types.FunctionType]]:
    """All functions that live, by the file of the package that defines them."""
    found: dict[str, list[types.FunctionType]] = {}
    for function in gc.get_objects():
        if type(function) is types.FunctionType and function.__code__.co_filename.startswith(f"{package}/"):
            file = Path(function.__code__.co_filename).relative_to(package).as_posix()
            found.setdefault(file, []).append(function)
    return found


def _codes(code: types.CodeType) -> Iterator[tuple[tuple[str, int], types.CodeType]]:
    """Code of all functions inside, by qualified name and how many of this name came before."""
    counts: dict[str, int] = {}
    waiting = [code]
    while waiting:
        inner = [x for x in waiting.pop(0).co_consts if isinstance(x, types.CodeType)]
        for one in inner:
            counts[one.co_qualname] = counts.get(one.co_qualname, -1) + 1
            yield (one.co_qualname, counts[one.co_qualname]), one
        waiting += inner


def _with_closures(tree: ast.Module, old: dict[tuple[str, int], types.CodeType]) -> ast.Module:
    """The tree, whose functions still refer to all variables of their closures, so that these keep their size."""
    counts: dict[str, int] = {}
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, before = waiting.pop(0)
        for inner in _functions_in(node):
            name = before + inner.name
            counts[name] = counts.get(name, -1) + 1
            code = old.get((name, counts[name]))
            if code is not None and code.co_freevars:
                kept: list[ast.stmt] = [ast.Expr(ast.Name(x, ast.Load())) for x in code.co_freevars]
                inner.body.append(ast.If(ast.Constant(0), kept, []))
            waiting.append((inner, f"{name}.<locals>."))
    return ast.fix_missing_locations(tree)


def _functions_in(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """Functions defined in a node, but not those inside of them."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef):
            yield inner
        elif not isinstance(inner, ast.ClassDef):
            yield from _functions_in(inner)


def _put(tree: ast.Module, path: Path, functions: list[types.FunctionType]) -> None:
    """Give functions of a file the code of a changed tree of it. ValueError: a closure has another size."""
    text = path.read_text(encoding="utf-8")
    old = dict(_codes(compile(text, str(path), "exec")))
    new = dict(_codes(compile(_with_closures(tree, old), str(path), "exec")))
    changed = {(name[0], code.co_firstlineno): new[name] for name, code in old.items() if name in new}
    for function in functions:
        code = changed.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None:
            function.__code__ = code


def _marked(path: Path, first: int, functions: bool) -> tuple[ast.Module, list[int]]:
    """A file's tree in which each statement of a kernel is marked before it runs, and the lines of the statements.

    `functions`: those of what is no kernel. Tables with functions are not marked: each test counts as one of theirs.
    """
    tree, lines = ast.parse(path.read_text(encoding="utf-8")), []
    for kernel in [x for x in functions_of(tree) if x in ast.walk(tree)] if functions else kernels(tree):
        blocks = {id(x): block for block in _blocks(kernel) for x in block}
        for statement in [*statements(kernel.body)]:
            mark = ast.parse(f"{MARK}({first + len(lines)})").body[0]
            for node in ast.walk(mark):
                ast.copy_location(node, statement)
            block = blocks[id(statement)]
            block.insert(block.index(statement), mark)
            lines.append(statement.lineno)
    return tree, lines


def _blocks(kernel: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    """All lists of statements in a kernel."""
    for node in ast.walk(kernel):
        yield from (block for name in ("body", "orelse") if isinstance(block := getattr(node, name, None), list))


# ---------------------------------------------------------------- processes


class _Driver:
    """A plugin of pytest that judges faults in place of running the tests once."""

    def __init__(self, package, faults, limits, tell, processes, also, functions=False):
        self._package, self._faults, self._limits, self._tell = package, faults, limits, tell
        self._processes, self._also, self._of_functions = processes, {*also}, functions
        self.error = "no tests were collected"
        self._raised: Any = None

    @pytest.fixture(autouse=True)
    def _without_compiler(self, request):
        if request.path not in self._also:
            yield
            return
        # nothing with a fault may come among the compiled kernels
        compilers = f"{Entry.__module__}.Entry.compiled", "numba.core.dispatcher._FunctionCompiler.compile"
        with contextlib.ExitStack() as stack:
            stack.enter_context(plain_python())
            for name in compilers:
                stack.enter_context(mock.patch(name, _refuse))
            yield

    def pytest_exception_interact(self, node, call, report):
        self._raised = call.excinfo

    def pytest_runtestloop(self, session):
        if session.testsfailed:
            self.error = "some tests cannot be collected"
            return True
        self.error = ""
        self._items = {item.nodeid: item for item in session.items}
        self._functions = _functions_of(self._package)
        self._digests = {name: _digest(self._package / name) for name in self._functions}
        if self._of_functions:  # what the compiler is made of must not be marked
            changed = {file.as_posix() for file, _ in self._faults}
            self._functions = {name: found for name, found in self._functions.items() if name in changed}
        gc.collect()
        gc.freeze()
        try:
            self._judge_all(self._kept_run())
        except RuntimeError as error:
            self.error = str(error)
        return True

    def _failure(self, name: str) -> str:
        """Type of the error with which a test fails, and its text; nothing where it passes."""
        self._raised = None
        reports = runner.runtestprotocol(self._items[name], log=False, nextitem=None)
        if not any(report.failed for report in reports):
            return ""
        if self._raised is None:
            return "Failed"
        return f"{self._raised.typename}: {str(self._raised.value)[:200]}"

    def _failure_within(self, seconds: float, name: str) -> str:
        """`_failure` of a test that may take so many seconds; its end may come between the parts of a test, too."""
        try:
            with _at_most(seconds):
                return self._failure(name)
        except (_TooLong, SystemError, TypeError):
            # Python 3.11 makes a SystemError of an exception inside `ast.parse`, and one between two statements has no
            # line, from which pytest cannot subtract 1
            with contextlib.suppress(Exception):
                self._items[name].session._setupstate.teardown_exact(None)
            return f"{_TooLong.__name__}: "

    # -------- what tests execute

    def _kept_run(self) -> Run:
        """Statements that tests execute; those of a file of tests are kept until it or what it needs has changed."""
        whole, folder = Run({}, {}), Path(tempfile.gettempdir()) / f"plain_mutants_{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        files: dict[Path, Path] = {}
        for path in {item.path for item in self._items.values()}:
            key = hashlib.sha256(f"{sys.version} {LONGEST}".encode())
            for source in sorted(_helpers_of(path)):
                key.update(source.read_bytes())
            key.update("".join(self._names_in(path)).encode())
            if self._of_functions:
                key.update(repr((sorted(self._functions), sorted(self._digests.items()))).encode())
            files[path] = folder / f"{key.hexdigest()[:32]}.json"
        self._keep({path: file for path, file in files.items() if not self._holds(file)})
        for file in files.values():
            kept = json.loads(file.read_text())
            whole.seconds.update(kept["seconds"])
            whole.statements.update({name: {(f, n) for f, n in ran} for name, ran in kept["statements"].items()})
        return whole

    def _holds(self, file: Path) -> bool:
        """Whether there are notes, and files of kernels that ran have not changed since."""
        if not file.exists():
            return False
        kernels_then = json.loads(file.read_text())["kernels"]
        return all(self._digests.get(name) == digest for name, digest in kernels_then.items())

    def _names_in(self, path: Path) -> list[str]:
        return [name for name, item in self._items.items() if item.path == path]

    def _keep(self, files: dict[Path, Path], again: bool = True) -> None:
        """Run the tests of files, and keep what each executes in a file of its own."""
        if not files:
            return
        for old in next(iter(files.values())).parent.iterdir():
            if time.time() - old.stat().st_mtime > KEPT:
                old.unlink(missing_ok=True)
        waiting = sorted(files.items(), key=lambda each: -len(self._names_in(each[0])))
        count = max(self._processes, len(waiting) // TOGETHER)
        jobs = (lambda say, mine=waiting[k::count]: self._note(mine, say) for k in range(count))
        failed: list[str] = []
        for _, lines, end in _forked(jobs, self._processes, float("inf")):
            if end:
                raise RuntimeError(f"tests end without a fault, after {lines[-1:]}: {end}")
            failed += [line["failed"] for line in lines if line.get("failed")]
        if failed and again:
            # what is compiled of marked code, such as motions, is there once the tests have run without marks
            ((_, lines, end),) = _forked([lambda say: self._say_failures(failed, say)], 1, float("inf"))
            told = [line["told"] for line in lines if "told" in line]
            if told or end:
                raise RuntimeError("\n".join([*told, end]))
            self._keep({path: file for path, file in files.items() if not self._holds(file)}, again=False)
        elif failed:
            raise RuntimeError(f"fail where statements are marked: {failed}")

    def _say_failures(self, names: list[str], say: Callable[[dict], None]) -> None:
        """Run tests without marks, and say which fail."""
        for name in names:
            if failed := self._failure(name):
                say({"told": f"{name} fails without a fault, too: {failed}"})

    def _note(self, files: list[tuple[Path, Path]], say: Callable[[dict], None]) -> None:
        """Run tests with marked statements, and keep what each executes; say which fail that never should."""
        import builtins

        places: list[Place] = []
        for file, functions in self._functions.items():
            tree, lines = _marked(self._package / file, len(places), self._of_functions)
            if lines:
                places += [(file, line) for line in lines]
                _put(tree, self._package / file, functions)
        marks: set[int] = set()
        setattr(builtins, MARK, marks.add)
        for path, file in files:
            kept: dict[str, dict] = {"seconds": {}, "statements": {}, "left_out": {}}
            whole, long = path not in self._also, Counter()
            for name in self._names_in(path):
                if long[name.partition("[")[0]] >= TOO_LONG:
                    kept["left_out"][name] = "others of its function take long"
                    continue
                say({"begins": name})
                marks.clear()
                begun = time.process_time()
                failed = self._failure_within(0.0 if whole else LONGEST, name)
                if failed:
                    kept["left_out"][name] = failed
                    long[name.partition("[")[0]] += failed.startswith(_TooLong.__name__)
                    continue
                kept["seconds"][name] = time.process_time() - begun
                kept["statements"][name] = sorted({places[k] for k in marks})
            if whole and kept["left_out"]:
                for name in kept["left_out"]:
                    say({"failed": name})
                continue
            ran = {name for lines in kept["statements"].values() for name, _ in lines}
            kept["kernels"] = {name: self._digests[name] for name in ran}
            written = file.with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(kept))
            written.replace(file)

    # -------- faults

    def _judge_all(self, run: Run) -> None:
        chosen = [(file, made, self._tests(run, file, made)) for file, made in self._faults]
        waiting = []
        for file, made, names in chosen:
            if names:
                waiting.append((file, made, names))
            else:
                ran = run.runs(file.as_posix(), made.kernel_lines)
                told = "no test runs this statement" if ran else "no test runs this kernel"
                self._tell(file, made, Verdict(NOT_RUN, told, 0), 0.0)
        jobs = (lambda say, one=one: self._try(*one, run=run, say=say) for one in waiting)
        for k, lines, end in _forked(jobs, self._processes, 20.0 * self._limits.all + 60.0):
            file, made, names = waiting[k]
            begun = [line["begins"] for line in lines if "begins" in line]
            seconds = sum(line.get("seconds", 0.0) for line in lines)
            last, no_code = lines[-1] if lines else {}, () if self._of_functions else NO_CODE
            self._tell(file, made, _verdict(begun, last, end, len(names), no_code), seconds)

    def _tests(self, run: Run, file: Path, made: Fault) -> list[str]:
        if made.kernel == TABLE:
            return sorted(run.seconds, key=run.seconds.__getitem__)
        return run.tests((file.as_posix(), made.statement))

    def _try(self, file: Path, made: Fault, names: list[str], *, run: Run, say: Callable[[dict], None]) -> None:
        """Run tests with a fault until the first that fails."""
        _put(ast.parse(made.text), self._package / file, self._functions[file.as_posix()])
        for name in names:
            used = time.process_time()
            if used > self._limits.all:
                break
            say({"begins": name})
            most = min(self._limits.test, SLACK + SLOWER * run.seconds[name])
            hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
            resource.setrlimit(resource.RLIMIT_CPU, (int(used + most) + 1, hard))
            failed = self._failure(name)
            say({"seconds": time.process_time() - used, "failed": failed})
            if failed:
                break


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _helpers_of(path: Path) -> frozenset[Path]:
    """A file of tests, the files beside this one that it needs, and what plain Python is made of."""
    here, found, left = Path(__file__).parent, set(), [path, Path(plain_python.__code__.co_filename)]
    while left:
        source = left.pop()
        if source in found:
            continue
        found |= {source, *source.parent.glob(f"{source.stem}.json")}
        names = [x.partition(".")[2].replace(".", "/") for x in imports(source) if x.startswith("helpers.")]
        places = [here / f"{name}{end}" for name in names for end in (".py", "/__init__.py")]
        left += [place for place in places if place.is_file()]
    return frozenset(found)


class _TooLong(BaseException):
    """A test takes too many seconds of the processor."""


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """End what takes more than these seconds of the processor, unless they are 0."""

    def end(*_: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds, 10.0 * seconds)  # again where it was swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _refuse(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("a test in plain Python needs the compiler")


def _verdict(begun: list[str], last: dict, end: str, count: int, no_code: tuple[str, ...]) -> Verdict:
    if end == "out of time":
        return Verdict(UNDECIDED, f"out of time in {begun[-1] if begun else 'the first test'}", len(begun))
    if end:
        return Verdict(FOUND, f"{begun[-1]} ({end})", len(begun)) if begun else Verdict(INVALID, end, 0)
    failed = last.get("failed", "")
    if not failed:
        return Verdict(SURVIVED, "" if len(begun) == count else f"out of {count}", len(begun))
    if failed.partition(":")[0] in no_code or (no_code and failed.startswith("IndexError: tuple index")):
        return Verdict(INVALID, failed.partition("\n")[0], len(begun))
    return Verdict(FOUND, begun[-1], len(begun))


def _forked(
    jobs: Iterable[Callable[[Callable[[dict], None]], None]], processes: int, patience: float
) -> Iterator[tuple[int, list[dict], str]]:
    """Number of each job, what it said, and how its process ended: "", "crash", "hang" or "out of time".

    Jobs run in forks of this process, a few at once, in the order in which they begin. After `patience` seconds on a
    clock they end.
    """
    numbered: Iterator[tuple[int, Callable]] = iter(enumerate(jobs))
    running: dict[int, list[Any]] = {}
    with selectors.DefaultSelector() as ready:
        try:
            while True:
                while len(running) < processes and (following := next(numbered, None)):
                    child, reading = _begin(following[1])
                    ready.register(reading, selectors.EVENT_READ)
                    running[reading] = [following[0], child, b"", time.monotonic() + patience]
                if not running:
                    return
                least = min(until for *_, until in running.values()) - time.monotonic()
                for key, _ in ready.select(None if least == float("inf") else max(least, 0.0)):
                    running[key.fd][2] += (new := os.read(key.fd, 1 << 20))
                    if not new:
                        ready.unregister(key.fd)
                        yield _ended(key.fd, *running.pop(key.fd)[:3])
                for reading, (_, child, _, until) in running.items():
                    if time.monotonic() > until:
                        os.kill(child, signal.SIGKILL)
                        running[reading][3] = float("inf")
        finally:
            for reading, (_, child, _, _) in running.items():
                os.kill(child, signal.SIGKILL)
                os.close(reading)
                os.waitpid(child, 0)


def _begin(job) -> tuple[int, int]:
    """The process of a job, and where it is heard."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)

    def say(said: dict) -> None:
        os.write(writing, (json.dumps(said) + "\n").encode())

    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nowhere, standard)
        job(say)
    except BaseException as error:
        say({"error": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(0)


def _ended(reading: int, number: int, child: int, said: bytes) -> tuple[int, list[dict], str]:
    os.close(reading)
    _, status = os.waitpid(child, 0)
    lines = [json.loads(line) for line in said.splitlines() if line.endswith(b"}")]
    end = ""
    if os.WIFSIGNALED(status):
        known: dict[int, str] = {signal.SIGXCPU: "hang", signal.SIGKILL: "out of time"}
        end = known.get(os.WTERMSIG(status), "crash")
    elif lines and "error" in lines[-1]:
        end = lines[-1]["error"]
    return number, lines, end
