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


def test_a_point_of_two_rods_has_one_place():
    """The first rod's; the second has no band."""
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    names = [("a", k, 0) for k in range(4)] + [("b", 2, k) for k in range(1, 4)]
    bodies = "".join(
        f'<body name="{n}{x}{y}" pos="{x} {y} 0"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{slides}</body>'
        for n, x, y in names
    )
    rods = "".join(
        f"""<flex name="{name}" dim="1" radius=".01" body="{line}" vertex="{"0 " * 12}"
          element="0 1 1 2 2 3"><edge stiffness="1"/>
          <contact contype="0" conaffinity="0" selfcollide="none"/><elasticity young="1e6"/></flex>"""
        for name, line in (("first", "a00 a10 a20 a30"), ("second", "a20 b21 b22 b23"))
    )
    model = saltus.load(f"<mujoco><worldbody>{bodies}</worldbody><deformable>{rods}</deformable></mujoco>")
    views = model.struct().views
    assert sorted(views["band_dof"]) == list(range(12)) and np.count_nonzero(views["dof_band"] >= 0) == 12


def test_models_without_rods_have_none():
    views = saltus.load("pendulum").struct().views
    assert not views["dof_band"].size and not views["band_dof"].size
