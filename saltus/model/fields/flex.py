"""Fields of deformable bodies in Model and Data."""

from saltus.number.structs import ints, reals

MODEL = {
    # vertices with their bodies and places on them (m); edges with their lengths at rest (m), springs (N/m), dampers
    # (N s/m), time constants of damping (s); edges and stiffness (J/m⁴) of elements; corners of pairs of triangles,
    # their stiffness (N/m), factor of their volume (N/m²) and time constant (s)
    **ints("nflexvert", "nflexedge", "ntriangle", "ntetrahedron", "nbend", "flex_spring"),
    **ints("flexvert_bodyid", shape=("nflexvert",)),
    **reals("flexvert_pos", shape=("nflexvert", 3)),
    **ints("flexedge_vert", shape=("nflexedge", 2)),
    **reals(*["flexedge_length0", "flexedge_stiffness", "flexedge_damping", "flexedge_rayleigh"], shape=("nflexedge",)),
    **ints("triangle_edge", shape=("ntriangle", 3)),
    **reals("triangle_stiffness", shape=("ntriangle", 6)),
    **ints("tetrahedron_edge", shape=("ntetrahedron", 6)),
    **reals("tetrahedron_stiffness", shape=("ntetrahedron", 21)),
    **ints("bend_vert", shape=("nbend", 4)),
    **reals("bend_stiffness", shape=("nbend", 10)),
    **reals("bend_volume", "bend_rayleigh", shape=("nbend",)),
    # pairs of segments of rods: their vertices, stiffness (J), curvature at rest, time constants (s), segment that is
    # shared with another pair (1 or 2, 0 for none); dihedrals between such pairs: vertices, stiffness times cosine and
    # sine of the angle at rest (J), curvatures at rest, time constants (s)
    **ints("nrod", "ndihedral"),
    **ints("rod_vert", shape=("nrod", 3)),
    **ints("rod_shared", shape=("nrod",)),
    **reals("rod_stiffness", "rod_curvature", "rod_rayleigh", shape=("nrod",)),
    **ints("dihedral_vert", shape=("ndihedral", 4)),
    **reals("dihedral_stiffness", "dihedral_curvature", shape=("ndihedral", 2)),
    **reals("dihedral_rayleigh", shape=("ndihedral",)),
    # rods whose segments twist. Segments: vertices; address in qpos and degree of freedom of the joint that twists
    # them, body to which both ends are clamped, -1 for none; whether they begin a rod; address of their frame in
    # `plastic`; tangent and reference direction at qpos0, in body axes if clamped. Vertices between two segments: the
    # later one, address of the reference twist in `plastic`, stiffness of bending about both material axes and of
    # torsion (J), the same of dampers (J s), components of the curvature at rest in both segments
    **ints("nrodedge", "nrodtwist", "nplastic"),
    **ints("rodedge_vert", shape=("nrodedge", 2)),
    **ints(
        *["rodedge_qposadr", "rodedge_dofadr", "rodedge_bodyid", "rodedge_first", "rodedge_plastic"],
        shape=("nrodedge",),
    ),
    **reals("rodedge_tangent0", "rodedge_normal0", shape=("nrodedge", 3)),
    **ints("rodtwist_edge", "rodtwist_plastic", shape=("nrodtwist",)),
    **reals("rodtwist_stiffness", "rodtwist_damping", shape=("nrodtwist", 3)),
    **reals("rodtwist_rest", shape=("nrodtwist", 4)),
    # segments that twist, to which contacts of vertices and of elements belong, -1 for none
    **ints("nflexvert_rod", "nflexelem_rod"),
    **ints("flexvert_rodedge", shape=("nflexvert_rod",)),
    **ints("flexelem_rodedge", shape=("nflexelem_rod",)),
    # bands of rods: position of each degree of freedom, -1 for none; of positions: degree of freedom, and the first
    # position of the rod
    **ints("nband", "nv_band"),
    **ints("dof_band", shape=("nv_band",)),
    **ints("band_dof", "band_first", "band_low", shape=("nband",)),
    **ints("flex_banded"),  # 1: all that is deformable are rods in bands
    # interpolated bodies (see `saltus.model.flex.cells`), whose nodes are vertices after all others. Order of cells, 0
    # without interpolation; first node; nodes along each axis. Vertices: addresses of their nodes and weights, place
    # with cells of length 1; elements: first and last nodes that move them. Cells: nodes, with places at rest (m) and
    # slopes of the deformation (1/m), blocks of the stiffness between a node and itself or a later one (N/m), time
    # constants (s)
    **ints("nflexvert_cell", "nflexelem_cell", "nnodeweight", "ncell", "ncellvert", "ncellblock", "ncellwork"),
    **ints("flex_order", "flex_nodeadr", shape=("nflex",)),
    **ints("flex_nodes", shape=("nflex", 3)),
    **ints("flexvert_nodeadr", "flexvert_nodenum", shape=("nflexvert_cell",)),
    **reals("flexvert_grid", shape=("nflexvert_cell", 3)),
    **ints("node_vert", shape=("nnodeweight",)),
    **reals("node_weight", shape=("nnodeweight",)),
    **ints("flexelem_nodes", shape=("nflexelem_cell", 6)),
    **ints("cell_vertadr", "cell_vertnum", "cell_blockadr", shape=("ncell",)),
    **reals("cell_rayleigh", shape=("ncell",)),
    **ints("cell_vert", shape=("ncellvert",)),
    **reals("cell_rest", "cell_gradient", shape=("ncellvert", 3)),
    **reals("cell_stiffness", shape=("ncellblock", 9)),
    # edges of fixed length: equality, edge, chain, inverse inertia (1/kg)
    **ints("nedgerow"),
    **ints("edgerow_eq", "edgerow_edge", "edgerow_chain", shape=("nedgerow",)),
    **reals("edgerow_invweight", shape=("nedgerow",)),
    # if all of these edges join particles: the first degree of freedom of both, the lower first, -1 for fixed ends;
    # addresses of the entries of their Jacobian
    **ints("edgerows_alike"),
    **ints("edgerow_dof", shape=("nedgerow", 2)),
    **ints("edgerow_J", shape=("nedgerow",)),
    # contacts: vertices and elements of each flex; flexelem_vert: corners among all vertices, -1 for none;
    # flexelem_body: their bodies, -1 if interpolated; flexelem_active: near enough to the surface; radius around
    # vertices, edges and faces (m)
    **ints("nflex", "nflexelem", "nflexrun", "nselfbucket"),
    **ints("flex_dim", "flex_vertadr", "flex_vertnum", "flex_elemadr", "flex_elemnum", shape=("nflex",)),
    **reals("flex_radius", "flex_skin", shape=("nflex",)),  # skin: see `saltus.contact.flex.self_collision`
    **ints("flexelem_vert", "flexelem_body", shape=("nflexelem", 4)),
    **ints("flexelem_active", shape=("nflexelem",)),
    # pairs that may touch: their flexes, -1 for geoms
    **ints("collision_flex1", "collision_flex2", shape=("ncollision",)),
    # capacities: contacts of deformable bodies, degrees of freedom that move all of them, and one; contacts to reduce
    **ints("nflexcon", "nflexdof", "nside", "nside_rod", "nflexfew"),
}

