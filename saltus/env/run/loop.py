"""The compiled step of environments: actions to controls, substeps, terms, observations, ends and resets, in one call.

Group by group of lanes: state and episode go into the workspaces of a thread, the step is taken, what is asked for goes
into the arrays of results, and where an episode is to begin anew, its start takes the place of the state.
"""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics leave out the first argument of their definition; kernels have no types)

import functools
from typing import Any, NamedTuple

from saltus.env.disturb.disturbances import Kernels
from saltus.env.random import DRAW, EPISODE, NRANDOM, normal
from saltus.integrate.integrator import Integrator
from saltus.integrate.status import bad_start, bad_state
from saltus.number.components import as_number, lane_get, lane_set
from saltus.number.functions import clip, maximum
from saltus.number.kernels import Entry, entry, kernel
from saltus.simulate.engine.loops import TIME, group_steps, load_group, load_model, store_group
from saltus.solve.status import OK

# what a call does: resets alone; steps, and resets of those whose episode had ended, or has just ended, or none
RESET, NEXT_STEP, SAME_STEP, DISABLED = range(4)
# rows of truths about simulations
TERMINATED, TRUNCATED, DIVERGED, ENDED, RESETTING, CHOSEN, BEGAN, NFLAG = range(8)
# what a call returns: the worst status, and whether an episode began, and a simulation diverged, anywhere
STATUS, SOME_BEGAN, SOME_DIVERGED = 255, 256, 512
LOW, HIGH, SCALE, NOISE, NSHAPING = range(5)  # places in the table of what becomes of observations


class Program(NamedTuple):
    """The kernels of an environment, which its loop is compiled with."""

    before_step: Any  # f(m, d, e)
    after_step: Any  # f(m, s, d)
    terminated: Any  # f(m, d, e), a truth
    values: Any  # f(m, d, e): rewards and infos into e.values
    observation: Any  # f(m, d, e): terms into e.observation
    remember: Any  # f(m, d, e)
    reset: Any  # f(m, d, e)
    after_reset: Any  # f(m, s, d)
    take: Any  # what a new episode takes over: `take_next`, or `take_nothing`
    disturbances: Kernels


# ---------------------------------------------------------------- parts of the loop


@kernel(inline=True)
def load_episode(e, e_real, own, random, group, own_rows, width):
    """The episodes' values that a group of lanes keeps between steps, into e."""
    for k in range(own_rows):
        for lane in range(width):
            e_real[k, lane] = own[group, k, lane]
    for lane in range(width):
        for k in range(NRANDOM):
            e.random[lane, k] = random[group * width + lane, k]


@kernel(inline=True)
def store_episode(e, e_real, own, random, flags, which, group, own_rows, width):
    """The episodes' values of e, into what a group of lanes keeps, for the lanes that a row of flags chooses."""
    for lane in range(width):
        i = group * width + lane
        if flags[which, i]:
            for k in range(own_rows):
                own[group, k, lane] = e_real[k, lane]
            for k in range(NRANDOM):
                random[i, k] = e.random[lane, k]


@kernel(inline=True)
def take_action(e, actions, group, width):
    """The action before becomes the previous one, and those of a table [simulations, naction] the action."""
    for k in range(actions.shape[1]):
        e.previous_action[k] = e.action[k]
        x = e.action[k]
        for lane in range(width):
            x = lane_set(x, lane, actions[group * width + lane, k])
        e.action[k] = x


@functools.cache
def observing(terms) -> Any:
    """Kernel that puts fields of Data and terms into e.observation, limited, scaled and with noise.

    e.observation begins at number `at` of e; `field_rows` [fields, 2]: places there and in Data.
    """

    @kernel(inline=True)
    def observe(m, d, e, d_real, e_real, field_rows, shaping, shaped, at):
        for k in range(field_rows.shape[0]):
            for lane in range(d_real.shape[1]):
                e_real[at + field_rows[k, 0], lane] = d_real[field_rows[k, 1], lane]
        terms(m, d, e)
        if shaped:
            for k in range(shaping.shape[1]):
                x = clip(e.observation[k], shaping[LOW, k], shaping[HIGH, k]) * shaping[SCALE, k]
                if shaping[NOISE, k] > 0.0:
                    x = x + shaping[NOISE, k] * normal(e)
                e.observation[k] = x

    return observe


