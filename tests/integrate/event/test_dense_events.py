"""Where events come too densely to be located, time is stepped over them, and the log says so.

Charter: a body that has come to rest is held by forces that sum to its weight (Newton); stepping over impacts brings no
energy in (Moreau 1988), but for positions that are corrected by the square of the step; the start of a run, up to the
first event that is not located, does not depend on what happens later: equal bits.
"""

import numpy as np
import pytest

import saltus
from saltus.model.compile.constraints.hard import MOST_CLOSED

pytestmark = pytest.mark.usefixtures("one_hard_layout")

G = 9.81


def crates(count, tilt=0.0, height=0.1):
    """Boxes of 1 kg side by side on a floor."""
    bodies = "".join(
        f'<body pos="{0.3 * k} 0 {height}" euler="{tilt} {2 * tilt} 0"><freejoint/>'
        '<geom type="box" size=".1 .1 .1" mass="1"/></body>'
        for k in range(count)
    )
    return (
        f'<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="9 9 .1"/>{bodies}'
        "</worldbody></mujoco>"
    )


def dropped(**law):
    sim = saltus.Simulation(crates(1, tilt=10.0, height=0.4), contact=saltus.Hard(restitution=0.3, **law))
    return sim, sim.run(1.5, sample=0.01)


@pytest.mark.slow
def test_a_dense_time_is_summed_up_in_the_log():
    sim, run = dropped()
    dense = run.events[run.events["kind"] == "dense"]
    assert len(dense) and len(run.events) < 500
    assert (dense["since"] < dense["time"]).all() and (dense["impacts"] >= 0).all()
    # but for lifting what lies too deep out again, by 2 (m/s²) h² at most
    assert (dense["energy_after"] <= dense["energy_before"] + G * 2.0 * 0.001**2).all()
    assert (np.diff(run.events["time"]) >= 0.0).all()
    assert np.isnan(run.events["since"][run.events["kind"] != "dense"]).all()
    # at rest: m g, and nothing that a micrometre of depth would move
    np.testing.assert_allclose(run.contact_force[-1].sum(axis=0), [0, 0, G], atol=1e-9)
    assert abs(sim.qpos[2] - 0.1) < 1e-9 and np.abs(sim.qvel).max() < 1e-9


@pytest.mark.slow
def test_one_may_stop_there_or_locate_on():
    _, stepped = dropped()
    first = stepped.events["since"][stepped.events["kind"] == "dense"][0]
    with pytest.raises(saltus.EventError, match="dense_events events within dense_time") as caught:
        dropped(dense="stop")
    assert caught.value.time == first
    located, before = caught.value.trajectory.events, stepped.events[stepped.events["time"] < first]
    for name in ("time", "velocity", "gap"):
        np.testing.assert_array_equal(located[name][: len(before)], before[name])


WRONG = [{"dense": "never"}, {"dense_events": 0}, {"dense_time": -1.0}, {"dense_step": np.nan}]


@pytest.mark.parametrize("wrong", WRONG)
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(saltus.OptionError, match=next(iter(wrong)).split("_")[0]):
        saltus.Hard(**wrong)


@pytest.mark.slow
def test_more_points_than_can_be_located_are_stepped_and_carry_their_weights():
    count = MOST_CLOSED // 4 + 1
    sim = saltus.Simulation(crates(count), contact="hard")
    run = sim.run(0.1, sample=0.01)
    assert run.contact_state[-1].sum() > MOST_CLOSED
    np.testing.assert_allclose(run.contact_force[-1].sum(axis=0), [0, 0, count * G], rtol=1e-6, atol=1e-6)
    # the depth that steps of time leave: (1 m/s²) h², for steps of twice dense_step
    assert np.abs(sim.qpos.reshape(-1, 7)[:, 2] - 0.1).max() < 2 * (2e-3) ** 2


@pytest.mark.slow
def test_events_of_the_users_are_noticed_while_time_is_stepped():
    def clock(m, d):
        return d.time - 0.0503

    count = MOST_CLOSED // 4 + 1
    event = saltus.Event(clock, name="clock", terminal=True)
    run = saltus.Simulation(crates(count), contact="hard", events=[event]).run(0.2, sample=0.01)
    found = run.events[run.events["kind"] == "user"]
    # at the end of the step of twice dense_step that passes it
    assert len(found) == 1 and 0.0503 <= found["time"][0] <= 0.0503 + 2e-3


ELLIPSOID = """<mujoco>
  <option timestep="3e-3"/><default><geom condim="3" friction="0.4 0 0"/></default>
  <worldbody>
    <geom type="plane" size="9 9 1"/>
    <body pos="0 0 0.2"><freejoint/><geom type="ellipsoid" size="0.1 0.06 0.04" mass="1"/></body>
  </worldbody>
</mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["implicit_midpoint", "rk4"])
def test_a_step_that_fails_at_the_end_of_a_slip_is_stepped_over(name):
    """The equations of a slip are singular where it ends; energy never grows, but for the correction of positions."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        sim = saltus.Simulation(ELLIPSOID, name, contact=saltus.Hard(restitution=0.6))
        sim.qvel[:] = np.repeat([0.5, 3.0], 3) * rng.normal(size=6)
        before = sim.energy().sum()
        energy = sim.run(1.5, sample=0.05).energy.sum(1)
        assert np.isfinite(sim.qpos).all() and energy.max() < before + G * 2.0 * 0.001**2
        assert energy[-1] < 0.5 * before
