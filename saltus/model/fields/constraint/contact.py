"""Pairs that may touch, their laws, and contacts."""

from saltus.number.structs import ints, lane_reals, reals

MODEL = {  # fixed
    # sizes of constraints: geoms that collide, pairs of them, laws, chains, limits, dry friction, equalities
    **ints("ncollider", "ncollision", "nlaw", "nchain", "nchaindof", "nlimit", "nfriction", "neq"),
    # capacities of a Data for contacts, blocks of rows, rows, entries of the Jacobian
    **ints("nconmax", "nblockmax", "nrowmax", "nJmax"),
    **ints("ntouch", "nv_touch"),  # capacity for forces of a user-defined contact law
    # soft laws: stiffness K (1/s²) and damping B (1/s) of the reference acceleration, tangential damping (1/s),
    # impedance curve (at no violation, at full width, width in m or rad, midpoint, power)
    **reals("law_stiffness", "law_damping", "law_damping_tangent", shape=("nlaw",)),
    **reals("law_impedance", shape=("nlaw", 5)),
    # contact laws: dimension (condim), margin (m), margin + gap (m), friction, and the friction of the regularised
    # cone
    **ints("law_dim", shape=("nlaw",)),
    **ints("law_direct", shape=("nlaw",)),  # solref holds stiffness and damping, not time constant and ratio
    **reals("law_margin", "law_reach", "law_mu", shape=("nlaw",)),
    **reals("law_friction", shape=("nlaw", 5)),
    # for the hard law: restitution, normal and tangential; static friction, 0 without one
    **reals("law_restitution", "law_tangential", "law_static", shape=("nlaw",)),
    # adhesive contacts: force (N), whether it attracts (no flag disables it), capacity for contacts in the gap
    **reals("law_adhesion", shape=("nlaw",)),
    **ints("opt_adhesion", "ntether"),
    # collision pairs, lower geom type first; the geom of a deformable body is -1, as are the flexes of pairs of
    # geoms
    **ints("collider", shape=("ncollider",)),  # geoms in any pair
    **ints(
        *["collision_geom1", "collision_geom2", "collision_kind", "collision_law", "collision_chain"],
        shape=("ncollision",),
    ),
    **ints("collision_moves", shape=("ncollision",)),  # a geom has a surface velocity
    **ints("collision_foreign", shape=("ncollision",)),  # detected by MuJoCo's functions
    # centre and half sizes (m) of a bounding box of each geom, in its axes, for the first test of contact searches
    **reals("geom_aabb", shape=("ngeom_foreign", 6)),
    # convex hulls of meshes: hull of each geom, or its height field, or -1; vertices (m), blocks of their neighbours
    # with x, y, z (m) of all, and start vertices of hill climbing (see `saltus.model.contact.hulls`)
    **ints("geom_hull", shape=("ngeom_hull",)),
    **ints("hull_vertadr", shape=("nhulladr",)),
    **reals("hull_vert", shape=("nhullvert", 3)),
    **ints("hull_edgeadr", shape=("nhullvertadr",)),
    **ints("hull_edge", shape=("nhulledge", 8)),
    **reals("hull_star", shape=("nhulledge", 24)),
    **ints("hull_seed", shape=("nhullseed",)),
    # faces of hulls, as polygons: those at each vertex, normals, corners counterclockwise as seen from outside,
    # first face of each hull
    **ints("hull_faceadr", shape=("nhullvertadr",)),
    **ints("hull_face", shape=("nhullface",)),
    **reals("hull_normal", shape=("nhullnormal", 3)),
    **ints("hull_corneradr", shape=("nhullcorneradr",)),
    **ints("hull_corner", shape=("nhullcorner",)),
    **ints("hull_polyadr", shape=("nhulladr",)),
    # height fields: half widths, height and depth of the base (m), rows and columns, heights from 0 to 1
    **reals("hfield_size", shape=("nfield", 4)),
    **ints("hfield_nrow", "hfield_ncol", "hfield_adr", shape=("nfield",)),
    **reals("hfield_data", shape=("nfielddata",)),
    **ints("opt_multiccd"),  # whether convex shapes may have several contacts
    # seams, under hard contact: for the first and the second geom of each pair four numbers: first place in the list of
    # neighbours and their number, first half-space and number of half-spaces; width of ignored gaps (m); for each piece
    # in the list its half-spaces, n and o of n x ≤ o (m) in the geom's axes
    **ints("seam_pair", shape=("nseampair", 8)),
    **reals("seam_tolerance", shape=("nseampair", 2)),
    **ints("seam_list", shape=("nseamlist",)),
    **ints("seam_planeadr", "seam_planenum", shape=("nseam",)),
    **reals("seam_plane", shape=("nseamplane", 4)),
    # chains, the degrees of freedom of the relative motion of two bodies; sign 1 if they move the second, -1 the
    # first; chain_fill: they are not all on one path to the root, and couple entries that are zero in M
    **ints("chain_adr", "chain_num", "chain_body1", "chain_body2", "chain_fill", shape=("nchain",)),
    **ints("chain_dof", shape=("nchaindof",)),
    **reals("chain_sign", shape=("nchaindof",)),
    **reals("chain_translation", "chain_rotation", shape=("nchain",)),  # inverse inertias: 1/kg, 1/(kg m²)
}

