"""What editors are told of the data of a simulation is what there is: names, and shapes as the layout has them."""

import pytest
from helpers.declared import declared, stated_shape

import saltus
from saltus.model.layout import DATA
from saltus.simulate.engine.data import CONSTRAINTS, SHOWN
from saltus.simulate.engine.data_fields import DataFields

# sizes that users know by other names
NAMES = {
    "nv_motion": "nv",
    "nact_room": "na",
    "nbody_sense": "nbody",
    "nv_constraint": "nv",
    "ntenJ": "nJten",
    "nequality": "neq",
}


def test_all_that_is_shown_is_declared():
    assert {*declared(DataFields)} == {*SHOWN.split(), *CONSTRAINTS, "actuator_moment"}


@pytest.mark.parametrize("name", SHOWN.split())
def test_the_text_begins_with_the_shape(name):
    shape = [NAMES.get(size, str(size)) for size in DATA.fields[name].shape]
    assert stated_shape(declared(DataFields)[name][1]) == shape


def test_rates_of_states_are_those_of_the_present_controller():
    """A controller's states end with it, and so do their rates, also where they have been read before."""
    sim = saltus.Simulation("pendulum", control=saltus.PID(kp=1.0, ki=2.0))
    assert sim.data.act_dot.shape == sim.data.act.shape == (1,)
    sim.control = None
    assert sim.data.act_dot.shape == sim.data.act.shape == (0,)
