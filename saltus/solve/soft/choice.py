"""Choice of the soft-constraint solver: the one that the model file names; the others are not compiled.

All find the same forces to the model's tolerance. Dual numbers always use Newton's method, whose last step makes the
tangents exact: derivatives of the solution itself, not of an iteration truncated on the way to it.
"""

from saltus.number.kernels import kernel, only_with, without_tangents
from saltus.solve.soft.cg import cg
from saltus.solve.soft.dual import unfold_forces
from saltus.solve.soft.newton import newton
from saltus.solve.soft.noslip import noslip
from saltus.solve.soft.pgs import pgs


@kernel
def solve_constraints(m, d):
    """Constraint forces and accelerations (see `newton`); returns 1 if unconverged in some lane, else 0."""
    unconverged = solver(m, d)
    hold_friction(m, d)
    return unconverged


@kernel
def keep_forces(m, d):
    """Nothing to do: the dual solver has left its forces in dual_force."""


cg_or_newton = only_with("cg", otherwise=newton)(without_tangents(otherwise=newton)(cg))
solver = only_with("pgs", otherwise=cg_or_newton)(without_tangents(otherwise=newton)(pgs))
dual_forces = only_with("pgs", otherwise=unfold_forces)(without_tangents(otherwise=unfold_forces)(keep_forces))


@only_with("noslip")
@kernel
def hold_friction(m, d):
    """No-slip pass over friction, from the forces that the solver has found."""
    dual_forces(m, d)
    noslip(m, d)
