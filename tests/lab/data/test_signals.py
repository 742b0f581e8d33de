"""Signals over time: names, samples, and how pages get them.

Reference: `saltus.Simulation` by itself, stepped and read by hand, to the 32 bits of samples; columns of a recording;
the weight of a ball at rest for contact forces.
"""

import math

import numpy as np
import pytest
from helpers.lab import FRAME, do, notices, opened, page, run, session_of

import saltus
from saltus import lab
from saltus.lab.data import signals as signals_module
from saltus.lab.data.history import History
from saltus.lab.data.recording import Downloads
from saltus.lab.data.signals import Signals
from saltus.lab.messages.protocol import Command
from saltus.lab.player import Player
from saltus.lab.scene.scenes import scenes

SENSING = """
<mujoco><option timestep="0.005"/>
  <worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/>
    <geom type="capsule" size=".02" fromto="0 0 0 .5 0 0"/><site name="tip" pos=".5 0 0"/></body></worldbody>
  <actuator><motor name="motor" joint="hinge" gear="2"/></actuator>
  <sensor><jointvel name="rate" joint="hinge"/><accelerometer name="felt" site="tip"/></sensor>
</mujoco>"""


@pytest.fixture(autouse=True)
def all_the_time_there_is(monkeypatch):
    """What has to be computed is at every sample, however busy the machine is."""
    monkeypatch.setattr(signals_module, "SHARE", math.inf)
    monkeypatch.setattr(signals_module, "SHARE_UNSEEN", math.inf)


def by_hand(session, steps, read):
    """Times and readings of the session's simulation by itself, at its start and after each step."""
    sim = session.setup.simulation()
    rows = [(sim.time, read(sim))]
    for _ in range(steps):
        sim.step()
        rows.append((sim.time, read(sim)))
    times, values = zip(*rows, strict=True)
    return np.array(times), np.array(values, np.float32)


# ---------------------------------------------------------------- samples


@pytest.mark.parametrize("speed", [0.25, 1.0, 3.0])
def test_there_is_a_sample_after_every_step_from_the_start(speed):
    session = do(session_of("pendulum", integrator="velocity_verlet", timestep=0.05), "speed", value=speed)
    run(session, 2.0)
    times, angles = by_hand(session, math.ceil(2.0 * speed / 0.05 - 1e-6), lambda sim: sim.qpos[0])
    np.testing.assert_array_equal(session.signals.history.times, times)
    np.testing.assert_array_equal(session.signals.history.column("qpos[theta]"), angles)


def test_single_steps_are_sampled_too():
    session = do(session_of("pendulum", timestep=1e-5, playing=False), "step", n=7)
    run(session, FRAME)
    assert len(session.signals.history) == 8


def test_of_more_steps_than_there_is_time_for_every_kth_is_sampled():
    """Steps of 10 µs are 100 000 a second; 2000 samples are taken, 500 µs apart."""
    session = session_of("pendulum", timestep=1e-5)
    run(session, 0.1)
    times = session.signals.history.times
    np.testing.assert_allclose(np.diff(times), 5e-4, rtol=1e-6)
    assert times[0] == 0.0 and times[-1] > 0.099


def test_looking_changes_nothing():
    """Bit for bit, with contact, under both laws."""
    for contact in ("soft", "hard"):
        session = session_of("bouncing_ball", contact=contact)
        session.signals.choose(["contact_force[floor ball]", "energy"])
        run(session, 1.0)
        alone = session.setup.simulation()
        alone.step(len(session.signals.history) - 1)
        np.testing.assert_array_equal(session.sim.qpos, alone.qpos)
        np.testing.assert_array_equal(session.sim.qvel, alone.qvel)


