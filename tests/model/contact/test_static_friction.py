"""Static friction in model files: where it goes, how it is mixed, and what is refused by name."""

import numpy as np
import pytest

import saltus
from saltus.model.contact.collisions import Pair, laws_of
from saltus.model.vary.stack import Stack

XML = """<mujoco><worldbody><geom name="table" type="box" size="1 1 1" friction="{table} 0 0" priority="{priority}"/>
  <body pos="0 0 2"><freejoint/><geom name="block" type="box" size=".1 .1 .1" friction="0.3 0 0"/></body></worldbody>
  {pair}<custom><tuple name="left_contact_static_friction">{numbers}</tuple></custom></mujoco>"""
NUMBER = '<element objtype="{}" objname="{}" prm="{}"/>'
PAIR = '<contact><pair name="both" geom1="table" geom2="block" friction="0.2 0.2 0 0 0"/></contact>'


def declared(*numbers, table=0.5, priority=0, pair=""):
    text = "".join(NUMBER.format(*each) for each in numbers)
    return XML.format(table=table, priority=priority, pair=pair, numbers=text)


@pytest.mark.parametrize(
    ("numbers", "options", "wanted"),
    [
        ([("geom", "block", 0.8)], {}, 0.8),
        ([("geom", "block", 0.4)], {}, 0.5),  # the table has 0.5 in rest and in motion
        ([("geom", "block", 0.8), ("geom", "table", 0.9)], {}, 0.9),
        ([("geom", "block", 0.8), ("geom", "table", 0.6)], {"priority": 1}, 0.6),
        ([("geom", "block", 0.8)], {"priority": 1}, 0.5),
        ([("geom", "block", 0.8)], {"pair": PAIR}, 0.2),
        ([("geom", "block", 0.8), ("pair", "both", 0.7)], {"pair": PAIR}, 0.7),
    ],
)
def test_numbers_are_mixed_as_friction_is(numbers, options, wanted):
    m = saltus.load(declared(*numbers, **options)).struct().views
    assert m["law_static"][m["collision_law"]].tolist() == [wanted]


@pytest.mark.parametrize(("title", "wanted"), [("contact_static_friction", 0.4), ("names_of_geoms", 0.0)])
def test_the_options_of_a_file_replace_it(title, wanted):
    """A model without static friction has none by them: nothing else is compiled for it."""
    text = declared(("geom", "block", 0.8)).replace("left_contact_static_friction", title)
    text = text.replace("<mujoco>", '<mujoco><option o_friction=".4 .4 0 0 0"><flag override="enable"/></option>')
    m = saltus.load(text).struct().views
    assert m["law_static"][m["collision_law"]].tolist() == [wanted]


def test_friction_that_varies_has_at_least_its_own_coefficient_at_rest():
    model = saltus.load(declared(("geom", "block", 0.8)))
    with pytest.warns(saltus.SaltusWarning, match="static friction of geom 'block' is ignored"):
        batch = saltus.Batch(model, 2, vary=("geom_friction",))
    batch.model.geom_friction[:, 0, 0] = 0.5, 0.9
    batch.step(1)
    stack = Stack(model.mj_model, {"geom_friction": np.array(batch.model.geom_friction)})
    assert laws_of(stack, [Pair(0, 1, -1)], 0.0)["static"].tolist() == [[0.8], [0.9]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (declared(("geom", "block", 0.2)), "prm of geom 'block' is 0.2; expected at least its sliding friction, 0.3"),
        (declared(("pair", "both", 0.1), pair=PAIR), "prm of pair 'both' is 0.1"),
        (declared(("body", "world", 0.8)), "that of a geom or a pair; for joints"),
        (declared(("geom", "block", 0.8)).replace("static_friction", "static_fricton"), "did you mean"),
    ],
)
def test_errors_name_the_element_and_the_remedy(text, words):
    with pytest.raises(saltus.ModelError, match=words):
        saltus.load(text)
