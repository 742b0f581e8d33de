"""Running benchmarks: the numbers that each reached, its seconds, and its verdict."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from saltus.verify.case import Benchmark, Check, Data, Figure, NeedsData

PASSED, FAILED, NEEDS_DATA = "passed", "failed", "needs data"


@dataclass(frozen=True)
class BenchmarkOutcome:
    """A benchmark that was run; `message` says what it lacks, or gives the error that ended it."""

    benchmark: Benchmark
    verdict: str
    seconds: float
    checks: list[Check] = field(default_factory=list)
    figure: Figure | None = None
    message: str = ""

    @property
    def worst(self) -> Check | None:
        """The check whose error is the largest part of its tolerance."""
        return max(self.checks, key=_part, default=None)

    def facts(self) -> dict[str, Any]:
        """Results other than the figure, in the form of JSON."""
        own = self.benchmark
        return {
            "name": own.name,
            "family": own.family,
            "title": own.title,
            "about": own.about,
            "source": own.source,
            "tolerances": own.allowed,
            "command": own.command,
            "verdict": self.verdict,
            "message": self.message,
            "seconds": round(self.seconds, 3),
            "checks": [_check_facts(check) for check in self.checks],
        }


def _part(check: Check) -> float:
    """An error over its tolerance; 0 where both are zero."""
    return check.error / check.tolerance if check.tolerance > 0 else (0.0 if check.passed else float("inf"))


def _check_facts(check: Check) -> dict[str, Any]:
    facts = {
        "name": check.name,
        "unit": check.unit,
        "reached": check.reached,
        "reference": check.reference,
        "error": check.error,
        "tolerance": check.tolerance,
    }
    # JSON has no word for infinity
    finite = {key: value if value == value and abs(value) != float("inf") else None for key, value in _numbers(facts)}
    return facts | finite | {"relative": check.relative, "passed": check.passed}


def _numbers(facts: dict[str, Any]) -> Iterable[tuple[str, float]]:
    return [(key, value) for key, value in facts.items() if isinstance(value, float)]


def run_benchmark(benchmark: Benchmark, data: Data | None = None) -> BenchmarkOutcome:
    """Run one benchmark; an error that ends it early is reported as a failure and not raised."""
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # warnings of Saltus, and of MuJoCo about models
            result = benchmark.measure(data or Data())
    except NeedsData as lacks:
        return BenchmarkOutcome(benchmark, NEEDS_DATA, time.perf_counter() - began, message=str(lacks))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return BenchmarkOutcome(benchmark, FAILED, time.perf_counter() - began, message=text)
    seconds = time.perf_counter() - began
    passed = bool(result.checks) and all(check.passed for check in result.checks)
    return BenchmarkOutcome(benchmark, PASSED if passed else FAILED, seconds, list(result.checks), result.figure)


def run_benchmarks(
    chosen: Iterable[Benchmark],
    data: Data | None = None,
    progress: Callable[[Benchmark, int], object] = lambda benchmark, done: None,
) -> list[BenchmarkOutcome]:
    """Run several benchmarks, one after the other; `progress` gets the next one and the number done."""
    outcomes: list[BenchmarkOutcome] = []
    for benchmark in chosen:
        progress(benchmark, len(outcomes))
        outcomes.append(run_benchmark(benchmark, data))
    return outcomes
