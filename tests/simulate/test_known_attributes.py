"""Known attributes of simulations, batches, models and data: a name that is not there cannot be assigned to.

Reference: the documentation, "bad input is an error that names it and the remedy".
"""

import copy
import pickle

import pytest

import saltus
from saltus.errors import UnknownAttribute

sim = saltus.Simulation("pendulum")
batch = saltus.Batch("pendulum", 2, vary=["body_mass"])


@pytest.mark.parametrize(
    ("owner", "name", "remedy"),
    [
        (sim, "qpo", "did you mean 'qpos'"),
        (sim, "something", "no attribute 'something'"),
        (sim, "gravity", r"model\.changed\(\{'opt\.gravity'"),
        (sim, "body_mass", r"model\.changed\(\{'body_mass\[name\]'"),
        (sim, "xpos", r"sim\.data\.xpos reads it"),
        (batch, "qpo", "did you mean 'qpos'"),
        (batch, "body_mass", r"batch\.model\.body_mass"),
        (batch, "gravity", r"vary=\['opt\.gravity'\]"),
        (batch, "xpos", r"batch\.read\('xpos'\)"),
        (sim, "data", "cannot be assigned: it is chosen when the Simulation is made, or computed"),
        (sim, "sensordata", "cannot be assigned"),
        (batch, "threads", "cannot be assigned: it is chosen when the Batch is made"),
        (batch, "integrator", "cannot be assigned"),
        (sim.model, "body_mass", r"model\.changed"),
        (sim.model, "nv", "nv is read-only: a Model is constant; load a changed file"),
        (sim.model.opt, "cone", "load a changed file"),
        (sim.model, "bodymass", "did you mean 'body_mass'"),
        (sim.model.opt, "gravity", r"model\.changed"),
        (sim.model.opt, "gravty", "did you mean 'gravity'"),
        (sim.data, "xpos", "computed from the state"),
        (sim.data, "qpo", "did you mean 'qpos'"),
    ],
)
def test_a_name_that_cannot_be_assigned_to(owner, name, remedy):
    with pytest.raises(UnknownAttribute, match=remedy) as raised:
        setattr(owner, name, 1.0)
    assert isinstance(raised.value, AttributeError) and isinstance(raised.value, saltus.SaltusError)


@pytest.mark.parametrize("what", ["model.opt.gravity[2]", "model.body_mass[0]", "data.xpos[0]", "data.qfrc_bias[0]"])
def test_entries_that_cannot_be_assigned_to(what):
    with pytest.raises(saltus.OptionError, match=r"changed|computed"):
        exec(f"sim.{what} = 1.0", {"sim": sim})


def test_the_state_is_assigned_by_way_of_data_too():
    sim.data.qpos = 0.25
    assert sim.qpos[0] == 0.25
    with pytest.raises(saltus.OptionError, match="shape"):
        sim.data.qpos = [1.0, 2.0]


def test_parts_of_a_batch_s_state_are_set():
    """As those of a simulation; what was read before is a copy, of which only the assigned entries count."""
    batch.qpos = 0.5
    batch.qpos[:, 0] = 1.0
    before = batch.qpos
    batch.qvel[1] = 3.0
    batch.step()
    before[0] = 2.0
    assert batch.qpos[0, 0] == 2.0 and batch.qpos[1, 0] != before[1, 0] == 1.0
    batch.qpos += 1.0
    assert batch.qpos[0, 0] == 3.0
    mine = batch.qpos.copy()
    mine[0] = 7.0
    assert batch.qpos[0, 0] == 3.0
    with pytest.raises(saltus.OptionError, match="another shape"):
        batch.qpos[:, 0] = [1.0, 2.0, 3.0]
    with pytest.raises(saltus.OptionError, match="must be numbers"):
        batch.qpos[0] = "fast"


class Named(saltus.Simulation):
    """A user's subclass with an attribute of its own."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.label = "first"


def test_subclasses_have_attributes_of_their_own():
    named = Named("pendulum")
    named.label = "second"
    assert copy.deepcopy(named).label == pickle.loads(pickle.dumps(named)).label == "second"
    with pytest.raises(UnknownAttribute, match=r"model\.changed"):
        named.gravity = 1.0
