"""Doubts about a run that repetitions with finer steps do not remove, or that they confirm.

Each function returns sentences for `Certificate.warnings`. A run and its repetitions may have missed the same contact;
events that only one of them has show that one did.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.contact.thickness import geom_motion, geom_pairs, thicknesses
from saltus.model.model import Model
from saltus.simulate.engine.engine import Engine

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable

MEETINGS = ("impact", "touchdown")  # kinds of events that begin a contact
PHASES = (*MEETINGS, "liftoff")
OF_CONTACT = (*PHASES, "stick", "slip")
SWITCHES = ("user", "actuator")
MOST_NAMED = 3  # objects of one kind that are named; further ones are counted

#: Participants of an event: the geoms of a contact, or a joint and its limit.
Pair = tuple[str, str]


def missed_events(run: "TrajectoryTable", other: "TrajectoryTable", timestep: float) -> list[str]:
    """Contacts, limits, and the user's events that only the run or only its repetition `other` has.

    A pair that touches from the start is in contact, whether or not rounding makes an event of it. Events in the last
    timestep (s) are left out: the other may have them just after the end.
    """
    found = []
    end = min(float(run.time[-1]), float(other.time[-1])) - timestep
    for kinds, noun in ((MEETINGS, "contact"), (SWITCHES, "event")):
        here, there = (_first_times(t, kinds) for t in (run, other))
        for one, others, away, where in ((here, there, other, "run"), (there, here, run, "repetition")):
            alone = {pair: time for pair, time in one.items() if pair not in others and time < end}
            alone = {pair: time for pair, time in alone.items() if kinds == SWITCHES or not _touches(away, pair)}
            texts = [f"{_words(pair)} at t = {time:.4g} s" for pair, time in alone.items()]
            found += [f"the {noun} of {text} is in the {where} alone" for text in _some(texts, noun)]
    return found


def other_order(run: "TrajectoryTable", other: "TrajectoryTable", timestep: float) -> list[str]:
    """Pairs that touch, part or meet limits in another order than in the repetition `other`; bounces count once.

    Includes user events that occur another number of times. Events in the last timestep (s) are left out.
    """
    end = min(float(run.time[-1]), float(other.time[-1])) - timestep
    here, there = (_phases(t, end) for t in (run, other))
    pairs = [pair for pair in here if pair in there and here[pair] != there[pair]]
    return [f"contact begins and ends in another order in the repetition: {text}" for text in _list(map(_words, pairs))]


def dense_phases(run: "TrajectoryTable") -> list[str]:
    """Sentence on the number and total length of phases of dense events that the run stepped over."""
    dense = run.events[run.events["kind"] == "dense"]
    if not len(dense):
        return []
    length = float(np.nansum(dense["time"] - dense["since"]))
    phases = "phase" if len(dense) == 1 else "phases"
    text = f"events came too densely to be located in {len(dense)} {phases}, {length:.3g} s in all, which were stepped "
    return [text + "over; the repetition did so in shorter steps (dense_step)"]


def failed_steps(run: "TrajectoryTable") -> tuple[list[str], list[str]]:
    """Warnings of steps whose equations were not solved, and of contacts that were missed or may have been."""
    attrs: Any = run.attrs
    unsolved, unproved = attrs.get("unconverged", 0), attrs.get("unproved", 0)
    solves = [f"in {_steps(unsolved)} a solver did not reach its tolerance"] if unsolved else []
    if solves and run.attrs.get("integrator") in ("dopri5", "radau"):
        solves = [solves[0] + ", or that of the step was relaxed where a force jumps back and forth"]
    text = f"in {_steps(unproved)} not all pairs of geoms were proved apart: a contact may have been missed"
    passed = [str(run.attrs["passed"])] if "passed" in run.attrs else []
    return solves, ([text] if unproved else []) + passed


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def pairs_that_could_pass(engine: Engine, run: "TrajectoryTable") -> list[str]:
    """Pairs of geoms that could pass each other unseen within one of the run's fixed steps.

    Contacts are detected at the ends of steps. A pair whose relative motion in a step exceeds the mean of its
    thicknesses may pass unseen, or be separated on the far side; the pairs examined are those that would meet between
    two samples at the velocities recorded there.
    """
    if engine.integrator.adaptive or engine.locates_events or len(run) < 2:
        return []
    model = engine.model
    pairs = geom_pairs(model.mj_model, engine.m)
    thick = thicknesses(model.mj_model)
    least = 0.5 * (thick[pairs[:, 0]] + thick[pairs[:, 1]])
    pairs, least = pairs[np.isfinite(least)], least[np.isfinite(least)]
    if not len(pairs):
        return []
    moves = np.zeros(len(pairs))  # largest relative motion in a step (m)
    radii = model.mj_model.geom_rbound[pairs].sum(axis=1)
    for (time, places, velocities), (after, *_) in pairwise(_motions(model, run)):
        speeds = np.linalg.norm(velocities, axis=1) * engine.timestep
        fast = np.flatnonzero(speeds[pairs].sum(axis=1) > least)
        apart, closing = (x[pairs[fast, 0]] - x[pairs[fast, 1]] for x in (places, velocities))
        meets = _least_distance(apart, closing, after - time) < radii[fast]
        steps = np.linalg.norm(closing, axis=1) * engine.timestep
        moves[fast] = np.maximum(moves[fast], np.where(meets, steps, 0.0))
    names = model.names("geom")
    texts = [
        f"{names[a]} and {names[b]} move {moves[k]:.2g} m against each other in a step, more than their mean thickness "
        f"of {least[k]:.2g} m"
        for k, (a, b) in enumerate(pairs)
        if moves[k] > least[k]
    ]
    return [f"{text}: they could pass unseen; choose a smaller timestep" for text in _some(texts, "pair")]


def _motions(model: Model, run: "TrajectoryTable") -> Iterator[tuple[float, NDArray[np.float64], NDArray[np.float64]]]:
    """Time (s), centres (m) and velocities of centres (m/s) [ngeom, 3] of all geoms at the samples."""
    m = model.mj_model
    d = mujoco.MjData(m)
    for k in range(len(run)):
        d.qpos[:], d.qvel[:] = run.qpos[k], run.qvel[k]
        if m.nmocap:
            d.mocap_pos[:], d.mocap_quat[:] = run.mocap_pos[k], run.mocap_quat[k]
        yield float(run.time[k]), *geom_motion(m, d)


def _least_distance(apart: NDArray[np.float64], closing: NDArray[np.float64], duration: float) -> NDArray[np.float64]:
    """Least distance (m) within a duration (s) of points `apart` (m) [n, 3] moving at `closing` (m/s)."""
    squared = np.maximum((closing**2).sum(axis=1), 1e-300)
    time = np.clip(-(apart * closing).sum(axis=1) / squared, 0.0, duration)
    return np.linalg.norm(apart + time[:, None] * closing, axis=1)


def _first_times(run: "TrajectoryTable", kinds: Iterable[str]) -> dict[Pair, float]:
    """Time of each pair's first event of the given kinds (s)."""
    times: dict[Pair, float] = {}
    for event in run.events[np.isin(run.events["kind"], list(kinds))]:
        times.setdefault(_pair(event), float(event["time"]))
    return times


