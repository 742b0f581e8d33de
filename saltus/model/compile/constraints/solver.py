"""The constraint solver: its fields and sizes in the kernels' Model and Data, and which solver is compiled."""

from typing import Any

import mujoco
import numpy as np

from saltus.model.compile.constraints.many_trees import ManyTrees, many_trees
from saltus.model.compile.tendons import inertia_parents
from saltus.model.enums import FLEX, SOLVER_CG, SOLVER_NEWTON, SOLVER_PGS
from saltus.model.flex import contacts as flex_contacts
from saltus.model.tree.chains import ChainTable
from saltus.number.functions import MINVAL
from saltus.number.permutation import table_of_orders

MOST_DENSE = 96  # most unknowns of an island of projected Gauss-Seidel with a dense matrix; a multiple of 8
PROBLEMS = 32  # number of islands of projected Gauss-Seidel that are solved together
MATRICES = 4  # number of matrices of that size whose memory they share
MOST = 3000  # most degrees of freedom for a Hessian in place of conjugate gradients


def solver_features(m: mujoco.MjModel, left_out: frozenset[str]) -> set[str]:
    """Feature keys for `saltus.model.layout.model_layout`; none for Newton's method."""
    word = {SOLVER_CG: {"cg"}, SOLVER_PGS: {"pgs"}}.get(method(m, left_out), set())
    return word | ({"noslip"} if _noslip(m, left_out) else set())


def method(m: mujoco.MjModel, left_out: frozenset[str]) -> int:
    """MuJoCo's number of the solver: that of the file, but Newton's for CG on deformable bodies.

    Both minimise the same cost. If vertices move freely and touch few objects, the Hessian is nearly diagonal, and
    Newton's method is several times as fast, but not if edges have fixed lengths.
    """
    named = int(m.opt.solver)
    touches = "flex" not in left_out and flex_contacts.touches(m)
    held = bool(np.isin(m.eq_type, FLEX).any())
    if named == SOLVER_CG and touches and m.nv <= MOST and not held:
        return SOLVER_NEWTON
    return named


def hessian_by_trees(m: mujoco.MjModel, chains: ChainTable, left_out: frozenset[str], blocks: int) -> ManyTrees:
    """Fields of a tree-wise Hessian of up to `blocks` blocks of rows, if Newton's method uses one."""
    newton = blocks > 0 and method(m, left_out) == SOLVER_NEWTON
    return many_trees(
        m, chains, trees_of_dofs(m, left_out), np.array(inertia_parents(m, left_out)), blocks if newton else 0
    )


def solver_values(m: mujoco.MjModel, chains: ChainTable, left_out: frozenset[str]) -> dict[str, object]:
    """Fields of the solver; tables of the dual problem only if it is solved."""
    parents = inertia_parents(m, left_out)
    supports = [_way(parents, dofs) for _, dofs, _ in chains.entries] if is_dual(m, left_out) else []
    count = np.array([len(s) for s in supports], int)
    return {
        "support_adr": np.cumsum(count) - count,
        "support_num": count,
        "support_dof": [i for s in supports for i in s],
        "dof_treeid": trees_of_dofs(m, left_out) if _islands(m) else np.zeros(m.nv, int),
        "opt_noslip_tolerance": m.opt.noslip_tolerance,
        "table_of_orders": table_of_orders() if method(m, left_out) == SOLVER_PGS else (),
    }


def solver_sizes(
    m: mujoco.MjModel, left_out: frozenset[str], values: dict, rows: int, contacts: int, dims: int, *, by_trees: bool
) -> dict[str, int]:
    """Sizes of fields for `rows` rows of joints and equalities, and `contacts` contacts of `dims` rows each.

    Newton's method needs memory for its Hessian (unless it is taken `by_trees`), conjugate gradients for a few vectors,
    the dual problem for its rows.
    """
    nv, any_rows = m.nv, rows + contacts > 0
    dual = any_rows and is_dual(m, left_out)
    longest = max(values["support_num"], default=0)
    return {
        "nv_hessian": nv if any_rows and method(m, left_out) == SOLVER_NEWTON and not by_trees else 0,
        "nv_cg": nv if any_rows and method(m, left_out) == SOLVER_CG else 0,
        "nv_dual": nv if dual else 0,
        "nblock_dual": rows + contacts if dual else 0,
        "nrow_dual": rows + contacts * dims if dual else 0,
        "ndual": 2 * (rows + contacts * dims) if dual else 0,
        "nG": (rows + contacts * dims) * longest if dual else 0,
        # islands that Gauss-Seidel solves together, and their unknowns, padded to multiples of 8; the noslip pass lists
        # blocks
        "nproblem": PROBLEMS if dual else 0,
        "nitem": max(8 * -(-2 * (rows + contacts * dims) // 8), PROBLEMS * 8) if dual else 0,
        **_dense_island(2 * (rows + contacts * dims) if any_rows and method(m, left_out) == SOLVER_PGS else 0, nv),
        "ncone_work": 6 if dual else 0,
        "norderword": len(values["table_of_orders"]),
        "nsupport": len(values["support_num"]),
        "nsupportdof": len(values["support_dof"]),
        "ntree": int(max(values["dof_treeid"], default=-1)) + 1 if dual else 0,
        "opt_noslip_iterations": _noslip(m, left_out),
        "opt_islands": int(_islands(m)),
    }


def _dense_island(unknowns: int, nv: int) -> dict[str, int]:
    """Sizes of an island's dense matrices, and most unknowns for them, if there are so many in all."""
    most = min(8 * -(-unknowns // 8), MOST_DENSE)
    return {"ndense": most, "nisland_A": MATRICES * most * most, "nisland_G": nv * most}


def inertia_scale(m: Any) -> Any:
    """1/(mean inertia nv), the scale of the solver's tolerances."""
    return 1.0 / (np.maximum(m.stat.meaninertia, MINVAL) * max(1, m.nv))


def is_dual(m, left_out) -> bool:
    """Whether the dual problem is solved."""
    return int(m.opt.solver) == SOLVER_PGS or _noslip(m, left_out) > 0


def _noslip(m, left_out) -> int:
    """Number of noslip iterations."""
    return 0 if "noslip" in left_out else int(m.opt.noslip_iterations)


def _islands(m) -> bool:
    """Whether islands of constraints are solved separately."""
    return not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ISLAND.value


def _way(parents, dofs) -> list[int]:
    """Degrees of freedom and all their ancestors, ascending."""
    found: set[int] = set()
    for i in dofs:
        while i >= 0 and i not in found:
            found.add(i)
            i = int(parents[i])
    return sorted(found)


def trees_of_dofs(m: mujoco.MjModel, left_out: frozenset[str]) -> np.ndarray:
    """The kinematic tree of each degree of freedom [nv]; trees coupled by tendons with inertia count as one."""
    trees = m.dof_treeid.copy()
    for i, parent in enumerate(inertia_parents(m, left_out)):
        if parent >= 0:
            trees[i] = trees[parent]
    return trees
