"""Faults planted one at a time in kernels: which of them no test notices.

    PYTHONPATH=tests:. python -m helpers.mutants ROOM_OR_FILE ... [--count N] [--seed S] [--all-tests|--near]
        [--plain [--then-compiled]] [--kinds sign,index] [--functions]

A fault is a wrong sign, swapped operands, an index or number beside the right one, a condition negated or weakened, a
term or statement left out, or minimum for maximum. Each is made in a copy of the package, and tests that could see it
run until the first that fails. What none notices is printed, with file, line and code, and the exit status is 1. Faults
that change nothing but rounding stand in `mutants_explained.toml`, with the reason, once somebody has looked at them.
What cannot be compiled is no fault, and counts as neither; nor does what was not decided in time. With `--plain` a
fault takes seconds, and those in what no test runs are counted apart, as missed ones; with `--then-compiled` the tests
in compiled code then judge what those in plain Python missed, in minutes a fault. `--kinds` chooses kinds of faults by
the names that are printed. `--functions` is for code that is no kernel: faults go into all other functions and methods.
"""

import argparse
import contextlib
import importlib
import os
import random
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from helpers.changed_copies import PACKAGE, Copy
from helpers.mutant_faults import KINDS, Fault, fault, places_in
from helpers.mutant_tests import TESTS, also_plain, function_tests, likely_tests, module_name, plain_tests
from helpers.mutant_verdicts import (
    FOUND,
    INVALID,
    KNOWN,
    MISSED,
    NOT_COMPILED,
    SURVIVED,
    UNDECIDED,
    Limits,
    Verdict,
    line_of,
    summary,
)
from helpers.plain_mutants import PROCESSES, judge
from saltus.number.cache.fingerprint import CHOOSING, EXTENSIONS, KERNEL_ROOMS
from saltus.number.cache.storage import cache_root

ROOMS = ("dynamics", "contact", "solve", "integrate", "sense")
EXPLAINED = Path(__file__).with_name("mutants_explained.toml")
Tell = Callable[[Path, Fault, Verdict, float], None]
Stages = Callable[[Path, bool], list[list[Path]]]
LIMIT, PATIENCE, PLAIN_PATIENCE = 120.0, 900.0, 60.0  # s


def sources(named: list[str]) -> dict[Path, set[int]]:
    """{file: lines, none of them where all count} of what is named as `dynamics`, `dynamics/energy.py` or with `:30`.

    Files are those with kernels, relative to the package. Those that extend the compiler are left out: after a change
    there all kernels are compiled anew.
    """
    found: dict[Path, set[int]] = {}
    for name in named:
        place, _, line = name.removeprefix("saltus/").partition(":")
        path = PACKAGE / place
        if not path.exists():
            raise SystemExit(f"{name}: no room or file of {PACKAGE}")
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            relative = file.relative_to(PACKAGE)
            if relative.as_posix() not in (*EXTENSIONS, *CHOOSING):
                found.setdefault(relative, set()).update({int(line)} if line else ())
    return found


def sample(
    files: dict[Path, set[int]], count: int, seed: int, kinds: Iterable[str] = KINDS, functions: bool = False
) -> Iterator[tuple[Path, Fault]]:
    """So many faults of the kernels in files: each of the kinds as likely as any other, and then each place.

    `functions`: of what is no kernel there instead.
    """
    pick, places = random.Random(seed), {}
    for file, lines in files.items():
        for k, (kind, line) in enumerate(places_in(PACKAGE / file, functions)):
            if kind in kinds and (line in lines or not lines):
                places.setdefault(kind, []).append((file, k))
    for kind in sorted(places):
        pick.shuffle(places[kind])
    while places and count > 0:
        kind = pick.choice(sorted(places))
        file, k = places[kind].pop()
        if not places[kind]:
            del places[kind]
        made = fault(PACKAGE / file, k, functions)
        if made is not None:
            count -= 1
            yield file, made


def explained(path: Path = EXPLAINED) -> list[dict[str, str]]:
    """Survivors that change nothing but rounding: file, kernel, before, after, reason."""
    return tomllib.loads(path.read_text(encoding="utf-8")).get("survivor", [])


