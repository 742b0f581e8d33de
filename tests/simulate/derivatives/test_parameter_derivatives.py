"""Derivatives of a step by parameters are exact.

Law: P = ∂(q', v', w')/∂p of one step from the same state, with the constants that MuJoCo derives from p recomputed.

References: closed forms of one step of a pendulum, to 1e-13; and steps of models with changed parameters, their
constants by MuJoCo's mj_setConst, in central differences extrapolated twice (Richardson). With steps h = 3e-4 of the
relative change their truncation, of order h⁶, is below 1e-8 of the largest entry; the rounding of the constraint solver
and of implicit methods, some 1e-13, over the smallest step h/4 is below 5e-9.
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.parametric import PARAMETRIC, direction_of, parametric_state, richardson, with_field
from helpers.pendulum_slopes import (
    ARMATURE,
    DAMPING,
    GEAR,
    INERTIA,
    LENGTH,
    MASS,
    PENDULUM,
    STIFFNESS,
    H,
    Q,
    V,
    pendulum,
    slopes,
)
from helpers.random_tree import random_tree

import saltus
from saltus.contact.counts import NCON
from saltus.errors import OptionError
from saltus.model.vary.columns import columns
from saltus.model.vary.fields import MAY_VARY

EXACT, RELATIVE, ABSOLUTE = 1e-13, 1e-8, 5e-9
FIXED = [n for n, i in saltus.integrators().items() if not i.adaptive and i.needs.get("pcg") is not True]
KP = 3.0


def test_a_pendulums_closed_forms():
    sim = pendulum()
    a, wanted = slopes()
    found = sim.linearize(parameters=list(wanted))
    _, _, P = found
    assert found.names == tuple(wanted) and P.shape == (2, len(wanted))
    by_name = dict(zip(found.names, P.T, strict=True))
    for name, slope in wanted.items():  # q' = q + h v', v' = v + h a
        np.testing.assert_allclose(by_name[name], [H * H * slope, H * slope], rtol=EXACT, err_msg=name)
    sim.step()
    np.testing.assert_allclose(sim.qvel, V + H * a, rtol=EXACT)


def test_inertial_parameters_by_the_regressor():
    """Forces are linear in them, M a + c = Y p: in a step v' = v + h a without damping dv'/dp = -h M⁻¹ Y(q, v, a)."""
    model = saltus.load(random_tree(3, bodies=6, passive=False))
    sim = saltus.Simulation(model, "euler", timestep=H)
    sim.qvel[:] = np.random.default_rng(3).normal(size=model.nv)
    sim.forward()
    Y = saltus.regressor(model, sim.qpos, sim.qvel, sim.data.qacc).reshape(model.nv, -1)[:, 10:]  # without the world's
    wanted = -H * np.linalg.solve(sim.full_M(), Y)
    P = sim.linearize(parameters="body_inertial").P[model.nv :]
    np.testing.assert_allclose(P, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


def test_a_pendulum_of_another_density_swings_alike():
    """Mass, first moment and inertia grow together; by the mass alone, or a first moment, its motion changes."""
    free = PENDULUM.replace(f'damping="{DAMPING}" stiffness="{STIFFNESS}"', "").replace(f'armature="{ARMATURE}"', "")
    sim = saltus.Simulation(free, "euler")
    sim.qpos[:] = Q
    names = ("body_scale_mass[bob]", "body_pseudo_inertia[bob][0]", "body_mass[bob]", "body_inertial[bob][3]")
    P = sim.linearize(parameters=names).P[1]
    np.testing.assert_allclose(P[:2], 0, atol=1e-15)
    assert np.all(np.abs(P[2:]) > 1e-3)


def test_without_parameters_nothing_changes():
    """Two values, with the same bits; and the state stays."""
    sim = pendulum()
    before = sim.snapshot()
    plain = sim.linearize()
    A, B, _ = sim.linearize(parameters=["body_mass[bob]"])
    assert len(plain) == 2
    np.testing.assert_array_equal(plain[0], A)
    np.testing.assert_array_equal(plain[1], B)
    np.testing.assert_array_equal(sim.snapshot(), before)


def test_more_parameters_than_a_dual_has_tangents():
    """Nine and more: the same columns as one by one, in the order of the names; one name may be a text."""
    sim = pendulum()
    names = ["opt.gravity", "actuator_gainprm", "body_mass"]
    together = sim.linearize(parameters=names)
    assert together.P.shape == (2, 3 + 10 + 2)
    alone = [sim.linearize(parameters=name).P for name in together.names]
    np.testing.assert_allclose(together.P, np.hstack(alone), rtol=0, atol=1e-17)
    assert sim.linearize(parameters=()).P.shape == (2, 0)


def test_it_follows_the_state():
    sim = pendulum()
    first = sim.linearize(parameters="body_mass[bob]").P
    sim.qpos[:] = -Q
    sim.qvel[:] = -V
    second = sim.linearize(parameters="body_mass[bob]").P
    assert np.max(np.abs(first - second)) > 1e-3


@pytest.mark.slow
def test_a_servos_gains():
    """u = kp (target - q) - kd v before the gear, in closed form; and a controller's own parameters."""
    sim = pendulum(control=saltus.PID(kp=KP, kd=0.2, target=1.5, wrap=False))
    names = ("PID.kp[motor]", "PID.kd", "PID.target", "control_prm[0]")
    found = sim.linearize(parameters=names)
    whole = INERTIA + MASS * LENGTH**2 + ARMATURE + H * DAMPING
    slopes_of_u = [1.5 - Q, -V, KP, 1.5 - Q]
    np.testing.assert_allclose(found.P[1], H * GEAR / whole * np.array(slopes_of_u), rtol=1e-12)
    assert found.names == ("PID.kp[motor]", "PID.kd[motor]", "PID.target[motor]", "control_prm[0]")
    with pytest.raises(OptionError, match=r"PID.limit: there is no limit"):
        sim.linearize(parameters="PID.limit")
    with pytest.raises(OptionError, match=r"controlled actuator in PID.kp\[x\].*motor"):
        sim.linearize(parameters="PID.kp[x]")
    with pytest.raises(OptionError, match=r"control_prm\[99\]: the controller has 9 parameters"):
        sim.linearize(parameters="control_prm[99]")


