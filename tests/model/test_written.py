"""What is written into `model.mujoco`, a copy, has no effect on the model, and is said where a simulation is made."""

import copy
import pickle
import warnings

import pytest

import saltus


@pytest.fixture
def model():
    return saltus.load("pendulum")


def write_timestep(m):
    m.opt.timestep = 0.01


def write_gravity(m):
    m.opt.gravity[2] = -1.62


def write_mass(m):
    m.body_mass[:] = 2.5


def write_size(m):
    m.geom_size[0, 0] = 3.0


def write_group(m):
    m.geom_group[0] = 3


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (
            write_timestep,
            r'its opt\.timestep do not change the model \'pendulum\'.*model\.changed\({"opt\.timestep": value}\)',
        ),
        (write_gravity, r'its opt\.gravity .*model\.changed\({"opt\.gravity": value}\)'),
        (write_mass, r'its body_mass .*model\.changed\({"body_mass\[name\]": value}\)'),
        (write_size, r"its geom_size .*saltus\.load\(m\)"),
        (
            write_group,
            r"its geom_group do not change the model 'pendulum'\. Write m = model\.mujoco, .*saltus\.load\(m\)",
        ),
    ],
)
@pytest.mark.parametrize("make", [saltus.Simulation, lambda model: saltus.Batch(model, 2, threads=1)])
def test_a_write_that_has_no_effect_is_said_once(model, write, says, make):
    write(model.mujoco)
    with pytest.warns(saltus.SaltusWarning, match=says) as caught:
        make(model)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(model)


def test_the_warning_is_of_the_line_that_makes_the_simulation(model):
    write_mass(model.mujoco)
    with pytest.warns(saltus.SaltusWarning) as caught:
        saltus.Simulation(model)
    assert caught[0].filename == __file__


def test_two_writes_are_both_said(model):
    write_timestep(model.mujoco)
    write_mass(model.mujoco)
    with pytest.warns(saltus.SaltusWarning, match=r"opt\.timestep, body_mass"):
        saltus.Simulation(model)


def test_a_copy_that_is_loaded_is_a_model_of_its_own(model):
    m = model.mujoco
    write_mass(m)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = saltus.load(m)
        saltus.Simulation(model)
        saltus.Simulation(other)
    assert other.body_mass[1] == 2.5 != model.body_mass[1]


def test_reading_and_copying_say_nothing(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.mujoco.opt.timestep == 0.05
        saltus.Simulation(model)
        saltus.Simulation(pickle.loads(pickle.dumps(model)))
        saltus.Simulation(copy.deepcopy(model))
        saltus.Simulation(copy.copy(model))
