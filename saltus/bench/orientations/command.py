"""`saltus bench orientations`: the n-link pendulum in relative, absolute and maximal coordinates, in several ways.

Each measurement is made in a process of its own, by number of links and, within it, in random order. The equations that
Saltus derives, as Python and Numba code, stand beside the naive method, which solves symbolically at every step, and
the numeric engine. A way that does not move as the engine does is reported as wrong, not timed.
"""

from __future__ import annotations

import json
import math
import random
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saltus.arguments import usable_cores
from saltus.bench.harness.fresh import Outcome, run_fresh
from saltus.bench.orientations.case import ORIENTATIONS, Answer, Case
from saltus.bench.orientations.plan import Found, Plan, Row
from saltus.errors import OptionError, SaltusError

if TYPE_CHECKING:
    from saltus.terminal.screen import Activity

SAME = 1e-6  # rad: two ways that differ by more, at the end, have not moved alike; the naive way loses seven digits
MANY_LINKS = (20, 50, 100)  # options of the engine alone


def bench_orientations(plan: Plan, json_path: Path | None, plot_path: Path | None) -> None:
    """Run the benchmark: measure, print tables and conclusions, write figures as JSON and a figure."""
    from saltus.bench.harness import machine
    from saltus.bench.orientations.plot import plot
    from saltus.bench.orientations.report import print_report
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.record.plot.trajectory import check_figure
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    if plot_path is not None:
        check_figure(plot_path)
    with screen.Activity() as activity:
        found = measure(plan, activity)
    about = machine.description(usable_cores())
    for warning in found.warnings:
        screen.say(warning)
    print_report(plan, found, about)
    if json_path is not None:
        content = {
            "machine": about,
            "plan": asdict(plan),
            "rows": [asdict(row) | {"modelling_time": row.modelling_time, "total": row.total} for row in found.rows],
            "notes": found.notes,
            "engine_cold": found.cold,
        }
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")
    if plot_path is not None:
        plot(plan, found, plot_path)
        print(f"wrote {plot_path} (figure)")


def planned(
    links: int | None,
    steps: int | None,
    option: str,
    naive_links: int | None,
    limit: float,
    seed: int,
    quick: bool,
) -> Plan:
    """The plan that the options ask for; OptionError for options that make no sense."""
    links = (2 if quick else 10) if links is None else links
    steps = (20 if quick else 100) if steps is None else steps
    naive_links = links if naive_links is None else naive_links
    for name, value, least in (("links", links, 1), ("steps", steps, 1), ("naive-links", naive_links, 0)):
        if value < least:
            raise OptionError(f"{name} must be at least {least}, got {value}")
    if naive_links > links:
        raise OptionError(f"naive-links must be at most links, {links}, got {naive_links}")
    if option not in ("A", "B"):
        raise OptionError(f"option must be A (a force on the end) or B (a torque between the last two), got {option!r}")
    if not (math.isfinite(limit) and limit > 0):
        raise OptionError(f"limit must be a positive number of seconds, got {limit:g}")
    many = () if quick else tuple(n for n in MANY_LINKS if n > links)
    processes = 1 if quick else 3
    return Plan(links, steps, option, naive_links, many, limit, seed, processes, cold=not quick)


# ------------------------------------------------------------ measuring


def measure(plan: Plan, activity: Activity) -> Found:
    """Measure everything that the plan asks for."""
    found = Found()
    chance = random.Random(plan.seed)
    over: set[tuple[str, str]] = set()  # method and orientation of cases that would take too long with more links
    for n in [*range(1, plan.links + 1), *plan.engine_links]:
        cases = [case for case in _cases(plan, n) if (case.method, case.orientation) not in over]
        chance.shuffle(cases)
        answers: dict[Case, list[Answer]] = {}
        for case in cases:
            if (case.method, case.orientation) in over:
                continue
            outcome = _run(case, plan.limit, activity)
            found.warnings += [f"{case}: {x}" for x in outcome.stderr.splitlines() if outcome.error is None and x]
            if outcome.late or outcome.error is not None:
                over.add((case.method, case.orientation))
                answers.pop(case, None)
                found.notes.append(_unfinished(case, plan, outcome))
            else:
                answers.setdefault(case, []).append(Answer.from_json(outcome.facts["answer"]))
        rows = [row for case, a in sorted(answers.items(), key=_place) for row in _rows(case, a)]
        found.rows += judged(rows, found.notes)
    if not found.rows:
        raise SaltusError("nothing was measured: " + "; ".join(found.notes))
    if plan.cold:
        found.cold = _cold(plan, activity, found)
    found.warnings = list(dict.fromkeys(found.warnings))
    return found


