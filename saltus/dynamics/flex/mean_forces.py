"""Energy-consistent mean forces of deformable bodies over a step: their work is exactly the loss of elastic energy.

A vertex moves from x - h/2 v to x + h/2 v, with x and v the position and velocity at the midpoint of the step. For an
energy that is quadratic in the squares of edge lengths, the mean tension times the difference g of the edge's ends at
the midpoint does work equal to the loss (Simo & Tarnow, The discrete energy-momentum method (1992)). The mean of g · g
is its midpoint value plus h²/4 |dg/dt|²; g · g grows by 2 h g · dg/dt. Springs along edges use the mean length, and the
change of the length over h as its rate; bending is quadratic in positions, so that its midpoint force is the mean,
except for the volume term of curved sheets, which is cubic. Rods have means of their own. Forces of cells of nodes are
not the gradient of an energy (see `saltus.dynamics.flex.cells`): they are evaluated at the midpoint, as in the midpoint
rule.
"""

from saltus.dynamics.flex.cells import add_cells
from saltus.dynamics.flex.elements import add_bending, add_tetrahedra, add_triangles, add_volume_force
from saltus.dynamics.flex.forces import flex_velocities, pull_back, vertex_forces
from saltus.dynamics.flex.mean_dihedrals import add_mean_dihedrals
from saltus.dynamics.flex.rods import add_mean_rods
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add_scaled3, dot3, sub3


@only_with("flex")
@kernel
def add_mean_flex_forces(m, d, h):
    """Add the generalised forces of deformable bodies, as means over h seconds, to qfrc_spring and qfrc_damper [nv].

    In N and N m; the present state is that at the step's midpoint. Damping never returns energy over a step: a change
    of length works against the force that it causes.
    """
    flex_velocities(m, d)
    mean_edges(m, d, h)
    add_triangles(m, d)
    add_tetrahedra(m, d)
    vertex_forces(m, d)
    add_bending(m, d)
    for k in range(m.nbend):
        if m.bend_volume[k] != 0.0:
            # the mean of a quadratic form along the step, less its value in the middle
            add_volume_force(m, d, k, d.flexvert_xvel, -m.flex_spring * m.bend_volume[k] * (h * h / 12.0))
    add_mean_rods(m, d, h)
    add_mean_dihedrals(m, d, h)
    add_cells(m, d)
    pull_back(m, d)


@kernel
def mean_edges(m, d, h):
    """Fields of `saltus.dynamics.flex.forces.edges`, as means over h seconds."""
    for k in range(m.nflexedge):
        i, j = m.flexedge_vert[k, 0], m.flexedge_vert[k, 1]
        g = sub3(d.flexvert_xpos[j], d.flexvert_xpos[i])
        w = sub3(d.flexvert_xvel[j], d.flexvert_xvel[i])
        # lengths at both ends of the step
        before, after = add_scaled3(g, -0.5 * h, w), add_scaled3(g, 0.5 * h, w)
        first, last = sqrt(dot3(before, before)), sqrt(dot3(after, after))
        length0, length = m.flexedge_length0[k], 0.5 * (first + last)
        turning = dot3(g, w)
        d.flexedge_span[k] = g
        d.flexedge_length[k] = length
        d.flexedge_velocity[k] = turning / length
        # mean growth, and mean tensions
        d.flexedge_growth[k] = m.flex_spring * (dot3(g, g) + 0.25 * h * h * dot3(w, w) - length0 * length0)
        d.flexedge_rate[k] = m.flexedge_rayleigh[k] * 2.0 * turning
        d.flexedge_pull[k] = m.flexedge_stiffness[k] * (length - length0) / length
        d.flexedge_drag[k] = m.flexedge_damping[k] * turning / (length * length)
