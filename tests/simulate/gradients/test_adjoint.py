"""Gradients of runs in reverse mode.

References: MuJoCo's runs with changed fields, in central differences that are extrapolated (their rounding of 1e-13
over steps of 1e-4 leaves 1e-9, and 1e-6 of the largest holds with room); forward mode, which dual numbers carry along,
to 1e-9 of the largest number of a field.
"""

import warnings
from types import SimpleNamespace
from typing import cast

import mpmath
import mujoco
import numpy as np
import pytest
from helpers.parametric import PARAMETRIC, parametric_state

import saltus
from saltus.errors import OptionError
from saltus.model.vary.fields import value_of
from saltus.number.functions import sincos
from saltus.simulate.gradients.adjoint import SMALL, Adjoint, check_reversible
from saltus.simulate.gradients.step_adjoint import StepAdjoint

RELATIVE = 1e-9
FIXED = [n for n, i in saltus.integrators().items() if not i.adaptive and i.needs.get("pcg") is not True]
LINK = """<mujoco><option timestep=".01"/><worldbody><body name="link">
  <joint name="h" axis="0 1 0" damping=".1" stiffness=".3"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/></body></worldbody><actuator><motor joint="h"/></actuator>
  </mujoco>"""
SLEDGE = """<mujoco><option timestep=".005" tolerance="0" iterations="50" ls_iterations="50"/>
  <default><geom solref=".03 .9" solimp=".8 .9 .01 .4 2"/></default><worldbody>
  <geom name="floor" type="plane" size="9 9 .1" friction=".2"/>
  <body name="sledge" pos="0 0 .095"><freejoint/>
    <geom name="box" type="box" size=".2 .15 .1" mass="2" friction=".4"/>
    <body name="pole" pos="0 0 .1"><joint name="theta" axis=".2 1 0" damping=".05" range="-10 10" frictionloss=".02"
      armature=".01" stiffness="2"/>
      <inertial pos="0 .02 .4" mass=".3" diaginertia=".02 .02 .001"/></body>
  </body></worldbody><actuator><motor name="pull" joint="theta" gear="2"/></actuator></mujoco>"""
TUMBLING = """<mujoco><option timestep=".05"/><worldbody><body name="a" pos="0 0 1"><freejoint/>
  <geom type="box" size=".1 .2 .3"/><body name="b" pos="0 0 .4"><joint type="ball" damping=".2"/>
  <geom type="box" size=".1 .1 .2" pos="0 .1 .2"/></body></body></worldbody></mujoco>"""
TENDONS = """<mujoco><option timestep=".005"/><worldbody><site name="hook" pos="0 .3 .6"/>
  <body name="low" pos="0 0 .5" gravcomp=".4"><joint name="h" axis="0 1 0" damping=".01"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/><site name="elbow" pos=".3 .05 0"/>
    <body name="high" pos=".3 0 0" gravcomp="1.3"><joint name="k" axis=".3 1 .2" damping=".002"/>
      <geom type="capsule" fromto="0 0 0 .2 .1 0" size=".02"/><site name="tip" pos=".2 .1 0"/></body></body></worldbody>
  <tendon><fixed name="pair" stiffness="3 2 5" damping=".003 .002 .001" springlength=".02 .05">
      <joint joint="h" coef="1"/><joint joint="k" coef="-.6"/></fixed>
    <spatial name="cord" stiffness="8" damping=".04" springlength=".1"><site site="hook"/><site site="elbow"/>
      <site site="tip"/></spatial></tendon></mujoco>"""
BODIES = ("body_mass", "body_ipos", "body_inertia", "body_iquat")
OF_SLEDGE = (
    *("body_mass", "body_inertia", "body_ipos[sledge]", "body_ipos[pole]", "dof_damping", "dof_armature"),
    *("dof_frictionloss[theta]", "jnt_stiffness[theta]", "jnt_range[theta]", "jnt_solref[theta]", "geom_margin[box]"),
    *("geom_friction[box][0]", "geom_solref", "geom_solimp[box][0]", "geom_solimp[box][1]", "geom_solimp[box][2]"),
    *("body_scale_mass[pole]", "body_inertial[sledge]", "body_pseudo_inertia[pole]"),
    *("actuator_gear[pull][0]", "actuator_gainprm[pull][0]", "opt.gravity", "opt.impratio"),
)


def sledge(**options):
    sim = saltus.Simulation(SLEDGE, "euler", **options)
    sim.qvel[:] = [1.0, 0.3, 0, 0.1, 0.2, 0.5, 1.5]
    sim.ctrl[:] = 0.4
    return sim


