"""A campaign over certificates: random runs under all laws and integrators, their stated errors beside the true ones.

`PYTHONPATH=tests:. python -m helpers.certificates --count 500` prints a line for each certificate that does not
hold or says nothing, with the seed that reproduces it, and a summary: how often the true error lies within the estimate
and the bound, how often no bound was given, and how often one was broken, with and without a warning.
"""

import argparse
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

import saltus
from helpers import oracle
from helpers.certificate_trials import Trial, trial

HELD, BROKEN, UNBOUNDED, FAILED = "held", "broken", "unbounded", "failed"


@dataclass
class Verdict:
    """Verdict on a certificate: `outcome`, whether it said that it may not hold, and the numbers (rad, m)."""

    outcome: str
    warned: bool = False
    error: float = np.nan  # the largest true error, at samples
    estimate: float = np.nan
    bound: float = np.nan
    unsure: float = 0.0  # of the truth
    seconds: float = 0.0
    plain: float = 0.0  # s that the run takes without a certificate
    words: str = ""

    @property
    def within_estimate(self) -> bool:
        """Whether the estimate is no smaller than the error."""
        return self.error - self.unsure <= self.estimate

    @property
    def silent(self) -> bool:
        """Whether the bound is broken and nothing was said."""
        return self.outcome == BROKEN and not self.warned


def judge(made: Trial) -> Verdict:
    """Run a trial with its certificate, and compare that with the truth."""
    try:
        sim = made.simulation()
        begun = time.perf_counter()
        sim.run(made.duration, made.duration / made.samples)
        plain = time.perf_counter() - begun
        sim = made.simulation()
        begun = time.perf_counter()
        run = sim.run(made.duration, made.duration / made.samples, certify=True)
        seconds = time.perf_counter() - begun
    except saltus.SaltusError as error:
        return Verdict(FAILED, warned=True, words=" ".join(str(error).split()))
    stated = run.certificate
    words = "; ".join(stated.warnings)
    verdict = Verdict(HELD, not stated.ok or "may be missed" in words, seconds=seconds, plain=plain, words=words)
    verdict.estimate, verdict.bound = stated.largest_error, stated.largest_bound
    try:
        true, verdict.unsure = made.truth(made, made.simulation(), run.time - run.time[0])
    except (saltus.SaltusError, AssertionError, ValueError, OverflowError) as error:
        return Verdict(FAILED, warned=True, words=f"truth: {' '.join(str(error).split())}")
    m = sim.model.mujoco
    error = np.array([np.abs(oracle.difference(m, a, b)).max() for a, b in zip(true, run.qpos, strict=True)])
    verdict.error = float(error.max())
    if not np.isfinite(stated.largest_bound):
        verdict.outcome = UNBOUNDED
    elif np.any(error - verdict.unsure > stated.bound):
        verdict.outcome = BROKEN
    return verdict


def campaign(count: int, seed: int = 0, families: tuple[str, ...] = (), *, verbose: bool = False) -> list[Verdict]:
    """Judge `count` trials from `seed` on, printing what does not hold, and a summary."""
    verdicts, table = [], {}
    for k in range(seed, seed + count):
        made = trial(k)
        if families and made.family not in families:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            verdict = judge(made)
        verdicts.append(verdict)
        row = table.setdefault(f"{made.family}, {made.integrator}", Counter())
        row[f"{verdict.outcome}{', said' if verdict.outcome == BROKEN and verdict.warned else ''}"] += 1
        if verbose or verdict.outcome != HELD:
            print(f"{k} {made.family}, {made.integrator}: {_line(made, verdict)}", flush=True)
    for name, row in sorted(table.items()):
        print(f"  {name}: {dict(row)}")
    print(summary(verdicts))
    return verdicts


def _line(made: Trial, verdict: Verdict) -> str:
    kind = verdict.outcome + (" IN SILENCE" if verdict.silent else "")
    numbers = f"error {verdict.error:.3g} ± {verdict.unsure:.1g}, estimate {verdict.estimate:.3g}"
    how = f"bound {verdict.bound:.3g}, {verdict.seconds:.3g} s"
    return f"{kind}, {numbers}, {how}; {made.description()}; {verdict.words[:400]}"


def summary(verdicts: list[Verdict]) -> str:
    """Shares of outcomes, and how loose bounds are."""
    outcomes = Counter(v.outcome for v in verdicts)
    judged = [v for v in verdicts if v.outcome != FAILED]
    broken = [v for v in judged if v.outcome == BROKEN]
    bounded = [v for v in judged if v.outcome != UNBOUNDED]
    loose = [v.bound / v.error for v in bounded if v.error > max(1e-12, 10 * v.unsure)]
    ratio = [v.seconds / v.plain for v in judged]
    silent = sum(v.silent for v in judged)
    return (
        f"certificates: {len(verdicts)} runs, {dict(outcomes)}; of {len(bounded)} bounds {len(bounded) - len(broken)} "
        f"hold, {silent} are broken in silence; error within the estimate: "
        f"{np.mean([v.within_estimate for v in judged]):.3f}; bound over error: median "
        f"{np.median(loose) if loose else np.nan:.2g}; time over that without: median {np.median(ratio):.3g}, largest "
        f"{max(ratio):.3g}"
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", nargs="*", default=())
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    campaign(given.count, given.seed, tuple(given.families), verbose=given.verbose)


if __name__ == "__main__":
    main()
