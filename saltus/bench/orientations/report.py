"""Printed report of the benchmark of orientations: times by number of links, and conclusions."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from saltus.bench.harness.report import print_table
from saltus.bench.orientations.case import ORIENTATIONS, TIMESTEP

if TYPE_CHECKING:
    from saltus.bench.orientations.plan import Found, Plan, Row

INPUTS = {
    "A": "a horizontal force of 5 sin(8 pi t) N on the end of the last link",
    "B": "a torque of 5 sin(8 pi t) N m between the last two links",
}
LEGEND = (
    "M, bias, all: operations for the inertia matrix, the bias forces and all that a step evaluates, after common",
    "  subexpressions, without the linear solution, which for maximal coordinates is that of one dense system with all",
    "  multipliers; modelling: all before the first step, with Python code; Numba: what its code takes besides",
    "faster: Python code, or the engine, than the naive way in the angles that suit that better; apart: last angles",
    "  from the engine's (rad)",
)
ALIKE = 0.1  # times that differ by less, relatively, count as alike
Series = dict[int, float]


def print_report(plan: Plan, found: Found, about: dict[str, Any]) -> None:
    """Print the tables, the notes and the conclusions."""
    from saltus.terminal import screen

    print(f"the n-link pendulum: {INPUTS[plan.option]}")
    print(f"{screen.count(plan.steps, 'step')} of {TIMESTEP} s of semi-implicit Euler, from hanging at rest")
    groups = grouped(found.rows)
    print_table(HEADERS, [_cells(group, found.rows) for group in groups], left=("angles",))
    for line in LEGEND:
        print(line)
    print()
    for line in [*conclusions(found.rows), *_about_engine(found), *found.notes]:
        print(textwrap.fill(line, screen.WIDTH, subsequent_indent="    "))
    times = max((row.processes for row in found.rows), default=1)
    often = f", {times} times, of which the least counts, the naive way once" if times > 1 else ""
    print(f"less, more: by over {100 * ALIKE:g} %; each measured in a process of its own, in random order{often}")
    versions = ", ".join(f"{name} {about[name.lower()]}" for name in ("Python", "Numba", "NumPy"))
    print(f"{about['cpu']}, {screen.count(about['cores'], 'core')}; {versions}")


# ------------------------------------------------------------ tables


HEADERS = (
    "links", "angles", "M", "bias", "all", "modelling", "simulation", "Numba", "simulation",
    "faster: all", "simulation", "apart",
)  # fmt: skip


def grouped(rows: Iterable[Row]) -> list[dict[str, Row]]:
    """Rows of each case, by way."""
    groups: dict[tuple, dict[str, Row]] = {}
    for row in rows:
        groups.setdefault((row.links, row.method, row.orientation), {})[row.way] = row
    return list(groups.values())


def _cells(group: dict[str, Row], rows: list[Row]) -> tuple[str, ...]:
    """A line of the table."""
    first, *others = group.values()
    what = {"engine": "numeric engine", "naive": f"{first.orientation}, naive"}.get(first.method, first.orientation)
    operations = first.operations or {}
    difference = f"{max(row.difference for row in group.values()):.0e}".replace("0e+00", "0")
    out = [str(first.links), what, *(str(operations.get(name, "")) for name in ("M", "bias", "all"))]
    if not all(row.right for row in group.values()):
        return *out, "wrong", "", "", "", "", "", difference
    out += [span(first.modelling_time), span(first.simulation)]
    out += [text for row in others for text in (span(row.modelling["code"]), span(row.simulation))] or ["", ""]
    peers = [r for r in rows if r.method == "naive" and r.links == first.links and r.right]
    if not peers or first.method == "naive":
        return *out, "", "", difference
    ratios = (min(r.total for r in peers) / first.total, min(r.simulation for r in peers) / first.simulation)
    return *out, *map(times, ratios), difference


# ------------------------------------------------------------ conclusions


def conclusions(rows: list[Row]) -> list[str]:
    """Conclusions on naive and derived equations, on kinds of angle, and on maximal coordinates."""
    good = [row for row in rows if row.right]
    return [*_against_naive(good), *_angles(good), *_maximal(good)]


def _against_naive(rows: list[Row]) -> list[str]:
    """Comparison of naive and derived equations in the same angles, at the most links that both reached."""
    out = []
    for orientation in ORIENTATIONS["naive"]:
        naive = {r.links: r for r in rows if r.method == "naive" and r.orientation == orientation}
        own = {r.links: r for r in rows if r.way == "Python" and r.orientation == orientation}
        both = sorted(set(naive) & set(own))
        if both:
            a, b = naive[both[-1]], own[both[-1]]
            out.append(
                f"{orientation} angles, {_links(both[-1])}: naive {span(a.total)}, derived {span(b.total)} in all, "
                f"{times(a.total / b.total)}; simulation {span(a.simulation)} and {span(b.simulation)}, "
                f"{times(a.simulation / b.simulation)}"
            )
    return out


def _angles(rows: list[Row]) -> list[str]:
    """Comparison of absolute angles with relative ones."""
    pairs = {what: [series(rows, o, measure) for o in ("absolute", "relative")] for what, measure in measures(rows)}
    return _compared("absolute angles", "relative ones", pairs)


def _maximal(rows: list[Row]) -> list[str]:
    """Comparison of joint coordinates with maximal ones, and the effect of stabilisation on the latter."""
    pairs = {}
    for what, measure in measures(rows):
        relative, absolute, maximal = (series(rows, o, measure) for o in ORIENTATIONS["equations"])
        pairs[what] = [{n: min(relative[n], absolute[n]) for n in relative if n in absolute}, maximal]
    out = _compared("joint coordinates, in the better angles,", "maximal ones", pairs)
    held = [(row.links, row.angles, row.stabilised) for row in rows if row.stabilised is not None]
    if held:
        links, angles, found = max(held, key=lambda item: item[0])
        moved = max(abs(a - b) for a, b in zip(found["angles"], angles, strict=True))
        text = f"apart by {found['violation']:.1e} m instead of {found['violation_without']:.1e} m"
        out.append(f"  stabilisation, {_links(links)}: joints {text} at the end; it moves angles by {moved:.1e} rad")
    return out


def _compared(who: str, others: str, pairs: dict[str, list[Series]]) -> list[str]:
    """A line that compares the first of each pair with the second at the most links, and a line on each."""
    pairs = {what: pair for what, pair in pairs.items() if set(pair[0]) & set(pair[1])}
    if not pairs:
        return []
    last = max(n for a, b in pairs.values() for n in set(a) & set(b))
    words: dict[str, list[str]] = {"less": [], "more": [], "alike": []}
    for what, (a, b) in pairs.items():
        if last in a and last in b:
            words[_word(a[last], b[last])].append(what)
    said = "; ".join(f"{word} in {', '.join(found)}" for word, found in words.items() if found)
    details = [f"  {what}: {compared(a, b)}" for what, (a, b) in pairs.items()]
    return [f"{who} against {others}, with {_links(last)}: {said}", *details]


def _word(a: float, b: float) -> str:
    """Whether a is less or more than b, or they are alike, in a word."""
    return "less" if a < (1 - ALIKE) * b else "more" if b < (1 - ALIKE) * a else "alike"


Measure = Callable[["Row"], float | None]


def measures(rows: list[Row]) -> list[tuple[str, Measure]]:
    """Quantities to compare between kinds of angle."""
    ways = list(dict.fromkeys(row.way for row in rows if row.method != "engine"))
    # the derived ways first: the naive one's are the lecture's question
    ways.sort(key=lambda way: way == "SymPy")
    out: list[tuple[str, Measure]] = [("operations", lambda r: r.operations["all"] if r.operations else None)]
    for name, value in (("modelling", lambda r: r.modelling_time), ("simulation", lambda r: r.simulation)):
        for way in ways:
            what = f"{name} {'naive' if way == 'SymPy' else way}"
            out.append((what, lambda r, way=way, value=value: value(r) if r.way == way else None))
    return out


def series(rows: list[Row], orientation: str, measure: Measure) -> Series:
    """A quantity by number of links."""
    own = [row for row in rows if row.method != "engine" and row.orientation == orientation]
    return {row.links: value for row in own if (value := measure(row)) is not None}


def compared(a: Series, b: Series) -> str:
    """Numbers of links at which a is less than b, and the ratio at the most links, in words."""
    both = sorted(set(a) & set(b))
    at: dict[str, list[int]] = {"less": [], "more": [], "alike": []}
    for n in both:
        at[_word(a[n], b[n])].append(n)
    said = ", ".join(f"{word} at {places(numbers)}" for word, numbers in at.items() if numbers)
    last = both[-1]
    show = span if isinstance(a[last], float) else str
    ratio = f"{b[last] / a[last]:.2g} x less" if a[last] <= b[last] else f"{a[last] / b[last]:.2g} x more"
    return f"{said}; at {_links(last)} {show(a[last])} and {show(b[last])}, {ratio}"


def places(numbers: list[int]) -> str:
    """[1, 3, 4, 5, 7] as "1, 3 to 5, 7 links"."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    words = [word for r in runs for word in ([f"{r[0]} to {r[-1]}"] if len(r) > 2 else map(str, r))]
    listed = " and ".join([", ".join(words[:-1])] * (len(words) > 1) + words[-1:])
    return f"{listed} link{'s' * (numbers != [1])}"


def _about_engine(found: Found) -> list[str]:
    """Times of the engine at the most links, and of its compilation."""
    engine = [row for row in found.rows if row.method == "engine" and row.right]
    if not engine:
        return []
    last = max(engine, key=lambda row: row.links)
    parts = ", ".join(f"{name} {span(s)}" for name, s in last.modelling.items())
    out = [f"numeric engine, {_links(last.links)}: simulation {span(last.simulation)}, before it {parts}"]
    if found.cold is not None:
        parts = ", ".join(f"{name} {span(s)}" for name, s in found.cold.items())
        out.append(f"numeric engine, where nothing is compiled yet, once per machine: {parts}")
    return out


# ------------------------------------------------------------ words


def span(seconds: float) -> str:
    """A time with its unit: 2.8e-5 s is 28 µs."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def times(ratio: float) -> str:
    """A ratio in two digits: 43 000 x."""
    return f"{float(f'{ratio:.2g}'):,.0f} x".replace(",", " ") if ratio >= 10 else f"{ratio:.2g} x"


def _links(n: int) -> str:
    return f"{n} link{'s' * (n > 1)}"
