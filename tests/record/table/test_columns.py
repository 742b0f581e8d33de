"""Every column has a shape, a type and dimensions that fit each other."""

from saltus.record.table.columns import DIMENSIONS, row_shapes, tables


def test_shapes_dimensions_and_tables_are_of_the_same_columns():
    """All sizes differ, so that no two columns could be taken for one another."""
    shapes = row_shapes(nq=11, nv=12, na=13, nu=14, ncontact=15, nmocap=16, npoint=17, nactuation=18, nledger=19)
    assert shapes.keys() == DIMENSIONS.keys()
    widths = {}
    for name, table in tables(shapes, 5).items():
        assert table.shape == (5, *shapes[name]) and len(DIMENSIONS[name]) == len(shapes[name])
        for dimension, width in zip(DIMENSIONS[name], shapes[name], strict=True):
            widths.setdefault(dimension, set()).add(width)
    assert widths.pop("contact_name") == {15, 17}  # points are all contacts or none
    assert all(len(found) == 1 for found in widths.values())
    assert widths["axis"] == {3} and widths["quaternion_part"] == {4}
