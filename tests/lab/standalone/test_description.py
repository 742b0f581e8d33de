"""Numbers that a page may change. Reference: the values that the law itself refuses."""

from saltus.lab.data.recording import Downloads
from saltus.lab.scene.choose import find_scene
from saltus.lab.standalone.description import _places
from saltus.lab.standalone.loops import simulations
from saltus.model.drives.static_friction import static_friction


def test_pages_of_models_with_static_friction_keep_their_friction():
    """Friction in motion could be moved above that at rest; other numbers of hard contact may be moved."""
    text = """<mujoco><default><geom friction="0.4 0 0"/></default><worldbody><geom type="plane" size="1 1 .1"/>
      <body pos="0 0 .1"><freejoint/><geom name="ball" size=".1"/></body></worldbody></mujoco>"""
    places = []
    for model in (text, static_friction(text, "ball", 0.7)):
        session = find_scene(model, {}, []).open(Downloads(), {})
        session.builder.give_up()
        found = simulations(session.setup, session.builder.settings, ["dopri5"], ["hard"])
        sim = next(one for one in found if one.contact == "hard")
        places.append({name: len(_places(session, sim, name)) for name in ("friction", "restitution")})
        session.close()
    assert places[0]["friction"] > 0 and places[1]["friction"] == 0
    assert all(found["restitution"] > 0 for found in places)
