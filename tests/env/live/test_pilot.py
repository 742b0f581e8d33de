"""When a policy acts, what it is given, and what people set.

References: the environment's declaration; the times at which the actions change.
"""

import numpy as np
import pytest
from helpers.steered import Steered
from helpers.swinging import Swinging

import saltus
from saltus.env.live.pilot import Pilot
from saltus.errors import OptionError


def started(pilot, timestep=0.01):
    task = pilot.task
    sim = saltus.Simulation(task.model, task.integrator, timestep=timestep, control=Steered.control)
    pilot.begin(sim)
    return sim


@pytest.mark.parametrize(("timestep", "steps"), [(0.01, 3), (0.005, 6), (0.03, 1)])
def test_actions_are_held_for_a_step_of_the_environment(timestep, steps):
    """frame_skip = 3 steps of 0.01 s are 0.03 s, whatever step the lab takes."""
    times = []

    def policy(seen):
        times.append(sim.time)
        return [0.1]

    pilot = Pilot(Steered(), policy, True, 0)
    sim = started(pilot, timestep)
    taken = 0
    while len(times) < 5:
        pilot.act(sim)
        count = pilot.steps_left(sim)
        sim.step(count)
        taken += count
    assert taken == 5 * steps
    np.testing.assert_allclose(times, 0.03 * np.arange(5), atol=1e-12)


def test_a_step_that_does_not_divide_it_is_late_by_less_than_a_step():
    times = []
    pilot = Pilot(Steered(), lambda seen: times.append(sim.time) or [0.0], True, 0)
    sim = started(pilot, 0.02)
    for _ in range(40):
        pilot.act(sim)
        sim.step(pilot.steps_left(sim))
    late = np.array(times) - 0.03 * np.arange(len(times))
    assert (late > -1e-9).all() and (late < 0.02).all() and len(times) == 40


def test_inputs_stay_as_they_are_set():
    """The environment draws another command after every step; what is observed first is command - x."""
    seen = []
    pilot = Pilot(Steered(), lambda o: seen.append(o) or [0.0], True, 0)
    assert pilot.set == {"command[0]": 0.25, "command[1]": 0.0, "wind[0]": 0.01}
    sim = started(pilot)
    for k in range(20):
        pilot.set["command[0]"] = 0.25 if k < 10 else -0.5
        pilot.act(sim)
        sim.step()
    places = np.array([o[0] for o in seen])
    np.testing.assert_allclose(places[:3], 0.25, atol=0.1)
    np.testing.assert_allclose(places[-3:], -0.5, atol=0.1)
    pilot.set["wind[0]"] = 0.1
    while pilot.steps < 10:
        pilot.act(sim)
        sim.step()
    assert pilot.wrench[2, 0] == pytest.approx(0.1 * 10)


def test_episodes_end_or_go_on():
    for restart in (True, False):
        pilot = Pilot(Steered(max_episode_steps=4), None, restart, 0)
        sim = started(pilot)
        for _ in range(30):
            pilot.act(sim)
            if pilot.ended:
                break
            sim.step(pilot.steps_left(sim))
        assert pilot.ended == restart
        assert pilot.steps == (4 if restart else 29)
        total = pilot.total
        pilot.begin(sim)
        assert (pilot.steps, pilot.episode, pilot.ended, pilot.last) == (0, 2, False, (total, 4 if restart else 29))
        assert sim.time == 0.0


def test_an_episode_may_begin_elsewhere():
    pilot = Pilot(Swinging(), None, True, 0)
    sim = saltus.Simulation("cart_pole", timestep=0.02)
    sim.reset("hanging")
    pilot.begin(sim, elsewhere=True)
    assert sim.qpos[1] == np.pi
    np.testing.assert_allclose(pilot.task.results.observations[0][[1, 2, 5]], [0.0, -1.0, -1.0], atol=1e-12)


def test_without_a_policy_the_action_is_the_nearest_to_zero():
    class Lifted(Steered):
        action_range = (0.5, 1.0)

    pilot = Pilot(Lifted(), None, True, 0)
    pilot.act(started(pilot))
    assert pilot.action == 0.5


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda seen: [0.0, 0.0], "policy: expected 1 finite numbers, got array"),
        (lambda seen: [np.nan], "policy: expected 1 finite numbers"),
        (lambda seen: 1 / 0, "policy: ZeroDivisionError: division by zero"),
    ],
)
def test_policies_that_fail_are_told(policy, message):
    pilot = Pilot(Steered(), policy, True, 0)
    sim = started(pilot)
    with pytest.raises(OptionError, match=message):
        pilot.act(sim)
