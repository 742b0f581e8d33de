"""Inertia of URDF: the mass matrix of a robot, also where links have an inertia that no body has.

Reference: M = sum over links of m J^T J + W^T I W with Jacobians written down from the specification of URDF: frames by
`xyz` and `rpy` (fixed axes x, y, z), inertia in the axes of <inertial>'s origin. MuJoCo takes no part in it.
"""

import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers.urdf_files import mass_matrix
from numpy.testing import assert_allclose

import saltus

ORIGIN = '<origin xyz="{} {} {}" rpy="{} {} {}"/>'
KINDS = ("revolute", "fixed", "prismatic", "continuous", "fixed", "revolute")


def chain(seed, impossible=()):
    """A chain and a branch of links with random frames; some links, by number, have an impossible inertia."""
    rng = np.random.default_rng(seed)
    text = '<link name="l0"/>'
    for i, kind in enumerate(KINDS, 1):
        origin, own = (ORIGIN.format(*rng.uniform(-1, 1, 6)) for _ in range(2))
        A = rng.normal(size=(3, 3))
        inertia = np.zeros((3, 3)) if i in impossible else np.trace(A @ A.T) * np.eye(3) - A @ A.T
        values = " ".join(f'i{"xyz"[a]}{"xyz"[b]}="{float(inertia[a, b])!r}"' for a in range(3) for b in range(a, 3))
        mass = rng.uniform(0.5, 2)
        text += f'<link name="l{i}"><inertial>{own}<mass value="{mass!r}"/><inertia {values}/></inertial></link>'
        axis = " ".join(map(repr, rng.normal(size=3).tolist()))
        parent = i - 1 if i != 4 else 1
        text += f'<joint name="j{i}" type="{kind}">{origin}<parent link="l{parent}"/><child link="l{i}"/>'
        limit = '<limit lower="-3" upper="3"/>' if kind in ("revolute", "prismatic") else ""
        text += f'<axis xyz="{axis}"/>{limit}</joint>'
    return f'<robot name="chain">{text}</robot>'


@pytest.mark.parametrize("impossible", [(), (2,), (5,), (2, 5)])
def test_the_mass_matrix(impossible):
    """Links 2 and 5 are fixed to others; their masses count there. Tolerance: rounding of some 20 products each."""
    text = chain(3, impossible)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = saltus.Simulation(saltus.load(text, actuators="none"))
    assert bool(impossible) == any("impossible inertia" in str(w.message) for w in caught)
    sim.qpos[:] = np.random.default_rng(0).uniform(-1, 1, sim.model.nq)
    sim.forward()
    root = ElementTree.fromstring(text)
    order = [name for name in (joint.get("name") for joint in root.findall("joint")) if name in names(sim)]
    at = [names(sim).index(name) for name in order]
    expected = mass_matrix(root, sim.qpos[at])
    assert_allclose(sim.full_M()[np.ix_(at, at)], expected, atol=1e-13 * abs(expected).max(), rtol=0)


def names(sim):
    return sim.model.names("joint")


def test_links_that_move_with_an_impossible_inertia_are_refused():
    """All are named; where one principal inertia is greater than the sum of the others, the remedy works."""
    with pytest.raises(saltus.ModelError, match=r"of links 'l3', 'l6': correct it, or .*balanceinertia="):
        saltus.load(chain(3, (3, 6)), actuators="none")
    text = chain(3)
    begin = text.index("<inertia ", text.index('name="l3"'))
    flat = '<inertia ixx="1" iyy="1" izz="4" ixy="0" ixz="0" iyz="0"/>'
    text = text[:begin] + flat + text[text.index("/>", begin) + 2 :]
    with pytest.raises(saltus.ModelError, match="of link 'l3'"):
        saltus.load(text, actuators="none")
    text = text.replace("<link", '<mujoco><compiler balanceinertia="true"/></mujoco><link', 1)
    assert_allclose(saltus.load(text, actuators="none").body_inertia[4], 2, rtol=1e-15)


def test_a_mass_goes_over_frames_and_not_to_shapes():
    """Link c, fixed to the frame b, fixed to a; if b has the mass of its shape, c is an error."""
    some = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    flat = some.replace('"1"', '".1"').replace('izz=".1"', 'izz=".3"')
    shape = '<collision><geometry><box size=".1 .1 .1"/></geometry></collision>'
    text = f'<robot name="r"><link name="w"/><link name="a">{some}</link><link name="b"/><link name="c">{flat}</link>'
    for k, (kind, parent, child) in enumerate((("continuous", "w", "a"), ("fixed", "a", "b"), ("fixed", "b", "c"))):
        text += f'<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'
    with pytest.warns(saltus.SaltusWarning, match="impossible inertia .'c'."):
        model = saltus.load(text + "</robot>", actuators="none")
    assert_allclose(model.body_mass, [0, 0, 1.1, 0, 0], rtol=1e-15)
    assert_allclose(sorted(model.body_inertia[2]), [1.1, 1.1, 1.3], rtol=1e-14)
    with pytest.raises(saltus.ModelError, match="of link 'c'"):
        saltus.load(text.replace('"b"/><link', f'"b">{shape}</link><link') + "</robot>", actuators="none")


def test_links_with_zeros_have_no_mass():
    """As without <inertial>, and without a remark; one that moves by itself is an error."""
    zeros = '<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
    some = zeros.replace('"0"', '"1"', 4)
    joint = '<joint name="j{0}" type="{1}"><parent link="{2}"/><child link="{3}"/></joint>'
    links = "".join(
        f'<link name="{name}">{content}</link>' for name, content in zip("abc", (zeros, some, zeros), strict=True)
    )
    text = '<robot name="r">' + links + joint.format(1, "continuous", "a", "b") + joint.format(2, "{}", "b", "c")
    text += "</robot>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert saltus.load(text.format("fixed"), actuators="none").body_mass.tolist() == [0, 0, 1, 0]
    with pytest.raises(saltus.ModelError, match=r"'c'.*needs a mass"):
        saltus.load(text.format("continuous"), actuators="none")


def test_a_base_with_an_impossible_inertia():
    """Fixed, it does not matter; floating, its mass is part of the link that is fixed to it."""
    values = " ".join(f'{name}="1e-6"' for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    none = f'<inertial><mass value="1e-6"/><inertia {values}/></inertial>'
    some = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="fixed"><origin xyz="0 0 1"/><parent link="a"/><child link="b"/></joint>'
    text = f'<robot name="r"><link name="a">{none}</link><link name="b">{some}</link>{joint}</robot>'
    for base in ("fixed", "floating"):
        with pytest.warns(saltus.SaltusWarning, match="impossible inertia .'a'.") as caught:
            model = saltus.load(text, base=base, actuators="none")
        assert len(caught) == 1 and model.body_mass.sum() == pytest.approx(2 + 1e-6, abs=1e-12)
        assert model.body_ipos[2, 2] == pytest.approx(-1e-6 / (2 + 1e-6), rel=1e-9)  # the base lies 1 m below