# ------------------------------------------------------------ against differences


def stepped(model, integrator, state):
    """The state after a step of a model."""
    sim = saltus.Simulation(model, integrator)
    for name, value in state.items():
        getattr(sim, name)[:] = value
    sim.step()
    return sim.qpos.copy(), sim.qvel.copy(), sim.act.copy()


def assert_agrees(model, integrator, state, field, h=3e-4):
    """P along a random change of a field, and the differences of steps of changed models."""
    base, change = direction_of(model, field)
    sim = saltus.Simulation(model, integrator)
    for name, value in state.items():
        getattr(sim, name)[:] = value
    chosen = np.flatnonzero(change.reshape(-1))
    names = [column.name for column in columns(model, [field])]
    P = sim.linearize(parameters=[names[k] for k in chosen]).P
    nominal = stepped(model, integrator, state)

    def end(x):
        qpos, qvel, act = stepped(with_field(model, field, base + x * change), integrator, state)
        return np.concatenate(
            [oracle.difference(model.mj_model, nominal[0], qpos), qvel - nominal[1], act - nominal[2]]
        )

    wanted = richardson(end, h)
    np.testing.assert_allclose(
        P @ change.reshape(-1)[chosen], wanted, rtol=0, atol=RELATIVE * np.max(np.abs(wanted)) + ABSOLUTE
    )


@pytest.fixture(scope="module")
def parametric():
    model = saltus.load(PARAMETRIC)
    return model, parametric_state(model.mj_model)


@pytest.mark.slow
@pytest.mark.parametrize("field", MAY_VARY)
def test_every_field(parametric, field):
    """Joints, tendons, muscles, servos, equalities, limits, dry friction and contacts."""
    model, state = parametric
    assert_agrees(model, "euler", state, field)


