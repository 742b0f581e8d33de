"""Stages of an environment's step that all its loops share: act, see, begin.

Acting turns an action into controls; seeing evaluates terms, values and observations in the state that was reached;
beginning puts an episode at its start.
"""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

import functools
from typing import Any, NamedTuple

from saltus.env.disturb.disturbances import Kernels
from saltus.env.random import DRAW, EPISODE, NRANDOM, normal
from saltus.number.components import lane_get, lane_set
from saltus.number.functions import clip
from saltus.number.kernels import kernel
from saltus.simulate.engine.loops import TIME

# modes of a call: resets only; steps, and resets of episodes that ended before, or in this call, or none
RESET, NEXT_STEP, SAME_STEP, DISABLED = range(4)
# rows of boolean flags of simulations
TERMINATED, TRUNCATED, DIVERGED, ENDED, RESETTING, CHOSEN, BEGAN, NFLAG = range(8)
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


class Stages(NamedTuple):
    """The kernels of an environment's step.

    `act` applies an action to Data; `see` stores values and observations of the state in e, `see_first` those of an
    episode's start; `begin` puts a group of lanes at the start of an episode.
    """

    act: Any  # f(m, d, e, e_real, actions, late, group, width)
    see: Any  # f(m, d, e, d_real, e_real, tables, late, shaped, at)
    see_first: Any  # f(m, d, e, d_real, e_real, tables, late, shaped, at)
    begin: Any  # f(m, d, e, d_real, e_real, memory, flags, tables, late, group, places)


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

    e.observation begins at number `at` of e; `tables`: third [fields, 2], indices in the observation and in Data, last
    the shaping.
    """

    @kernel(inline=True)
    def observe(m, d, e, d_real, e_real, tables, shaped, at):
        _, _, field_rows, shaping = tables
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
def show(e_real, places, results, which, group):
    """Copy observations and values from e, for the lanes chosen by the row `which` of flags.

    `results`: rewards, flags, observations [2, simulations, nobservation] and values [2, nvalue, simulations], the
    present ones first.
    """
    _, flags, observations, values = results
    _, _, at, values_at, width = places
    for lane in range(width):
        i = group * width + lane
        if flags[which, i]:
            for k in range(observations.shape[2]):
                observations[0, i, k] = e_real[at + k, lane]
            for k in range(values.shape[1]):
                values[0, k, i] = e_real[values_at + k, lane]


@kernel(inline=True)
def judge(e, e_real, bad, judging, results, group, width):
    """Set rewards [simulations] and the flags of ends and divergence of a group of lanes.

    `judging`: index of the first value in e, number of rewards, steps of an episode at most (0: any), mode of the call,
    least and largest reward.

    The flag CHOSEN marks simulations that have taken a step and whose numbers are finite.
    """
    values_at, nreward, limit, mode, least, largest = judging
    rewards, flags, _, _ = results
    for lane in range(width):
        i = group * width + lane
        skipped = mode == NEXT_STEP and flags[RESETTING, i]
        lost = lane_get(bad, lane) > 0.5
        total = 0.0
        for k in range(nreward):
            total += e_real[values_at + k, lane]
        rewards[i] = 0.0 if skipped or lost else min(max(total, least), largest)
        flags[TERMINATED, i] = not skipped and (lost or lane_get(e.terminated, lane) > 0.5)
        flags[TRUNCATED, i] = not skipped and limit > 0 and lane_get(e.steps, lane) >= limit
        flags[DIVERGED, i] = not skipped and lost
        flags[ENDED, i] = flags[TERMINATED, i] or flags[TRUNCATED, i]
        flags[CHOSEN, i] = not skipped and not lost
        if mode == SAME_STEP:
            flags[RESETTING, i] = flags[ENDED, i]


@kernel(inline=True)
def begin_episode(d_real, e, e_real, tables, random, group, places):
    """Set the initial state of the model and of an episode in all lanes, and advance the random numbers.

    `tables`: first the state [rows], then [2, own_rows]: whether a number of the episode is reset (1 or 0), and its
    value.
    """
    start, fresh, _, _ = tables
    rows, own_rows, _, _, width = places
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
def place_state(d_real, given, group, width):
    """Replace numbers of the state by given ones: their rows [count] in Data, and values [simulations, count]."""
    rows, values = given
    for k in range(len(rows)):
        for lane in range(width):
            d_real[rows[k], lane] = values[group * width + lane, k]


@kernel(inline=True)
def store_start(d_real, states, clock, flags, group, rows, width):
    """Store the state in Data as that of the lanes that begin an episode."""
    for lane in range(width):
        if flags[BEGAN, group * width + lane]:
            clock[group, lane] = d_real[TIME, lane]
            for k in range(rows):
                states[group, k, lane] = d_real[k, lane]


def seeing(program: Program, delayed: Any) -> Any:
    """Make a kernel that evaluates values and observations; delayed(d, e, e_real, late) delays the observations."""
    observe = observing(program.observation)
    gather, report = program.values, program.disturbances.report

    @kernel(inline=True)
    def see(m, d, e, d_real, e_real, tables, late, shaped, at):
        gather(m, d, e)
        report(d, e, e_real, late)
        observe(m, d, e, d_real, e_real, tables, shaped, at)
        delayed(d, e, e_real, late)

    return see


@functools.cache
def stages(program: Program) -> Stages:
    """Make the stages of an environment's program."""
    before_step, reset, disturbances = program.before_step, program.reset, program.disturbances
    begin_disturbing, act_late, push = disturbances.begin, disturbances.act, disturbances.push

    @kernel(inline=True)
    def act(m, d, e, e_real, actions, late, group, width):
        take_action(e, actions, group, width)
        act_late(d, e, e_real, late)
        before_step(m, d, e)
        push(d, e, e_real, late)

    @kernel(inline=True)
    def begin(m, d, e, d_real, e_real, memory, flags, tables, late, group, places):
        states, clock, _, random, _, _, _, given = memory
        rows, _, _, _, width = places
        begin_episode(d_real, e, e_real, tables, random, group, places)
        begin_disturbing(d, e, e_real, late)
        reset(m, d, e)
        place_state(d_real, given, group, width)
        store_start(d_real, states, clock, flags, group, rows, width)

    return Stages(act, seeing(program, disturbances.late), seeing(program, disturbances.first), begin)
