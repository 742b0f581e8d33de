"""The fields of a dense complementarity problem in contact space, and the kinds of its blocks.

    u = W r + q

Each block of rows has a law between its forces (or impulses) r and its velocities (or accelerations) u:

    BILATERAL   u = 0
    UNILATERAL  one row:    0 ≤ u ⟂ r ≥ 0
    COULOMB     three rows: 0 ≤ u_N ⟂ r_N ≥ 0,  |r_T| ≤ μ r_N,  and where u_T ≠ 0: r_T = -μ r_N u_T / |u_T|
    BOUNDED     one row:    |r| ≤ μ,  and where u ≠ 0: r = -μ u / |u|
    PRESSED     one or two: |r| ≤ μ r_N,  and where u ≠ 0: r = -μ r_N u / |u|

The rows of a COULOMB block are the normal and two orthogonal tangents. r_N of a PRESSED block, torsional or rolling
friction, is the first force of its contact, a UNILATERAL or COULOMB block `hard_parent` places before. W [N, N] is
stored flat, W[i, j] at i N + j.
"""

from saltus.number.structs import Field, Layout, ints, lane_reals, reals

BILATERAL, UNILATERAL, COULOMB, BOUNDED, PRESSED = range(5)

_BLOCK, _ROW, _SQUARE, _ONE = ("nhardblock",), ("nhardrow",), ("nhardsquare",), ("nhardone",)


def _all(kind, shape, *names):
    return {f"hard_{name}": Field(kind, shape) for name in names}


FIELDS = {
    # the problem: numbers of blocks and of rows N; each block's kind, first row, number of rows, distance from the
    # contact of a PRESSED block, μ, and restitution, normal and tangential
    **_all("int", ("nhardcount",), "count"),
    **_all("int", _BLOCK, "kind", "row", "dim", "parent"),
    **_all("real", _BLOCK, "mu", "restitution", "tangential"),
    **_all("real", _SQUARE, "W"),
    **_all("real", _ROW, "q"),
    # solution: force (N, N m) or impulse, acceleration or velocity
    **_all("real", _ROW, "r", "u"),
    **_all("int", _ONE, "iterations"),
    # work, in scaled quantities A z + b = y (see `saltus.solve.cone.problem`)
    **_all("real", _SQUARE, "A", "J"),
    **_all("real", _ROW, "scale", "b", "z", "y", "F", "step", "ystep", "best", "kept", "anchor"),
    **_all("real", _BLOCK, "bound"),
    **_all("real", ("nhardblock", 2), "rho"),
    **_all("real", _ONE, "proximal"),
    # work of `saltus.solve.cone.minimum_norm`
    **_all("real", _SQUARE, "factor"),
    **_all("real", _ROW, "rhs", "column", "tau"),
    **_all("int", _ROW, "order", "island", "member"),
    # and of `saltus.solve.cone.minimum_norm_forces`
    **_all("int", _BLOCK, "case"),
    **_all("real", _SQUARE, "basis"),
    **_all("int", _ROW, "active"),
    **_all("real", _ROW, "target", "lambda"),
    **_all("real", ("nhardrow", 3), "slope"),
    # the whole problem while its islands are solved one by one (see `saltus.solve.cone.islands`), and the islands of
    # its blocks
    **_all("int", _BLOCK, "whole_kind", "whole_row", "whole_dim", "whole_parent", "whole_island"),
    **_all("real", _BLOCK, "whole_mu", "whole_bound"),
    **_all("real", _SQUARE, "whole_A"),
    **_all("real", _ROW, "whole_b", "whole_scale", "whole_z"),
}

SCRATCH = {  # scratch of the solvers
    **ints("hard_block", "hard_place", shape=("nhardrow",)),  # rows of a cone problem: block, index among all rows
    # current cone, in one lane: old forces, residuals; its block of the matrix; the block of friction, its factor,
    # right-hand side, solution
    **lane_reals("cone_old", "cone_gap", "cone_b", "cone_v", "cone_w", shape=("ncone_work",)),
    **lane_reals("cone_block", "cone_A", "cone_L", shape=("ncone_work", 6)),
    # block of friction, factor, right-hand side, solution for all lanes together
    **reals("slip_old", "slip_gap", "slip_b", "slip_v", "slip_w", shape=("ncone_work",)),
    **reals("slip_A", "slip_L", shape=("ncone_work", 6)),
}

PROBLEM = Layout("ConeProblem", FIELDS)


def cone_sizes(blocks, rows):
    """The sizes of `FIELDS` for up to `blocks` blocks with `rows` rows; 0 without blocks."""
    some = 1 if blocks else 0
    sizes = {"nhardcount": 2 * some, "nhardone": some}
    return sizes | {"nhardblock": blocks, "nhardrow": rows, "nhardsquare": rows * rows}


#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "FIELDS": ("integrate", "solve"),
    "SCRATCH": ("solve",),
}
WRITTEN_BY = {
    "FIELDS": ("integrate", "solve"),
    "SCRATCH": ("solve",),
}
