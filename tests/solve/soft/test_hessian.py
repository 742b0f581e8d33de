"""The Hessian of the constraint problem: its entries, the pattern of its factor, and solves with it.

Law: H = M + Jᵀ W J with W the curvature of the cost, the derivative of -force by the residual; H = Lᵀ D L. A factor
that eliminates from the last degree of freedom on couples all that the eliminated one is coupled with (George & Liu,
Computer Solution of Large Sparse Positive Definite Systems (1981)).

References: dense algebra of NumPy; elimination of whole rows of booleans. Tolerances: rounding of nv operations, times
the condition of H where it is solved with: below 1e7 here, 1e-9.
"""

import numpy as np
import pytest
from helpers.constraints import complete, near
from helpers.hessians import blocks_of, hessian_by_differences

import saltus
from saltus.contact.counts import NBLOCK, NFILL, NPATTERN
from saltus.contact.rows.cost import row_forces
from saltus.number.kernels import Entry
from saltus.solve.soft.hessian import factor_hessian, hessian, solve_hessian
from saltus.solve.soft.hessian_pattern import hessian_pattern

KERNELS = dict(hessian_pattern=hessian_pattern, hessian=hessian, factor=factor_hessian, solve=solve_hessian)
ASSEMBLE = Entry("hessian_assemble", "", "hessian_pattern(m, d)\nhessian(m, d)", **KERNELS)
SOLVE = Entry("hessian_solve", "", "factor(m, d)\nsolve(m, d, d.solve_search)", **KERNELS)
FORCES = Entry("hessian_forces", "", "row_forces(m, d)", row_forces=row_forces)
OFF = 'contype="0" conaffinity="0"'


def branches(lengths, cone="pyramidal", rest=""):
    """Chains of links on a free body, more than an integer has bits, that touch the floor and each other.

    Welded and connected at their tips; links have dry friction and ranges.
    """
    text = ""
    for k, n in enumerate(lengths):
        for i in range(n):
            pos = f"0 {0.2 * k - 0.2} .05" if i == 0 else ".1 0 0"
            kind = f'condim="{(3, 1, 4, 6)[i % 4]}" friction=".8 .1 .05"'
            joint = f'<joint axis="{(0, 1)[i % 2]} {(1, 0)[i % 2]} .3" range="-.02 1" frictionloss=".01"/>'
            text += f'<body name="l{k}_{i}" pos="{pos}">{joint}<geom size=".06" {kind}/>'
        text += "</body>" * n
    return f"""<mujoco><option cone="{cone}"/><worldbody><geom type="plane" size="9 9 .1" pos="0 0 -.05"/>
      <body><freejoint/><geom size=".1" {OFF}/>{text}</body></worldbody>{rest}</mujoco>"""


def prepared(xml, seed=0, spread=0.05):
    """A simulation at a random state with everything computed, and its memory."""
    sim = saltus.Simulation(saltus.load(complete(xml)))
    for name, value in near(sim.model.mujoco, np.random.default_rng(seed), spread).items():
        getattr(sim, name)[:] = value
    sim.forward()
    return sim, sim.engine.m, sim.engine.d


def lower(nv, view):
    """A lower triangle as a symmetric matrix."""
    full = np.zeros((nv, nv))
    full[np.tril_indices(nv)] = view
    return np.tril(full) + np.tril(full, -1).T


