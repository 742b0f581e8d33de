"""Threads that help with the steps of one simulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from numba import types

from saltus.arguments import usable_cores
from saltus.contact.broad.grid import compare_part
from saltus.contact.collide import collide_part
from saltus.contact.mujoco.collision import attach
from saltus.contact.rows.contacts import write_part
from saltus.contact.tasks import COLLIDE, FIND_PAIRS, SOLVE_ISLAND, SOLVE_ISLANDS, WRITE_ROWS
from saltus.errors import warn
from saltus.model.model import Model
from saltus.number.kernels import entry
from saltus.number.structs import Struct
from saltus.number.threads.atomics import yield_address
from saltus.number.threads.team import HELPERS, STOP, WORTH, begin, done, finish, next_task, places
from saltus.simulate.engine.threads.pool import ThreadPool
from saltus.solve.soft.trees.newton_by_trees import solve_apart, solve_together

FEW = 1000  # steps that run without helpers if there was no work for them lately

# fields that each thread owns: counts, scratch, and memory of searches
PRIVATE = (
    *("acting", "own_count", "found_count", "foreign_count", "block_weight", "block_scratch"),
    *("last_pair", "last_gap", "last_pose", "last_corners", "last_axis", "last_vertex"),
)


@entry
def help_out(m, d):
    """Do this thread's part of each task that the leader begins, until it dismisses its helpers."""
    task, amount = next_task(d)
    while task != STOP:
        if task == FIND_PAIRS:
            compare_part(m, d, 0, amount)
        elif task == COLLIDE:
            collide_part(m, d, amount)
        elif task == WRITE_ROWS:
            write_part(m, d, amount)
        elif task == SOLVE_ISLAND:
            solve_together(m, d, amount)
        elif task == SOLVE_ISLANDS:
            solve_apart(m, d, amount)
        done(d)
        task, amount = next_task(d)
    done(d)


@entry
def dismiss(m, d):
    """End the helpers' work."""
    begin(m, d, STOP, 0, True)
    finish(m, d)


def threads_for(model: Model, m: Struct, wanted: int, *, hard: bool) -> int:
    """Number of threads that share a model's steps, under the `hard` law or the soft one.

    A warning tells if the number differs from `wanted`, or if the threads would wait for each other.
    """
    if wanted > 1 and (hard or "threads" not in m.layout.features):
        warn(f"the steps of {model.name!r} have no work for several threads: one is used")
        return 1
    if wanted > usable_cores():
        warn(f"{wanted} threads on {usable_cores()} processors wait for each other; use at most {usable_cores()}")
    return wanted


def room(sizes: dict[str, int], threads: int) -> dict[str, int]:
    """Sizes of the leader's Data: lists filled by several threads have a part for each."""
    lists = {name: sizes[name] * threads for name in ("nconmax", "nfound")}
    return sizes | lists | {"nteam": places(threads), "team_yield": yield_address()}


def helpers_of(leader: Struct, m: Struct, threads: int) -> list[Struct]:
    """Data of each helper: the leader's memory, with counts, scratch and a part of each list of its own."""
    own = lambda part: {  # noqa: E731
        "part": part,
        "contact_first": part * m.nconmax,
        "contact_end": (part + 1) * m.nconmax,
        "found_end": (part + 1) * m.nfound,
    }
    return [leader.sharing(PRIVATE, own(part)) for part in range(1, threads)]


class Team:
    """Helpers of a leader that runs the loop on its Data, which was made with `room`."""

    def __init__(self, model: Model, m: Struct, leader: Struct, threads: int):
        self._leader = leader
        self._helpers = helpers_of(leader, m, threads)
        for helper in self._helpers:
            attach(model, helper)
        self._threads = ThreadPool(len(self._helpers))
        self._idle = False  # whether there was too little work for helpers lately

    @contextmanager
    def helping(self, m: Struct, steps: int | None = None) -> Iterator[None]:
        """Let helpers work while compiled code runs on the leader's Data with Model `m`; `steps`: number, if known."""
        team = self._leader.views["team"]
        before = int(team[WORTH])
        few = steps is not None and steps <= FEW
        with nullcontext() if few and self._idle else self._called(m):
            yield
            self._idle = int(team[WORTH]) == before

    @contextmanager
    def _called(self, m: Struct) -> Iterator[None]:
        """Let helpers work while compiled code runs on the leader's Data, for any number of steps."""
        # compile here: the leader would wait forever for a helper that cannot be compiled
        help_out.address(m, self._helpers[0], result=types.none)
        threads = self._threads.get()
        work = [threads.submit(help_out, m, helper) for helper in self._helpers]
        team = self._leader.views["team"]
        team[HELPERS] = len(work)
        try:
            yield
        finally:
            dismiss(m, self._leader)
            team[HELPERS] = 0
            for each in work:
                each.result()