@pytest.mark.slow
def test_forces_energies_and_sensors():
    session = session_of(SENSING)
    session.sim.ctrl[0] = 0.7
    run(session, 0.1)

    def read(sim):
        sim.ctrl[0] = 0.7
        return [
            *(sim.data.qfrc_actuator[0], sim.data.actuator_force[0], sim.energy().sum()),
            *sim.sensordata,
        ]

    ids = ["qfrc_actuator[hinge]", "actuator_force[motor]", "energy", "sensor[rate]", "sensor[felt][0]"]
    expected = by_hand(session, 20, read)[1][1:, :5]
    found = np.stack([session.signals.history.column(id)[1:] for id in ids], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert found[0, 0] == pytest.approx(1.4) and found[0, 1] == pytest.approx(0.7)
    units = {signal.id: signal.unit for signal in session.signals.signals}
    assert [units[id] for id in ids] == ["N m", "N m", "J", "rad/s", "m/s²"]


def test_a_ball_at_rest_carries_its_weight():
    model = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
      <body pos="0 0 .1"><freejoint name="free"/><geom name="ball" size=".1" mass="2"/></body></worldbody></mujoco>"""
    session = run(session_of(model), 2.0)
    history = session.signals.history
    assert history.column("contact_force[floor ball]")[-1] == pytest.approx(2 * 9.81, rel=1e-3)
    assert history.column("contact_force[floor ball][2]")[-1] == pytest.approx(2 * 9.81, rel=1e-3)


@pytest.mark.slow
def test_names_are_those_of_a_recording():
    session = run(do(opened("arm"), "record", on=True), 0.5)
    do(session, "record", on=False)
    trajectory = session.downloads._trajectory
    history = session.signals.history
    rows = np.searchsorted(history.times, trajectory.time - 1e-9)
    for field in ("qpos", "qvel", "ctrl", "act"):
        for k, name in enumerate(trajectory.names[field]):
            recorded = getattr(trajectory, field)[:, k]
            np.testing.assert_allclose(history.column(f"{field}[{name}]")[rows], recorded, rtol=1e-6, atol=1e-7)


# ---------------------------------------------------------------- jumps


def test_a_reset_begins_anew():
    session = run(session_of("pendulum", timestep=0.05), 1.0)
    do(session, "reset", key=None)
    assert session.signals.history.times.tolist() == [0.0]
    run(session, 0.5)
    assert session.signals.history.times[-1] == pytest.approx(0.5)


def test_curves_part_where_the_state_jumps():
    session = run(session_of("pendulum", timestep=0.05), 0.5)
    do(session, "slider", id="qpos[theta]", value=1.0)
    run(session, 0.2)
    times, angles = session.signals.history.times, session.signals.history.column("qpos[theta]")
    (gap,) = np.flatnonzero(np.isnan(times))
    assert times[gap + 1] == times[gap - 1] and angles[gap + 1] == 1.0


def test_turning_without_dynamics_is_no_jump():
    session = do(opened("pendularm"), "integrator", name="none")
    session.handle(Command("play"))
    run(session, 1.0)
    times, angles = session.signals.history.times, session.signals.history.column("qpos[theta]")
    later = np.flatnonzero(times > 0)
    assert np.isfinite(times[later[0] :]).all()
    np.testing.assert_allclose(np.diff(angles[later]), np.pi / 180, rtol=1e-4)


@pytest.mark.slow
def test_another_law_of_contact_keeps_the_past():
    session = run(opened("bouncing_ball"), 0.2)
    before = session.signals.history.column("qpos[height]")
    do(session, "contact", name="hard")
    run(session, 0.2)
    after = session.signals.history
    np.testing.assert_array_equal(after.column("qpos[height]")[: len(before)], before)
    assert after.times[-1] > 0.35 and session.signals.chosen == ["qpos[height]", "contact_force[floor ball]"]


# ---------------------------------------------------------------- choosing


@pytest.mark.slow
@pytest.mark.parametrize("name", scenes())
def test_every_scene_plots_something_at_first(name):
    session = opened(name)
    assert session.signals.chosen == session.signals.preset != []
    assert all(np.isfinite(session.signals.history.column(id)[0]) for id in session.signals.chosen)
    session.close()


def test_the_pendularm_plots_angle_target_and_torque():
    """By the lecture's names; with the push of a key, which acts beside the motor."""
    session = opened("pendularm")
    shown = [s for s in session.signals.signals if s.id in session.signals.chosen]
    assert [(s.label, s.unit) for s in shown] == [("x", "rad"), ("x_desired", "rad"), ("u", "N m")]
    do(session, "keydown", key="d")
    run(session, 0.2)
    history = session.signals.history
    assert history.column("u")[-1] == 50.0 and history.column("target")[-1] == pytest.approx(-math.pi / 2.5)


def test_a_signal_that_there_is_not_is_told_with_a_proposal():
    session = session_of("pendulum")
    before = session.signals.chosen
    do(session, "plot", signals=["qpos[theta]", "qpos[tetha]"])
    assert notices(session) == ["there is no signal 'qpos[tetha]'; did you mean 'qpos[theta]'?"]
    assert session.signals.chosen == before


def test_no_more_signals_than_the_plots_can_show():
    session = opened("humanoid")
    do(session, "plot", signals=[s.id for s in session.signals.signals[:25]])
    assert notices(session) == ["25 signals exceed the limit of 24"]


# ---------------------------------------------------------------- what pages get


def test_memory_is_bounded():
    """However wide the samples are and however long it goes on."""
    for width, most in ((3, 1000), (2000, 10**6)):
        history = History([str(k) for k in range(width)], [0], most, 10**6)
        for k in range(3000):
            history.append(float(k), np.zeros(width))
        assert len(history) >= history.room and history._values.nbytes + history._times.nbytes <= 1.01e6
        assert history.times[-1] == 2999


def test_a_wide_history_reaches_back_for_a_while(monkeypatch):
    """Room for 40 samples, 20 s at least: two a second."""
    monkeypatch.setattr(signals_module, "MOST_SAMPLES", 40)
    session = run(session_of("pendulum", timestep=0.05), 30.0)
    times = session.signals.history.times
    np.testing.assert_allclose(np.diff(times), 0.5, rtol=1e-9)
    assert times[-1] - times[0] >= 19.4 and len(times) <= 50


def test_what_takes_long_to_compute_is_at_every_few_samples(monkeypatch):
    """No more than 1/4 of the time goes into it where it is plotted, and 1/20 otherwise."""
    monkeypatch.setattr(signals_module, "SHARE", 0.25)
    monkeypatch.setattr(signals_module, "SHARE_UNSEEN", 0.05)
    session = session_of("bouncing_ball")
    session.signals.choose(["qpos[height]"])
    session.signals.pace(0.001, 1.0)
    session.signals._cost = 0.002  # s, at 1000 samples a second
    assert session.signals._stride() == 40
    session.signals.choose(["energy"])
    assert session.signals._stride() == 8


def test_pages_get_every_sample():
    """Two pages, one of which comes later; both have all samples without gaps, from the first moment."""
    with lab.open("pendulum", browser=False) as opened_lab, page(opened_lab) as first:
        first.until(lambda: first.samples is not None and len(first.samples["times"]) > 10)
        first.send("plot", signals=["qvel[theta]"])
        first.until(lambda: first.samples["anew"] and len(first.samples["places"]) == 1)
        with page(opened_lab) as second:
            second.until(lambda: second.samples is not None and len(second.samples["times"]) > 30)
            first.until(lambda: len(first.samples["times"]) > 30)
            sim = opened_lab._stage.session.setup.simulation()
            for k in range(30):
                assert first.samples["times"][k] == second.samples["times"][k] == sim.time
                assert first.plotted("qvel[theta]")[k] == second.plotted("qvel[theta]")[k] == np.float32(sim.qvel[0])
                sim.step()
        first.send("plot", signals=["nothing"])
        first.until(lambda: any("there is no signal 'nothing'" in text for text in first.notices))


def test_a_recording_plots_all_of_itself_at_once():
    trajectory = saltus.Simulation("pendulum", timestep=0.01).run(1.0, sample=0.02)
    player = Player(trajectory, Downloads())
    assert player.signals.chosen[0] == "qpos[theta]"
    np.testing.assert_allclose(player.signals.history.column("qpos[theta]"), trajectory.qpos[:, 0], rtol=1e-6)
    np.testing.assert_allclose(player.signals.history.column("energy"), trajectory.energy.sum(axis=1), atol=1e-5)
    player.handle(Command("plot", {"signals": ["kinetic"]}))
    assert player.signals.chosen == ["kinetic"] and player.frame() is not None


def test_signals_without_samples_are_said_all_the_same():
    message = Signals([], []).message()
    assert message["signals"] == [] and message["preset"] == []