def random_loss(model, steps, seed=0):
    """A loss that feels all samples."""
    rng = np.random.default_rng(seed)
    of_v, of_q = rng.normal(size=(steps + 1, model.nv)), rng.normal(size=(steps + 1, model.nq))
    return lambda run: np.sum(of_v * run.qvel) + np.sum(of_q * np.sin(run.qpos))


def assert_same(reverse, forward):
    for name, wanted in forward.items():
        scale = np.max(np.abs(wanted), initial=0.0)
        np.testing.assert_allclose(reverse[name], wanted, rtol=0, atol=RELATIVE * scale, err_msg=name)


@pytest.fixture(autouse=True)
def quiet():
    """Without the warnings of contacts that begin, which a test of its own looks at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", saltus.SaltusWarning)
        yield


def both(sim, steps, wrt, loss=None):
    loss = loss or random_loss(sim.model, steps)
    found = [
        saltus.run_gradient(sim, steps * sim.timestep, loss, wrt=wrt, mode=mode) for mode in ("reverse", "forward")
    ]
    (value, reverse), (same, forward) = found
    assert value == pytest.approx(same, rel=1e-12)
    assert_same(reverse, forward)
    assert reverse.zero == forward.zero
    return reverse


@pytest.mark.slow
def test_a_sliding_sledge_against_mujoco():
    """Friction, limits, springs, motors and inertial parameters of one run, all from one way back."""
    sim, steps = sledge(), 12
    weights = np.random.default_rng(1).normal(size=sim.model.nv)

    def end(field, place, x):
        m = mujoco.MjModel.from_xml_string(SLEDGE)
        values = value_of(m, field)
        np.reshape(values, -1)[place] += x
        data = mujoco.MjData(m)
        mujoco.mj_setConst(m, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = sim.qpos, sim.qvel, sim.ctrl
        mujoco.mj_step(m, data, steps)
        return weights @ data.qvel

    names = ("body_mass", "dof_damping", "geom_friction[box][0]", "opt.gravity", "jnt_stiffness[theta]", "geom_solref")
    value, gradient = saltus.run_gradient(
        sim, steps * sim.timestep, lambda run: np.sum(weights * run.qvel[-1]), wrt=names, mode="reverse"
    )
    assert value == pytest.approx(end("body_mass", 0, 0.0), rel=1e-9)
    for name in names:
        field = name.partition("[")[0]
        first = {"geom_friction[box][0]": 3, "jnt_stiffness[theta]": 1}.get(name, 0)
        found, wanted = np.ravel(gradient[name]), []
        for k in range(len(found)):
            slopes = []
            for h in (1e-4, 5e-5):
                slopes.append((end(field, first + k, h) - end(field, first + k, -h)) / (2 * h))
            wanted.append((4 * slopes[1] - slopes[0]) / 3)
        here = slice(1, None) if name == "body_mass" else slice(None)  # the world has no mass
        np.testing.assert_allclose(found[here], wanted[here], atol=1e-6 * np.max(np.abs(wanted)), err_msg=name)


def test_a_sliding_sledge_against_forward_mode():
    gradient = both(sledge(), 6, ("qpos", "qvel", "ctrl", *OF_SLEDGE))
    assert np.isnan(gradient.condition)


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_with_geometry_which_needs_directions(cone):
    model = saltus.load(SLEDGE.replace("<option ", f'<option cone="{cone}" '))
    sim = saltus.Simulation(model, "euler")
    sim.qvel[:] = sledge().qvel
    both(sim, 4, ("body_pos[pole]", "geom_size[box]", "jnt_axis[theta]", "body_mass", "geom_friction[box]"))


@pytest.mark.parametrize("angle", [1e-9, 0.02, 0.99 * SMALL, 1.01 * SMALL, 2.5])
def test_turns_of_rotations(angle):
    """R = exp [θ] and Jᵀ = ∫ exp s [θ] ds over s from 0 to 1, by mpmath's exponential of a matrix with 40 digits."""
    axis = np.array([2.0, -1.0, 0.5]) / np.sqrt(5.25)
    steps = SimpleNamespace(
        _engine=SimpleNamespace(timestep=0.1),
        _values={"qvel": np.array([np.zeros(4), [3.0, *(10.0 * angle * axis)]])},
        _rotations=np.array([[1, 2, 3]]),
    )
    jacobian, turn, _ = Adjoint._turns(cast("Adjoint", steps))
    x, y, z = 0.1 * steps._values["qvel"][1, 1:]
    with mpmath.workdps(40):
        block = mpmath.zeros(6)
        for i, row in enumerate(((0, -z, y), (z, 0, -x), (-y, x, 0))):
            block[i, 3 + i] = 1
            for j in range(3):
                block[i, j] = mpmath.mpf(row[j])
        exact = np.array(mpmath.expm(block).tolist(), float)
    np.testing.assert_allclose(turn[0, 0], exact[:3, :3], rtol=0, atol=4e-16)
    np.testing.assert_allclose(jacobian[0, 0], exact[:3, 3:], rtol=0, atol=4e-16)


