"""Rows of contacts are MuJoCo's: all dimensions and cones, all parameters, between any two bodies.

Law: the second geom's motion against the first along the normal, across it and about it, under a pyramidal or elliptic
cone of friction (MuJoCo documentation, Computation: Constraint model: Contact). Reference: MuJoCo 4.0; tolerances in
`helpers.constraints`.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import assert_same_rows, complete, errors, near, put

import saltus

CONES = "pyramidal", "elliptic"
DIMS = 1, 3, 4, 6
# on the floor, within a tree, between trees, between a body and its grandparent
WORLD = """
<worldbody>
  <geom name="floor" type="plane" size="9 9 .1" {0} euler="5 3 0"/>
  <body pos="0 0 .15"><freejoint/><geom name="trunk" type="capsule" size=".1 .2" euler="0 90 0" {0}/>
    <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".06" fromto="0 0 0 .2 0 -.05" {0}/>
      <body pos=".2 0 -.05"><joint type="ball"/><geom size=".1" pos="-.1 .05 .1" {0}/></body></body>
    <body pos="-.2 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".09" pos="-.1 0 -.05" {0}/>
      <body pos="0 .1 0"><joint axis="1 0 0"/><geom size=".1" pos=".15 .1 .05" {0}/></body></body></body>
  <body pos=".2 .1 .32"><freejoint/><geom size=".1" {0}/></body>
  <body pos="-.1 -.15 .25"><joint type="slide" axis="0 1 1"/><joint axis="1 0 0"/><geom type="box" size=".1 .1 .1" {0}/>
  </body>
  <body pos="1 1 .09"><freejoint/><geom name="alone" size=".1" {0}/></body>
</worldbody>"""


def mechanism(geom="", option="", rest=""):
    return f"<mujoco><option {option}/>{WORLD.format(geom)}{rest}</mujoco>"


def assert_touching(xml, states=12, least=6, **options):
    """That rows are MuJoCo's at random states, with many contacts in some."""
    rows, contacts, m = assert_same_rows(xml, states, spread=0.03, **options)
    assert contacts >= least
    return rows, contacts, m


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("dim", DIMS)
def test_dimensions_and_cones(dim, cone):
    friction = 'friction=".8 .05 .02"'
    rows, contacts, _ = assert_touching(mechanism(f'condim="{dim}" {friction}', f'cone="{cone}"'))
    assert rows >= contacts * {1: 1, 3: 3, 4: 4, 6: 6}[dim]


@pytest.mark.parametrize("cone", CONES)
def test_dimensions_mixed(cone):
    """The larger of the two dimensions, in one model."""
    xml = mechanism('condim="#"', f'cone="{cone}"')
    while "#" in xml:
        xml = xml.replace("#", str(DIMS[xml.count("#") % 4]), 1)
    _, _, m = assert_touching(xml)
    assert set(m.geom_condim) == {1, 3, 4, 6}


PARAMETERS = {
    "direct": 'solref="-3000 -30" solimp=".3 .9 .1 .4 3"',
    "slow": 'solref=".2 .4" solimp=".9 .99 .001 .5 2"',
    "linear and wide": 'solimp=".1 .95 .2 .5 1"',
    "hard": 'solref=".001 1" solimp=".99 .9999 .001"',
    "margin": 'margin=".04"',
    "margin and gap": 'margin=".03" gap=".02"',
    "gap alone": 'gap=".05"',
    "a margin that is negative": 'margin="-.01"',
    "no friction": 'friction="0 0 0" condim="6"',
    "little friction": 'friction="1e-3 1e-4 1e-5" condim="6"',
    "great friction": 'friction="20 .5 .3" condim="6"',
    "mixed formats": 'solref="-.1 1"',
}


@pytest.mark.filterwarnings("ignore:mixed solref")
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name, cone):
    assert_touching(mechanism(PARAMETERS[name], f'cone="{cone}"'), 8, least=4)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("impratio", [0.2, 1, 10, 1000])
def test_impratio(impratio, cone):
    assert_touching(mechanism('condim="6" friction=".8 .05 .02"', f'cone="{cone}" impratio="{impratio}"'), 8)


def test_gaps_hold_contacts_without_rows():
    """Within margin + gap they are listed, beyond the margin they have no row."""
    m = complete(mechanism('margin=".01" gap=".1"'))
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    d.qpos[2] += 0.08
    mujoco.mj_forward(m, d)
    put(sim, d)
    assert max(errors(m, sim, d).values()) < 1e-8
    listed = sim.data.contact["efc_address"] < 0
    assert listed.any() and not listed.all()
    np.testing.assert_array_equal(listed, sim.data.contact["dist"] >= sim.data.contact["includemargin"])


@pytest.mark.parametrize("cone", CONES)
def test_surfaces_that_move_by_themselves(cone):
    """A conveyor's surface velocity and a spinning one, on either side of a contact and on both."""
    xml = mechanism('condim="6" friction=".8 .05 .02"', f'cone="{cone}"')
    xml = xml.replace('name="floor"', 'name="floor" surfacevel="1 .5 .2 .3 0 2"')
    xml = xml.replace('name="trunk"', 'name="trunk" surfacevel="0 .4 -.6 2 1 -1"')
    _, _, m = assert_touching(xml)
    assert np.count_nonzero(m.geom_surfacevel.any(axis=1)) == 2
    for dim in (1, 3, 4):
        assert_touching(xml.replace('condim="6"', f'condim="{dim}"'), 4)


