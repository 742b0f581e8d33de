"""The compiled step of environments: actions to controls, substeps, terms, observations, ends and resets, in one call.

For each group of lanes, state and episode are loaded into the workspaces of a thread, the step is taken, the results
are stored in arrays, and where a new episode begins, its initial state replaces the state.
"""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

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

# modes of a call: resets only; steps, and resets of episodes that ended before, or in this call, or none
RESET, NEXT_STEP, SAME_STEP, DISABLED = range(4)
# rows of boolean flags of simulations
TERMINATED, TRUNCATED, DIVERGED, ENDED, RESETTING, CHOSEN, BEGAN, NFLAG = range(8)
# bits of the result of a call: the worst status; whether any episode began; whether any simulation diverged
STATUS, SOME_BEGAN, SOME_DIVERGED = 255, 256, 512
LOW, HIGH, SCALE, NOISE, NSHAPING = range(5)  # rows of the table of the shaping of observations


class Program(NamedTuple):
    """The kernels of an environment that its loop calls."""

    before_step: Any  # f(m, d, e)
    after_step: Any  # f(m, s, d)
    terminated: Any  # f(m, d, e): a condition
    values: Any  # f(m, d, e): rewards and infos into e.values
    observation: Any  # f(m, d, e): terms into e.observation
    remember: Any  # f(m, d, e)
    reset: Any  # f(m, d, e)
    after_reset: Any  # f(m, s, d)
    take: Any  # values of a new episode: `take_next`, or `take_nothing`
    disturbances: Kernels


# ---------------------------------------------------------------- parts of the loop


@kernel(inline=True)
def load_episode(e, e_real, own, random, group, own_rows, width):
    """Load the kept values of the episodes of a group of lanes into e."""
    for k in range(own_rows):
        for lane in range(width):
            e_real[k, lane] = own[group, k, lane]
    for lane in range(width):
        for k in range(NRANDOM):
            e.random[lane, k] = random[group * width + lane, k]


@kernel(inline=True)
def store_episode(e, e_real, own, random, flags, which, group, own_rows, width):
    """Store the values of e that a group of lanes keeps, for the lanes chosen by the row `which` of flags."""
    for lane in range(width):
        i = group * width + lane
        if flags[which, i]:
            for k in range(own_rows):
                own[group, k, lane] = e_real[k, lane]
            for k in range(NRANDOM):
                random[i, k] = e.random[lane, k]


@kernel(inline=True)
def take_action(e, actions, group, width):
    """Move the action to the previous one and load the next from a table [simulations, naction]."""
    for k in range(actions.shape[1]):
        e.previous_action[k] = e.action[k]
        x = e.action[k]
        for lane in range(width):
            x = lane_set(x, lane, actions[group * width + lane, k])
        e.action[k] = x


@functools.cache
def observing(terms) -> Any:
    """Make a kernel that stores fields of Data and terms in e.observation, clipped, scaled and with noise.

    e.observation begins at number `at` of e; `field_rows` [fields, 2]: indices in the observation and in Data.
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
    """Copy observations and values from e, for the lanes chosen by the row `which` of flags.

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
    """Set rewards [simulations] and the flags of ends and divergence of a group of lanes.

    The flag CHOSEN marks simulations that have taken a step and whose numbers are finite.
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
    """Set the initial state of the model and of an episode in all lanes, and advance the random numbers.

    `start` [rows]: the state; `fresh` [2, own_rows]: whether a number of the episode is reset (1 or 0), and its value.
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
    """Store the state in Data as that of the lanes that begin an episode."""
    for lane in range(width):
        if flags[BEGAN, group * width + lane]:
            clock[group, lane] = d_real[TIME, lane]
            for k in range(rows):
                states[group, k, lane] = d_real[k, lane]


@kernel(inline=True)
def begins(flags, group, width):
    """Set the flags of lanes in which an episode is to begin; return whether there are any."""
    found = False
    for i in range(group * width, (group + 1) * width):
        flags[BEGAN, i] = flags[RESETTING, i]
        found = found or flags[RESETTING, i]
    return found


@kernel(inline=True)
def end_call(flags, mode, group, width):
    """Set the flags of episodes to begin in the next call; return the bits SOME_BEGAN and SOME_DIVERGED."""
    found = 0
    for i in range(group * width, (group + 1) * width):
        flags[RESETTING, i] = mode <= NEXT_STEP and flags[ENDED, i]
        found |= SOME_BEGAN * flags[BEGAN, i] | SOME_DIVERGED * flags[DIVERGED, i]
    return found


@kernel(inline=True)
def keep_final(flags, shown, group, width):
    """Save the observations and values of ended episodes before those of the next ones replace them."""
    observations, values = shown
    for i in range(group * width, (group + 1) * width):
        if flags[BEGAN, i]:
            for k in range(observations.shape[2]):
                observations[1, i, k] = observations[0, i, k]
            for k in range(values.shape[1]):
                values[1, k, i] = values[0, k, i]


@kernel(inline=True)
def take_next(m, m_real, coming, varied, fields, own, flags, group, width):
    """Load the model's numbers and the parameters of the next episode, for the lanes that begin one.

    `coming`: numbers of the model for several episodes [episodes, groups, numbers, width]; parameters, laid out
    equally; indices of these in `own`; index of the next episode [simulations].
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
    """Do nothing: no values are drawn for new episodes."""


# ---------------------------------------------------------------- the loop


def environment_loop(integrator: Integrator, program: Program) -> Entry:
    """The loop of an environment's program, compiled at its first call; returns the bits STATUS, SOME_..."""
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