def test_rotations_of_large_steps():
    """Quaternions turn by a radian in a step, so that changes of the positions are not those of the velocities."""
    sim = saltus.Simulation(TUMBLING, "euler")
    sim.qvel[:] = [0.1, 0, 0.2, 15, 2, 3, -4, 8, 5]
    both(sim, 5, ("qpos", "qvel", *BODIES, "opt.gravity", "dof_damping"))


STACK = """<mujoco><option timestep=".005" cone="{cone}" tolerance="0" iterations="50"/>
  <default><geom solref=".03 .9" solimp=".8 .9 .01 .4 2"/></default><worldbody>
  <geom name="floor" type="plane" size="9 9 .1" friction=".2"/>
  <body pos="0 0 .097"><freejoint/><geom size=".1" condim="{dim}" friction=".4 .02 .01" mass="1"/></body>
  <body pos=".05 .02 .28"><freejoint/><geom size=".1" condim="{dim}" friction=".3 .03 .02" mass="2"/>
    <body pos=".1 0 .06"><joint axis="0 1 .2" damping=".1"/><geom size=".06" pos=".05 0 0" mass=".5"/></body></body>
  <body pos=".22 0 .075"><joint type="slide" axis="0 0 1"/><joint type="ball" damping=".01"/>
    <geom type="capsule" size=".08 .1" mass="1" euler="0 80 20"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(("cone", "dim"), [("pyramidal", 3), ("elliptic", 6), ("elliptic", 1)])
def test_contacts_between_bodies_that_move(cone, dim):
    """Bodies of three trees meet each other and the floor, with sliding, torsional and rolling friction."""
    sim = saltus.Simulation(STACK.format(cone=cone, dim=dim), "euler")
    sim.qvel[:] = 0.4 * np.random.default_rng(2).normal(size=sim.model.nv)
    both(sim, 4, ("qpos", "qvel", "body_mass", "geom_friction", "geom_solref", "opt.gravity"))
    moving = sum((sim.model.mj_model.geom_bodyid[c.geom] > 0).all() for c in touching_pairs(sim))
    assert moving >= 2 and StepAdjoint(sim.engine, ()).whole


def touching_pairs(sim):
    """MuJoCo's contacts at the state of a simulation."""
    m, data = sim.model.mj_model, mujoco.MjData(sim.model.mj_model)
    data.qpos[:] = sim.qpos
    mujoco.mj_forward(m, data)
    return list(data.contact)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('type="ball"', 'type="ball" limited="true" range="0 10" stiffness="1"'),
        ('damping=".1"', 'damping=".1 .2 .05" stiffness="1 2 3"'),
        ('damping=".1"', 'damping=".1" stiffness="3" actuatorfrcrange="-.05 .05"'),
        ('<body pos="0 0 .5">', '<body pos="0 0 .5" gravcomp=".5">'),
        ('integrator="Euler"', 'integrator="Euler"><flag eulerdamp="disable"/></option><option gravity="1 2 -9"'),
        ("</worldbody>", '</worldbody><equality><joint joint1="h" polycoef=".1 0 0 0 0"/></equality>'),
    ],
)
def test_what_acts_by_its_own_laws(old, new):
    """What the way back does not know needs directions, and is not left out: limits of balls, polynomials, weights."""
    model = """<mujoco><option timestep=".01" integrator="Euler"/><worldbody>
      <body pos="0 0 .5"><joint name="h" axis="0 1 0" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body pos=".3 0 0"><joint type="ball" damping=".02"/>
      <geom type="capsule" fromto="0 0 0 .2 .1 0" size=".02"/></body>
      </body></worldbody><actuator><motor joint="h" gear="2"/></actuator></mujoco>"""
    assert old in model
    sim = saltus.Simulation(model.replace(old, new), "euler")
    sim.ctrl[:] = 0.3
    sim.qvel[:] = [0.5, 0.3, -0.4, 3.0]
    both(sim, 4, ("qpos", "qvel", "ctrl", "body_mass", "dof_damping", "actuator_gear", "opt.gravity"))


