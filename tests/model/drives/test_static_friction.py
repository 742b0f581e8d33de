"""`saltus.static_friction`: what it writes into a model's text, what it refuses, and the laws that have none."""

import numpy as np
import pytest
from helpers.stiction_scenes import KINETIC, belt

import saltus


def static(model):
    m = model.struct().views
    return m["law_static"][m["collision_law"]].tolist()


def test_a_coefficient_is_declared_and_replaced_and_kept_with_the_model(tmp_path):
    model = saltus.static_friction(belt(static=None), "block", 0.6)
    assert model.names("tuple") == ["contact_static_friction"] and static(model) == [0.6]
    again = saltus.static_friction(model, "block", 0.7)
    assert static(again) == [0.7]
    (tmp_path / "again.xml").write_text(again.xml)
    assert static(saltus.load(tmp_path / "again.xml")) == [0.7]
    assert static(again.changed({"geom_friction[block]": (0.4, 0, 0)})) == [0.7]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: saltus.static_friction(m, "brick", 0.8), "no geom 'brick'"),
        (lambda m: saltus.static_friction(m, "block", 0.2), "at least that of sliding, 0.3, not 0.2"),
        (lambda m: saltus.static_friction(m, "block", np.inf), "friction must be"),
        (lambda m: hard(m, friction=0.9), "of 'belt' and 'block' has static friction 0.8, less than .* 0.9"),
        (lambda m: hard(m, pairs={("belt", "block"): {"friction": 0.9}}), "has static friction 0.8, less than"),
        (lambda m: hard(m, friction=0.0), "no friction in motion"),
        (lambda m: saltus.Batch(m, 2, contact=saltus.Hard(friction=[0.3, 0.9])), "has static friction 0.8, less than"),
    ],
)
def test_errors_name_the_remedy(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call(belt())


def hard(model, **options):
    return saltus.Simulation(model, "dopri5", contact=saltus.Hard(**options))


@pytest.mark.parametrize("law", ["soft", saltus.KelvinVoigt(1e5, 10.0, friction=KINETIC, static_friction=0.8)])
def test_laws_under_which_bodies_creep_ignore_it_by_name(law):
    with pytest.warns(saltus.SaltusWarning, match="static friction of geom 'block' is ignored by the .* law"):
        saltus.Simulation(belt(), contact=law)