JOINTS = """
<mujoco><option timestep="0.01"/><worldbody>
  <body><joint name="j" axis="0 1 0" damping="0.2" stiffness="1"/>
    <inertial pos="0 0 -0.3" mass="1" diaginertia="0.05 0.05 0.01"/>
    <body pos="0 0 -0.6"><joint type="ball" damping="0.1" stiffness="0.5"/>
      <inertial pos="0 0.1 -0.2" mass="0.5" diaginertia="0.02 0.02 0.01"/></body></body>
  <body pos="1 0 0"><joint type="free" damping="0.3"/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.02 0.03 0.04"/></body>
</worldbody><actuator><motor joint="j" gear="2"/></actuator></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("integrator", FIXED)
def test_every_integrator(integrator):
    """All joints have dampers: without any, `moreau_jean` has a kink, from where on it takes them implicitly."""
    model = saltus.load(JOINTS)
    state = oracle.random_state(model.mj_model, np.random.default_rng(5))
    for field in ("body_mass", "body_ipos", "body_inertia", "jnt_axis", "dof_damping", "jnt_stiffness", "opt.gravity"):
        assert_agrees(model, integrator, state, field, h=4e-3)


TWO = """
<mujoco><option timestep="0.004" tolerance="0" iterations="100" ls_iterations="50"/><worldbody>
<body pos="0 0 1"><freejoint/><geom name="a" {} mass="1" friction="0.8 0.01 0.001" euler="5 8 3"/></body>
<body pos="0.02 0.03 {}"><freejoint/><geom name="b" {} mass="1.3" friction="0.6 0.02 0.002" euler="3 -7 9"/></body>
</worldbody></mujoco>"""
SPHERE, CAPSULE, BOX, ELLIPSOID, CYLINDER = (
    f'type="{kind}" size="{size}"'
    for kind, size in (
        *(("sphere", "0.1"), ("capsule", "0.08 0.2"), ("box", "0.1 0.12 0.09")),
        *(("ellipsoid", "0.1 0.12 0.09"), ("cylinder", "0.1 0.12")),
    )
)
PAIRS = {
    "spheres": (SPHERE, SPHERE, 0.18),
    "capsules": (CAPSULE, CAPSULE, 0.3),
    "capsule and box": (CAPSULE, BOX, 0.3),
    "boxes": (BOX, BOX, 0.15),
    "ellipsoid and box": (ELLIPSOID, BOX, 0.16),
    "ellipsoid and cylinder": (ELLIPSOID, CYLINDER, 0.19),
    "sphere and cylinder": (SPHERE, CYLINDER, 0.19),
}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_sizes_and_poses_of_geoms_in_contact(pair):
    first, second, apart = PAIRS[pair]
    model = saltus.load(TWO.format(first, 1 + apart, second))
    sim = saltus.Simulation(model, "euler")
    sim.forward()
    assert sim.engine.d.views["count"][NCON] > 0
    state = {"qpos": sim.qpos.copy(), "qvel": 0.3 * np.random.default_rng(2).normal(size=model.nv)}
    for field in ("geom_size", "geom_pos", "geom_quat", "geom_friction"):
        assert_agrees(model, "euler", state, field)


@pytest.mark.slow
def test_tendons_that_wrap_and_muscles_on_them():
    model = saltus.load("sit_to_stand")
    model = with_field(model, "opt.impratio", model.opt.impratio)
    model.mj_model.opt.tolerance, model.mj_model.opt.iterations = 0.0, 100
    sim = saltus.Simulation(model, "euler")
    sim.ctrl[:] = 0.3
    sim.step(80)
    state = {name: getattr(sim, name).copy() for name in ("qpos", "qvel", "act", "ctrl")}
    for field in ("body_mass", "site_pos", "actuator_gainprm", "tendon_stiffness"):  # others move the feet's contacts
        assert_agrees(model, "euler", state, field)


# ------------------------------------------------------------ what is refused


def test_a_kink_is_refused_where_it_counts():
    """Geoms of equal friction: none of the two determines the larger one; away from each other it does not matter."""
    model = PENDULUM.replace('<body name="bob">', '<geom type="plane" size="1 1 1" pos="0 0 {}"/><body name="bob">')
    model = model.replace("</inertial>", "").replace(
        "</body></worldbody>", '<geom name="ball" size="0.1" pos="0 0 -0.4"/></body></worldbody>'
    )
    touching, apart = (saltus.Simulation(model.format(z), "euler") for z in (-0.45, -0.6))
    with pytest.raises(
        OptionError, match=r"geom_friction\[ball\]\[0\] has no derivative here: it is equal.*other geom"
    ):
        touching.linearize(parameters="geom_friction[ball][0]")
    assert not apart.linearize(parameters="geom_friction[ball][0]").P.any()


@pytest.mark.slow
def test_meshes_and_cylinders():
    """Derivatives where the normal cannot turn but with its contact, as on a plane; else they are refused."""
    cylinders = saltus.load(TWO.format(CYLINDER, 1.2, CYLINDER))
    mesh = saltus.load("""
    <mujoco><option timestep="0.004" tolerance="0" iterations="100" ls_iterations="50"/><asset>
    <mesh name="m" vertex="0.1 0 -0.1 -0.1 0.1 -0.1 -0.1 -0.1 -0.1 0 0 0.1"/></asset><worldbody>
    <geom type="plane" size="1 1 1" friction="0.8"/><body pos="0 0 0.01"><freejoint/>
    <geom type="mesh" mesh="m" mass="1" friction="0.7"/></body></worldbody></mujoco>""")
    state = {"qpos": mesh.mj_model.qpos0.copy(), "qvel": 0.3 * np.random.default_rng(2).normal(size=mesh.nv)}
    for field in ("body_mass", "geom_friction", "geom_pos"):
        assert_agrees(mesh, "euler", state, field)
    for parameter in ("geom_pos[a]", "body_mass"):
        with pytest.raises(
            OptionError, match="the normal of the contact of a and b, which is searched, counts as constant"
        ):
            saltus.Simulation(cylinders, "euler").linearize(parameters=parameter)
