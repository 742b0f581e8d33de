"""Derivatives of steps in plain Python, with duals: in closed form, by tangents, and back over runs.

References: differences of sixth order of steps, with distances of 2e-5 (rounding of 1e-11 of the largest entry) under a
solver's tolerance of 1e-15; for the closed form and for gradients backwards tangents along every direction, and
MuJoCo's steps.
"""

import warnings
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from helpers import jacobian_scenes, oracle
from helpers.plain_python import plain_python
from helpers.random_tree import random_tree
from helpers.step_differences import differences

import saltus
from saltus.contact.counts import NCON
from saltus.simulate.derivatives import linearize
from saltus.simulate.derivatives.linearize import run_tangents
from saltus.simulate.gradients import adjoint
from saltus.simulate.gradients.step_adjoint import StepAdjoint

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


SPINNING = """<mujoco><option timestep=".02" tolerance="1e-15" iterations="200"><flag eulerdamp="{implicit}"/></option>
  <worldbody><body>
  <joint name="b" type="ball" damping=".1"/><geom type="capsule" fromto="0 0 0 .1 0 -.4" size=".03" mass="1"
  contype="0"/><body pos=".1 0 -.4"><joint name="k" axis="1 .2 0" range="-60 -1" limited="{limited}"
  solreflimit=".06 1" solimplimit=".5 .9 .1"/><geom type="capsule" fromto="0 0 0 0 .1 -.3" size=".02" mass=".5"
  contype="0"/></body></body></worldbody><actuator><motor joint="{motor}" gear="1 .5 .2 0 0 0"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("limited", "implicit", "motor"), [("false", "enable", "b"), ("true", "disable", "b"), ("false", "enable", "k")]
)
def test_controls_of_a_body_that_spins(limited, implicit, motor, monkeypatch):
    """A torque turns by what the velocity after the step says, which the control changes, too."""
    monkeypatch.setattr(linearize, "has_closed_form", lambda *_: False)
    sim = saltus.Simulation(SPINNING.format(limited=limited, implicit=implicit, motor=motor), "euler")
    sim.qvel[:], sim.ctrl[:] = (6.0, -5.0, 4.0, 0.3), 2.0
    sim.step()
    assert_derivatives(sim)


@pytest.mark.parametrize("tilt", [0.1, -0.1])
def test_contacts_in_a_gap_have_no_rows(tilt):
    """Of the corners of a tilted box some press on the floor, and some are within the gap, listed before or after."""
    xml = FLOOR.replace('type="plane"', 'type="plane" margin=".004" gap=".03"').format(cone="pyramidal")
    sim = saltus.Simulation(xml, "euler")
    sim.qpos[3:7] = np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0
    sim.qpos[2] = 0.067
    sim.step(2)
    assert_derivatives(sim)
    d = sim.engine.d.views
    felt = d["contact_block"][: d["count"][NCON]] >= 0
    assert felt.any() and not felt.all()


@pytest.mark.parametrize("closed", [True, False])
def test_a_step_that_ends_at_the_most_iterations(closed, monkeypatch):
    """Derivatives are those of the solution, to rounding, where a step takes all three iterations that it may."""
    if not closed:
        monkeypatch.setattr(linearize, "has_closed_form", lambda *_: False)
    whole = at_work(FLOOR.format(cone="elliptic"), "euler")
    wanted, apart = np.hstack(whole.linearize()), {}
    for iterations in (2, 3):
        few = FLOOR.replace('iterations="200"', f'iterations="{iterations}"').format(cone="elliptic")
        sim = saltus.Simulation(few, "euler")
        for name in ("time", "qpos", "qvel", "ctrl"):
            setattr(sim, name, getattr(whole, name))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", saltus.SaltusWarning)  # of two iterations, which are too few
            apart[iterations] = np.max(np.abs(np.hstack(sim.linearize()) - wanted)) / np.max(np.abs(wanted))
    assert apart[2] > 1e-5 and apart[3] < 1e-12


def test_a_body_at_rest_in_a_medium():
    """Its drag has no slope where it does not turn yet: MuJoCo's implicit steps, to rounding."""
    xml = """<mujoco><option timestep=".01" density="1000" viscosity=".02" integrator="implicitfast"/><worldbody><body>
      <freejoint/><geom type="box" size=".1 .2 .3" mass="30" fluidshape="ellipsoid"/></body></worldbody></mujoco>"""
    sim, m = saltus.Simulation(xml), mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(m)
    for _ in range(3):
        sim.step()
        mujoco.mj_step(m, data)
        np.testing.assert_allclose(sim.qvel, data.qvel, rtol=1e-12, atol=1e-14)


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
PARAMETERS += (
    "opt.impratio",
    "tendon_stiffness[t]",
    "tendon_damping[t]",
    "jnt_range[h]",
    "qpos_spring[h]",
    "body_iquat[b]",
)