def is_explained(file: Path, made: Fault, known: list[dict[str, str]]) -> bool:
    """Whether a fault is one of those."""
    of_this = {"file": file.as_posix(), "kernel": made.kernel, "before": made.before, "after": made.after}
    return any(of_this.items() <= entry.items() for entry in known)


class Trial:
    """A copy of the package, and faults in it, one after the other; tests run in the folder `home`.

    `cache`: the directory of kernels that are compiled with a fault, the usual one where None.
    """

    def __init__(self, copy: Copy, home: Path, limits: Limits, cache: Path | None = None):
        self._copy, self._home, self._limits, self._cache = copy, home, limits, cache
        self._unchanged: dict[str, bool] = {}

    def verdict(self, file: Path, made: Fault, tests: list[list[Path]], slow: bool = False) -> Verdict:
        """Verdict of tests on a fault. RuntimeError: one fails that also fails without it."""
        chosen = [] if slow else ["-m", "not slow"]
        with self._copy.replaced(Path("saltus") / file, made.text):
            end = self._run([[*map(str, stage), *chosen] for stage in tests], self._cache)
        if end["end"] == "passed":
            return Verdict(SURVIVED, "", end["count"])
        if end["end"] == "out of time":
            return Verdict(UNDECIDED, f"out of time in {end['test']}", end["count"])
        if end["error"] in NOT_COMPILED:
            return Verdict(INVALID, f"{end['error']}: {end['message'].partition(chr(10))[0]}", end["count"])
        if not self._passes_unchanged(end["test"]):
            raise RuntimeError(f"{end['test']} fails without a fault, too: {end['message']}")
        how = "" if end["end"] == "failed" else f" ({end['end']})"
        return Verdict(FOUND, end["test"] + how, end["count"])

    def _run(self, stages: list[list[str]], cache: Path | None) -> dict:
        return self._copy.tested(self._home, stages, self._limits.test, self._limits.all, cache)

    def _passes_unchanged(self, test: str) -> bool:
        if test not in self._unchanged:
            self._unchanged[test] = self._run([[test]], None)["end"] == "passed"
        return self._unchanged[test]