def _touches(run: "TrajectoryTable", pair: Pair) -> bool:
    """Whether a pair is in contact at some time of a run, by its events or its samples."""
    of_contact = run.events[np.isin(run.events["kind"], list(OF_CONTACT))]
    if any(_pair(event) == pair for event in of_contact):
        return True
    both = {f"{pair[0]} {pair[1]}", f"{pair[1]} {pair[0]}"}
    named = [_without_number(name) in both for name in run.names.get("contact", [])]
    return bool(run.contact_state[:, named].any()) if any(named) else False


def _phases(run: "TrajectoryTable", end: float) -> dict[Pair, list[str]]:
    """Kinds of events of each pair up to a time (s), consecutive equal ones merged; of user events all."""
    kinds: dict[Pair, list[str]] = {}
    for event in run.events[np.isin(run.events["kind"], [*PHASES, *SWITCHES]) & (run.events["time"] < end)]:
        row, kind = kinds.setdefault(_pair(event), []), str(event["kind"])
        if kind in SWITCHES or row[-1:] != [kind]:
            row.append(kind)
    return kinds


def _pair(event: np.void) -> Pair:
    """The bodies or joints of an event, without the number of the contact point."""
    return _without_number(str(event["name"])), str(event["other"])


def _without_number(text: str) -> str:
    """A name without the number of a contact point."""
    name, _, number = text.rpartition(".")
    return name if name and number.isdigit() else text


def _words(pair: Pair) -> str:
    return " and ".join(filter(None, pair)) or "an actuator"


def _some(texts: list[str], noun: str) -> list[str]:
    """The first of the texts; the last of them also tells the number of those left out."""
    if len(texts) <= MOST_NAMED:
        return texts
    left = len(texts) - MOST_NAMED
    more = f" (as in {left} more {noun}s)" if left > 1 else f" (as in one more {noun})"
    return [*texts[: MOST_NAMED - 1], texts[MOST_NAMED - 1] + more]


def _list(names: Iterable[str]) -> list[str]:
    """A single text that lists the first of the names; no text if there are none."""
    given = list(names)
    shown = "; ".join(given[:MOST_NAMED])
    return [shown + (f"; and {len(given) - MOST_NAMED} more" if len(given) > MOST_NAMED else "")] if given else []