@kernel(inline=True)
def show(e_real, at, values_at, flags, which, shown, group, width):
    """Observations and values of the lanes that a row of flags chooses, from e.

    `shown`: observations [2, simulations, nobservation] and values [2, nvalue, simulations], the present ones first.
    """
    observations, values = shown
    for lane in range(width):
        i = group * width + lane
        if flags[which, i]:
            for k in range(observations.shape[2]):
                observations[0, i, k] = e_real[at + k, lane]
            for k in range(values.shape[1]):
                values[0, k, i] = e_real[values_at + k, lane]


@kernel(inline=True)
def judge(e, e_real, bad, values_at, nreward, limit, mode, rewards, flags, group, width):
    """Rewards [simulations], ends and who has diverged, of a group of lanes.

    Chosen are those that have taken a step and whose numbers are finite.
    """
    for lane in range(width):
        i = group * width + lane
        skipped = mode == NEXT_STEP and flags[RESETTING, i]
        lost = lane_get(bad, lane) > 0.5
        total = 0.0
        for k in range(nreward):
            total += e_real[values_at + k, lane]
        rewards[i] = 0.0 if skipped or lost else total
        flags[TERMINATED, i] = not skipped and (lost or lane_get(e.terminated, lane) > 0.5)
        flags[TRUNCATED, i] = not skipped and limit > 0 and lane_get(e.steps, lane) >= limit
        flags[DIVERGED, i] = not skipped and lost
        flags[ENDED, i] = flags[TERMINATED, i] or flags[TRUNCATED, i]
        flags[CHOSEN, i] = not skipped and not lost
        if mode == SAME_STEP:
            flags[RESETTING, i] = flags[ENDED, i]


@kernel(inline=True)
def begin_episode(d_real, e, e_real, start, fresh, random, group, rows, own_rows, width):
    """The start of the model and of an episode in all lanes, with fresh random numbers.

    `start` [rows]; `fresh` [2, own_rows]: what of the episode begins anew (1 or 0), and with which number.
    """
    for k in range(rows):
        for lane in range(width):
            d_real[k, lane] = start[k]
    for k in range(own_rows):
        if fresh[0, k] > 0.5:
            for lane in range(width):
                e_real[k, lane] = fresh[1, k]
    for lane in range(width):
        e.random[lane, EPISODE] = random[group * width + lane, EPISODE] + 1
        e.random[lane, DRAW] = 0


@kernel(inline=True)
def store_start(d_real, states, clock, flags, group, rows, width):
    """The state in data as that of the lanes that begin."""
    for lane in range(width):
        if flags[BEGAN, group * width + lane]:
            clock[group, lane] = d_real[TIME, lane]
            for k in range(rows):
                states[group, k, lane] = d_real[k, lane]


@kernel(inline=True)
def begins(flags, group, width):
    """Whether an episode is to begin in any lane, and in which."""
    found = False
    for i in range(group * width, (group + 1) * width):
        flags[BEGAN, i] = flags[RESETTING, i]
        found = found or flags[RESETTING, i]
    return found


@kernel(inline=True)
def end_call(flags, mode, group, width):
    """Which episodes are to begin in the next call; whether an episode began, and a simulation diverged."""
    found = 0
    for i in range(group * width, (group + 1) * width):
        flags[RESETTING, i] = mode <= NEXT_STEP and flags[ENDED, i]
        found |= SOME_BEGAN * flags[BEGAN, i] | SOME_DIVERGED * flags[DIVERGED, i]
    return found


@kernel(inline=True)
def keep_final(flags, shown, group, width):
    """Copy what is shown of lanes that begin, before the start of their next episode takes its place."""
    observations, values = shown
    for i in range(group * width, (group + 1) * width):
        if flags[BEGAN, i]:
            for k in range(observations.shape[2]):
                observations[1, i, k] = observations[0, i, k]
            for k in range(values.shape[1]):
                values[1, k, i] = values[0, k, i]


