"""Order of rods: each degree of freedom has one place, and what is coupled is near. Reference: all pairs, by hand."""

import itertools

import numpy as np
import pytest

import saltus
from saltus.model.enums import BAND

ROD = """<mujoco><worldbody>
  <flexcomp name="rod" type="{kind}" count="{count} 1 1" spacing=".05 .05 .05" dim="1" mass="1" radius=".005">
    <edge equality="true"/><elasticity young="1e7"/><contact contype="0" conaffinity="0" selfcollide="none"/>{pin}
  </flexcomp></worldbody></mujoco>"""


def struct(kind, count, pin=""):
    model = saltus.load(ROD.format(kind=kind, count=count, pin=pin))
    return model, model.struct().views


@pytest.mark.parametrize(("kind", "count"), [("circle", 5), ("circle", 30), ("grid", 3), ("grid", 40)])
def test_all_that_is_coupled_is_near(kind, count):
    model, views = struct(kind, count)
    place = views["dof_band"]
    assert sorted(place) == list(range(model.nv))
    np.testing.assert_array_equal(views["band_dof"][place], np.arange(model.nv))
    assert not views["band_first"].any()
    # vertices within two segments of each other, three in a closed rod, and the twists between them
    n, reach = model.flex_vertnum[0], 3 if kind == "circle" else 2
    for i, j in itertools.combinations(range(n), 2):
        apart = min(j - i, n - (j - i)) if kind == "circle" else j - i
        if apart <= reach:
            dofs = [model.body_dofadr[model.flex_vertbodyid[v]] + k for v in (i, j) for k in range(3)]
            assert np.ptp(place[dofs]) <= BAND


def test_vertices_on_other_bodies_are_left_out():
    _, views = struct("grid", 10, '<pin id="0 1"/>')
    model, _ = struct("grid", 10)
    assert len(views["band_dof"]) == model.nv - 7  # two vertices and the twist of the segment between them


def test_two_rods_have_bands_of_their_own():
    one = ROD.format(kind="grid", count=4, pin="")
    other = one[one.index("<flexcomp") : one.index("</worldbody>")].replace("rod", "two")
    views = saltus.load(one.replace("</worldbody>", other + "</worldbody>")).struct().views
    half = len(views["band_dof"]) // 2
    np.testing.assert_array_equal(views["band_first"], np.repeat([0, half], half))


def test_models_without_rods_have_none():
    views = saltus.load("pendulum").struct().views
    assert not views["dof_band"].size and not views["band_dof"].size
