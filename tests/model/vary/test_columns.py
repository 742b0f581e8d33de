"""Names of parameters, and the numbers that they mean."""

import numpy as np
import pytest
from helpers.parametric import PARAMETRIC

import saltus
from saltus.errors import OptionError
from saltus.model.vary.columns import columns
from saltus.model.vary.fields import value_of


@pytest.fixture(scope="module")
def model():
    return saltus.load(PARAMETRIC)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("body_mass[foot]", ["body_mass[foot]"]),
        ("body_inertia[leg]", ["body_inertia[leg][0]", "body_inertia[leg][1]", "body_inertia[leg][2]"]),
        ("geom_friction[ball][1]", ["geom_friction[ball][1]"]),
        ("opt.gravity[2]", ["opt.gravity[2]"]),
        ("opt.gravity", ["opt.gravity[0]", "opt.gravity[1]", "opt.gravity[2]"]),
        ("opt.impratio", ["opt.impratio"]),
        ("dof_damping[ankle]", ["dof_damping[ankle.wx]", "dof_damping[ankle.wy]", "dof_damping[ankle.wz]"]),
        ("dof_damping[ankle.wy]", ["dof_damping[ankle.wy]"]),
        ("qpos_spring[hip]", ["qpos_spring[hip]"]),
        ("body_mass[#2]", ["body_mass[leg]"]),
        ("actuator_gear[servo][0]", ["actuator_gear[servo][0]"]),
        ("eq_data[#1][0]", ["eq_data[#1][0]"]),
        ("pair_gap[#0]", ["pair_gap[#0]"]),
    ],
)
def test_names(model, name, wanted):
    assert [column.name for column in columns(model, [name])] == wanted


@pytest.mark.parametrize("field", ["body_inertia", "dof_damping", "actuator_gainprm", "tendon_range", "opt.gravity"])
def test_whole_fields_have_a_column_for_each_number_in_order(model, field):
    found = columns(model, [field])
    assert [column.place for column in found] == list(range(np.size(value_of(model.mj_model, field))))
    assert [column.place for column in columns(model, [column.name for column in found])] == list(range(len(found)))


def test_places_are_those_of_the_objects(model):
    (column,) = columns(model, ["geom_friction[ball][1]"])
    assert model.mj_model.geom_friction.reshape(-1)[column.place] == 0.02


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("geom_type", "'geom_type'.*body_mass"),
        ("body_mass[knee]", "body in body_mass.*'knee'.*leg"),
        ("dof_damping[knee]", "joint in dof_damping.*'knee'"),
        ("geom_friction[ball][3]", r"index \[3\] is out of range; it has 3 numbers"),
        ("body_mass[leg][0]", "it is a single number"),
        ("opt.gravity[x]", r"index \[x\] is out of range"),
        ("body mass", "is not a parameter; expected"),
    ],
)
def test_others_are_refused(model, name, text):
    with pytest.raises(OptionError, match=text):
        columns(model, [name])


def test_fields_that_a_model_lacks_are_refused():
    with pytest.raises(OptionError, match="tendon_stiffness: the model has no tendon_stiffness"):
        columns(saltus.load("pendulum"), ["tendon_stiffness"])