#: Bodies that move with the first degree of freedom alone, and that touch each other and the floor.
SLIDER = f"""<mujoco>{OPTION}<default><geom {SOFT} friction=".4 .02 .01" condim="{{condim}}" margin=".002"/></default>
  <worldbody>
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
    sim = at_work(SLIDER.format(cone=cone, condim=3), "euler", 2)
    assert linearize.has_closed_form(sim.engine.m, sim.model)
    assert_derivatives(sim)


@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 3), ("elliptic", 3), ("pyramidal", 4), ("elliptic", 6)])
def test_gradients_of_runs_of_sliders_backwards(cone, condim):
    """Pushed by Cartesian forces, and against a limit."""
    found = {}
    wrt = ("qpos", "qvel", "body_mass[s]", "body_mass[t]", "geom_friction[s]", "geom_solref[s]", "opt.gravity")
    wrt += ("body_ipos[s]", "body_ipos[t]", "body_pos[fixed]", "body_pos[t]", "body_quat[fixed]")
    for mode in ("reverse", "forward"):
        sim = at_work(SLIDER.format(cone=cone, condim=condim), "euler", 2)
        sim.xfrc_applied[1:3] = [0.3, -0.5, 1.0, 0.2, 0.1, -0.3], [0.4, 0.2, -1.0, 0.05, -0.2, 0.1]
        found[mode] = saltus.run_gradient(sim, 0.012, loss, wrt=wrt, mode=mode)[1]
    for name, wanted in found["forward"].items():
        scale = max(1e-6, np.max(np.abs(wanted)))
        np.testing.assert_allclose(found["reverse"][name], wanted, rtol=0, atol=1e-9 * scale, err_msg=name)


def test_gradients_backwards_by_matrices_of_some_steps_at_once(monkeypatch):
    """Muscles and filters go back by matrices, of two steps at once here, to those along every direction."""
    monkeypatch.setattr(adjoint, "CHUNK", 2)
    found = {}
    for mode in ("reverse", "forward"):
        sim = at_work(TENDON.format(cone="pyramidal"), "euler")
        found[mode] = saltus.run_gradient(sim, 0.02, loss, wrt=("qpos", "qvel", "act", "ctrl"), mode=mode)[1]
    assert not StepAdjoint(sim.engine, ()).whole and sim.model.na == 2
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


FRAMED = """<mujoco><option timestep=".004"/><default><geom contype="0"/></default><worldbody>
<body name="a" quat=".9 .2 -.1 .3"><joint name="a" axis="1 .2 0"/><geom size=".05" pos=".2 0 0" mass="1"/>
<body name="b" pos=".4 .1 0" quat=".8 -.3 .2 .1"><joint name="b" axis="0 1 .3" pos=".02 0 .01"/>
<joint name="s" type="slide" axis=".2 0 1"/><geom type="box" size=".05 .1 .02" pos="0 0 .2" mass=".5"/>
<body name="c" pos="0 .1 .3" quat=".9 0 .3 -.2"><joint name="c" type="ball"/>
<geom type="box" size=".03 .05 .02" pos=".1 0 0" mass=".2"/></body></body></body></worldbody></mujoco>"""


def test_gradients_by_frames_backwards():
    """Of bodies and joints, whose parents have turned."""
    found, names = {}, [f"{field}[{body}]" for field in ("body_pos", "body_quat") for body in "abc"]
    names += [f"jnt_pos[{joint}]" for joint in "abc"] + [f"jnt_axis[{joint}]" for joint in "abs"]
    for mode in ("reverse", "forward"):
        sim = at_work(FRAMED, "euler", 2)
        found[mode] = saltus.run_gradient(sim, 0.008, loss, wrt=names, mode=mode)[1]
    assert StepAdjoint(sim.engine, names).quick.all()
    for name, wanted in found["forward"].items():
        scale = max(1e-6, np.max(np.abs(wanted)))
        np.testing.assert_allclose(found["reverse"][name], wanted, rtol=0, atol=1e-9 * scale, err_msg=name)


KINK = """<mujoco><option timestep=".004" cone="elliptic"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 {}"><freejoint/><geom name="ball" size=".1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_gradients_by_equal_frictions_are_refused_where_they_act(mode):
    """None of two equal numbers is the larger one, which counts although a ball that falls straight feels neither."""
    touching, apart = (saltus.Simulation(KINK.format(z), "euler") for z in (0.099, 0.3))

    def height(run):
        return run.qpos[-1, 2]

    with pytest.raises(saltus.OptionError, match=r"geom_friction\[ball\]\[0\] has no derivative here: it is equal"):
        saltus.run_gradient(touching, 0.004, height, wrt=("geom_friction[ball][0]",), mode=mode)
    found = saltus.run_gradient(apart, 0.004, height, wrt=("geom_friction[ball][0]",), mode=mode)[1]
    assert found["geom_friction[ball][0]"] == 0.0


