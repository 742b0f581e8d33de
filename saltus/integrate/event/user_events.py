"""User-defined events: sign changes of functions of the state, with actions.

A function g(m, d) has a side, 1 above zero and -1 below; its event occurs when it reaches the other side. If it starts
from zero, as after its own event, its side is the one towards which it moves. Functions and actions are kernels, named
by a feature key in the Model's layout (see `saltus.dynamics.user_laws`).
"""

from typing import Any

from numba.extending import overload

from saltus.contact.event.modes import log_event
from saltus.dynamics.tree.com_frame import centre_of_mass
from saltus.dynamics.tree.kinematics import attached_frames
from saltus.dynamics.user_laws import check_types, laws_of
from saltus.integrate.dense.substep import PARTS, state_at
from saltus.number.features import looks_at
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import CHOICE, kernel, only_with
from saltus.solve.acceleration import forces, held_stage

EVENTS = "events_"  # prefix of the feature key; its kernels are functions and actions in turn
FIRST_LOOK, LOOKS, FARTHER = 2.0**-45, 16, 8.0  # samples in a step for the side of a function that starts at zero
GROWS = 2.0  # growth from sample to sample that is more than rounding
NOISE = 1e-13  # rounding of a function, relative to its largest value in the step


@looks_at(EVENTS)
def _functions(m, d):
    """event_value of the user-defined functions at the current state."""


@looks_at(EVENTS)
def _actions(m, d, e):
    """Run the action of user-defined event e."""


def _compiled(source: str, name: str, kernels: dict[str, Any]) -> Any:
    """The function `name` of a source text that calls the given kernels."""
    namespace = {**kernels, "__name__": __name__}
    exec(source, namespace)
    return namespace[name]


@overload(_functions, strict=False, jit_options=CHOICE)
def _choose_functions(m, d):
    functions = (laws_of(m, EVENTS) or ())[::2]
    for function in functions:
        check_types("Event: function", function, (m, d))
    lines = [f"    d.event_value[2 * m.nmode + {k}] = 0.0 * d.time + g{k}(m, d)" for k in range(len(functions))]
    source = "\n".join(["def functions(m, d):", *lines])
    return _compiled(source, "functions", {f"g{k}": g for k, g in enumerate(functions)})


@overload(_actions, strict=False, jit_options=CHOICE)
def _choose_actions(m, d, e):
    actions = (laws_of(m, EVENTS) or ())[1::2]
    for action in actions:
        check_types("Event: action", action, (m, d))
    lines = [line for k in range(len(actions)) for line in (f"    if e == {k}:", f"        a{k}(m, d)")]
    source = "\n".join(["def actions(m, d, e):", *lines])
    return _compiled(source, "actions", {f"a{k}": a for k, a in enumerate(actions)})


@kernel
def no_action(m, d):
    """Action of an event without one."""
    return


@only_with(EVENTS)
@kernel
def observe(m, d):
    """Compute everything that user functions may read, at the current state."""
    forces(m, d, 1)
    held_stage(m, d)
    attached_frames(m, d)
    centre_of_mass(m, d)


@only_with(EVENTS)
@kernel
def user_values(m, d):
    """event_value [nuserevent, after those of the modes] of the user-defined functions; needs `observe`."""
    _functions(m, d)


@kernel
def above(m, d, e, value):
    """Distance of a value of event function e from zero, on the function's side; 1 if it has no side."""
    if e < 2 * m.nmode:
        return value
    side = d.event_side[e - 2 * m.nmode]
    return 1.0 + 0.0 * value if side == 0.0 else side * value


@kernel
def level(m, d, e, value):
    """Distance of a value of event function e from its event: positive before it, 1 in an unwatched direction."""
    u = e - 2 * m.nmode
    if u >= 0 and m.event_direction[u] * d.event_side[u] > 0.0:
        return 1.0 + 0.0 * value
    return above(m, d, e, value)


