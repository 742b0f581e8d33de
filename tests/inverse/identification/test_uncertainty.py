"""What data cannot tell is named. References: the equations of motion, which show what a motion depends on.

Combinations are directions in which those equations do not change, to the size of the noise: with p the parameters, the
one value that matters, f(p), has a gradient that is normal to the direction.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.inverse.identification.uncertainty import known

BOB = """<mujoco><worldbody><body name="bob"><joint name="q" axis="0 1 0"/>
  <inertial pos="0 0 {l}" mass="{m}" diaginertia=".001 .001 .001"/></body></worldbody></mujoco>"""


@pytest.mark.filterwarnings("ignore:identify. not converged")  # values go on along what is not told
def test_mass_and_length_of_a_pendulum_that_is_turned_slowly():
    """Force = m g l sin q, but for accelerations of 1e-4 rad/s², whose torque the noise of 1e-3 N m hides: only m l."""
    t = np.linspace(0, 60, 241)
    q = 0.8 * np.sin(0.01 * t)
    noise = 1e-3 * np.random.default_rng(0).normal(size=t.shape)
    log = {"time": t, "qpos": q, "qfrc": 9.81 * 1.2 * 0.5 * np.sin(q) + noise}
    bounds = {"body_mass[bob]": (0.5, 3.0), "body_ipos[bob][2]": (-1.0, -0.2)}
    fit = saltus.identify(BOB.format(m=1.0, l=-0.4), log, bounds, data="forces", iterations=8)
    assert len(fit.unidentified) == 1 and set(fit.unidentified[0]) == set(bounds)
    mass, place = fit.values.values()
    dm, dl = fit.unidentified[0].values()
    assert -mass * place == pytest.approx(0.6, rel=1e-3)  # of 230 samples, each to 1e-3 / 4
    assert dm * place + mass * dl == pytest.approx(0.0, abs=1e-3 * abs(dm * place))
    assert np.isinf(list(fit.std.values())).all()


SERIES = """<mujoco><option timestep=".01" integrator="implicit" gravity="0 0 0"/><worldbody><body name="node">
  <inertial pos="0 0 0" mass="1e-5" diaginertia="1e-5 1e-5 1e-5"/>
  <joint name="first" type="slide" axis="1 0 0" damping="{a}"/>
  <body name="block"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
  <joint name="second" type="slide" axis="1 0 0" damping="{b}"/><site name="end"/></body></body></worldbody>
  <actuator><motor site="end" gear="1 0 0 0 0 0"/></actuator>
  <sensor><framepos name="place" objtype="site" objname="end"/></sensor></mujoco>"""


def test_two_dampers_in_series():
    """The rates add, f / a + f / b, where the node between has hardly any mass: only 1 / (1 / a + 1 / b) is told."""
    sim = saltus.Simulation(SERIES.format(a=3.0, b=6.0))
    run = sim.run(0.6, sample=0.02, control=lambda s: [4 * np.sin(6 * 0.02 * np.floor(s.time / 0.02 + 1e-6))])
    readings = run.sensordata + [1e-4, 0, 0] * np.random.default_rng(0).normal(size=run.sensordata.shape)
    log = {"time": run.time, "qpos": run.qpos, "qvel": run.qvel, "ctrl": run.ctrl, "sensordata": readings}
    bounds = {"dof_damping[first]": (1.0, 10.0), "dof_damping[second]": (1.0, 20.0)}
    start = SERIES.format(a=4.0, b=4.0)
    fit = saltus.identify(start, log, bounds, measured="place", estimate_start=False, holdout=0)
    assert len(fit.unidentified) == 1 and set(fit.unidentified[0]) == set(bounds)
    a, b = fit.values.values()
    da, db = fit.unidentified[0].values()
    assert a * b / (a + b) == pytest.approx(2.0, rel=5e-3)
    assert da / a**2 + db / b**2 == pytest.approx(0.0, abs=0.02 * abs(da / a**2))


TABLE = """<mujoco><option timestep=".01" integrator="RK4" gravity="0 0 0"/><worldbody>
  <body name="block">
  <joint name="x" type="slide" axis="1 0 0" stiffness="10"/>
  <joint name="y" type="slide" axis="0 1 0" stiffness="{k}"/>
  <joint name="turn" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>
  </body></worldbody></mujoco>"""


def test_a_spring_that_is_never_stretched_and_an_inertia_about_an_axis_that_never_turns():
    sim = saltus.Simulation(TABLE.format(k=5))
    sim.qpos[0] = 0.2
    run = sim.run(0.5, sample=0.02)
    fit = {"jnt_stiffness[x]": (5.0, 20.0)}
    for name in ("jnt_stiffness[y]", "body_inertia[block][2]"):
        words = "does not depend on " + name.replace("[", r"\[").replace("]", r"\]") + " at all"
        with pytest.raises(OptionError, match=words):
            saltus.identify(TABLE.format(k=3), run, fit | {name: (0.01, 9.0)})
    assert saltus.identify(TABLE.format(k=3), run, fit).values["jnt_stiffness[x]"] == pytest.approx(10, rel=1e-6)


STONE = """<mujoco><option timestep=".01" integrator="RK4"/><worldbody><body name="stone"><freejoint/>
  <inertial pos="0 0 0" mass="{m}" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""


def test_a_mass_in_free_fall():
    """All masses fall alike, z = v t - g t² / 2: gravity is told, and the mass is named."""
    t = np.arange(51) / 50
    zero = np.zeros_like(t)
    qpos = np.stack([zero, zero, 3 * t - 0.5 * 1.62 * t**2, zero + 1, zero, zero, zero], axis=1)
    gravity = {"opt.gravity[2]": (-20.0, 0.0)}
    fit = saltus.identify(STONE.format(m=2), {"time": t, "qpos": qpos}, gravity)
    assert fit.values["opt.gravity[2]"] == pytest.approx(-1.62, rel=1e-6)
    with pytest.raises(OptionError, match=r"does not depend on body_mass\[stone\] at all"):
        saltus.identify(STONE.format(m=2), {"time": t, "qpos": qpos}, gravity | {"body_mass[stone]": (0.5, 5.0)})


def test_a_backlash_is_no_number_of_a_model():
    t = np.arange(5) / 50
    with pytest.raises(OptionError, match="no number of a model is a backlash; give the play a joint of its own"):
        saltus.identify(BOB.format(m=1, l=-0.4), {"time": t, "qpos": t}, {"backlash[q]": (0.0, 0.1)})


def test_covariance_is_the_inverse_of_the_information():
    """(RᵀR)⁻¹ of linear regression; a direction that R does not see gets infinite deviations."""
    R = np.random.default_rng(0).normal(size=(50, 3))
    covariance, lost = known(R, np.full(3, 100.0), 1.0, "abc")
    np.testing.assert_allclose(covariance, np.linalg.inv(R.T @ R), rtol=1e-10)
    assert lost == ()
    covariance, lost = known(R @ np.diag([1, 1, 0]), np.full(3, 100.0), 1.0, "abc")
    assert np.isinf(covariance[2, 2]) and [dict(x) for x in lost] == [{"c": pytest.approx(lost[0]["c"])}]