#: Limits, dry friction and motors on one and on several joints; gravity along all axes, which may be compensated.
COUPLED = """<mujoco><option timestep=".004" tolerance="1e-15" iterations="200" gravity="1.5 -2 -9"/>
  <default><joint solreflimit=".03 1" solimplimit=".5 .9 .1"/><geom contype="0"/></default><worldbody>
  <body name="a"><joint name="a" axis="0 1 .2" damping=".1" range="-40 -1" limited="true"/>
  <geom type="capsule" fromto="0 0 0 .1 .05 -.4" size=".03" mass="1"/><body name="b" pos=".1 .05 -.4">
  <joint name="b" axis="1 .3 0" damping=".05" armature=".01"/>
  <geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".02" mass=".5"/>
  <body name="c" pos=".1 0 -.3" gravcomp="{compensated}">
  <joint name="c" axis=".2 1 0" stiffness="2" springref="20"/>
  <geom type="box" size=".05 .03 .02" pos="0 .1 -.1" mass=".3"/>
  <body name="d" pos="0 .1 -.1" quat=".9 .1 -.2 .1"><joint name="d" type="slide" axis="1 .2 .5" ref=".1" damping=".3"
  stiffness="5"/><geom type="box" size=".02 .03 .04" pos=".05 0 .02" mass=".2"/></body></body></body></body></worldbody>
  <tendon><fixed name="l" limited="true" range="-.3 -.02" solreflimit=".03 1" solimplimit=".5 .9 .1">
  <joint joint="a" coef=".6"/><joint joint="b" coef="-.7"/><joint joint="c" coef=".4"/></fixed>
  <fixed name="f" frictionloss="2" solreffriction=".05 1"><joint joint="a" coef=".3"/><joint joint="c" coef="1.1"/>
  </fixed></tendon>
  <actuator><position name="p" joint="a" kp="3" kv=".4" gear="1.5"/><general name="g" joint="b" gaintype="affine"
  gainprm="1 .4 -.3" biastype="affine" biasprm=".1 -.5 -.2"/></actuator></mujoco>"""
FIELDS = ("opt.gravity", "body_mass[b]", "body_ipos[c]", "body_inertia[b]", "jnt_range[a]", "dof_damping[a]")
FIELDS += ("body_mass[c]", "dof_damping[c]", "actuator_gainprm[p]")
FIELDS += ("dof_armature[b]", "jnt_stiffness[c]", "actuator_gainprm[g]", "actuator_biasprm[g]", "tendon_range[l]")
FRAMES = ("body_pos[d]", "body_pos[b]", "jnt_pos[d]", "jnt_pos[c]")
STEPS = 3


def coupled(compensated=0.0):
    """A simulation whose three constraints act, of which dry friction sticks."""
    sim = saltus.Simulation(COUPLED.format(compensated=compensated), "euler")
    sim.qvel[:] = 0.2, -0.3, 0.1, 0.4
    sim.ctrl[:] = 0.3, -0.4
    sim.xfrc_applied[3] = 0.3, -0.5, 0.2, 0.04, 0.05, -0.03
    sim.step(3)
    return sim


def test_closed_form_of_coupled_joints():
    sim = coupled()
    assert linearize.has_closed_form(sim.engine.m, sim.model)
    assert_derivatives(sim)


def test_springs_of_balls_need_directions():
    """Four numbers of a quaternion for three degrees of freedom; dampers of the same joint need none."""
    xml = SPINNING.replace('type="ball"', 'type="ball" stiffness="1"').format(
        limited="false", implicit="enable", motor="k"
    )
    of_steps = StepAdjoint(saltus.Simulation(xml, "euler").engine, ("qpos_spring[b]", "dof_damping[b]"))
    found = {name: of_steps.quick[here].tolist() for name, here in of_steps.places.items()}
    assert found["qpos_spring[b]"] == [False] * 4 and all(found["dof_damping[b]"])