POSITION = {  # depends on positions
    # contacts: distance (m), position (m) and frame (normal from the first geom to the second, two tangents) in
    # world axes; contact_block: block of rows, -1 for none; contact_matched: with located
    # events, whether it has a slot
    **ints("count", shape=(17,)),  # see `saltus.contact.counts`
    **ints("contact_collision", "contact_block", "contact_matched", shape=("nconmax",)),
    **reals("contact_dist", shape=("nconmax",)),
    **reals("contact_pos", shape=("nconmax", 3)),
    **reals("contact_frame", shape=("nconmax", 9)),
    **reals("seam_push", shape=("nseampush",)),  # multipliers of the half-spaces of a neighbour at a point
    # adhesive contacts: block of the row of a contact in the gap, -1 for none; the attraction's generalised forces
    **ints("contact_tether", shape=("ntether",)),
    **reals("qfrc_adhesion", shape=("nv",)),
    # user-defined contact law: force on the second geom in the contact frame (N); generalised forces
    **reals("contact_touch", shape=("ntouch", 3)),
    **reals("qfrc_compliant", shape=("nv_touch",)),
    # collision by MuJoCo: addresses, and number of contacts of each lane (see `saltus.contact.mujoco.collision`)
    **ints("foreign_functions", "foreign_model", "foreign_data"),
    **ints("foreign_geom_xpos", "foreign_geom_xmat", "foreign_geom_xquat", "foreign_contacts"),
    **ints("foreign_count", shape=(16,)),
    # for examined pairs of convex shapes: lower bound of their distance (m), and their relative pose then (see
    # `saltus.contact.convex.last_gap`); also for lanes: a separating direction with its support points; the lowest
    # vertex of a hull on a plane, with its face, and the other corners in contact
    **ints("last_pair", shape=("nlastpair",)),
    **reals("last_gap", shape=("nlastpair",)),
    **reals("last_pose", shape=("nlastpair", 18)),
    **ints("last_corners", shape=("nlastaxis", 4)),
    **lane_reals("last_axis", shape=("nlastaxis", 3)),
    **ints("last_vertex", shape=("nlastaxis", 2)),
    **ints("foreign_sense", shape=(8,)),  # addresses for rays and distances (see `saltus.contact.mujoco.rays`)
}

#: Fields of MODEL that may differ from simulation to simulation of a batch.
VARIES = (
    *(
        "law_stiffness",
        "law_damping",
        "law_damping_tangent",
        "law_impedance",
        "law_margin",
        "law_reach",
        "law_mu",
    ),
    *(
        "law_friction",
        "law_static",
        "chain_translation",
        "chain_rotation",
    ),
)

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "dynamics", "integrate", "sense", "solve"),
    "POSITION": ("contact", "dynamics", "integrate", "sense", "solve"),
}
WRITTEN_BY = {
    "POSITION": ("contact", "integrate", "solve"),
}
