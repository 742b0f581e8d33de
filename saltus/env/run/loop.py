"""The compiled step of environments: actions to controls, substeps, terms, observations, ends and resets, in one call.

For each group of lanes, state and episode are loaded into the workspaces of a thread, the step is taken, the results
are stored in arrays, and where a new episode begins, its initial state replaces the state.
"""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

import functools

from saltus.env.run.stages import (
    BEGAN,
    CHOSEN,
    DIVERGED,
    ENDED,
    NEXT_STEP,
    RESET,
    RESETTING,
    SAME_STEP,
    Program,
    judge,
    load_episode,
    show,
    stages,
    store_episode,
)
from saltus.integrate.integrator import Integrator
from saltus.integrate.status import bad_start, bad_state
from saltus.number.components import as_number
from saltus.number.functions import maximum
from saltus.number.kernels import Entry, entry, kernel
from saltus.simulate.engine.loops import group_steps, load_group, load_model, store_group
from saltus.solve.status import OK

# bits of the result of a call: the worst status; whether any episode began; whether any simulation diverged
STATUS, SOME_BEGAN, SOME_DIVERGED = 255, 256, 512


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
def keep_final(results, group, width):
    """Save the observations and values of ended episodes before those of the next ones replace them."""
    _, flags, observations, values = results
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
    act, see, see_first, begin = stages(program)
    after_step, after_reset = program.after_step, program.after_reset
    ends, remember = program.terminated, program.remember
    take, release = program.take, program.disturbances.release

    def environment(
        m, s, d, e, m_real, d_real, e_real, memory, actions, results, tables, late, places, counts, h, parameters
    ):
        states, clock, own, random, varied, fields, coming, _ = memory
        flags = results[1]
        rows, own_rows, at, values_at, width = places
        first, last, mode, n, limit, nreward, shaped, least, largest = counts
        judging = values_at, nreward, limit, mode, least, largest
        status, found = OK, 0
        for group in range(first, last):
            load_model(m, m_real, varied, fields, group, width)
            if mode != RESET:
                load_group(d_real, states, group, rows, width)
                load_episode(e, e_real, own, random, group, own_rows, width)
                act(m, d, e, e_real, actions, late, group, width)
                bad = bad_start(m, d)
                status = max(status, take_steps(m, d, d_real, clock, group, width, n, h, parameters))
                bad = maximum(bad, bad_state(m, d))
                release(d, e, e_real, late)
                store_group(d_real, states, clock, group, rows, width)
                e.steps = e.steps + 1.0
                status = max(status, after_step(m, s, d))
                e.terminated = as_number(ends(m, d, e), e.steps)
                see(m, d, e, d_real, e_real, tables, late, shaped, at)
                remember(m, d, e)
                judge(e, e_real, bad, judging, results, group, width)
                store_episode(e, e_real, own, random, flags, CHOSEN, group, own_rows, width)
                show(e_real, places, results, CHOSEN, group)
            if begins(flags, group, width):
                take(m, m_real, coming, varied, fields, own, flags, group, width)
                load_episode(e, e_real, own, random, group, own_rows, width)
                begin(m, d, e, d_real, e_real, memory, flags, tables, late, group, places)
                status = max(status, after_reset(m, s, d))
                e.terminated = 0.0 * e.steps
                see_first(m, d, e, d_real, e_real, tables, late, shaped, at)
                remember(m, d, e)
                store_episode(e, e_real, own, random, flags, BEGAN, group, own_rows, width)
                if mode == SAME_STEP:
                    keep_final(results, group, width)
                show(e_real, places, results, BEGAN, group)
            found |= end_call(flags, mode, group, width)
        return status | found

    return entry(environment, name=f"environment_{label}", structs=("m", "s", "d", "e"), parameters=parameters)