def loss_of_mujoco(m, sim, moved):
    """The loss of MuJoCo's steps from the state of a simulation, of which the field of that name moves."""
    data, qpos, qvel = mujoco.MjData(m), [], []
    mujoco.mj_setConst(m, data)
    for name in ("qpos", "qvel", "ctrl", "xfrc_applied"):
        getattr(data, name)[:] = getattr(sim, name) + moved.get(name, 0.0)
    for k in range(STEPS + 1):
        qpos.append(data.qpos.copy())
        qvel.append(data.qvel.copy())
        if k < STEPS:
            mujoco.mj_step(m, data)
    return loss(SimpleNamespace(qpos=np.array(qpos), qvel=np.array(qvel)))


def slopes(function, size):
    """Derivatives of a function by changes [size], differences of sixth order."""
    weights = ((1, 45), (2, -9), (3, 1))
    terms = [sum(w * (function(k * STEP * e) - function(-k * STEP * e)) for k, w in weights) for e in np.eye(size)]
    return np.array(terms) / (60.0 * STEP)


@pytest.mark.parametrize("compensated", [0.0, 0.6])
def test_gradients_of_mujocos_runs_backwards(compensated):
    """To 1e-8 of the largest of a field: rounding of 1e-14 over distances of 2e-5, and numbers near 1 behind it."""
    sim, m = coupled(compensated), mujoco.MjModel.from_xml_string(COUPLED.format(compensated=compensated))
    fields = (*FIELDS, *(FRAMES if compensated == 0.0 else ()))
    of_steps = StepAdjoint(sim.engine, fields)
    assert of_steps.whole == (compensated == 0.0) and of_steps.quick.all()
    wrt = ("qpos", "qvel", "ctrl", *fields)
    value, found = saltus.run_gradient(sim, STEPS * sim.timestep, loss, wrt=wrt, mode="reverse")
    assert value == pytest.approx(loss_of_mujoco(m, sim, {}), rel=1e-12)
    for name in wrt[:3]:
        wanted = slopes(lambda x, name=name: loss_of_mujoco(m, sim, {name: x}), len(found[name]))
        np.testing.assert_allclose(found[name], wanted, rtol=0, atol=1e-8 * max(1.0, np.max(np.abs(wanted))))
    for name in fields:
        of, field, item = (m.opt, "gravity", "") if name == "opt.gravity" else (m, *name.rstrip("]").split("["))
        kind = {"body": "BODY", "jnt": "JOINT", "dof": "JOINT", "actuator": "ACTUATOR", "tendon": "TENDON"}
        row = mujoco.mj_name2id(m, getattr(mujoco.mjtObj, "mjOBJ_" + kind[field.split("_")[0]]), item) if item else ...
        kept = getattr(of, field).copy()

        def changed(x, of=of, field=field, row=row, kept=kept):
            getattr(of, field)[row] = (kept[row] + x).reshape(kept[row].shape)
            moved = loss_of_mujoco(m, sim, {})
            getattr(of, field)[:] = kept
            return moved

        wanted = slopes(changed, np.size(found[name]))
        scale = max(1.0, np.max(np.abs(wanted)))
        np.testing.assert_allclose(np.ravel(found[name]), wanted, rtol=0, atol=1e-8 * scale, err_msg=name)


def loss(run):
    weights = np.linspace(-1.0, 2.0, run.qpos.shape[1]), np.linspace(2.0, -1.0, run.qvel.shape[1])
    return np.sum((run.qpos @ weights[0]) ** 2) + np.sum(run.qvel[-1] * weights[1]) + np.sum(run.qvel[1] ** 2)


# ---------------------------------------------------------------- through impacts

SPUN = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction=".2"/>
  <body name="ball" pos="0 0 .11" simple="false"><joint name="z" type="slide" axis="0 0 1"/>
  <joint name="x" type="slide" axis="1 0 0"/><joint name="t" axis="0 1 0"/><geom size=".1" friction=".3"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("parameter", ["body_ipos[ball][0]", "body_ipos[ball][2]"])
def test_a_coupling_that_is_zero_but_for_its_tangents(parameter):
    """A sliding ball lands: its centre of mass couples slides and hinge, and the rows of the contact, from zero on.

    Differences of second order with distances of 1e-4, extrapolated: 1e-6 of the largest.
    """
    model = saltus.load(SPUN)

    def thrown(changed):
        sim = saltus.Simulation(changed, "rk4", saltus.Hard(restitution=0.5), timestep=0.02)
        sim.qvel[:] = [-0.5, 1.0, 0.0]
        return sim

    def end(x):
        sim = thrown(model.changed({parameter: x}))
        sim.step(2)
        return np.concatenate([sim.qpos, sim.qvel])

    _, _, P = run_tangents(thrown(model).engine, (parameter,)).linearize(2)
    wide, near = ((end(h) - end(-h)) / (2 * h) for h in (2e-4, 1e-4))
    wanted = (4 * near - wide) / 3
    np.testing.assert_allclose(P[:, 0], wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
