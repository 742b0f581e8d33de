"""Several threads inside one call of compiled code: a leader shares out work, and helpers wait for it.

The leader runs the loop. Where there is work for all, it calls `begin` with the number of a task, does its own part,
and waits in `finish`; helpers wait in `next_task` in between. All see the same memory, but each has a struct of its
own, whose `part` says which part of the work is its own, and `acting[0]` how many threads act together at present: one
that acts alone has all of the work. What is written must not depend on how many they are: parts write places of their
own, and partial sums are those of runs of things, not of threads.

Whoever waits looks again and again, and lets other threads of the computer run if it takes long.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.number.kernels import kernel, only_with
from saltus.number.threads.atomics import call_address, count_up, fetch, load_acquire, relax, store_release

# places in the field `team`: number of helpers, the leader's calls, how many would have been worth it, turns that are
# taken; then, in cache lines of their own, numbers of each part
HELPERS, TASK, AMOUNT, TICKET, WORTH = 0, 1, 2, 3, 4
TURN = 8
STRIDE = 16
LINE = 8  # numbers of a cache line
DONE, REACHED, RESULT = 0, 1, 2
RESULTS = STRIDE - RESULT

STOP = 0  # the task that ends a helper's work; others are the leader's to number
PATIENCE = 4000  # looks before others may run


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
        relax()
        looks += 1
        if looks > PATIENCE:
            call_address(d.team_yield)


# ---------------------------------------------------------------- the leader


@only_with("threads", otherwise="1")
@kernel
def begin(m, d, task, amount, worth):
    """Have the helpers, if there are any, begin with a task for an amount of things that is `worth` it.

    Returns how many threads act together then.
    """
    d.acting[0] = 1
    if worth:
        d.team[WORTH] = d.team[WORTH] + 1
    if worth and d.team[HELPERS] > 0:
        d.acting[0] = d.team[HELPERS] + 1
        d.team[TASK] = task
        d.team[AMOUNT] = amount
        store_release(d.team, TURN, 0)
        store_release(d.team, TICKET, d.team[TICKET] + 1)
    return d.acting[0]


@only_with("threads")
@kernel
def finish(m, d):
    """Wait until the helpers are done, if they have begun."""
    for part in range(1, d.team[HELPERS] + 1):
        wait_for(d, place_of(part, DONE), d.team[TICKET])
    d.acting[0] = 1


@only_with("threads", otherwise="0")
@kernel(inline=True)
def helpers(m, d):
    """Number of threads that help the leader."""
    return d.team[HELPERS]


# ---------------------------------------------------------------- helpers


@kernel
def next_task(d):
    """Wait for a task; returns its number and the amount of things."""
    wait_for(d, TICKET, d.team[place_of(d.part, DONE)] + 1)
    d.acting[0] = d.team[HELPERS] + 1
    return d.team[TASK], d.team[AMOUNT]


@kernel
def done(d):
    """Tell that this part of the task is done."""
    place = place_of(d.part, DONE)
    store_release(d.team, place, d.team[place] + 1)


# ---------------------------------------------------------------- all


@only_with("threads", otherwise="(0, n)")
@kernel(inline=True)
def share(m, d, n):
    """Range of this thread's part of n things."""
    if d.acting[0] <= 1:
        return 0, n
    return n * d.part // d.acting[0], n * (d.part + 1) // d.acting[0]


@only_with("threads", otherwise="things")
@kernel(inline=True)
def share_of(m, d, things):
    """Part of a range (first, one past the last) that is this thread's."""
    first, last = share(m, d, things[1] - things[0])
    return things[0] + first, things[0] + last


@only_with("threads", otherwise="1")
@kernel(inline=True)
def acting(m, d):
    """Number of threads that act together now."""
    return d.acting[0]


@only_with("threads")
@kernel(inline=True)
def fetch_range(m, d, field, first, last):
    """Bring numbers first up to but without last of a field here, those of other threads too, all at once."""
    for k in range(first, last, LINE):
        fetch(field, k)
    fetch(field, last - 1)


@only_with("threads")
@kernel(inline=True)
def meet(m, d):
    """Inside a task: wait until all threads that act together have come here."""
    if d.acting[0] > 1:
        wait_for_others(d)


@kernel
def wait_for_others(d):
    """Tell that this thread has come to a meeting, and wait for the others."""
    own = place_of(d.part, REACHED)
    turn = d.team[own] + 1
    store_release(d.team, own, turn)
    for part in range(d.acting[0]):
        if part != d.part:
            wait_for(d, place_of(part, REACHED), turn)


@only_with("threads", otherwise="0")
@kernel(inline=True)
def next_turn(m, d):
    """The next number, from 0 on, of those that threads share in a task: each is one thread's, whichever is free."""
    return count_up(d.team, TURN)


@only_with("threads")
@kernel(inline=True)
def act_alone(m, d):
    """Give this thread all of the work, until it takes part in a task again."""
    d.acting[0] = 1


@only_with("threads")
@kernel
def report(m, d, which, number):
    """Give the others a number of this part's work; `which` of several is below RESULTS."""
    d.team[place_of(d.part, RESULT + which)] = number


@only_with("threads", otherwise="0")
@kernel(inline=True)
def reported(m, d, part, which):
    """The number that a part has given."""
    return d.team[place_of(part, RESULT + which)]
