"""Derivatives of steps in plain Python, with duals: in closed form, by tangents, and back over runs.

References: differences of sixth order of steps, with distances of 2e-5 (rounding of 1e-11 of the largest entry) under a
solver's tolerance of 1e-15; for the closed form and for gradients backwards tangents along every direction.
"""

import numpy as np
import pytest
from helpers import jacobian_scenes, oracle
from helpers.plain_python import plain_python
from helpers.random_tree import random_tree
from helpers.step_differences import differences

import saltus
from saltus.simulate.derivatives import linearize

CLOSE, STEP = 2e-9, 2e-5
OPTION = '<option timestep=".004" tolerance="1e-15" iterations="200" cone="{cone}"/>'
SOFT = 'solref=".03 1" solimp=".5 .9 .05"'
FLOOR = f"""<mujoco>{OPTION}<default><geom {SOFT}/><joint solreflimit=".03 1" solimplimit=".5 .9 .1"/></default>
  <worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .058"><freejoint/>
  <geom type="box" size=".1 .08 .06" mass="1"/><body pos=".1 0 .05">
  <joint name="h" axis="0 1 0" range="-20 4" limited="true" damping=".2 .1" frictionloss=".1"/>
  <geom type="capsule" fromto="0 0 0 .3 0 -.1" size=".04" mass=".3"/></body></body></worldbody>
  <actuator><motor joint="h" gear="2"/></actuator></mujoco>"""
TENDON = f"""<mujoco>{OPTION}<worldbody><site name="a" pos="0 .05 0"/><body><joint name="j" axis="1 0 0"
  damping=".1 .2 .1" armature=".02"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1"/>
  <site name="b" pos="0 .03 -.2"/><body pos="0 0 -.4"><joint name="k" axis="1 0 0" range="-60 3" limited="true"
  solreflimit=".03 1" solimplimit=".5 .9 .1" stiffness="2"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".5"/></body></body></worldbody>
  <tendon><spatial name="t" stiffness="3" damping=".2"><site site="a"/><site site="b"/></spatial>
  <fixed name="f" limited="true" range="-.1 .1" damping=".3" armature=".05" stiffness="2" solreflimit=".03 1"
  solimplimit=".5 .9 .1"><joint joint="j" coef="1"/><joint joint="k" coef="-.7"/></fixed></tendon>
  <actuator><muscle tendon="t" lengthrange=".05 .4"/><general joint="k" dyntype="filter" dynprm=".05" gainprm="2"/>
  </actuator></mujoco>"""
BALL = f"""<mujoco>{OPTION}<option density="1.2" viscosity=".01"/><worldbody><body><joint name="b" type="ball"
  damping=".1" stiffness=".5" range="0 20" limited="true" solreflimit=".03 1" solimplimit=".5 .9 .1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1" contype="0"/><body name="q" pos="0 0 -.4">
  <joint name="k" axis="1 .2 0" damping=".05"/>
  <geom type="capsule" fromto="0 0 0 .1 0 -.32" size=".02" mass=".5" contype="0"/></body></body>
  <body name="r" pos="0 .3 0"><joint name="l" axis="1 0 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1" contype="0"/></body></worldbody>
  <equality><connect body1="q" body2="r" anchor="0 .3 0" {SOFT}/><joint joint1="k" joint2="l" polycoef="0 .9 .1 0 0"
  solref=".03 1"/></equality><actuator><position joint="l" kp="20"/></actuator></mujoco>"""
SCENES = {"pyramids": (FLOOR, "pyramidal"), "cones": (FLOOR, "elliptic"), "tendons": (TENDON, "pyramidal")}
SCENES["balls and loops"] = BALL, "pyramidal"


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def at_work(xml, integrator, steps=12):
    """A simulation on its way, whose constraints act."""
    sim, rng = saltus.Simulation(xml, integrator), np.random.default_rng(3)
    sim.ctrl[:] = rng.uniform(0.1, 0.4, sim.model.nu)
    sim.qvel[:] = rng.normal(0, 0.3, sim.model.nv)
    sim.step(steps)
    sim.ctrl[:] += 0.2  # muscles have a kink where activation and excitation are equal
    return sim


def assert_derivatives(sim, close=CLOSE):
    wanted = differences(sim, oracle.reference(sim.model), STEP)
    found = np.hstack(sim.linearize())
    np.testing.assert_allclose(found, wanted, rtol=0, atol=close * max(1.0, np.max(np.abs(wanted))))


@pytest.mark.parametrize("name", SCENES)
def test_tangents_of_steps_of_euler(name, monkeypatch):
    monkeypatch.setattr(linearize, "has_closed_form", lambda *_: False)
    xml, cone = SCENES[name]
    assert_derivatives(at_work(xml.format(cone=cone), "euler"))


@pytest.mark.parametrize("integrator", ["implicitfast", "implicit", "rk4", "implicit_midpoint", "verlet"])
def test_steps_on_duals(integrator):
    """Springs, dampers, actuators, a tree; Newton iterations of implicit methods."""
    sim = at_work(random_tree(4, bodies=3), integrator, 2)
    assert_derivatives(sim)


@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 1), ("pyramidal", 4), ("elliptic", 3), ("elliptic", 6)])
def test_closed_form_of_a_scene_with_everything(cone, condim):
    """Against tangents along each direction, to rounding that stiff rows amplify."""
    sim = jacobian_scenes.pushed(jacobian_scenes.world(cone, condim), 12)
    found = sim.linearize()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linearize, "has_closed_form", lambda *_: False)
        other = saltus.Simulation(sim.model, "euler")
        other.restore(sim.snapshot())
        wanted = other.linearize()
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-11 * max(1.0, np.max(np.abs(y))))


