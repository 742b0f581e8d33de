"""What a page of its own offers: the simulations that are compiled for it, the one that it begins with first.

Reference: the options that a scene was opened with.
"""

import pytest

from saltus.errors import OptionError
from saltus.lab.data.recording import Downloads
from saltus.lab.scene.choose import find_scene
from saltus.lab.scene.scenes import scenes
from saltus.lab.standalone.loops import simulations


def offered(contact, laws):
    """Integrators and laws of the page of a ball, in order."""
    session = scenes()["bouncing_ball"].open(Downloads(), {"contact": contact, "restitution": 0.9})
    session.builder.give_up()
    found = simulations(session.setup, session.builder.settings, ["euler"], laws)
    session.close()
    return [(sim.contact, sim.integrator.name) for sim in found], found


@pytest.mark.parametrize("first", ["soft", "hard"])
def test_the_page_begins_with_the_law_that_was_chosen(first):
    pairs, found = offered(first, ["soft", "hard"])
    assert pairs[0][0] == first
    assert {law for law, _ in pairs} == {"soft", "hard"}
    assert {sim.law.restitution for sim in found if sim.contact == "hard"} == {0.9}


def test_only_the_laws_that_were_named():
    pairs, _ = offered("soft", ["soft"])
    assert {law for law, _ in pairs} == {"soft"}


def test_an_unknown_law_is_named():
    with pytest.raises(OptionError, match="sticky"):
        offered("soft", ["sticky"])


def test_methods_that_lack_a_feature_are_left_out():
    """`discrete` has no servos, nor friction by bristles; all others stay."""
    text = """<mujoco><worldbody><body><joint name="x" axis="0 1 0"/><geom size="0.1"/></body></worldbody><actuator>
      {}</actuator></mujoco>"""
    names = []
    for actuator in ('<motor joint="x"/>', '<position joint="x" kp="3"/>'):
        session = find_scene(text.format(actuator), {}, []).open(Downloads(), {})
        session.builder.give_up()
        names.append({sim.integrator.name for sim in simulations(session.setup, session.builder.settings, None, None)})
        session.close()
    assert names[0] - names[1] == {"discrete"}


CLOTH = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/><flexcomp name="cloth" type="grid" count="3 3 1"
  spacing=".1 .1 .1" pos="0 0 .5" dim="2" radius=".01" mass="1"><edge equality="true"/></flexcomp></worldbody>
  </mujoco>"""
ROD = CLOTH.replace('count="3 3 1"', 'count="4 1 1"').replace('dim="2"', 'dim="1"')
ROD = ROD.replace("</flexcomp>", '<elasticity young="1e6" poisson="0.3"/></flexcomp>')


@pytest.mark.parametrize("text", [CLOTH, ROD], ids=["cloth", "rod that twists"])
def test_laws_that_a_model_does_not_allow_are_left_out_unless_they_are_named(text):
    """Deformable bodies have soft contact only; rods that twist no steps of their own length."""
    session = find_scene(text, {}, []).open(Downloads(), {})
    session.builder.give_up()
    given = session.setup, session.builder.settings
    assert {sim.contact for sim in simulations(*given, None, None)} == {"soft"}
    with pytest.raises(OptionError, match=r"rods that twist|require the soft law"):
        simulations(*given, None, ["hard"])
    if text is ROD:
        assert "dopri5" not in {sim.integrator.name for sim in simulations(*given, None, None)}
        with pytest.raises(OptionError, match="dopri5 does not support rods that twist"):
            simulations(*given, ["dopri5"], None)
    session.close()
