"""Gradients of losses of runs.

References: closed forms of a bouncing ball; extrapolated central differences of whole runs, with steps of 1e-4 and
5e-5: rounding of 1e-13 over the step leaves 1e-9, and 1e-8 holds with room.
"""

import numpy as np
import pytest

import saltus

G = 9.81
LINK = """<mujoco><option timestep=".01"/><worldbody><body name="link"><joint name="h" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/></body></worldbody><actuator><motor joint="h"/></actuator>
  </mujoco>"""
BALL = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <geom type="plane" size="5 5 .1" friction=".3"/>
  <body pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/><joint name="x" type="slide" axis="1 0 0"/>
  <joint name="y" type="slide" axis="0 1 0"/><geom size=".1" friction=".3"/></body></worldbody></mujoco>"""
TUMBLING = """<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/>
  <body pos="0 0 .4"><joint type="ball"/><geom type="box" size=".1 .1 .2" pos="0 .1 .2"/></body></body></worldbody>
  </mujoco>"""


def extrapolated(value, at):
    def central(h):
        return (value(at + h) - value(at - h)) / (2 * h)

    return (4 * central(5e-5) - central(1e-4)) / 3


def link(q=0.5, v=0.2, u=0.3, mass=2.0, gravity=-9.81):
    model = saltus.load(LINK).changed({"body_mass[link]": mass, "opt.gravity[2]": gravity})
    sim = saltus.Simulation(model, "rk4")
    sim.qpos, sim.qvel, sim.ctrl = q, v, u
    return sim


def swing(run):
    return 0.01 * np.sum((np.sin(run.qpos[:, 0]) - 0.2) ** 2) + run.qvel[-1, 0] ** 2


def test_a_link_by_start_control_mass_and_gravity():
    names = {"q": "qpos", "v": "qvel", "u": "ctrl", "mass": "body_mass[link]", "gravity": "opt.gravity[2]"}
    sim = link()
    before = sim.snapshot()
    value, gradient = saltus.run_gradient(sim, 0.5, swing, wrt=tuple(names.values()))
    np.testing.assert_array_equal(sim.snapshot(), before)
    assert value == pytest.approx(swing(link().run(0.5, sample=0.01)), rel=1e-13)
    at = {"q": 0.5, "v": 0.2, "u": 0.3, "mass": 2.0, "gravity": -9.81}
    for own, name in names.items():
        expected = extrapolated(lambda x, own=own: swing(link(**{own: x}).run(0.5, sample=0.01)), at[own])
        assert np.ravel(gradient[name])[0] == pytest.approx(expected, rel=1e-8)
    assert gradient.zero == ()
    assert list(gradient) == list(names.values())


def test_free_and_ball_joints_along_their_manifold():
    def make():
        sim = saltus.Simulation(TUMBLING, "euler")
        sim.qvel = [0.1, 0, 0.2, 1, 0.2, 0.3, -0.4, 0.8, 0.5]
        return sim

    def loss(run):
        return run.qpos[-1, 4] + run.qpos[-1, 8] ** 2 - run.qpos[-1, 2]

    _, gradient = saltus.run_gradient(make(), 0.1, loss, wrt=("qpos", "qvel"))

    def changed(direction, x):
        import mujoco

        sim, change = make(), np.zeros(18)
        change[direction] = x
        q = np.array(sim.qpos)
        mujoco.mj_integratePos(sim.model.mujoco, q, change[:9], 1.0)
        sim.qpos, sim.qvel = q, np.array(sim.qvel) + change[9:]
        return loss(sim.run(0.1, sample=0.002))

    for k in range(18):
        expected = extrapolated(lambda x, k=k: changed(k, x), 0.0)
        assert [*gradient["qpos"], *gradient["qvel"]][k] == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("one_hard_layout")
def test_a_balls_impacts_and_its_place_after_them():
    """Impact 2 is at √(2 h/g) (1 + 2 e), and the place in between follows from the throw by hand."""
    h, e = 0.8, 0.7
    sim = saltus.Simulation(BALL, contact=saltus.Hard(restitution=e), timestep=0.05, tolerance=(1e-11, 1e-13))
    sim.qpos[0] = h
    fall = np.sqrt(2 * h / G)
    value, gradient = saltus.run_gradient(sim, 1.0, lambda run: run.events[1].time, wrt=("qpos", "qvel"))
    assert value == pytest.approx(fall * (1 + 2 * e), rel=1e-9)
    assert gradient["qpos"][0] == pytest.approx(value / (2 * h), rel=1e-9)
    np.testing.assert_allclose(gradient["qvel"][1:], 0, atol=1e-12)
    # height 0.2 s after the first impact, at t = 0.6 s or so: a sample between the impacts
    end = 0.05 * round((fall + 0.2) / 0.05)
    s = end - fall
    value, gradient = saltus.run_gradient(sim, end, lambda run: run.qpos[-1, 0], wrt="qpos")
    assert value == pytest.approx(e * G * fall * s - G * s**2 / 2, rel=1e-8)
    by_h = 1 / (G * fall)  # of the fall's time
    assert gradient["qpos"][0] == pytest.approx(((1 + e) * G * s - e * G * fall) * by_h, rel=1e-8)


def test_what_is_wrong_is_named():
    sim = link()
    for wrong, said in (
        ({"duration": 0.503}, "whole number of timesteps"),
        ({"wrt": ("qpos", "no_field")}, "no_field"),
        ({"loss": lambda run: run.qpos}, "must return one number"),
        ({"loss": lambda run: float(run.qpos[-1, 0])}, "NumPy's functions"),
    ):
        with pytest.raises(saltus.OptionError, match=said):
            saltus.run_gradient(**{"sim": sim, "duration": 0.5, "loss": swing, "wrt": ("qpos",), **wrong})


def test_a_loss_that_does_not_feel_something_says_so():
    _, gradient = saltus.run_gradient(link(), 0.1, lambda run: run.qpos[0, 0] ** 2, wrt=("qpos", "ctrl"))
    assert gradient.zero == ("ctrl",)
    assert "zero here: ctrl" in repr(gradient)


def test_soft_contacts_that_begin_are_told():
    """In free flight nothing is left out; a ball that lands within the run says when (at √(2 h/g), to a step)."""
    fall = np.sqrt(2 * 0.05 / G)
    sim = saltus.Simulation(BALL, "euler", timestep=0.002)
    sim.qpos[0] = 0.05
    assert saltus.run_gradient(sim, 0.09, lambda run: run.qpos[-1, 0])[1].changes == ()
    with pytest.warns(saltus.SaltusWarning, match="contacts or limits begin or end at t = 0.1"):
        _, gradient = saltus.run_gradient(sim, 0.11, lambda run: run.qpos[-1, 0])
    assert gradient.changes == (pytest.approx(fall, abs=2 * 0.002),)
    assert "leaves out changes of contacts" in repr(gradient)


@pytest.mark.slow
@pytest.mark.usefixtures("one_hard_layout")
def test_a_balls_impacts_by_restitution_and_gravity():
    """Impact 3 at t (1 + 2 e + 2 e²), t = √(2 h/g)."""
    e, h = 0.7, 0.8
    sim = saltus.Simulation(BALL, "rk4", saltus.Hard(restitution=e), timestep=0.05)
    sim.qpos[0] = h
    names = ("Hard.restitution", "opt.gravity[2]", "qpos")
    time, gradient = saltus.run_gradient(sim, 1.5, lambda run: run.events[2].time, wrt=names)
    t, factor = np.sqrt(2 * h / G), 1 + 2 * e + 2 * e**2
    assert time == pytest.approx(t * factor, rel=1e-9)
    assert gradient["Hard.restitution"] == pytest.approx(t * (2 + 4 * e), rel=1e-8)
    assert gradient["opt.gravity[2]"] == pytest.approx(t * factor / (2 * G), rel=1e-8)
    assert gradient["qpos"][0] == pytest.approx(t * factor / (2 * h), rel=1e-8)


def test_a_controllers_gain_under_adaptive_steps():
    """m x'' = kp (r - x): x = r (1 - cos ω t), ω = √(kp/m); by kp it changes by r t sin(ω t)/(2 √(kp m))."""
    model = """<mujoco><worldbody><body><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body>
      </worldbody><actuator><motor name="motor" joint="x"/></actuator></mujoco>"""
    kp, m, r, t = 8.0, 2.0, 0.3, 1.2
    sim = saltus.Simulation(
        model, "dopri5", timestep=0.1, tolerance=(1e-12, 1e-14), control=saltus.PID(kp=kp, target=r)
    )
    x, gradient = saltus.run_gradient(sim, t, lambda run: run.qpos[-1, 0], wrt=("PID.kp[motor]", "body_mass[#1]"))
    w = np.sqrt(kp / m)
    assert x == pytest.approx(r * (1 - np.cos(w * t)), rel=1e-9)
    slope = r * t * np.sin(w * t) / (2 * np.sqrt(kp * m))
    assert gradient["PID.kp[motor]"] == pytest.approx(slope, rel=1e-8)
    assert gradient["body_mass[#1]"] == pytest.approx(-slope * kp / m, rel=1e-8)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("scale", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_is_refused(mode, scale):
    with pytest.raises(saltus.OptionError, match="loss must be a finite number"):
        saltus.run_gradient(saltus.Simulation(LINK), 0.02, lambda run: scale * (1.0 + run.qpos[-1, 0]), mode=mode)