def columns(nv, d):
    """The pattern below the diagonal [nv, nv]."""
    found = np.zeros((nv, nv), bool)
    for i in range(nv):
        found[i, d.hessian_col[i * (i + 1) // 2 :][: d.hessian_num[i]]] = True
    return found


def eliminated(pattern):
    """What elimination from the last row on fills in."""
    filled = pattern.copy()
    for k in range(len(filled) - 1, -1, -1):
        coupled = np.flatnonzero(filled[k, :k])
        for i in coupled:
            filled[i, coupled[coupled < i]] = True
    return filled


TIPS = '<equality><weld body1="l0_11" body2="l1_24"/><connect body1="l2_29" body2="l0_5" anchor=".1 0 0"/></equality>'
CASES = {
    "free of coupling": branches([3, 2, 3]),
    "one branch": branches([9]),
    "branches that meet": branches([12, 25, 30], rest=TIPS),
    "elliptic": branches([12, 25, 30], "elliptic", TIPS),
    "a hundred and more": branches([60, 60], "elliptic", '<equality><weld body1="l0_50" body2="l1_40"/></equality>'),
}


@pytest.mark.parametrize("case", CASES)
def test_its_entries(case):
    """M + Jᵀ W J, with W by central differences of the forces: pieces of the cost are quadratic, or cones."""
    sim, m, d = prepared(CASES[case])
    nv = m.nv
    assert d.count[NBLOCK] > 5
    wanted = hessian_by_differences(sim, m, d, FORCES)
    ASSEMBLE(m, d)
    found = lower(nv, np.where(filled_places(nv, d), d.hessian, 0.0))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7 * np.abs(wanted).max())


def filled_places(nv, d):
    """Places of the lower triangle that belong to the pattern, the diagonal included."""
    return (columns(nv, d) | np.eye(nv, dtype=bool))[np.tril_indices(nv)]


@pytest.mark.parametrize("case", CASES)
def test_the_pattern_is_that_of_elimination(case):
    """No entry too few, and none too many but those that are zero by chance."""
    sim, m, d = prepared(CASES[case])
    ASSEMBLE(m, d)
    wanted = sim.full_M() != 0
    for i in range(m.nv):  # entries of M that happen to be zero
        wanted[i, m.M_colind[m.M_rowadr[i] : m.M_rowadr[i] + m.M_rownnz[i]]] = True
    for _, _, dofs, _ in blocks_of(m, d):
        wanted[np.ix_(dofs, dofs)] = True
    wanted = eliminated(np.tril(wanted, -1))
    np.testing.assert_array_equal(columns(m.nv, d), wanted)
    assert (d.count[NFILL] > 0) == (case not in ("one branch", "free of coupling"))
    assert d.count[NPATTERN] == 1 + d.count[NFILL]


@pytest.mark.parametrize("case", CASES)
def test_solves(case):
    _, m, d = prepared(CASES[case], seed=1)
    ASSEMBLE(m, d)
    H = lower(m.nv, np.where(filled_places(m.nv, d), d.hessian, 0.0))
    x = np.random.default_rng(0).normal(size=m.nv)
    d.solve_search[:] = H @ x
    SOLVE(m, d)
    np.testing.assert_allclose(d.solve_search, x, rtol=0, atol=1e-9 * np.abs(x).max())


def test_the_pattern_follows_the_constraints():
    """Kept while the same ones act, made anew when others do, and simple again without them."""
    xml = """<mujoco><worldbody>{}</worldbody></mujoco>""".format(
        "".join(f'<body pos="{0.19 * k} 0 0"><freejoint/><geom size=".1"/></body>' for k in range(4))
    )
    sim, m, d = prepared(xml, spread=0.0)
    free = np.zeros((m.nv, m.nv), bool)
    for i in range(m.nv):
        free[i, m.M_colind[m.M_rowadr[i] : m.M_rowadr[i] + m.M_rownnz[i] - 1]] = True
    seen = []
    for away in ((), (3,), (), (0,), (0, 1, 2, 3), (1,), (1,), ()):
        sim.qpos[:] = sim.model.qpos0
        for k in away:
            sim.qpos[7 * k + 1] = 10.0 + k
        sim.forward()
        pairs = {(k, k + 1) for k in range(3) if k not in away and k + 1 not in away}
        if pairs:
            wanted = free.copy()
            for a, b in pairs:
                wanted[6 * b : 6 * b + 6, 6 * a : 6 * a + 6] = True
            np.testing.assert_array_equal(columns(m.nv, d), eliminated(wanted))
        seen.append(len(pairs))
    assert seen == [3, 2, 3, 2, 0, 1, 1, 3]