def _cases(plan: Plan, n: int) -> list[Case]:
    """All cases of n links, as often as each is to be measured."""
    out = []
    for method, orientations in ORIENTATIONS.items():
        most = {"naive": plan.naive_links, "equations": plan.links}.get(method, n)
        times = 1 if method == "naive" else plan.processes
        if n <= most:
            out += [Case(method, o, n, plan.option, plan.steps) for o in orientations] * times
    return out


def _place(item: tuple[Case, Any]) -> tuple[int, int]:
    case, _ = item
    return list(ORIENTATIONS).index(case.method), ORIENTATIONS[case.method].index(case.orientation)


def _run(case: Case, limit: float, activity: Activity, environment: dict[str, str] | None = None) -> Outcome:
    what = f"measuring {case}"
    progress = activity.progress(what)
    outcome = run_fresh(
        "saltus.bench.orientations.case",
        asdict(case),
        limit=limit,
        hear=lambda facts: progress(facts.get("steps", 0) / case.steps),
        environment=environment,
    )
    activity.end(what)
    return outcome


def _unfinished(case: Case, plan: Plan, outcome: Outcome) -> str:
    """Reason why no more links are tried."""
    if outcome.error is not None:
        return f"{case}: failed, {outcome.error}"
    came = "still modelling"
    if "modelling" in outcome.facts:
        came = f"after {outcome.facts['modelling']:.1f} s of modelling, {outcome.facts.get('steps', 0)} steps were done"
    return f"{case}: not finished within the limit of {plan.limit:g} s ({came}); no more links"


def _cold(plan: Plan, activity: Activity, found: Found) -> dict[str, float] | None:
    """Seconds that the engine takes before the first step where no compiled code is kept."""
    case = Case("engine", "relative", 1, plan.option, plan.steps)
    with tempfile.TemporaryDirectory() as folder:
        outcome = _run(case, plan.limit, activity, {"SALTUS_CACHE_DIR": folder})
    if outcome.late or outcome.error is not None:
        found.notes.append("cold start of " + _unfinished(case, plan, outcome))
        return None
    return Answer.from_json(outcome.facts["answer"]).modelling


# ------------------------------------------------------------ rows


def _rows(case: Case, answers: list[Answer]) -> list[Row]:
    """One row per way, with the least times of the processes: other work of the machine only adds to them."""
    rows = []
    for k, way in enumerate(answers[0].ways):
        ways = [answer.ways[k] for answer in answers]
        modelling = _least([answer.modelling for answer in answers]) | _least([w.modelling for w in ways])
        simulation = min(w.simulation for w in ways)
        rows.append(
            Row(
                **{name: getattr(case, name) for name in ("method", "orientation", "links")},
                way=way.name,
                modelling=modelling,
                simulation=simulation,
                operations=answers[0].operations,
                angles=way.angles,
                rates=way.rates,
                difference=math.nan,
                right=False,
                processes=len(answers),
                stabilised=way.stabilised,
            )
        )
    return rows


def _least(parts: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(p[name] for p in parts) for name in parts[0]}


def judged(rows: list[Row], notes: list[str]) -> list[Row]:
    """Rows of one number of links with their difference from the engine's; none, and a note, without the engine's."""
    truth = [row for row in rows if row.method == "engine"]
    if rows and not truth:
        notes.append(
            f"{rows[0].links} links: not reported, as the numeric engine, which tells what is right, is missing"
        )
        return []
    out = []
    for row in rows:
        apart = max(abs(a - b) for a, b in zip(row.angles, truth[0].angles, strict=True))
        out.append(replace(row, difference=apart, right=apart < SAME))
    return out