@only_with(EVENTS)
@kernel
def first_sides(m, d):
    """Sides at an initial state, from the signs of the functions."""
    for u in range(m.nuserevent):
        d.event_side[u] = sign(d.event_value[2 * m.nmode + u])


@kernel(inline=True)
def sign(x):
    """1, 0 or -1."""
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0 * x


@only_with(EVENTS)
@kernel
def pass_sides(m, d, any_side):
    """Update sides after unwatched sign changes and, if `any_side`, from zero to either; needs event_value."""
    for u in range(m.nuserevent):
        e = 2 * m.nmode + u
        free = any_side if d.event_side[u] == 0.0 else m.event_direction[u] * d.event_side[u] > 0.0
        if free:
            side = sign(d.event_value[e])
            if side != 0.0:
                d.event_side[u] = side


@only_with(EVENTS)
@kernel
def find_sides(m, d, h, start, method):
    """Find the sides of functions that start at zero, from their signs at the beginning of a step of h seconds."""
    open_sides = 0
    for u in range(m.nuserevent):
        d.event_seen[u] = (0.0 * h, 0.0 * h)
        if d.event_side[u] == 0.0:
            open_sides += 1
    # samples at growing distances from the start of the step
    theta = FIRST_LOOK
    for _ in range(LOOKS):
        if open_sides == 0:
            break
        state_at(m, d, h, start, theta, method)
        observe(m, d)
        user_values(m, d)
        # side of a function that has grown twice in a row
        for u in range(m.nuserevent):
            if d.event_side[u] == 0.0:
                now, before = d.event_value[2 * m.nmode + u], d.event_seen[u]
                if grows(now, before[0]) and grows(before[0], before[1]):
                    d.event_side[u] = sign(now)
                    open_sides -= 1
                d.event_seen[u] = (now, before[0])
        theta = FARTHER * theta


@kernel(inline=True)
def grows(now, before):
    """Whether a function moves away from zero by more than rounding."""
    return now * before > 0.0 and absolute(now) >= GROWS * absolute(before)


@only_with(EVENTS)
@kernel
def look(m, d):
    """Evaluate the user-defined functions at the current state, into event_value."""
    observe(m, d)
    user_values(m, d)


@only_with(EVENTS, otherwise="False")
@kernel
def mark_passed(m, d):
    """Mark in event_hit the user-defined events passed by a time step; returns whether there are any."""
    for e in range(m.nevent):
        d.event_hit[e] = 0
    look(m, d)
    found = False
    for u in range(m.nuserevent):
        e = 2 * m.nmode + u
        if level(m, d, e, d.event_value[e]) < 0.0:
            d.event_hit[e] = 1
            found = True
    if not found:
        pass_sides(m, d, True)
    return found


@only_with(EVENTS, otherwise="False")
@kernel
def act(m, d):
    """Log the user-defined events marked in event_hit and run their actions; returns whether one ends the run.

    Stores the values of the functions before the actions in event_seen.
    """
    ended = False
    zero = 0.0 * d.time
    for u in range(m.nuserevent):
        e = 2 * m.nmode + u
        d.event_seen[u] = (d.event_value[e], zero)
    for u in range(m.nuserevent):
        if d.event_hit[2 * m.nmode + u]:
            log_event(m, d, m.event_kind[u], m.nmode + u, zero, zero, (zero, zero, zero), zero, zero)
            _actions(m, d, u)
            ended = ended or m.event_terminal[u] > 0
    return ended


@only_with(EVENTS)
@kernel
def sides_after(m, d):
    """Sides after events: none where a function is still at zero; needs event_value, and event_seen of `act`."""
    for u in range(m.nuserevent):
        e = 2 * m.nmode + u
        if d.event_hit[e]:
            now = d.event_value[e]
            size = 0.0 * now
            for part in range(PARTS + 1):
                size = maximum(size, absolute(d.event_look[part * m.nevent + e]))
            still = absolute(now) <= 4.0 * absolute(d.event_seen[u][0]) + NOISE * size
            d.event_side[u] = 0.0 * now if still else sign(now)
