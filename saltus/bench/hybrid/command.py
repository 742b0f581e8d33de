"""`saltus bench hybrid`: hard contact with impacts, sticking and slipping, against an implementation with SciPy.

Both integrate between events with Dormand and Prince's method at the same tolerances, and both must end in the same
state after the same impacts, or nothing is timed. Both give the events and the last state, and record nothing else:
Saltus takes one step of the whole duration, as adaptive integrators do in as many steps of their own as they need.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saltus.errors import SaltusError

if TYPE_CHECKING:
    from saltus.bench.hybrid.batch import BatchRow

HEIGHT, RESTITUTION = 1.0, 0.8  # drop height (m) and restitution of the ball
COMPARED = 20  # impacts of the ball that are compared, before either side may find that they accumulate
DURATION = {"bouncing ball": 5.0, "walker, 10 contacts": 2.0}  # s; the ball comes to rest after 4.06 s
REPEATS = 5
# Both have local errors of 1e-8, and impacts, rolling from point to point, carry them on: SciPy's own answers at
# tolerances a hundred times apart differ by 2e-9 in positions and 1e-8 s in times.
SAME_STATE, SAME_TIME = 1e-6, 1e-6  # m or rad, s
APART = 1e-7  # s: impacts closer than that count as one instant


@dataclass(frozen=True)
class Answer:
    """Result of a run: final positions (m, rad) and instants of impacts (s)."""

    q: Any
    impacts: Any


@dataclass(frozen=True)
class Row:
    """One comparison: seconds of a whole run, relative speed, differences at the end (m, rad) and of times (s).

    `impacts`: instants of SciPy's program.
    """

    model: str
    duration: float
    impacts: int
    scipy: float
    saltus: float
    ratio: float
    state_difference: float
    time_difference: float


def bench_hybrid(*, quick: bool, threads: int | None = None, json_path: Path | None) -> None:
    """Run the benchmark: compare, time, print two tables, write them as JSON."""
    from saltus.arguments import thread_count
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    cases = {"bouncing ball": _ball} | ({} if quick else {"walker, 10 contacts": _walker})
    rows = []
    count = thread_count(threads)
    with screen.Activity() as activity:
        for name, case in cases.items():
            what = f"measuring {name}"
            activity.progress(what)(0.0)
            rows.append(_measure(name, *case()))
            activity.end(what)
        together = _batches(quick, count)
    about = machine.description(count)
    print("hard contact, Dormand and Prince's method between events, relative tolerance 1e-8, absolute 1e-10")
    headers = ("model", "duration", "impacts", "SciPy", "Saltus", "faster", "difference", "of times")
    print_table(headers, [_cells(r) for r in rows], left=("model",))
    print("impacts: instants; difference: of positions at the end; of times: of impacts, the largest")
    print("SciPy: scipy.integrate.solve_ivp with events, equations of motion in NumPy; both record nothing but events")
    print("batches: a step of one simulation, in saltus.Batch and in a loop in Python over saltus.Simulation")
    headers = ("model", "n", "threads", "impacts", "loop", "batch", "faster")
    print_table(headers, [_batch_cells(r) for r in together], left=("model",))
    print(f"{about['cpu']}, 1 core but for batches; medians of {REPEATS} repeats, in turn; Python {about['python']}")
    if json_path is not None:
        content = {"machine": about, "repeats": REPEATS, "rows": [asdict(r) for r in rows]}
        content["batches"] = [asdict(r) for r in together]
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def _batches(quick: bool, threads: int) -> list[BatchRow]:
    """Rows of the walker in batches."""
    from saltus.bench.hybrid.batch import measure_batch
    from saltus.bench.hybrid.systems import WALKER

    n, steps = (8, 20) if quick else (256, 100)
    return [measure_batch("walker, 10 contacts", WALKER, "falling", n, steps, threads, REPEATS)]


def _batch_cells(row: BatchRow) -> tuple[str, ...]:
    seconds = (f"{1e6 * row.loop:.3g} µs", f"{1e6 * row.batch:.3g} µs", f"{row.ratio:.2f} x")
    return row.model, str(row.n), str(row.threads), str(row.impacts), *seconds


Run = Callable[[], Answer]


def _ball() -> tuple[Run, Callable[[], None], Run, int | None]:
    """The ball: SciPy's run, a function that puts Saltus at the start, its run, the number of impacts to compare."""
    from saltus.bench.hybrid.with_scipy import bounce
    from saltus.simulate.laws.contact import Hard
    from saltus.simulate.simulation import Simulation

    duration = DURATION["bouncing ball"]
    contact = Hard(restitution=RESTITUTION)
    sim = Simulation("bouncing_ball", "dopri5", contact=contact, timestep=duration)
    gravity = -float(sim.model.opt.gravity[2])

    def begin() -> None:
        sim.reset()
        sim.qpos[:] = HEIGHT

    def peer() -> Answer:
        found = bounce(HEIGHT, RESTITUTION, gravity, duration)
        return Answer(found.q, found.times("impact"))

    return peer, begin, lambda: _run(sim), COMPARED


