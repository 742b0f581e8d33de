"""`saltus bench env` measures what it says: the same tasks on all sides, and what is not there is named.

Reference for the tasks by `mujoco.batch` and NumPy: Gymnasium's own environments, which step MuJoCo, too: observations
and rewards without external wrenches agree to rounding (1e-12, relative to 1 or the number). Saltus's numbers are
compared with the same tasks, solvers at their minimum, to 1e-9.
"""

import json
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from saltus.bench.environments import command as env  # noqa: E402
from saltus.bench.environments import mujoco_tasks, robot, sides  # noqa: E402
from saltus.errors import OptionError  # noqa: E402

HOPPING = """<mujoco model="hopping"><worldbody><geom type="plane" size="5 5 1"/>
<body name="trunk" pos="0 0 0.6"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="3" contype="0" conaffinity="0"/>
<body name="leg"><joint name="leg" type="slide" axis="0 0 1" range="-0.2 0.2" limited="true" damping="5"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.45" size="0.04" mass="0.5"/></body></body></worldbody>
<actuator><position name="leg" joint="leg" kp="300" ctrlrange="-0.2 0.2"/></actuator></mujoco>"""


def of_gymnasium(name):
    pytest.importorskip("imageio", reason="Gymnasium's MuJoCo environments import it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gymnasium.make(f"{name}-v5").unwrapped


@pytest.mark.parametrize("name", mujoco_tasks.TASKS)
def test_tasks_by_mujoco_and_numpy_are_gymnasiums(name):
    theirs = of_gymnasium(name)
    task = mujoco_tasks.TASKS[name](theirs.model, 2, 1)
    assert task.dt == theirs.dt and task.limit == gymnasium.spec(f"{name}-v5").max_episode_steps
    rng = np.random.default_rng(1)
    theirs.reset(seed=0)
    task.put(np.arange(2), np.tile(theirs.data.qpos, (2, 1)), np.tile(theirs.data.qvel, (2, 1)))
    for _ in range(5):
        action = rng.uniform(theirs.action_space.low, theirs.action_space.high)
        seen, reward, terminated, _, info = theirs.step(action)
        observations, rewards, ends, _ = task.step(np.tile(action, (2, 1)))
        assert list(ends) == [terminated] * 2
        if terminated:
            break
        wanted = reward - info.get("reward_contact", 0.0)
        np.testing.assert_allclose(rewards, [wanted] * 2, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(observations[1], seen[: observations.shape[1]], rtol=1e-12, atol=1e-12)


def test_episodes_that_end_begin_anew_and_others_go_on():
    theirs = of_gymnasium("InvertedPendulum")
    task = mujoco_tasks.InvertedPendulum(theirs.model, 3, 1)
    task.put(np.array([1]), np.array([[0.0, 0.5]]), np.zeros((1, 2)))
    _, rewards, terminated, truncated = task.step(np.zeros((3, 1)))
    assert list(terminated) == [False, True, False] and list(rewards) == [1.0, 0.0, 1.0] and not truncated.any()
    assert list(task.steps) == [1, 0, 1] and abs(task.qpos[1]).max() <= task.reset_noise
    task.steps[:] = task.limit - 1
    assert task.step(np.zeros((3, 1)))[3].all() and not task.steps.any()


def test_a_robot_has_its_own_values_within_their_bounds():
    model, environment, changes = robot.made(HOPPING)
    assert environment is robot.FallingRobot and changes["lowest"] == 0.3
    values = robot.own_values(model, 50, np.random.default_rng(0))
    assert set(values) == set(robot.VARIED)
    np.testing.assert_array_less(abs(values["body_mass"][:, 1:] / model.body_mass[1:] - 1.0), 0.2)
    # a servo stays one: its gain and its stiffness have one factor
    np.testing.assert_allclose(values["actuator_gainprm"][:, 0, 0], -values["actuator_biasprm"][:, 0, 1])
    found = robot.controls(model, 1000, np.random.default_rng(0))
    assert 0.03 < found.max() <= 0.04 and -0.04 <= found.min() < -0.03


def test_options_say_how_much_is_measured():
    assert env.planned(False, None, None) == env.Effort()
    assert env.planned(True, None, None) == env.QUICK
    effort = env.planned(False, 10, 3)
    assert (effort.n, effort.robots, effort.repeats) == (10, 10, 3)


def test_what_makes_no_sense_is_refused():
    options = {"quick": True, "json_path": None, "models": [], "n": None, "repeats": None}
    with pytest.raises(OptionError, match="did you mean 'HalfCheetah'"):
        env.bench_env(threads=1, tasks=["HalfCheeta"], **options)
    with pytest.raises(OptionError, match="threads"):
        env.bench_env(threads=0, tasks=[], **options)


def test_peers_that_are_not_installed_are_named(monkeypatch):
    monkeypatch.setattr(sides, "find_spec", lambda name: None)
    missing = sides.missing()
    assert missing["envpool"] == "not installed; pip install envpool==1.2.5"
    assert set(missing) == {"envpool", "gymnasium sync", "gymnasium async"}


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "env.json"
    env.bench_env(quick=True, threads=1, json_path=path, tasks=[], models=[], n=None, repeats=None)
    out = capsys.readouterr().out
    content = json.loads(path.read_text())
    assert content["machine"]["threads"] == 1 and content["effort"]["repeats"] == 3
    rows = {row["who"]: row for row in content["rows"]}
    expected = {*env.PEERS, "saltus float64", "saltus float32"} - set(sides.missing())
    assert set(rows) == expected and all(who in out for who in expected)
    for who in expected & set(env.PEERS):
        # machines differ and share their cores
        assert min(rows[who]["faster"]) > 0.5
    assert rows["mujoco.batch"]["difference"] < 1e-9
    assert {cost["precision"]: 0.0 < cost["host"] < 1.0 for cost in content["costs"]} == {
        "float64": True,
        "float32": True,
    }


@pytest.mark.slow
def test_a_robot_is_compared_with_values_of_its_own(tmp_path):
    model = tmp_path / "hopping.xml"
    model.write_text(HOPPING)
    rows, costs = env.measure_robot(str(model), env.Effort(robots=16, repeats=1, seconds=0.0, warming=1))
    assert [row.who for row in rows] == ["mujoco.batch", "saltus float64", "saltus float32"]
    assert rows[0].difference < 1e-9 and all(row.threads == 1 and row.seconds > 0 for row in rows)
    assert [cost.precision for cost in costs] == ["float64", "float32"] and all(cost.varied > 0 for cost in costs)