STATE = {  # state: kept from step to step
    # frames and reference twists of rods at the start of the last step (see `saltus.dynamics.flex.twist_frames`)
    **reals("plastic", shape=("nplastic",)),
}

DATA = {
    # positions (m), velocities (m/s) and forces (N) of vertices in world axes; edges: difference of their ends (m),
    # length (m), its rate (m/s), growth of its square (m²), damping's share in that (m²), tension over length (N/m) of
    # springs and of dampers
    **reals("flexvert_xpos", "flexvert_xvel", "flexvert_spring", "flexvert_damper", shape=("nflexvert", 3)),
    **reals("flexedge_span", shape=("nflexedge", 3)),
    **reals(
        *["flexedge_length", "flexedge_velocity", "flexedge_growth", "flexedge_rate", "flexedge_pull"],
        *["flexedge_drag"],
        shape=("nflexedge",),
    ),
    # segments of rods that twist: tangent, reference direction and both material axes, rate of their turn (rad/s),
    # torques about them of springs and dampers (N m); reference twists of vertices (rad)
    **reals("rodedge_tangent", "rodedge_normal", "rodedge_axis1", "rodedge_axis2", shape=("nrodedge", 3)),
    **reals("rodedge_spin", "rodedge_torque", "rodedge_drag", shape=("nrodedge",)),
    **reals("rodtwist_angle", shape=("nrodtwist",)),
    **reals("plastic_next", shape=("nplastic",)),  # `plastic` after the step
    # tangents: tension of elements for the change of an edge's square, tension that holds its
    # direction (N/m), stiffness along it over the square of the length (N/m³); blocks of vertices (upper triangles)
    **reals("flexedge_gain", "flexedge_hold", "flexedge_axial", shape=("nflexedge_pcg",)),
    **reals("flexvert_block", shape=("nflexvert_pcg", 6)),
    # cells of nodes: rotation; displacements (m) and loads (N) of the current cell's nodes, in its axes
    **reals("cell_rotation", shape=("ncell", 9)),
    **reals("cell_shift", "cell_load", shape=("ncellwork", 3)),
    # contacts: touching elements (of the first and the second object) or vertex, -1 for none; degrees of freedom that
    # move each, as lists
    **ints("contact_elem", shape=("nflexcon", 2)),
    **ints("contact_vert", shape=("nflexcon",)),
    **ints("flex_dof", shape=("nflexdof",)),
    # current contact: bodies that move with it, their side (1 the second, -1 the first), weights
    **ints("side_body", "side_sign", shape=("nside",)),
    **reals("side_weight", shape=("nside",)),
    # their segments that twist, -1 for none, ends of these (0 or 1), and lever arms of the contact about them (m)
    **ints("side_rodedge", "side_rodend", shape=("nside_rod",)),
    **reals("side_arm", shape=("nside_rod", 3)),
    # contact reduction: whether each contact is kept, and its squared distance from those that are (m²)
    **reals("contact_kept", "contact_apart", shape=("nflexfew",)),
    # boxes (m): around all vertices, around runs of elements; flex_boxed: the latter are computed
    **ints("flex_boxed", shape=("nflex",)),
    **reals("flex_lower", "flex_upper", shape=("nflex", 3)),
    **reals("flexrun_lower", "flexrun_upper", shape=("nflexrun", 3)),
    # contacts that MuJoCo finds: address of the function that calls it; for each lane their number, -1 if not known,
    # and the next one; pair, elements and vertex as one number, and their data (see
    # `saltus.contact.mujoco.flex_collision`)
    **ints("flexforeign_call"),
    **ints("flexforeign_count", "flexforeign_place", shape=(16,)),
    **ints("flexforeign_pair", "flexforeign_key", shape=("nflexforeign", 16)),
    **reals("flexforeign_number", shape=("nflexforeign", 13)),
    # self-collision: pairs of elements near each other, whether they are listed, and the vertex positions of that list;
    # lower and upper ends of elements (m), their cells in a grid (`saltus.contact.flex.self_collision`)
    **ints("flexnear_made", "flexnear_num", shape=("nselfflex",)),
    **ints("flexnear_elem", shape=("nselfnear", 2)),
    **reals("flexvert_near", shape=("nselfvert", 3)),
    **reals("flexelem_box", shape=("nselfelem", 6)),
    **ints("flexelem_cell", "flexgrid_elem", shape=("nselfelem",)),
    **ints("flexgrid_start", shape=("nselfstart",)),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "STATE": ("dynamics",),
    "MODEL": ("contact", "dynamics", "integrate", "solve"),
    "DATA": ("contact", "dynamics", "integrate", "solve"),
}
WRITTEN_BY = {
    "STATE": ("dynamics",),
    "DATA": ("contact", "dynamics"),
}
