"""Several threads inside one call of compiled code: a leader shares out work, and helpers wait for it.

The leader runs the loop. Where there is work for all, it calls `begin` with the number of the task, does its own part,
and waits in `finish`; helpers wait in `next_task` in between. All see the same memory, but each has a struct of its
own, whose `part` and `parts` say which part of the work is its own. What it writes must not depend on how many there
are: parts write places of their own, and sums are taken in chunks (`CHUNKS`) that are always the same.

Whoever waits looks again and again, and lets other threads of the computer run if it takes long.
"""

from saltus.number.atomics import call_address, load_acquire, relax, store_release
from saltus.number.kernels import kernel, only_with

# places in the field `team`: of the leader's call, then those of each part, in cache lines of their own
TICKET, TASK, AMOUNT = 0, 1, 2
STRIDE = 16
DONE, REACHED, RESULT = 0, 1, 2

# tasks; the first ends a helper's work
STOP, FIND_PAIRS, COLLIDE, WRITE_ROWS = range(4)
PATIENCE = 400000  # looks before others may run
CHUNKS = 8  # of a sum that several threads take


def places(parts: int) -> int:
    """Extent of the field `team`."""
    return STRIDE * (parts + 1)


@kernel(inline=True)
def place_of(part, which):
    """Place of a part's number in `team`."""
    return STRIDE * (part + 1) + which


@kernel
def wait_for(d, place, number):
    """Wait until another thread has stored `number`, or a larger one."""
    looks = 0
    while load_acquire(d.team, place) < number:
        pass
        looks += 1
        if looks > PATIENCE:
            call_address(d.team_yield)


@only_with("threads")
@kernel
def begin(m, d, task, amount):
    """Have the helpers begin with a task for an amount of things."""
    d.team[TASK] = task
    d.team[AMOUNT] = amount
    store_release(d.team, TICKET, d.team[TICKET] + 1)


@only_with("threads")
@kernel
def finish(m, d):
    """Wait until the helpers are done."""
    for part in range(1, d.parts):
        wait_for(d, place_of(part, DONE), d.team[TICKET])


@kernel
def next_task(d):
    """Of a helper: wait for a task; returns its number and the amount of things."""
    wait_for(d, TICKET, d.team[place_of(d.part, DONE)] + 1)
    return d.team[TASK], d.team[AMOUNT]


@kernel
def done(d):
    """Of a helper: tell that its part of the task is done."""
    place = place_of(d.part, DONE)
    store_release(d.team, place, d.team[place] + 1)


@only_with("threads")
@kernel
def meet(m, d):
    """Inside a task: wait until all threads have come here."""
    own = place_of(d.part, REACHED)
    turn = d.team[own] + 1
    store_release(d.team, own, turn)
    for part in range(d.parts):
        if part != d.part:
            wait_for(d, place_of(part, REACHED), turn)


@only_with("threads", otherwise="(0, n)")
@kernel(inline=True)
def share(m, d, n):
    """Range of this thread's part of n things."""
    return n * d.part // d.parts, n * (d.part + 1) // d.parts


@only_with("threads")
@kernel
def report(m, d, number):
    """Give the leader a number of this part's work."""
    d.team[place_of(d.part, RESULT)] = number


@only_with("threads", otherwise="0")
@kernel(inline=True)
def reported(m, d, part):
    """The number that a part has given."""
    return d.team[place_of(part, RESULT)]
