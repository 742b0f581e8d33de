"""The stages of a step of lanes, one after the other up to a chosen one, to be timed by their differences.

They call the kernels of `saltus.solve.acceleration.forces` in its order, and those of one iteration of
`saltus.solve.soft.newton`. States stay as they are: each call begins anew from those that are loaded.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.collide import collide, collider_frames
from saltus.contact.counts import NBLOCK, NCON, NITER, NLOST, NROW
from saltus.contact.rows.contacts import contact_rows
from saltus.dynamics.equations import bias_force, joint_inertia
from saltus.dynamics.smooth import force_stage, position_stage
from saltus.model.enums import CONE_ELLIPTIC
from saltus.number.conditions import has
from saltus.number.functions import any_lane
from saltus.number.kernels import entry, kernel, only_with
from saltus.simulate.engine.loops import load_group, load_model
from saltus.solve.constrain import cold_start, grip, rows_without_contacts
from saltus.solve.soft.choice import solve_constraints
from saltus.solve.soft.hessian import factor_hessian, hessian
from saltus.solve.soft.hessian_pattern import hessian_pattern
from saltus.solve.soft.line_search import line_search
from saltus.solve.soft.newton import begin, decrease_by_rounding, gradient, is_rough, search_direction
from saltus.solve.soft.rank_one_update import rebuild

LOAD, KINEMATICS, FORCES, LIMITS, FRAMES, CONTACTS, CONTACT_ROWS, INERTIA = range(8)
GRADIENT, HESSIAN, FACTOR, DIRECTION, LINE_SEARCH, SOLVED = range(8, 14)
#: Names of the stages that end there; after them comes the rest of a step.
STAGES = (
    *("loading the state", "kinematics", "forces", "limits, equalities"),
    *("poses of geoms", "contacts", "contact rows", "inertia, bias"),
    *("gradient", "Hessian", "factor", "direction", "line search", "further iterations"),
)
FIRST_OF_SOLVER = GRADIENT  # the stage with which the constraint solver begins
COUNTS = 3  # numbers that a group leaves: contacts, rows, iterations


@kernel
def stages(m, d, last):
    """The stages of the forces of a step, up to the last one (a number as above)."""
    if last >= KINEMATICS:
        position_stage(m, d, 0)
    if last >= FORCES:
        grip(m, d)
        force_stage(m, d, 0)
    if has(m, "constraint") and last >= LIMITS:
        rows_without_contacts(m, d)
        contact_stages(m, d, last)
        if d.count[NBLOCK] > 0 and last >= INERTIA:
            joint_inertia(m, d)
            bias_force(m, d, d)
            if not m.opt_warmstart:
                cold_start(m, d)
            if last == SOLVED:
                solve_constraints(m, d)
            elif last > INERTIA:
                first_iteration(m, d, last)


@only_with("contact")
@kernel
def contact_stages(m, d, last):
    """Contacts and their rows, as `saltus.solve.constrain.find_rows` finds them."""
    if not has(m, "adhere", "adhesive"):  # `grip` has found them
        if last >= FRAMES:
            d.count[NLOST] = 0
            collider_frames(m, d)
        if last >= CONTACTS:
            collide(m, d)
    if last >= CONTACT_ROWS:
        contact_rows(m, d)


@kernel
def first_iteration(m, d, last):
    """The first iteration of Newton's method, for other solvers nothing."""
    if has(m, "pgs", "cg") or (has(m, "many_trees") and not has(m, "matrix_in_lanes")):
        return
    # the gradient, and lanes whose own is not small
    hessian_pattern(m, d)
    begin(m, d)
    lost = decrease_by_rounding(m, d)
    size, noise = gradient(m, d)
    live = is_rough(m, d, size, noise)
    if last > GRADIENT and any_lane(live):
        hessian(m, d)
        if last >= FACTOR:
            inexact = factor_hessian(m, d)
            if m.opt_cone != CONE_ELLIPTIC:
                rebuild(m, d, live & inexact)
        if last >= DIRECTION:
            slope = search_direction(m, d)
            if last >= LINE_SEARCH:
                # a field keeps the length, so that the search is not left out as unused
                d.constrained = d.constrained + 0.0 * line_search(m, d, live, slope, lost)


@entry
def to_stage(m, d, m_real, d_real, states, varied, fields, first, end, rows, width, last, counts):
    """The stages up to the last one for the groups of lanes from `first` up to `end`; see `Lanes` for the arrays.

    Writes contacts, rows and iterations of each group into counts [groups, COUNTS], where constraints act.
    """
    for group in range(first, end):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        d.count[NCON] = d.count[NITER] = 0
        stages(m, d, last)
        acting = has(m, "constraint") and d.count[NBLOCK] > 0
        counts[group, 0] = d.count[NCON]
        counts[group, 1] = d.count[NROW] if acting else 0
        counts[group, 2] = d.count[NITER] if acting else 0