def linked_cache(place: Path) -> Path | None:
    """A directory with the files of compiled kernels, by links, so that those of faults go with it.

    None, the usual directory, where there can be no links.
    """
    try:
        shutil.copytree(cache_root(), place, copy_function=os.link)
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
        return None
    place.chmod(0o700)
    return place


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Request of the command line."""
    parser = argparse.ArgumentParser(prog="python -m helpers.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "named", nargs="+", metavar="ROOM_OR_FILE", help=f"{', '.join(ROOMS)}, a path in saltus/, or FILE:LINE"
    )
    parser.add_argument("--count", type=int, metavar="N", default=12)
    parser.add_argument("--seed", type=int, metavar="S", default=0)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all-tests", action="store_true", help="slow ones and bits, too")
    which.add_argument("--near", action="store_true", help="only tests of the file's name, and those that import it")
    parser.add_argument("--plain", action="store_true", help="only tests that run in plain Python: nothing is compiled")
    parser.add_argument("--then-compiled", action="store_true", help="what --plain misses, once more in compiled code")
    parser.add_argument(
        "--kinds",
        type=_kinds,
        default=KINDS,
        metavar="KIND,...",
        help=f"faults of these kinds alone: {', '.join(KINDS)}",
    )
    parser.add_argument("--functions", action="store_true", help="in functions and methods that are no kernels")
    parser.add_argument("--limit", type=float, metavar="S", default=LIMIT, help="seconds of the processor for a test")
    parser.add_argument(
        "--patience",
        type=float,
        metavar="S",
        help=f"seconds for a fault: {PATIENCE:.0f}, or of the processor with --plain, {PLAIN_PATIENCE:.0f}",
    )
    parser.add_argument("--processes", type=int, metavar="N", default=PROCESSES, help="faults at once with --plain")
    given = parser.parse_args(arguments)
    if given.then_compiled and not given.plain:
        parser.error("--then-compiled is for what --plain misses")
    if given.functions and (given.plain or given.near or given.all_tests):
        parser.error("--functions, which tests see in compiled code, goes with --kinds and limits alone")
    return given


def _kinds(text: str) -> tuple[str, ...]:
    """Kinds of faults from their names with commas between them."""
    kinds = tuple(text.split(","))
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise argparse.ArgumentTypeError(f"no kind of fault: {', '.join(unknown)}; there are {', '.join(KINDS)}")
    return kinds


def verdicts(given: argparse.Namespace, tell: Tell) -> None:
    """Tell what tests say of each fault that the command line asks for."""
    compiled_verdicts(given, new_faults(given, tell), tell, likely_tests, given.patience or PATIENCE)


def new_faults(given: argparse.Namespace, tell: Tell) -> Iterator[tuple[Path, Fault]]:
    """The faults that the command line asks for; those that are explained are told, and left out."""
    known = explained()
    for file, made in sample(sources(given.named), given.count, given.seed, given.kinds, given.functions):
        if is_explained(file, made, known):
            tell(file, made, Verdict(KNOWN, "", 0), 0.0)
        else:
            yield file, made


def compiled_verdicts(
    given: argparse.Namespace, faults: Iterable[tuple[Path, Fault]], tell: Tell, stages: Stages, patience: float
) -> None:
    """Tell what compiled tests say of faults; `stages`: those for a file, in the order in which they are tried."""
    limits, last = Limits(given.limit, patience), 2 if given.near else None
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Copy(Path(folder) / "copy")) as copy:
        trial = Trial(copy, TESTS.parent, limits, linked_cache(Path(folder) / "cache"))
        for file, made in faults:
            begun = time.monotonic()
            verdict = trial.verdict(file, made, stages(file, given.all_tests)[:last], given.all_tests)
            tell(file, made, verdict, time.monotonic() - begun)


def plain_verdicts(given: argparse.Namespace, tell: Tell) -> None:
    """Tell what tests in plain Python say of each fault, or, of those that they miss, the compiled ones."""
    missed = []

    def tell_or_keep(file: Path, made: Fault, verdict: Verdict, seconds: float) -> None:
        if given.then_compiled and verdict.kind in MISSED:
            missed.append((file, made))
        else:
            tell(file, made, verdict, seconds)

    limits = Limits(given.limit, given.patience or PLAIN_PATIENCE)
    judge(PACKAGE, plain_tests(), [*new_faults(given, tell)], limits, tell_or_keep, given.processes, also_plain())
    if missed:
        compiled_verdicts(given, missed, tell, lambda *asked: likely_tests(*asked)[1:], PATIENCE)


def function_verdicts(given: argparse.Namespace, tell: Tell) -> None:
    """Tell what tests of their rooms say of faults in functions that are no kernels.

    Those by which code is compiled are judged in a copy of the package, apart from the kernels of all, and with
    compiling: in minutes a fault.
    """
    faults: list[tuple[Path, Fault]] = []
    compiling: list[tuple[Path, Fault]] = []
    for file, made in new_faults(given, tell):
        # of the rooms of simulations only the engine makes kernels
        own = file.parts[0] in KERNEL_ROOMS and (file.parts[0] != "simulate" or "engine" in file.parts)
        (compiling if own else faults).append((file, made))
    if compiling:
        patience = given.patience or PATIENCE
        compiled_verdicts(given, compiling, tell, lambda file, _: [function_tests(file)], patience)
    if not faults:
        return
    for file, _ in faults:
        importlib.import_module(module_name(file))  # functions must be there before tests begin
    tests = sorted({test for file, _ in faults for test in function_tests(file)})
    limits = Limits(given.limit, given.patience or LIMIT)
    judge(PACKAGE, tests, faults, limits, tell, given.processes, functions=True)


def main(arguments: list[str]) -> int:
    """Plant faults, print what becomes of each, and the score: 1 if any survived, also of those before Ctrl-C."""
    ends, given = [], parsed(arguments)

    def tell(file: Path, made: Fault, verdict: Verdict, seconds: float) -> None:
        ends.append((file.parts[0], verdict.kind))
        print(line_of(file, made, verdict, seconds), flush=True)

    with contextlib.suppress(KeyboardInterrupt):
        (plain_verdicts if given.plain else function_verdicts if given.functions else verdicts)(given, tell)
    print(summary(ends))
    return int(any(kind in MISSED for _, kind in ends))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
