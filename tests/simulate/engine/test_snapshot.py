"""Snapshots: taken back by simulations of the same model and method, to the bit, and refused by all others."""

import os
import subprocess
import sys

import numpy as np
import pytest

import saltus

ONE_HINGE = """<mujoco><worldbody><body name="b"><joint name="{name}" type="{type}" axis="0 1 0"/>
<geom type="sphere" size=".1" pos=".3 0 0" mass="{mass}"/></body></worldbody></mujoco>"""


def one(name="j", type="hinge", mass=1.0):
    return ONE_HINGE.format(name=name, type=type, mass=mass)


@pytest.mark.parametrize("other", [one(type="slide"), one(mass=1.5), one(name="elbow")], ids=["type", "mass", "name"])
def test_another_models_snapshot_is_refused(other):
    sim, stranger = saltus.Simulation(one()), saltus.Simulation(other)
    sim.qpos = 0.25
    before = sim.snapshot()
    assert stranger.snapshot().shape == before.shape
    with pytest.raises(saltus.OptionError, match="the snapshot is of another model than this simulation"):
        sim.restore(stranger.snapshot())
    np.testing.assert_array_equal(sim.snapshot(), before)


def test_values_that_were_changed_make_another_model():
    model = saltus.load(one())
    with pytest.raises(saltus.OptionError, match="another model"):
        saltus.Simulation(model).restore(saltus.Simulation(model.changed({"opt.gravity[2]": -1.62})).snapshot())


def test_another_integrators_memory_is_refused_and_none_is_no_hindrance():
    """verlet remembers; euler and rk4 do not, so that each goes on from the other."""
    verlet, other = saltus.Simulation(one(), "verlet"), saltus.Simulation(one(), "dopri5")
    assert verlet.snapshot().shape != other.snapshot().shape or verlet.snapshot()[-1] != other.snapshot()[-1]
    with pytest.raises(saltus.OptionError):
        verlet.restore(other.snapshot())
    euler, rk4 = saltus.Simulation(one(), "euler"), saltus.Simulation(one(), "rk4", timestep=1e-3)
    euler.qvel = 2.0
    euler.step(5)
    rk4.restore(euler.snapshot())
    assert (rk4.time, rk4.qpos, rk4.qvel) == (euler.time, euler.qpos, euler.qvel)


HARD = {"restitution": 0.5, "friction": 0.2}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"restitution": 0.6}, "restitution"),
        ({"friction": 0.3}, "friction of hard contact"),
        ({"treatment": "sequential"}, "law of impacts"),
        ({"restitution": 0.6, "friction": 0.3}, "restitution and friction of hard contact"),
    ],
)
def test_numbers_of_hard_contact_that_differ_are_named(change, named):
    """The modes of a snapshot are those of its law."""
    sim = saltus.Simulation("bouncing_ball", contact=saltus.Hard(**HARD))
    other = saltus.Simulation("bouncing_ball", contact=saltus.Hard(**HARD | change))
    with pytest.raises(saltus.OptionError, match=f"of another {named} than this simulation"):
        other.restore(sim.snapshot())
    again = saltus.Hard(**HARD, pairs={("ball", "floor"): 0.5}, gap_tolerance=1e-9)  # the same law, in other words
    saltus.Simulation("bouncing_ball", contact=again).restore(sim.snapshot())


def test_soft_and_hard_contact_are_told_apart():
    soft = saltus.Simulation("bouncing_ball", "dopri5")
    hard = saltus.Simulation("bouncing_ball", "moreau_jean", contact="hard")
    with pytest.raises(saltus.OptionError, match=r"the snapshot (has \d+ numbers|is of another .*contact law)"):
        hard.restore(soft.snapshot())


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex128"])
def test_a_copy_of_fewer_digits_is_refused(dtype):
    """A third has all digits: rounded to float32, and back, it is another state."""
    sim = saltus.Simulation(one())
    sim.qpos = 1 / 3
    with np.errstate(over="ignore"):
        kept = sim.snapshot().astype(dtype)
    before = sim.snapshot()
    with pytest.raises(saltus.OptionError, match=f"was stored in {dtype}, which rounds the state; keep its float64"):
        sim.restore(kept)
    if dtype == "float32":
        with pytest.raises(saltus.OptionError, match="was stored in float32"):
            sim.restore(kept.astype(np.float64))
    np.testing.assert_array_equal(sim.snapshot(), before)
    sim.restore(before.tolist())


@pytest.mark.parametrize("contact", ["soft", "hard"])
def test_the_same_model_loaded_again_takes_it(contact):
    first, again = (saltus.Simulation("bouncing_ball", contact=contact) for _ in range(2))
    first.step(300)
    again.restore(first.snapshot())
    first.step(300), again.step(300)
    np.testing.assert_array_equal(first.snapshot(), again.snapshot())


def test_a_snapshot_can_be_kept_in_a_file_for_another_process(tmp_path):
    sim = saltus.Simulation("arm")
    sim.qvel = 1.0
    sim.step(10)
    np.save(tmp_path / "kept.npy", sim.snapshot())
    program = (
        f"import numpy, saltus; s = saltus.Simulation('arm'); s.restore(numpy.load({str(tmp_path / 'kept.npy')!r}))"
    )
    program += "; s.step(5); print(s.qpos.tobytes().hex())"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, timeout=120
    )
    sim.step(5)
    assert answer.stdout.strip() == sim.qpos.tobytes().hex(), answer.stderr


def test_what_an_event_error_kept_is_taken_back():
    """Painlevé's rod or not: the snapshot that an error carries has the mark, too."""
    from saltus.simulate.diagnosis.event_failure import event_error
    from saltus.solve.status import CHATTER

    sim = saltus.Simulation("bouncing_ball", contact="hard")
    sim.step(10)
    kept = event_error(sim.engine, CHATTER).snapshot
    sim.step(10)
    sim.restore(kept)
    assert sim.time == pytest.approx(10 * sim.timestep)


@pytest.mark.parametrize("wrong", [np.zeros(3), 0.0, None, "state", np.zeros((2, 2))])
def test_what_is_no_snapshot_is_refused(wrong):
    with pytest.raises(saltus.OptionError, match="the snapshot has"):
        saltus.Simulation(one()).restore(wrong)
