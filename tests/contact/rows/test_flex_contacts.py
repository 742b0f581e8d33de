"""Rows of contacts of deformable bodies.

Law: a point of an element moves as its corners do, by their weights; MuJoCo's soft law. Reference: MuJoCo 4.0 at random
deformations; tolerances in `helpers.constraints`.
"""

import pytest
from helpers.constraints import assert_same_rows
from helpers.flex_rows import MODELS


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", MODELS)
def test_rows_are_mujocos(name, cone):
    xml = f'<mujoco><option cone="{cone}"/><worldbody>{MODELS[name]}</worldbody></mujoco>'
    _, contacts, *_ = assert_same_rows(xml, states=3, spread=0.01)
    assert contacts > 2