@kernel(inline=True)
def take_next(m, m_real, coming, varied, fields, own, flags, group, width):
    """Numbers of the model and parameters of the next episode, for the lanes that begin one.

    `coming`: those numbers for several episodes [episodes, groups, numbers, width]; those parameters in the same way,
    and their places in `own`; which episode is the next one [simulations].
    """
    numbers, parameters, places, slots = coming
    for lane in range(width):
        i = group * width + lane
        if flags[BEGAN, i]:
            for k in range(numbers.shape[2]):
                varied[group, k, lane] = numbers[slots[i], group, k, lane]
            for k in range(len(places)):
                own[group, places[k], lane] = parameters[slots[i], group, k, lane]
    load_model(m, m_real, varied, fields, group, width)


@kernel
def take_nothing(m, m_real, coming, varied, fields, own, flags, group, width):
    """Nothing is drawn for new episodes."""


# ---------------------------------------------------------------- the loop


def environment_loop(integrator: Integrator, program: Program) -> Entry:
    """The loop of an environment's program, compiled when it is first called; returns what it says of all."""
    label = integrator.step.py_func.__module__.rsplit(".", 1)[-1]
    return _environment_loop(integrator.step, program, label, len(integrator.parameters))


@functools.cache
def _environment_loop(step, program: Program, label: str, parameters: int) -> Entry:
    take_steps = group_steps(step)
    before_step, after_step, ends, gather, terms, remember, reset, after_reset, take, disturbances = program
    begin, act, push, release, report, first_seen, seen_late = disturbances
    observe = observing(terms)

    def environment(
        m, s, d, e, m_real, d_real, e_real, memory, actions, results, shown, tables, late, places, counts, h, parameters
    ):
        states, clock, own, random, varied, fields, coming = memory
        start, fresh, field_rows, shaping = tables
        rewards, flags = results
        rows, own_rows, at, values_at, width = places
        first, last, mode, n, limit, nreward, shaped = counts
        status, found = OK, 0
        for group in range(first, last):
            load_model(m, m_real, varied, fields, group, width)
            if mode != RESET:
                load_group(d_real, states, group, rows, width)
                load_episode(e, e_real, own, random, group, own_rows, width)
                take_action(e, actions, group, width)
                act(d, e, e_real, late)
                before_step(m, d, e)
                push(d, e, e_real, late)
                bad = bad_start(m, d)
                status = max(status, take_steps(m, d, d_real, clock, group, width, n, h, parameters))
                bad = maximum(bad, bad_state(m, d))
                release(d, e, e_real, late)
                store_group(d_real, states, clock, group, rows, width)
                e.steps = e.steps + 1.0
                status = max(status, after_step(m, s, d))
                e.terminated = as_number(ends(m, d, e), e.steps)
                gather(m, d, e)
                report(d, e, e_real, late)
                observe(m, d, e, d_real, e_real, field_rows, shaping, shaped, at)
                seen_late(d, e, e_real, late)
                remember(m, d, e)
                judge(e, e_real, bad, values_at, nreward, limit, mode, rewards, flags, group, width)
                store_episode(e, e_real, own, random, flags, CHOSEN, group, own_rows, width)
                show(e_real, at, values_at, flags, CHOSEN, shown, group, width)
            if begins(flags, group, width):
                take(m, m_real, coming, varied, fields, own, flags, group, width)
                load_episode(e, e_real, own, random, group, own_rows, width)
                begin_episode(d_real, e, e_real, start, fresh, random, group, rows, own_rows, width)
                begin(d, e, e_real, late)
                reset(m, d, e)
                store_start(d_real, states, clock, flags, group, rows, width)
                status = max(status, after_reset(m, s, d))
                e.terminated = 0.0 * e.steps
                gather(m, d, e)
                report(d, e, e_real, late)
                observe(m, d, e, d_real, e_real, field_rows, shaping, shaped, at)
                first_seen(d, e, e_real, late)
                remember(m, d, e)
                store_episode(e, e_real, own, random, flags, BEGAN, group, own_rows, width)
                if mode == SAME_STEP:
                    keep_final(flags, shown, group, width)
                show(e_real, at, values_at, flags, BEGAN, shown, group, width)
            found |= end_call(flags, mode, group, width)
        return status | found

    return entry(environment, name=f"environment_{label}", structs=("m", "s", "d", "e"), parameters=parameters)
