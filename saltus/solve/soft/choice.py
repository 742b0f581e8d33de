"""Choice of the soft-constraint solver: the one that the model file names; other solvers are not compiled.

All find the same forces to the model's tolerance. Dual numbers always use Newton's method, whose last step makes the
tangents exact: derivatives of the solution itself, not of an iteration truncated on the way to it. Lanes use it if
trees are few or large, since they have no islands, and one matrix is faster than conjugate gradients.
"""

from saltus.number.conditions import has, has_lanes, has_tangents
from saltus.number.kernels import kernel
from saltus.solve.soft.cg import cg
from saltus.solve.soft.dual.noslip import noslip
from saltus.solve.soft.dual.pgs import pgs
from saltus.solve.soft.dual.problem import unfold_forces
from saltus.solve.soft.newton import newton
from saltus.solve.soft.trees.newton_by_trees import newton_by_trees


@kernel
def solve_constraints(m, d):
    """Constraint forces and accelerations (see `newton`); returns 1 if unconverged in some lane, else 0."""
    if has(m, "pgs") and not has_tangents(d):
        unconverged = pgs(m, d)
    elif has(m, "cg") and not has_tangents(d):
        unconverged = cg(m, d)
    elif has(m, "many_trees") and not (has_tangents(d) or (has(m, "matrix_in_lanes") and has_lanes(d))):
        unconverged = newton_by_trees(m, d)
    else:
        unconverged = newton(m, d)
    # no-slip pass over friction, from the dual forces, which PGS has left
    if has(m, "noslip"):
        if not has(m, "pgs") or has_tangents(d):
            unfold_forces(m, d)
        noslip(m, d)
    return unconverged