def test_a_ball_on_a_conveyor():
    """Put on a belt of speed u, a ball goes to 2/7 u: friction m a = F turns it with 2/5 m R² α = R F until it rolls.

    In the belt's frame it is the ball of the textbooks that slides at first and keeps 5/7 of its speed. The arm of
    friction, less than R by half of the penetration of 0.4 mm, makes 0.3 %.
    """
    belt = '<geom type="plane" size="9 9 .1" surfacevel="1 0 0 0 0 0" friction=".5"/>'
    ball = '<body pos="0 0 .1"><freejoint/><geom size=".1" friction=".5"/></body>'
    m = complete(f'<mujoco><option cone="elliptic"/><worldbody>{belt}{ball}</worldbody></mujoco>')
    sim = saltus.Simulation(saltus.load(m))
    sim.step(500)
    assert sim.qvel[0] == pytest.approx(2 / 7, rel=0.01)
    arm = 0.1 + 0.5 * sim.data.contact["dist"][0]
    assert sim.qvel[0] - arm * sim.qvel[4] == pytest.approx(1.0, abs=1e-8)


PAIRS = {
    "own parameters": 'condim="6" friction=".5 .7 .02 .01 .03" solref=".05 .7" solimp=".5 .9 .01 .3 3"',
    "two frictions": 'condim="3" friction=".1 .9 .02 .01 .03"',
    "friction of its own format": 'condim="6" solref=".02 1" solreffriction=".1 2"',
    "direct friction": 'condim="4" solreffriction="-10 -40"',
    "mixed formats of friction": 'condim="4" solreffriction="-10 40"',
    "margin and gap": 'condim="3" margin=".05" gap=".02"',
    "frictionless": 'condim="1" solref="-500 -5"',
}


@pytest.mark.filterwarnings("ignore:solreffriction")
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("name", PAIRS)
def test_explicit_pairs(name, cone):
    """Named pairs have parameters of their own, in whatever order the geoms are named, whatever their masks."""
    pairs = f'<pair geom1="trunk" geom2="floor" {PAIRS[name]}/><pair geom1="floor" geom2="alone" {PAIRS[name]}/>'
    masks = 'contype="0" conaffinity="0"'
    xml = mechanism("", f'cone="{cone}"', f"<contact>{pairs}</contact>").replace(
        'name="alone"', f'name="alone" {masks}'
    )
    assert_touching(xml, 8, least=4)


@pytest.mark.parametrize("cone", CONES)
def test_the_override_flag(cone):
    """One law for all, explicit pairs included, their friction's own format too."""
    pair = '<contact><pair geom1="trunk" geom2="floor" condim="6" solreffriction=".3 2"/></contact>'
    option = '<flag override="enable"/></option>'
    values = 'o_margin=".02" o_solref=".03 .8" o_solimp=".4 .8 .05 .3 3" o_friction=".5 .6 .03 .02 .01"'
    xml = mechanism('condim="4" gap=".01"', f'cone="{cone}" {values}', pair).replace("/>", f">{option}", 1)
    _, _, m = assert_touching(xml, 8)
    assert m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE


@pytest.mark.parametrize(
    ("rest", "option", "fewer"),
    [
        ('<contact><exclude body1="b0" body2="world"/></contact>', "", True),
        ('<contact><exclude body1="b5" body2="b0"/></contact>', "", True),
        ("", '<flag filterparent="disable"/>', False),
    ],
    ids=["not the world", "not each other", "parents"],
)
def test_excluded_bodies_and_parents(rest, option, fewer):
    """<exclude>, and the flag that lets a body touch its parent, change what there is."""
    plain = mechanism().replace("<body pos=", '<body name="b#" pos=')
    for k in range(plain.count("b#")):
        plain = plain.replace("b#", f"b{k}", 1)
    changed = plain.replace("</mujoco>", f"{rest}</mujoco>").replace("/>", f">{option}</option>", 1)
    models = [assert_same_rows(xml, 12, spread=0.03)[2] for xml in (plain, changed)]
    before, after = (saltus.load(m).struct().ncollision for m in models)
    assert after < before if fewer else after > before


def test_geoms_of_bodies_that_nothing_moves():
    """An explicit pair without degrees of freedom has no rows; MuJoCo lists its contact, we do not."""
    still = '<geom name="s1" size=".2" pos="5 0 0"/><body pos="5 .1 0"><geom name="s2" size=".2"/></body>'
    xml = mechanism(rest='<contact><pair geom1="s1" geom2="s2"/></contact>')
    m = complete(xml.replace("</worldbody>", f"{still}</worldbody>"))
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    d.qpos[:] = near(m, np.random.default_rng(0), 0.01)["qpos"]
    mujoco.mj_forward(m, d)
    put(sim, d)
    assert sim.data.ncon == d.ncon - 1 and sim.data.nefc == d.nefc > 0
    np.testing.assert_allclose(sim.data.qacc, d.qacc, rtol=0, atol=1e-8 * np.abs(d.qacc).max())
