"""Fields of the dense contact problem."""

from saltus.number.structs import Field

BILATERAL, UNILATERAL, COULOMB, BOUNDED = range(4)

FIELDS = {
    "hard_count": Field("int", ("nhardcount",)),
    "hard_kind": Field("int", ("nhardblock",)),
    "hard_row": Field("int", ("nhardblock",)),
    "hard_dim": Field("int", ("nhardblock",)),
    "hard_mu": Field("real", ("nhardblock",)),
    "hard_restitution": Field("real", ("nhardblock",)),
    "hard_W": Field("real", ("nhardsquare",)),
    "hard_q": Field("real", ("nhardrow",)),
    "hard_r": Field("real", ("nhardrow",)),
    "hard_u": Field("real", ("nhardrow",)),
}


def cone_sizes(blocks, rows):
    return {"nhardcount": 2 if blocks else 0, "nhardblock": blocks, "nhardrow": rows, "nhardsquare": rows * rows}
