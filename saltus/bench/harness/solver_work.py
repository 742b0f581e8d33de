"""Work of the constraint solvers, and the speed of Newton's method relative to the machine's peak.

The work is counted, not timed. From the blocks of rows (dim rows, moved by n degrees of freedom), the entries c of each
row of the Hessian below its diagonal, the entries nC of the inertia and the number of iterations follow the operations,
a multiplication and an addition each counting one:

    rows        J x or Jᵀ f           2 dim n a block
    inertia     M x                   4 nC - 2 nv
    Hessian     M + Jᵀ W J            dim (2 dim - 1) n + dim n (n + 1) a block
    factor      Lᵀ D L                c (c + 2) a row
    solve       (Lᵀ D L)⁻¹ x          4 c + 1 a row

A solution begins with one product by J and one by M, and its gradient takes one by Jᵀ; each iteration solves once and
multiplies by J, Jᵀ and M. The Hessian is built and factored in the first iteration, with elliptic cones in all; its
updates in the others are left out, as are cones, line searches, the finding of contacts and the smooth dynamics. So
this count over the time of a whole step is less than what is reached. It stands beside the peak: fused multiply-adds on
lanes in registers, so many side by side that their latency does not show, on one core.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from saltus.bench.harness.peers import PRECISIONS, Constrained, Start
from saltus.contact.counts import NBLOCK, NCON, NITER, NROW
from saltus.number.internals import NullCache, keep_in
from saltus.number.kernels import Entry
from saltus.number.kinds import LANES
from saltus.simulate.batch import Batch
from saltus.simulate.engine.batch.lanes import Lanes

MOST = 64  # simulations that are sampled
LOOKS = 10  # samples of each simulation
CHAINS = 16  # independent chains of fused multiply-adds


@dataclass(frozen=True)
class Work:
    """Work of one side's solver in a step of one simulation: means over simulations and steps.

    `who`: "mujoco", "saltus" (one simulation), or "saltus float64", "saltus float32": batches, whose lanes share what
    any of them needs. `flops`: operations of Newton's method, for each lane; nan for MuJoCo and for other methods.
    """

    who: str
    contacts: float
    rows: float
    iterations: float
    flops: float


def work(setup: Constrained, n: int, steps: int) -> list[Work]:
    """Sample up to n simulations, a few times in `steps` steps; return the solver's mean work."""
    starts = setup.starts(min(n, MOST))
    every = max(1, steps // LOOKS)
    sides: dict[str, tuple[Any, int]] = {"mujoco": (setup.data(), 1), "saltus": (setup.simulation(), 1)}
    for precision in PRECISIONS:
        width = LANES[precision].width
        group = Batch(setup.model, width, threads=1, precision=precision, integrator="euler")
        sides[f"saltus {precision}"] = group, width
    seen: dict[str, list[tuple[float, ...]]] = {who: [] for who in sides}
    for who, (state, width) in sides.items():
        for first in range(0, len(starts.qpos), width):
            some = np.arange(first, first + width) % len(starts.qpos)
            setup.begin(state, Start(*(x[some] if isinstance(state, Batch) else x[first] for x in starts)))
            for _ in range(LOOKS):
                setup.advance(state, every)
                seen[who].append(counts(state))
    return [Work(who, *(float(x) for x in np.mean(found, axis=0))) for who, found in seen.items()]


def _lanes(batch: Batch) -> Lanes:
    """The lanes of a batch under soft contact."""
    assert isinstance(batch.lanes, Lanes)
    return batch.lanes


def counts(state: Any) -> tuple[float, ...]:
    """Contacts, rows, iterations and operations of the last step of one simulation, or of a batch's group."""
    if isinstance(state, mujoco.MjData):
        # islands are solved one by one: the iterations of the slowest
        return state.ncon, state.nefc, float(np.max(state.solver_niter)), float("nan")
    if isinstance(state, Batch):
        m, d = _lanes(state).m, _lanes(state).workspaces[0]
    else:
        m, d = state.engine.m, state.engine.d
    count = d.views["count"]
    contacts = int(count[NCON]) if m.nconmax else 0
    acting = count[NBLOCK] > 0  # otherwise nothing was solved
    return contacts, int(count[NROW]) * acting, int(count[NITER]) * acting, newton_flops(m, d)


def newton_flops(m: Any, d: Any) -> float:
    """Operations of Newton's method in a Data's last step, for one lane (see the module's text); nan for others."""
    blocks = int(d.views["count"][NBLOCK])
    if not blocks:
        return 0
    if not len(d.views["hessian_num"]):
        return float("nan")
    dim, n = d.views["block_dim"][:blocks], d.views["block_num"][:blocks]
    c, nC = d.views["hessian_num"], len(m.views["M_colind"])
    rows = int((2 * dim * n).sum())
    inertia = 4 * nC - 3 * len(c)
    hessian = int((dim * (2 * dim - 1) * n + dim * n * (n + 1)).sum())
    factor = int((c * (c + 2)).sum())
    solve = int((4 * c + 1).sum())
    iterations = int(d.views["count"][NITER])
    built = iterations if m.opt_cone else min(iterations, 1)
    return (iterations + 1) * (2 * rows + inertia) + built * (hessian + factor) + iterations * solve


# ------------------------------------------------------------ peak of the machine


@functools.cache
def peak(precision: str) -> float:
    """Operations per second of one core on lanes of a precision: a fused multiply-add counts as two."""
    batch = Batch("pendulum", 1, threads=1, precision=precision)
    chains = [f"a{k}" for k in range(CHAINS)]
    body = "\n".join(
        [
            "x = 0.0 * d.time + 0.999999",
            *[f"{a} = x * {k}.0" for k, a in enumerate(chains)],
            "for _ in range(n):",
            *[f"    {a} = {a} * x + x" for a in chains],
            f"d.time = {' + '.join(chains)}",
        ]
    )
    loop = Entry("multiply_add", "n", body)
    m, d = _lanes(batch).m, _lanes(batch).workspaces[0]
    # the source is no part of the key of compiled code
    keep_in(NullCache(), loop.compiled(m.layout.name, d.layout.name))
    n = 1 << 18
    loop(m, d, 1)
    seconds = []
    for _ in range(20):
        begin = time.perf_counter()
        loop(m, d, n)
        seconds.append(time.perf_counter() - begin)
    return 2.0 * CHAINS * LANES[precision].width * n / min(seconds)
