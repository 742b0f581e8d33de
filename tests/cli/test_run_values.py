"""Values that the command line gives a run: `saltus run --set`, `--force` and `n_link:N`.

Reference: constant acceleration in closed form, which semi-implicit Euler gives the velocity of exactly.
"""

import numpy as np
import pytest

import saltus

BODY = """<mujoco model="fall"><option timestep="0.01"/><worldbody><body name="ball" pos="0 0 5">
<joint name="fall" type="slide" axis="0 0 1"/><geom name="ball" size="0.1" mass="2"/></body></worldbody></mujoco>"""


@pytest.fixture
def run(saltus_command, tmp_path):
    """Run the falling body for a second with options: its recording, and what was printed."""

    def recorded(*options):
        (tmp_path / "fall.xml").write_text(BODY)
        what = ["run", tmp_path / "fall.xml", "--duration", 1, "--no-certify", "--save", tmp_path / "fall.nc"]
        code, out, err = saltus_command(*what, *options)
        assert code == 0, err
        return saltus.Trajectory.load(tmp_path / "fall.nc"), out

    return recorded


def test_gravity_and_the_first_velocity(run):
    t, out = run("--set", "opt.gravity=0,0,-1.62", "--set", "qvel[fall]=3", "--set", "qpos[fall]=-1")
    assert (t.qpos[0, 0], t.qvel[0, 0]) == (-1.0, 3.0)
    np.testing.assert_allclose(t.qvel[-1], 3 - 1.62, rtol=1e-12)
    assert "opt.gravity = [0.0, 0.0, -1.62]" in out


def test_an_attribute_of_the_file(run):
    t, _ = run("--set", "joint[fall]/axis=0 0 -1")
    np.testing.assert_allclose(t.qvel[-1], 9.81, rtol=1e-12)


def test_a_force_on_a_body(run):
    t, out = run("--force", "ball=0,0,5")
    np.testing.assert_allclose(t.qvel[-1], 5 / 2 - 9.81, rtol=1e-12)
    assert t.attrs["applied"] == {"xfrc_applied[ball]": [0, 0, 5, 0, 0, 0]}
    assert "xfrc_applied[ball]" in out
    t, _ = run("--set", "qfrc_applied[fall]=5")
    np.testing.assert_allclose(t.qvel[-1], 5 / 2 - 9.81, rtol=1e-12)


def test_a_torque_on_the_last_of_many_links(saltus_command, tmp_path):
    path = tmp_path / "n.nc"
    arguments = ["--duration", 0.01, "--sample", 0.01, "--no-certify", "--save", path, "--force", "link3=0,0,0,0,-2,0"]
    assert saltus_command("run", "n_link:3", *arguments)[0] == 0
    t = saltus.Trajectory.load(path)
    # at rest below the pivot: M a = Jᵀ τ, and the torque about the joints' axis acts on every link's angle
    M = saltus.Simulation(saltus.n_link(3)).full_M()
    np.testing.assert_allclose(t.qvel[-1], 0.01 * np.linalg.solve(M, [2.0, 2.0, 2.0]), rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "gravity=1"], "'gravity' is not a setting"),
        (["--set", "opt.gravity=1"], "opt.gravity takes 3 numbers, as 0, 0, -9.81, not one"),
        (["--set", "opt.gravity"], "expected PATH=VALUE"),
        (["--set", "qvel[fal]=1"], "did you mean 'fall'?"),
        (["--set", "qvel[fall]=a"], "'a' is not a number"),
        (["--set", "qvel[fall]=1", "--set", "qvel[fall]=2"], "given twice"),
        (["--force", "ball=1,2"], "expected BODY=fx,fy,fz"),
        (["--force", "bal=1,2,3"], "xfrc_applied[bal]"),
        (["--force", "ball=1,2,x"], "expected BODY=fx,fy,fz"),
    ],
)
def test_bad_values(saltus_command, tmp_path, options, said):
    (tmp_path / "fall.xml").write_text(BODY)
    code, _, err = saltus_command("run", tmp_path / "fall.xml", *options)
    assert code == 1 and said in err


def test_a_number_of_links_that_is_none(saltus_command):
    for name in ("n_link:0", "n_link:x", "n_link:"):
        code, _, err = saltus_command("check", name)
        assert code == 1 and "n_link" in err and "links" in err
