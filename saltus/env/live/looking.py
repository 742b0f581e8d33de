"""Evaluates an environment's terms on a state of another simulation: its compiled step without the motion."""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

import functools

from saltus.env.run.stages import (
    BEGAN,
    DISABLED,
    Program,
    judge,
    load_episode,
    show,
    stages,
    store_episode,
    store_start,
)
from saltus.integrate.integrator import Integrator
from saltus.number.components import as_number
from saltus.number.kernels import Entry, entry, kernel
from saltus.simulate.engine.loops import group_steps, load_group, load_model
from saltus.solve.status import OK

# modes of a call: begin an episode; observe the state that a step has reached; observe the present state again; apply
# an action
BEGIN, SEE, SEE_AGAIN, ACT = range(4)


def looking(integrator: Integrator, program: Program, left: bool) -> Entry:
    """The entry of an environment's program for one group of lanes, compiled at its first call.

    `left`: whether terms read quantities left by the last step. That step is then repeated from the state before it,
    `earlier` [rows, width].
    """
    label = integrator.step.py_func.__module__.rsplit(".", 1)[-1] if left else "state"
    return _looking(integrator.step, program, left, label, len(integrator.parameters))


@kernel(inline=True)
def _no_step(m, d, d_real, earlier, clock, rows, width, h, parameters):
    return OK


@kernel(inline=True)
def _the_same(m, s, d):
    return OK


@functools.cache
def _step_again(take_steps):
    @kernel(inline=True)
    def step_again(m, d, d_real, earlier, clock, rows, width, h, parameters):
        load_group(d_real, earlier, 0, rows, width)
        return take_steps(m, d, d_real, clock, 0, width, 1, h, parameters)

    return step_again


@functools.cache
def _looking(step, program: Program, left: bool, label: str, parameters: int) -> Entry:
    repeat = _step_again(group_steps(step)) if left else _no_step
    seen_after = program.after_step if left else _the_same
    act, see, see_first, begin = stages(program)
    ends, remember, after_reset = program.terminated, program.remember, program.after_reset
    release = program.disturbances.release

    def look(
        m, s, d, e, m_real, d_real, e_real, earlier, memory, actions, results, tables, late, places, counts, h,
        parameters
    ):  # fmt: skip
        states, clock, own, random, varied, fields, _, _ = memory
        flags = results[1]
        rows, own_rows, at, values_at, width = places
        mode, limit, nreward, shaped, least, largest = counts
        status = OK
        load_model(m, m_real, varied, fields, 0, width)
        load_episode(e, e_real, own, random, 0, own_rows, width)
        if mode == SEE:
            status = repeat(m, d, d_real, earlier, clock, rows, width, h, parameters)
        load_group(d_real, states, 0, rows, width)
        if mode == ACT:
            release(d, e, e_real, late)
            act(m, d, e, e_real, actions, late, 0, width)
            store_start(d_real, states, clock, flags, 0, rows, width)
            store_episode(e, e_real, own, random, flags, BEGAN, 0, own_rows, width)
            return status
        if mode == SEE:
            release(d, e, e_real, late)
            status = max(status, seen_after(m, s, d) if left else after_reset(m, s, d))
            e.steps = e.steps + 1.0
            e.terminated = as_number(ends(m, d, e), e.steps)
            see(m, d, e, d_real, e_real, tables, late, shaped, at)
            judging = values_at, nreward, limit, DISABLED, least, largest
            judge(e, e_real, 0.0 * e.steps, judging, results, 0, width)
        else:
            if mode == BEGIN:
                begin(m, d, e, d_real, e_real, memory, flags, tables, late, 0, places)
            status = max(status, after_reset(m, s, d))
            e.terminated = 0.0 * e.steps
            see_first(m, d, e, d_real, e_real, tables, late, shaped, at)
        if mode != SEE_AGAIN:
            remember(m, d, e)
        store_episode(e, e_real, own, random, flags, BEGAN, 0, own_rows, width)
        show(e_real, places, results, BEGAN, 0)
        return status

    return entry(look, name=f"look_{label}", structs=("m", "s", "d", "e"), parameters=parameters)
