"""The compiled loop of time steps over impacts in lanes: simulations side by side, each with its own log of events.

A group holds as many simulations as a register has lanes; those beyond the last one, and those that have ended, are
copies of another one in the group. Between calls each simulation has a row of `states`, as `Engine.state`.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import functools
from typing import Any

from saltus.contact.event.modes import NO_EVENT
from saltus.dynamics.history import record_controls
from saltus.dynamics.rod_frames import keep_frames, note_frames
from saltus.dynamics.zero_order_hold import hold_control
from saltus.integrate.integrator import Integrator
from saltus.integrate.passing import SHARE, is_followed, keep_poses, motion_bound, note_passing
from saltus.integrate.status import bad_start, bad_state
from saltus.model.event_enums import KIND
from saltus.model.fields.constraint.passing import BOUND, NEXT, REST
from saltus.number.components import lane_count, lane_get
from saltus.number.functions import any_lane, rarely
from saltus.number.kernels import Entry, entry, kernel
from saltus.sense.delay import sample_sensors
from saltus.solve.status import DIVERGED, EVENTS_FULL, UNSOLVED

FOLLOWED = 3  # numbers of a simulation that `saltus.integrate.passing` keeps from step to step


@kernel
def load_lanes(f, f_real, states, number):
    """Load the rows of states [n, rows] with these numbers [width] into the lanes."""
    for lane in range(lane_count(f.time)):
        for k in range(states.shape[1]):
            f_real[k, lane] = states[number[lane], k]


@kernel
def store_lane(f_real, states, i, lane):
    """Store the state of a lane in row i of states [n, rows]."""
    for k in range(states.shape[1]):
        states[i, k] = f_real[k, lane]


@kernel
def find_model_lane(f, live):
    """The first lane that is live, -1 for none."""
    for lane in range(lane_count(f.time)):
        if live[lane]:
            return lane
    return -1


@kernel
def fill_lane(f, f_real, live, rows, lane):
    """Make a lane a copy of the first that is live."""
    model = find_model_lane(f, live)
    if model >= 0:
        for k in range(rows):
            f_real[k, lane] = f_real[k, model]


@kernel
def begin_group(f, f_real, states, which, status, group, number, live):
    """Load a group: number, live [width] ← its simulations, and which of them take steps; returns whether any does."""
    width = lane_count(f.time)
    for lane in range(width):
        place = group * width + lane
        number[lane] = which[min(place, len(which) - 1)]
        live[lane] = place < len(which) and status[number[lane]] == EVENTS_FULL
    load_lanes(f, f_real, states, number)
    for lane in range(width):
        if not live[lane]:
            fill_lane(f, f_real, live, states.shape[1], lane)
    return find_model_lane(f, live) >= 0


@kernel
def move_logs(m, f, live, number, log, rows):
    """Move the events of the lanes to the end of log [room, 1 + columns], from row `rows` on; returns the next row."""
    for lane in range(lane_count(f.time)):
        k = 0
        while live[lane] and k < m.nevent_log and lane_get(f.event_log[k, KIND], lane) != NO_EVENT:
            log[rows, 0] = number[lane]
            for column in range(log.shape[1] - 1):
                log[rows, 1 + column] = lane_get(f.event_log[k, column], lane)
            rows += 1
            k += 1
    return rows


# ------------------------------------------------------------ pairs that pass each other


@kernel
def note_followed(m, f, d, f_real, begun, live, number, followed, marks, h):
    """marks [width] ← the lanes whose geoms are to be followed in this step; begun ← their states, if there are any.

    `followed` [n, FOLLOWED]: for each simulation what `is_followed` keeps from step to step.
    """
    bound, found = motion_bound(m, f, h), False
    for lane in range(lane_count(f.time)):
        marks[lane] = False
        i = number[lane]
        if live[lane] and (lane_get(bound, lane) >= SHARE or followed[i, 0] < 0.0):
            d.time = lane_get(f.time, lane)
            d.passing_count[REST] = int(followed[i, 0])
            d.passing_level[BOUND], d.passing_level[NEXT] = followed[i, 1], followed[i, 2]
            marks[lane] = is_followed(m, d, lane_get(bound, lane), h)
            keep_followed(d, followed, i)
            found = found or marks[lane]
    if found:
        for lane in range(lane_count(f.time)):
            for k in range(begun.shape[0]):
                begun[k, lane] = f_real[k, lane]
    return found


@kernel
def keep_followed(d, followed, i):
    """Keep what `is_followed` has counted for simulation i."""
    followed[i, 0] = d.passing_count[REST]
    followed[i, 1], followed[i, 2] = d.passing_level[BOUND], d.passing_level[NEXT]


@kernel
def follow(m, d, d_real, f_real, begun, number, followed, marks):
    """Store the pairs that passed each other in the step of the marked lanes."""
    for lane in range(len(marks)):
        if marks[lane]:
            i = number[lane]
            d.passing_count[REST] = int(followed[i, 0])
            d.passing_level[BOUND], d.passing_level[NEXT] = followed[i, 1], followed[i, 2]
            for k in range(begun.shape[0]):
                d_real[k] = begun[k, lane]
            start = d.time
            keep_poses(m, d)
            for k in range(begun.shape[0]):
                d_real[k] = f_real[k, lane]
            note_passing(m, d, start)
            keep_followed(d, followed, i)


# ------------------------------------------------------------ steps


@functools.cache
def group_step(step) -> Any:
    """Kernel of one step of h seconds of the lanes in f; returns their statuses."""

    @kernel
    def take_step(m, f, h, parameters):
        hold_control(m, f, h)
        sample_sensors(m, f)
        note_frames(m, f)
        start = f.time
        result = step(m, f, h, *parameters)
        record_controls(m, f, start)
        keep_frames(m, f)
        return result

    return take_step


@kernel
def judge(f, f_real, bad, codes, live, number, states, progress):
    """Count the step of each lane, and end those whose states are bad; returns the number of unconverged steps."""
    status, taken, worst = progress
    unsolved = 0
    for lane in range(lane_count(f.time)):
        if live[lane]:
            i = number[lane]
            code = int(lane_get(codes, lane))
            taken[i] += 1
            worst[i] = max(worst[i], code)
            unsolved += 1 if code == UNSOLVED else 0
            if not lane_get(bad, lane) < 0.5:
                end_lane(f, f_real, live, lane, states, status, i)
    return unsolved


@kernel
def end_lane(f, f_real, live, lane, states, status, i):
    """End a lane whose state has diverged: it is stored as it is, and another one takes its place."""
    store_lane(f_real, states, i, lane)
    status[i] = DIVERGED
    live[lane] = False
    fill_lane(f, f_real, live, states.shape[1], lane)


def advance_lanes(integrator: Integrator) -> Entry:
    """Loop of many simulations in lanes, for an integrator over impacts.

    (model, data in lanes, data, states [n, rows], which [k], (status, taken, worst) [n], followed, log, scratch,
    (first, last, steps, room), h, *parameters) -> (next group, rows of the log, unconverged steps). Of the simulations
    `which`, in groups of neighbours from `first` up to `last`, those with status EVENTS_FULL take steps until they have
    taken `steps`; all of a group have taken equally many. `worst` is the worst status of their steps, which status
    becomes, or DIVERGED. The log has to be read, and the loop called again with the next group as `first`, where it has
    no more room for `room` events. scratch: number, live, marks [width] and begun [rows, width], which are overwritten.
    """
    name = integrator.step.py_func.__module__.rsplit(".", 1)[-1]
    return _advance_lanes(integrator.step, name, len(integrator.parameters))


@functools.cache
def _advance_lanes(step, label: str, parameters: int) -> Entry:
    take_step = group_step(step)

    def advance_lanes(
        m, f, d, d_real, f_real, states, which, progress, followed, log, scratch, span, h, parameters
    ):  # fmt: skip
        status, taken, worst = progress
        number, live, marks, begun = scratch
        first, last, steps, room = span
        rows = unsolved = 0
        for group in range(first, last):
            if not begin_group(f, f_real, states, which, status, group, number, live):
                continue
            # states that are bad before the first step take none
            bad = bad_start(m, f)
            if rarely(any_lane(bad > 0.5)):
                for lane in range(len(live)):
                    if live[lane] and not lane_get(bad, lane) < 0.5:
                        end_lane(f, f_real, live, lane, states, status, number[lane])
            model = find_model_lane(f, live)
            while model >= 0 and taken[number[model]] < steps and len(log) - rows >= room:
                watched = note_followed(m, f, d, f_real, begun, live, number, followed, marks, h)
                codes = take_step(m, f, h, parameters)
                if rarely(watched):
                    follow(m, d, d_real, f_real, begun, number, followed, marks)
                rows = move_logs(m, f, live, number, log, rows)
                unsolved += judge(f, f_real, bad_state(m, f), codes, live, number, states, progress)
                model = find_model_lane(f, live)
            full = model >= 0 and taken[number[model]] < steps
            for lane in range(len(live)):
                if live[lane]:
                    store_lane(f_real, states, number[lane], lane)
                    if not full:
                        status[number[lane]] = worst[number[lane]]
            if full:
                return group, rows, unsolved
        return last, rows, unsolved

    return entry(advance_lanes, name=f"advance_lanes_{label}", structs=("m", "f", "d"), parameters=parameters)
