"""Rows of equalities that keep the edges of deformable bodies at their lengths.

Law: L - L₀ = 0 with MuJoCo's soft law, in the order of the edges. Reference: MuJoCo 4.0 at random deformations;
tolerances in `helpers.constraints`.
"""

import pytest
from helpers.constraints import assert_same_rows
from helpers.plain_or_slow import plain_or_slow

CLOTH = "<mujoco><worldbody>{}</worldbody><equality>{}{}</equality></mujoco>"
FLEX = """<flexcomp name="cloth" type="grid" count="4 3 1" spacing=".1 .1 .1" mass="1" radius=".01" dim="2">
  <contact contype="0" conaffinity="0" selfcollide="none"/>
  <edge equality="true" solref="0.01 1" solimp="0.9 0.95 0.002" damping=".5"/>{}</flexcomp>"""
POST = '<body name="post"><joint axis="0 0 1"/><geom size=".1" mass="2" contype="0" conaffinity="0"/>{}</body>'
PINNED = FLEX.format('<pin id="0 3"/>')
MODELS = {
    "free": CLOTH.format(FLEX.format(""), "", ""),
    "pinned": CLOTH.format(PINNED, "", ""),
    "on a body that turns": CLOTH.format(POST.format(PINNED), "", ""),
    "between others": CLOTH.format(
        PINNED + "<body name='ball' pos='0 0 1'><freejoint/><geom size='.1' mass='1' contype='0'/></body>",
        "<connect body1='cloth_1' body2='ball' anchor='0 0 0'/>",
        "<connect body1='cloth_7' anchor='0 0 0'/>",
    ),
}


@plain_or_slow
@pytest.mark.parametrize("name", MODELS)
def test_rows_are_mujocos(name):
    rows, *_ = assert_same_rows(MODELS[name], states=3, spread=0.02)
    assert rows >= 20