# ---------------------------------------------------------------- back over runs

REAR = f"""<mujoco>{OPTION}<default><geom {SOFT} friction=".4 .02 .01"/><joint solreflimit=".03 1"
  solimplimit=".5 .9 .1" solreffriction=".05 1"/></default><worldbody>
  <geom type="plane" size="5 5 .1" friction=".2 .01 .005"/><body name="a" pos="0 0 .055"><freejoint/>
  <geom name="a" type="box" size=".1 .08 .06" mass="1"/><body name="b" pos=".1 0 .05">
  <joint name="h" axis="0 1 0" range="-20 4" limited="true" damping=".2 .1" stiffness="2 .3" springref="5"
  frictionloss=".05" armature=".01"/><geom name="b" type="capsule" fromto="0 0 0 .3 0 -.1" size=".04" mass=".3"/>
  <body name="c" pos=".3 0 -.1"><joint name="k" type="ball" damping=".02"/>
  <geom size=".04" pos=".05 0 .02" mass=".1" contype="0"/></body></body></body></worldbody>
  <tendon><fixed name="t" stiffness="1.5" damping=".1" frictionloss=".02"><joint joint="h" coef=".8"/></fixed></tendon>
  <actuator><motor name="m" joint="h" gear="2"/><position name="p" joint="h" kp="3" kv=".1"/></actuator></mujoco>"""
PARAMETERS = ("opt.gravity", "body_mass[a]", "body_inertia[b]", "body_ipos[b]", "dof_damping[h]", "dof_armature[h]")
PARAMETERS += (
    "jnt_stiffness[h]",
    "geom_friction[a]",
    "geom_solref[a]",
    *(f"geom_solimp[a][{k}]" for k in range(4)),
    "jnt_solref[h]",
)
PARAMETERS += ("dof_frictionloss[h]", "actuator_gear[m]", "actuator_gainprm[p]", "actuator_biasprm[p]")
PARAMETERS += ("tendon_stiffness[t]", "tendon_damping[t]", "jnt_range[h]", "qpos_spring[h]", "body_iquat[b]")


#: Bodies that move with the first degree of freedom alone, and that touch each other and the floor.
SLIDER = f"""<mujoco>{OPTION}<default><geom {SOFT} friction=".4 .02 .01"/></default><worldbody>
  <geom type="plane" size="5 5 .1" friction=".2 .01 .005"/><body name="s" pos="0 0 .095">
  <joint type="slide" axis=".1 0 1"/><geom name="s" size=".1" mass="1"/></body><body name="t" pos=".05 .02 .285">
  <joint type="slide" axis="0 0 1"/><joint axis="0 1 .2" limited="true" range=".1 30" solreflimit=".03 1"/>
  <geom type="box" size=".1 .1 .1" mass="1" friction=".3 .01 .02"/><body name="fixed" pos="0 .1 .1">
  <geom type="capsule" size=".03 .1" mass=".3" pos=".05 0 0" contype="0"/></body></body>
  <body pos="2 0 1"><freejoint/><geom size=".1"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_closed_form_of_sliders(cone):
    """Contacts of what moves with the first degree of freedom alone."""
    sim = at_work(SLIDER.format(cone=cone), "euler", 2)
    assert linearize.has_closed_form(sim.engine.m, sim.model)
    assert_derivatives(sim)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_gradients_of_runs_of_sliders_backwards(cone):
    """Pushed by Cartesian forces, and against a limit."""
    found = {}
    wrt = ("qpos", "qvel", "body_mass[s]", "body_mass[t]", "geom_friction[s]", "geom_solref[s]", "opt.gravity")
    wrt += ("body_ipos[s]", "body_ipos[t]", "body_pos[fixed]", "body_pos[t]", "body_quat[fixed]")
    for mode in ("reverse", "forward"):
        sim = at_work(SLIDER.format(cone=cone), "euler", 2)
        sim.xfrc_applied[1:3] = [0.3, -0.5, 1.0, 0.2, 0.1, -0.3], [0.4, 0.2, -1.0, 0.05, -0.2, 0.1]
        found[mode] = saltus.run_gradient(sim, 0.012, loss, wrt=wrt, mode=mode)[1]
    for name, wanted in found["forward"].items():
        scale = max(1e-6, np.max(np.abs(wanted)))
        np.testing.assert_allclose(found["reverse"][name], wanted, rtol=0, atol=1e-9 * scale, err_msg=name)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_gradients_of_runs_backwards(cone):
    """Against tangents along every direction, to 1e-9 of the largest of a field."""
    found = {}
    for mode in ("reverse", "forward"):
        sim = at_work(REAR.format(cone=cone), "euler", 2)
        value = saltus.run_gradient(sim, 0.008, loss, wrt=("qpos", "qvel", "ctrl", *PARAMETERS), mode=mode)[1]
        found[mode] = value
    for name, wanted in found["forward"].items():
        scale = max(1e-6, np.max(np.abs(wanted)))
        np.testing.assert_allclose(found["reverse"][name], wanted, rtol=0, atol=1e-9 * scale, err_msg=name)


def loss(run):
    weights = np.linspace(-1.0, 2.0, run.qpos.shape[1]), np.linspace(2.0, -1.0, run.qvel.shape[1])
    return np.sum((run.qpos @ weights[0]) ** 2) + np.sum(run.qvel[-1] * weights[1]) + np.sum(run.qvel[1] ** 2)
