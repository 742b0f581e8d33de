"""Evaluates an environment's terms on a state of another simulation: its compiled step without the motion."""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

import functools

from saltus.env.run.loop import (
    BEGAN,
    DISABLED,
    Program,
    begin_episode,
    judge,
    load_episode,
    observing,
    show,
    store_episode,
    store_start,
    take_action,
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
    observe = observing(program.observation)
    before_step, after_reset = program.before_step, program.after_reset
    ends, gather, remember, reset = program.terminated, program.values, program.remember, program.reset
    begin, late_action, push, release, report, first_seen, seen_late = program.disturbances

    def look(
        m, s, d, e, m_real, d_real, e_real, earlier, memory, actions, results, shown, tables, late, places, counts, h,
        parameters
    ):  # fmt: skip
        states, clock, own, random, varied, fields, _ = memory
        start, fresh, field_rows, shaping = tables
        rewards, flags = results
        rows, own_rows, at, values_at, width = places
        mode, limit, nreward, shaped = counts
        status = OK
        load_model(m, m_real, varied, fields, 0, width)
        load_episode(e, e_real, own, random, 0, own_rows, width)
        if mode == SEE:
            status = repeat(m, d, d_real, earlier, clock, rows, width, h, parameters)
        load_group(d_real, states, 0, rows, width)
        if mode == ACT:
            release(d, e, e_real, late)
            take_action(e, actions, 0, width)
            late_action(d, e, e_real, late)
            before_step(m, d, e)
            push(d, e, e_real, late)
            store_start(d_real, states, clock, flags, 0, rows, width)
            store_episode(e, e_real, own, random, flags, BEGAN, 0, own_rows, width)
            return status
        if mode == BEGIN:
            begin_episode(d_real, e, e_real, start, fresh, random, 0, rows, own_rows, width)
            begin(d, e, e_real, late)
            reset(m, d, e)
            store_start(d_real, states, clock, flags, 0, rows, width)
        if mode == SEE:
            release(d, e, e_real, late)
        if not left or mode != SEE:
            status = max(status, after_reset(m, s, d))
        else:
            status = max(status, seen_after(m, s, d))
        if mode == SEE:
            e.steps = e.steps + 1.0
            e.terminated = as_number(ends(m, d, e), e.steps)
        else:
            e.terminated = 0.0 * e.steps
        gather(m, d, e)
        report(d, e, e_real, late)
        observe(m, d, e, d_real, e_real, field_rows, shaping, shaped, at)
        if mode == SEE:
            seen_late(d, e, e_real, late)
            judge(e, e_real, 0.0 * e.steps, values_at, nreward, limit, DISABLED, rewards, flags, 0, width)
        else:
            first_seen(d, e, e_real, late)
        if mode != SEE_AGAIN:
            remember(m, d, e)
        store_episode(e, e_real, own, random, flags, BEGAN, 0, own_rows, width)
        show(e_real, at, values_at, flags, BEGAN, shown, 0, width)
        return status

    return entry(look, name=f"look_{label}", structs=("m", "s", "d", "e"), parameters=parameters)
