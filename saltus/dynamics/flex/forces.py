"""Forces of deformable bodies: resistance to the change of edge lengths, and bending.

With g the difference of an edge's ends, e = g·g - L₀² and an element's stiffness S of its edges, the energy ¼ eᵀ S e
gives each edge the tension T = S e per length: T g on its first end, -T g on the other. Bending of two triangles with
corners x has the energy ½ xᵀ B x and, where a sheet is curved at rest, b times the volume of the corners. Damping is
Rayleigh's, c times the stiffness; for elements c (2 L w - h w²) takes the place of e, with w the rate of the length L
and h the step, as in MuJoCo 4.0 (documentation, Computation, "Deformable objects").
"""

from saltus.dynamics.flex.cells import add_cells, interpolate
from saltus.dynamics.flex.dihedrals import add_dihedrals
from saltus.dynamics.flex.elements import add_bending, add_tetrahedra, add_triangles
from saltus.dynamics.flex.rods import add_rods
from saltus.dynamics.flex.twist import add_twist, pull_back_twist, twist_spins
from saltus.dynamics.flex.twist_frames import twist_frames
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import dot6, velocity_at
from saltus.spatial.vectors import add3, cross, dot3, matrix_times_vector, scale3, sub3


@only_with("flex")
@kernel
def add_flex_forces(m, d):
    """Add the generalised forces of all deformable bodies to qfrc_spring and qfrc_damper [nv] (N, N m)."""
    flex_velocities(m, d)
    edges(m, d)
    add_triangles(m, d)
    add_tetrahedra(m, d)
    vertex_forces(m, d)
    add_bending(m, d)
    add_rods(m, d)
    add_dihedrals(m, d)
    add_twist(m, d)
    add_cells(m, d)
    pull_back(m, d)
    pull_back_twist(m, d)


@only_with("flex")
@kernel
def flex_positions(m, d):
    """Vertex positions flexvert_xpos [nflexvert, 3] (m), from the poses of all bodies."""
    for v in range(m.nflexvert):
        if on_body(m, v):
            b = m.flexvert_bodyid[v]
            d.flexvert_xpos[v] = add3(d.xpos[b], matrix_times_vector(d.xmat[b], m.flexvert_pos[v]))
    interpolate(m, d)
    twist_frames(m, d)


@only_with("flexcell", otherwise="True")
@kernel(inline=True)
def on_body(m, v):
    """Whether vertex v is fixed to a body; else it is interpolated between nodes."""
    return m.flexvert_bodyid[v] >= 0


@kernel
def flex_velocities(m, d):
    """flexvert_xvel [nflexvert, 3] (m/s), except of interpolated vertices; reads cvel of all bodies."""
    for v in range(m.nflexvert):
        if on_body(m, v):
            b = m.flexvert_bodyid[v]
            arm = sub3(d.flexvert_xpos[v], d.subtree_com[m.body_rootid[b]])
            d.flexvert_xvel[v] = velocity_at(d.cvel[b], arm)
    twist_spins(m, d)


@kernel
def edges(m, d):
    """Lengths of edges and their rates, growths, and the tensions of springs and dampers along edges."""
    for k in range(m.nflexedge):
        i, j = m.flexedge_vert[k, 0], m.flexedge_vert[k, 1]
        # length and its rate
        g = sub3(d.flexvert_xpos[j], d.flexvert_xpos[i])
        length0, c = m.flexedge_length0[k], m.flexedge_rayleigh[k]
        square = dot3(g, g)
        length = sqrt(square)
        w = dot3(g, sub3(d.flexvert_xvel[j], d.flexvert_xvel[i])) / length
        d.flexedge_span[k] = g
        d.flexedge_length[k] = length
        d.flexedge_velocity[k] = w
        # growth g·g - L₀² and its damping part, for elements
        d.flexedge_growth[k] = m.flex_spring * (square - length0 * length0)
        d.flexedge_rate[k] = c * w * (2.0 * length - d.timestep * w)
        # spring and damper along the edge
        d.flexedge_pull[k] = m.flexedge_stiffness[k] * (length - length0) / length
        d.flexedge_drag[k] = m.flexedge_damping[k] * w / length


@kernel
def vertex_forces(m, d):
    """flexvert_spring and flexvert_damper [nflexvert, 3] (N) from the edge tensions."""
    zero = 0.0 * d.time
    for v in range(m.nflexvert):
        d.flexvert_spring[v] = (zero, zero, zero)
        d.flexvert_damper[v] = (zero, zero, zero)
    for k in range(m.nflexedge):
        i, j, g = m.flexedge_vert[k, 0], m.flexedge_vert[k, 1], d.flexedge_span[k]
        pull, drag = scale3(d.flexedge_pull[k], g), scale3(d.flexedge_drag[k], g)
        d.flexvert_spring[i] = add3(d.flexvert_spring[i], pull)
        d.flexvert_spring[j] = sub3(d.flexvert_spring[j], pull)
        d.flexvert_damper[i] = add3(d.flexvert_damper[i], drag)
        d.flexvert_damper[j] = sub3(d.flexvert_damper[j], drag)


@kernel
def pull_back(m, d):
    """Add the generalised forces Jᵀ f of all vertices to qfrc_spring and qfrc_damper [nv]."""
    for v in range(m.nflexvert):
        if on_body(m, v):
            pull_back_vertex(m, d, v)


@kernel
def pull_back_vertex(m, d, v):
    """Add the generalised forces Jᵀ f of vertex v to those of the joints that move it."""
    b = m.flexvert_bodyid[v]
    arm = sub3(d.flexvert_xpos[v], d.subtree_com[m.body_rootid[b]])
    f, g = d.flexvert_spring[v], d.flexvert_damper[v]
    s, t = cross(arm, f), cross(arm, g)
    i = m.body_lastdof[b]
    while i >= 0:
        axis = d.cdof[i]
        d.qfrc_spring[i] = d.qfrc_spring[i] + dot6(axis, (s[0], s[1], s[2], f[0], f[1], f[2]))
        d.qfrc_damper[i] = d.qfrc_damper[i] + dot6(axis, (t[0], t[1], t[2], g[0], g[1], g[2]))
        i = m.dof_parentid[i]
