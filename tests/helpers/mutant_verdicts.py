"""Verdicts of tests on faults that are planted in kernels, as lines of text and as a score by room."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from scipy.stats import binomtest

from helpers.mutant_faults import Fault

FOUND, SURVIVED, NOT_RUN, KNOWN = "found", "survived", "not run", "explained"
INVALID, UNDECIDED = "invalid", "undecided"
VERDICTS = (FOUND, SURVIVED, NOT_RUN, KNOWN, INVALID, UNDECIDED)
MISSED = SURVIVED, NOT_RUN
#: Errors of code that is none.
NOT_COMPILED = ("TypingError", "LoweringError", "UnsupportedError", "NameError", "UnboundLocalError", "CollectionError")


class Limits(NamedTuple):
    """Seconds of the processor for a test, and seconds for all tests of a fault."""

    test: float
    all: float


class Verdict(NamedTuple):
    """End of a fault: one of `VERDICTS`, the test that tells it or why, and how many tests have run."""

    kind: str
    told: str
    tests: int


def line_of(file: Path, made: Fault, verdict: Verdict, seconds: float) -> str:
    """A fault and its verdict as a line of text."""
    place = f"saltus/{file.as_posix()}:{made.line} {made.kernel}"
    told = f"{verdict.told}; " if verdict.told else ""
    code = f"{made.before}  ->  {made.after}"
    return f"{verdict.kind}: {place}: {made.kind}: {code}\n    {told}{verdict.tests} tests, {seconds:.0f} s"


def summary(ends: list[tuple[str, str]]) -> str:
    """(room, verdict) of all faults as a table; the score is the part found of all but explained ones and no faults."""
    lines = [f"{'room':12}{'planted':>10}" + "".join(f"{kind:>11}" for kind in VERDICTS) + "   score (95 %)"]
    rooms = sorted({room for room, _ in ends})
    for room in [*rooms, *(["all"] if len(rooms) > 1 else [])]:
        counts = Counter(kind for r, kind in ends if room in (r, "all"))
        row = f"{room:12}{counts.total():>10}" + "".join(f"{counts[kind]:>11}" for kind in VERDICTS)
        missed = sum(counts[kind] for kind in MISSED)
        lines.append(row + "   " + score(counts[FOUND], counts[FOUND] + missed))
    return "\n".join(lines)


def score(found: int, judged: int) -> str:
    """Percent of faults that are found, with Wilson's interval."""
    if not judged:
        return "-"
    interval = binomtest(found, judged).proportion_ci(0.95, "wilson")
    return f"{100 * found / judged:.0f} % ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)"
