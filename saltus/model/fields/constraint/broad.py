"""Worlds with too many pairs of geoms to list: filters of pairs, and pairs found near each other.

All sizes are 0 where pairs are listed.
"""

from saltus.number.structs import ints, reals

MODEL = {  # fixed
    # capacity for found pairs, and for the lists of degrees of freedom that move their contacts; named pairs,
    # planes, other geoms, levels and buckets of the grid: their numbers
    **ints("nfound", "nfounddof", "nnamed", "nbroadplane", "ngrid", "ngridlevel", "ngridbucket"),
    **ints("nbroadgeom", "nbroadbody", "nbroaddof"),  # ngeom, nbody, nv
    # geoms: masks, number of their set of contact parameters, whether the surface moves; margin + gap and a little more
    # (m); bounding box in the geom's frame, centre and half sizes (m)
    **ints("broad_contype", "broad_conaffinity", "broad_surface", "broad_moves", shape=("nbroadgeom",)),
    **reals("broad_reach", shape=("nbroadgeom",)),
    **reals("broad_box", shape=("nbroadgeom", 6)),
    # law of two sets of contact parameters, the first geom's times their number plus the second's
    **ints("nsurface"),
    **ints("broad_law", shape=("nsurfacepair",)),
    # bodies: parent of those welded together (-1 if the two may touch), first geom, last degree of freedom that moves
    # them (-1 for none), inverse inertia (1/kg); bodies of higher number that are excluded with each
    **ints("broad_parent", "broad_firstgeom", "broad_lastdof", shape=("nbroadbody",)),
    **reals("broad_invweight", shape=("nbroadbody",)),
    **ints("exclude_adr", "exclude_num", shape=("nbroadbody",)),
    **ints("exclude_body", shape=("nexclude",)),
    # degrees of freedom: the last one before each that M couples it with
    **ints("broad_dofparent", shape=("nbroaddof",)),
    # pairs that the file names: keys (see `saltus.contact.broad.pair_key`), ascending, and laws
    **ints("named_key", "named_law", shape=("nnamed",)),
    **ints("kind_foreign", shape=("nkind",)),  # for kinds of pairs: MuJoCo's functions collide them
    # most geoms of a body; number of digits of pairs' keys
    **ints("broad_bodygeoms", "broad_digits"),
    # geoms without bounds; the others, with the grid level of their cell, and the cell width of each level (m)
    **ints("broad_plane", shape=("nbroadplane",)),
    **ints("grid_geom", "grid_level", shape=("ngrid",)),
    **reals("grid_width", shape=("ngridlevel",)),
}

POSITION = {  # depends on positions
    # found pairs in the order of the list: key, geoms (the lower type first), kind, law
    **ints("found_count", shape=(1,)),  # number before sorting
    **ints("found_key", "found_geom1", "found_geom2", "found_kind", "found_law", shape=("nfound",)),
    # degrees of freedom that move their contacts, as lists; side that they move (1 the second, -1 the first)
    **ints("found_dof", "found_sign", shape=("nfounddof",)),
    # the grid: half extents of geoms along the world's axes (m); cells, first in each bucket and next of each
    **reals("broad_extent", shape=("nbroadgeom", 3)),
    **ints("grid_cell", shape=("ngrid", 3)),
    **ints("grid_next", shape=("ngrid",)),
    **ints("grid_first", shape=("ngridbucket",)),
    # sorting: keys, and frequency of each digit
    **ints("sorted_key", shape=("nfound",)),
    **ints("digit_count", shape=("ndigit",)),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "dynamics"),
    "POSITION": ("contact",),
}
WRITTEN_BY = {
    "POSITION": ("contact",),
}
