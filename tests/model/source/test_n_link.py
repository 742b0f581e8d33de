"""The n-link pendulum is the tutorial's. Reference: the tutorial's numbers; the double pendulum; closed forms.

Tolerance: the numbers are iterates of one semi-implicit Euler map: rounding accumulated over 100 steps, 1e-12.
"""

from importlib.resources import files

import mujoco
import numpy as np
import pytest
from helpers.tree_matrices import full_mass, random_state
from numpy.testing import assert_allclose

import saltus
from saltus.errors import OptionError
from saltus.model.source.n_link import MOST, n_link

BUNDLED = files("saltus") / "model" / "source" / "bundled"


def text(name):
    return (BUNDLED / f"{name}.xml").read_text(encoding="utf-8")


# absolute angles after 100 steps of 0.01 s from hanging at rest, with 5 sin(8 pi t) along x at the end of the last link
FORCED = {
    1: [-0.101355489466139],
    2: [-0.01393061200271415, 0.1141395879641071],
    3: [0.03571540741921724, 0.05559588450347966, -0.06335907547524458],
    4: [0.05325083635382396, 0.0338994484057665, -0.03834705510822934, 0.0007984448829697091],
}


def run_tutorial(n, force=0.0, torque=0.0):
    """The tutorial's loop: 100 semi-implicit Euler steps, force and torque sampled at the start of the step."""
    model = mujoco.MjModel.from_xml_string(n_link(n))
    data = mujoco.MjData(model)
    jacobian = np.zeros((3, model.nv))
    for i in range(100):
        mujoco.mj_forward(model, data)
        mujoco.mj_jacSite(model, data, jacobian, None, model.site("tip").id)
        wave = np.sin(8 * np.pi * (i * 0.01))
        data.qfrc_applied[:] = jacobian[0] * force * wave
        data.ctrl[-1] = torque * wave
        mujoco.mj_step(model, data)
    return model, data


@pytest.mark.parametrize("n", FORCED)
def test_n_link_reproduces_the_tutorial_under_a_force(n):
    _, data = run_tutorial(n, force=5.0)
    relative = np.diff(FORCED[n], prepend=0.0)
    assert_allclose(data.qpos, relative, rtol=0, atol=1e-12)
    if n == 2:
        assert_allclose(np.cumsum(data.qvel), [-0.1696021367149584, -0.5943819466443383], rtol=0, atol=1e-12)


def test_n_link_reproduces_the_tutorial_under_a_torque():
    _, data = run_tutorial(2, torque=5.0)
    assert_allclose(np.cumsum(data.qpos), [-0.02711825783209075, 0.07303740753427433], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_n_link_hangs_from_its_pivot(n):
    model = mujoco.MjModel.from_xml_string(n_link(n))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert model.nv == model.nu == n and model.opt.timestep == 0.01
    assert_allclose(data.xpos[1], [0, 0, n])
    assert_allclose(data.site("tip").xpos, [0, 0, 0], rtol=0, atol=1e-12)
    assert_allclose(data.qacc, 0, rtol=0, atol=1e-12)
    data.qpos[0] = np.pi / 2  # positive is towards +x
    mujoco.mj_forward(model, data)
    assert_allclose(data.site("tip").xpos, [n, 0, n], atol=1e-11)


def test_n_link_takes_every_parameter_per_link_or_for_all():
    model = mujoco.MjModel.from_xml_string(
        n_link(2, m=[1.5, 2], l=(0.3, 0.7), d=[0.25, 1], inertia=[0.1, 0], g=1.62, pivot=(3, -4), timestep=0.002)
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    inner = 0.1 + 1.5 * (0.25 * 0.3) ** 2
    outer = 2 * 0.7**2
    both = inner + 2 * (0.3 + 0.7) ** 2
    coupling = outer + 2 * 0.3 * 0.7
    assert_allclose(full_mass(model, data), [[both, coupling], [coupling, outer]], rtol=1e-13)
    assert_allclose(data.xpos[1], [3, 0, -4])
    assert_allclose(model.opt.gravity, [0, 0, -1.62])
    assert model.opt.timestep == 0.002


def test_n_link_of_point_masses_is_the_double_pendulum():
    rng = np.random.default_rng(6)
    model = mujoco.MjModel.from_xml_string(n_link(2, m=2, l=2, d=1, inertia=0))
    twin = mujoco.MjModel.from_xml_string(text("double_pendulum"))
    data, twin_data = mujoco.MjData(model), mujoco.MjData(twin)
    for _ in range(5):
        q, v, a, tau = random_state(model, data, rng, torque=10)
        twin_data.qpos[:], twin_data.qvel[:], twin_data.ctrl[:] = q, v, tau
        mujoco.mj_forward(twin, twin_data)
        assert_allclose(a, twin_data.qacc, rtol=1e-11)


def test_the_longest_n_link_is_that_of_mujocos_reader(monkeypatch):
    assert saltus.load(f"n_link:{MOST}").nv == MOST
    monkeypatch.setattr("saltus.model.source.n_link.MOST", MOST + 1)
    with pytest.raises(ValueError, match="DEPTH_EXCEEDED"):
        mujoco.MjSpec.from_string(n_link(MOST + 1))


@pytest.mark.parametrize("number", ["²", "1" * 5000, "-1", "1.5", "", "٣"])
def test_names_with_other_numbers(number):
    with pytest.raises(OptionError, match="expected n_link:N"):
        saltus.load(f"n_link:{number}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be a whole number"),
        ({"n": 2.5}, "n must be a whole number"),
        ({"n": MOST + 1}, "n must be at most 496 links .*500 elements inside each other"),
        ({"n": True}, "n must be a whole number"),
        ({"n": 2, "m": 0}, "m must be above 0"),
        ({"n": 2, "m": [1, -1]}, "m must be above 0"),
        ({"n": 2, "m": [1, 2, 3]}, "m has 3 values for 2 links"),
        ({"n": 2, "l": "1"}, "l must be a number or 2 numbers"),
        ({"n": 2, "l": None}, "l must be a number"),
        ({"n": 2, "d": float("nan")}, "d must be finite"),
        ({"n": 2, "inertia": -1}, "inertia must be at least 0"),
        ({"n": 2, "inertia": 0, "d": [1, 0]}, "link 2 has no inertia"),
        ({"n": 2, "g": "down"}, "g must be a number"),
        ({"n": 2, "timestep": 0}, "timestep must be above 0"),
        ({"n": 2, "pivot": 3}, "pivot must be a pair"),
        ({"n": 2, "pivot": (0, float("inf"))}, "pivot y must be finite"),
    ],
)
def test_n_link_refuses_what_is_not_a_pendulum(arguments, message):
    with pytest.raises(OptionError, match=message):
        n_link(**arguments)