def _walker() -> tuple[Run, Callable[[], None], Run, int | None]:
    """The walker: SciPy's run, a function that puts Saltus at the start, its run, the number of impacts to compare."""
    from saltus.bench.hybrid.systems import FRICTION, WALKER, PlanarTree
    from saltus.bench.hybrid.with_scipy import Hybrid
    from saltus.model.load import load
    from saltus.simulate.laws.contact import Hard
    from saltus.simulate.simulation import Simulation

    model = load(WALKER)
    duration = DURATION["walker, 10 contacts"]
    contact = Hard(restitution=0.0, treatment="moreau")
    sim = Simulation(model, "dopri5", contact=contact, timestep=duration)
    system = PlanarTree(model, FRICTION, restitution=0.0)
    sim.reset(key="falling")
    start = sim.qpos.copy(), sim.qvel.copy()

    def peer() -> Answer:
        found = Hybrid(system, *start).run(duration)
        return Answer(found.q, found.times("impact"))

    return peer, lambda: sim.reset(key="falling"), lambda: _run(sim), None


def _run(sim: Any) -> Answer:
    sim.step()
    return Answer(sim.qpos.copy(), sim.events["time"][sim.events["kind"] == "impact"])


def _measure(name: str, peer: Run, begin: Callable[[], None], own: Run, compared: int | None) -> Row:
    """Compare the answers of both, then time them in turn."""
    from saltus.bench.harness.timing import Contender, in_turn

    expected = peer()
    begin()
    found = own()
    state, times = differences(name, expected, found, compared)
    contenders = [Contender("scipy", lambda: None, peer, 1.0), Contender("saltus", begin, own, 1.0)]
    taken = in_turn(contenders, repeats=REPEATS, least=0.01)
    ratio = taken["saltus"].ratio_to(taken["scipy"])
    seconds = taken["scipy"].median, taken["saltus"].median
    return Row(name, DURATION[name], len(instants(expected.impacts)), *seconds, ratio, state, times)


def differences(name: str, expected: Answer, found: Answer, compared: int | None = None) -> tuple[float, float]:
    """Differences of two answers: positions at the end, and times of the first `compared` impacts (None: of all).

    Raises SaltusError if they are too large for one motion, since times of different motions say nothing.
    """
    import numpy as np

    ours, theirs = (instants(answer.impacts)[:compared] for answer in (found, expected))
    if len(ours) != len(theirs):
        raise SaltusError(f"{name}: {len(ours)} impacts, but {len(theirs)} with SciPy: not the same motion, not timed")
    state = float(np.max(np.abs(found.q - expected.q)))
    times = float(np.max(np.abs(ours - theirs), initial=0.0))
    if not (state < SAME_STATE and times < SAME_TIME):
        raise SaltusError(f"{name}: {state:.1e} and {times:.1e} s apart from SciPy: not the same motion, not timed")
    return state, times


def instants(times: Any) -> Any:
    """Times [n] of events in order (s); events of one instant count once."""
    import numpy as np

    times = np.sort(np.asarray(times, float))
    return times[np.diff(times, prepend=-np.inf) > APART]


def _cells(row: Row) -> tuple[str, ...]:
    seconds = (f"{1e3 * row.scipy:.4g} ms", f"{1e3 * row.saltus:.4g} ms", f"{row.ratio:.0f} x")
    apart = (f"{row.state_difference:.0e}", f"{row.time_difference:.0e} s")
    return row.model, f"{row.duration:g} s", str(row.impacts), *seconds, *apart