def test_tendons_and_gravity_compensation_need_no_directions():
    """Springs and dampers of tendons, and weights that are compensated; some of them against MuJoCo, too."""
    sim = saltus.Simulation(TENDONS, "euler")
    sim.qpos[:], sim.qvel[:] = [0.3, -0.4], [1.5, -2.0]
    names = ("tendon_stiffness", "tendon_damping", "tendon_lengthspring[pair]", "tendon_lengthspring[cord]")
    names += ("tendon_stiffnesspoly[pair]", "tendon_dampingpoly[pair]", "dof_damping")
    names += ("opt.gravity", "body_mass", "body_ipos")
    adjoint = StepAdjoint(sim.engine, names)
    assert adjoint.quick.all()
    gradient = both(sim, 6, ("qpos", "qvel", *names))
    assert gradient.zero == ()

    def end(field, place, x):
        m = mujoco.MjModel.from_xml_string(TENDONS)
        np.reshape(getattr(m, field), -1)[place] += x
        data = mujoco.MjData(m)
        data.qpos[:], data.qvel[:] = sim.qpos, sim.qvel
        mujoco.mj_step(m, data, 6)
        return data.qvel[0] + 2 * data.qvel[1]

    _, gradient = saltus.run_gradient(
        sim, 6 * sim.timestep, lambda run: run.qvel[-1, 0] + 2 * run.qvel[-1, 1], wrt=names, mode="reverse"
    )
    for field in ("tendon_stiffness", "tendon_damping", "body_mass"):
        first = int(field == "body_mass")  # the world has no mass
        count = len(gradient[field])
        wanted = [(end(field, k, 1e-4) - end(field, k, -1e-4)) / 2e-4 for k in range(first, count)]
        np.testing.assert_allclose(gradient[field][first:], wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_a_model_with_a_bit_of_everything():
    """Tendons, muscles, servos, equalities, limits, dry friction, contacts of all dimensions, activation states."""
    sim = saltus.Simulation(PARAMETRIC, "euler")
    for name, value in parametric_state(sim.model.mj_model).items():
        getattr(sim, name)[:] = value
    names = ("dof_damping", "geom_friction", "geom_solref", "pair_friction", "pair_solreffriction", "tendon_margin")
    names += ("eq_solref", "dof_frictionloss[slide]", "jnt_stiffness", "qpos_spring", "opt.impratio", "body_mass[leg]")
    names += ("body_ipos[bob]", "tendon_stiffness[cord]", "actuator_gainprm[servo][0]", "opt.gravity", "dof_armature")
    both(sim, 3, ("qpos", "qvel", "act", "ctrl", *names))


@pytest.mark.parametrize("integrator", FIXED)
def test_all_fixed_steps(integrator):
    sim = saltus.Simulation(LINK, integrator)
    sim.qpos, sim.qvel, sim.ctrl = 0.5, 0.2, 0.3
    try:
        check_reversible(sim.engine)
    except OptionError as error:
        assert integrator in str(error) or "located" in str(error)
        return
    both(sim, 5, ("qpos", "qvel", "ctrl", "body_mass[link]", "opt.gravity", "jnt_stiffness"))


def test_forces_at_centres_of_mass_move_with_them():
    """The loss of both modes is also that of a run: a force that one of them forgot would not show between the two."""
    sim = saltus.Simulation(LINK, "euler")
    sim.qpos = 0.5
    sim.xfrc_applied[1] = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    both(sim, 5, ("body_ipos[link]", "body_mass[link]"))
    value, _ = saltus.run_gradient(sim, 0.05, lambda run: run.qvel[-1, 0], mode="reverse")
    sim.step(5)
    assert value == pytest.approx(sim.qvel[0], rel=1e-13)


@pytest.mark.slow
def test_equations_of_motion_of_users_by_their_state():
    """A pendulum of unit mass and length, which steps of Euler's method turn as the bodies' own equations would."""
    model = """<mujoco><option timestep=".01" gravity="0 0 -9.81"/><worldbody><body><joint name="h" axis="0 1 0"/>
      <inertial pos="0 0 -1" mass="1" diaginertia="1e-12 1e-12 1e-12"/></body></worldbody></mujoco>"""

    def inertia(m, d):
        d.M[0] = 1.0

    def bias(m, d):
        d.qfrc_bias[0] = 9.81 * sincos(d.qpos[0])[0]

    gradients = []
    for dynamics in (None, saltus.Dynamics(inertia, bias)):
        sim = saltus.Simulation(model, "euler", dynamics=dynamics)
        sim.qpos = 0.5
        gradients.append(both(sim, 5, ("qpos", "qvel")))
    for name in ("qpos", "qvel"):
        np.testing.assert_allclose(gradients[1][name], gradients[0][name], rtol=1e-9)


@pytest.mark.slow
def test_contacts_with_mocap_bodies():
    model = """<mujoco><option timestep=".005"/><default><geom solref=".03 .9"/></default><worldbody>
      <body name="hand" mocap="true" pos="0 0 0"><geom type="box" size=".5 .5 .1" friction=".3"/></body>
      <body pos="0 0 .19"><freejoint/><geom size=".1" friction=".4" mass="1"/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(model, "euler")
    sim.qvel[:3] = [0.5, 0.2, 0]
    sim.mocap_pos[0] = [0, 0, 0.005]
    both(sim, 4, ("qpos", "qvel", "body_mass[#2]", "geom_friction[#1]", "geom_solref[#1]"))


def test_controllers_in_the_time_loop():
    sim = saltus.Simulation(LINK, "euler", control=saltus.PID(kp=3.0, ki=0.5, target=0.4))
    both(sim, 5, ("qpos", "PID.kp", "body_mass[link]"))


def test_what_has_no_derivative_is_refused_as_in_forward_mode():
    """The friction of two geoms is equal, and the larger counts: a kink, which only a contact feels."""
    model = SLEDGE.replace('friction=".4"', 'friction=".2"')
    for z, feels in ((0.0, True), (1.0, False)):
        sim = saltus.Simulation(model, "euler")
        sim.qpos[2] += z
        sim.qvel[0] = 1.0
        for mode in ("reverse", "forward"):
            if feels:
                with pytest.raises(OptionError, match=r"geom_friction\[box\]\[0\] has no derivative here"):
                    saltus.run_gradient(sim, 0.02, lambda run: run.qvel[-1, 0], wrt="geom_friction[box][0]", mode=mode)
            else:
                _, gradient = saltus.run_gradient(
                    sim, 0.02, lambda run: run.qvel[-1, 0], wrt="geom_friction[box][0]", mode=mode
                )
                assert gradient.zero == ("geom_friction[box][0]",)


def test_the_simulation_stays_and_constant_losses_have_no_gradient():
    sim = sledge()
    before = sim.snapshot()
    value, gradient = saltus.run_gradient(sim, 0.02, lambda run: 3.0, wrt=("qvel", "body_mass"), mode="reverse")
    np.testing.assert_array_equal(sim.snapshot(), before)
    assert value == 3.0
    assert gradient.zero == ("qvel", "body_mass")
    _, gradient = saltus.run_gradient(sim, 0.02, lambda run: run.ctrl[0] ** 2, wrt=("ctrl", "qpos"), mode="reverse")
    assert gradient["ctrl"] == pytest.approx([0.8])
    assert gradient.zero == ("qpos",)


def test_contacts_that_begin_are_told():
    ball = """<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="9 9 .1"/>
      <body pos="0 0 .11"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(ball, "euler")
    told = []
    for mode in ("reverse", "forward"):
        with pytest.warns(saltus.SaltusWarning, match="contacts or limits begin or end"):
            _, gradient = saltus.run_gradient(sim, 0.1, lambda run: run.qpos[-1, 2], wrt="qvel", mode=mode)
        told.append(gradient.changes)
    assert told[0] == pytest.approx(told[1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"contact": saltus.Hard(), "integrator": "dopri5"}, 'mode="reverse" goes back over steps of fixed length'),
        ({"integrator": "dopri5"}, 'mode="reverse" goes back over steps of fixed length'),
        ({"integrator": "verlet"}, "carries velocities of half steps along"),
    ],
)
def test_what_has_no_way_back_is_named(options, said):
    sim = saltus.Simulation(LINK, **options)
    with pytest.raises(OptionError, match=said):
        saltus.run_gradient(sim, 0.1, lambda run: run.qpos[-1, 0], mode="reverse")


def test_delays_and_unknown_modes_are_named():
    late = LINK.replace('<motor joint="h"/>', '<motor joint="h" delay=".02" nsample="3"/>')
    with pytest.raises(OptionError, match=r'mode="reverse": delays of actuators'):
        saltus.run_gradient(saltus.Simulation(late, "euler"), 0.1, lambda run: run.qpos[-1, 0], mode="reverse")
    with pytest.raises(OptionError, match="mode"):
        saltus.run_gradient(saltus.Simulation(LINK), 0.1, lambda run: run.qpos[-1, 0], mode="backward")  # type: ignore
