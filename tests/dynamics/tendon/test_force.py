"""Tendons that pull by themselves and have inertia.

Law: springs -x (k + p1 x + p2 x²) of the stretch x beyond a slack range, dampers -v (b + p1 |v| + p2 v²), energy
a/2 (dL/dt)² of the rate of the length, along whatever path (MuJoCo 4.0 documentation, XML Reference, "tendon").

References: MuJoCo 4.0's `mj_forward` at random states, for tendons whose joints lie on one way to the root. Where they
lie on several branches MuJoCo's inertia matrix has no room for what a tendon couples (its energy is then not
conserved); there the reference is the same sum in full, M₀ + Σ a J Jᵀ, from MuJoCo's own M₀ and J. Conservation of
energy and Hamilton's form need neither.

Tolerance: 1e-11 of a field's largest entry, a few hundred roundings; accelerations lose the condition of the inertia
matrix, some 1e3 here. Along a motion, RK4's error: 1/16 of it at half the step, the implicit midpoint rule's 1/4.
"""

import mujoco
import numpy as np
import pytest
from helpers import constraints, oracle
from helpers.actuators import largest_error
from helpers.cases import same_bits
from helpers.states import dense, lanes, put

import saltus
from saltus.dynamics.smooth import free_forward
from saltus.errors import ModelError
from saltus.integrate.implicit.implicit_runge_kutta import momentum_form
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.kinds import lane64
from saltus.number.structs import Struct
from saltus.number.symbols import SymbolicStruct, symbolic_model, trace

TOLERANCE, CONDITION = 1e-11, 1e3
FORWARD = Entry("free_forward_alone", "", "free_forward(m, d)", free_forward=free_forward)
MOMENTUM = Entry("momenta_alone", "", "momentum_form(m, d)", momentum_form=momentum_form)

# two trees, all joint types, two branches; the tendons given, and one that has a geom in its way
BODIES = """
<mujoco><option gravity="0.5 -0.3 -9.8"><flag contact="disable"/></option>
<default><geom contype="0" conaffinity="0"/></default><worldbody>
  <site name="wall" pos="0.3 0 1.6"/>
  <body name="trunk" pos="0 0 1"><freejoint/><geom type="box" size="0.2 0.1 0.15" pos="0.05 0 0.02"/>
    <site name="chest" pos="0.1 0.2 0.3"/>
    <body pos="0.6 0 0" euler="20 10 5"><joint name="knee" axis="1 1 0"/><geom size="0.1" pos="0.1 0 0"/>
      <site name="shin" pos="0.1 0.1 0.5"/>
      <body pos="0.3 0 0" euler="0 30 0"><joint name="ankle" axis="0 1 0"/><geom size="0.08" pos="0 0 -0.1"/>
        <site name="toe" pos="0.1 0 -0.1"/><site name="heel" pos="-0.1 0.05 -0.1"/></body></body>
    <body pos="-0.5 0 0.1"><joint name="slide" type="slide" axis="0 1 1"/><joint type="ball" pos="0.02 0 0.01"/>
      <geom type="ellipsoid" size="0.1 0.15 0.2" pos="0.05 0 0"/><site name="hand" pos="0 0.4 0.2"/></body>
  </body>
  <body name="door" pos="1.5 0.5 0.5"><joint name="hinge" axis="1 1 1"/><geom type="box" size="0.3 0.05 0.4"/>
    <geom name="cap" type="cylinder" size="0.1 0.2" pos="0.3 0.1 0.3"/><site name="handle" pos="0.5 0 0.1"/></body>
</worldbody><tendon>{tendons}
  <spatial stiffness="20" springlength="0.3"><site site="wall"/><geom geom="cap"/><site site="hand"/></spatial>
</tendon>{more}</mujoco>"""
PULL = 'stiffness="30 4 5" damping="2 0.5 0.3" springlength="{}"'
FORCES = f"""
  <fixed {PULL.format("0.2")}><joint joint="knee" coef="2"/><joint joint="slide" coef="-0.5"/></fixed>
  <fixed {PULL.format("-0.3 0.4")}><joint joint="hinge" coef="0.25"/><joint joint="ankle" coef="1.2"/></fixed>
  <spatial {PULL.format("0.9 2")}><site site="wall"/><site site="hand"/></spatial>
  <spatial {PULL.format("2")} armature="1e-300"><site site="wall"/><site site="shin"/><pulley divisor="2"/><site
   site="chest"/><site site="shin"/></spatial>
  <spatial stiffness="0 20" springlength="0.5"><site site="shin"/><site site="hand"/><site site="handle"/></spatial>
  <spatial damping="0 0.3 0.7"><site site="handle"/><geom geom="cap"/><site site="toe"/></spatial>"""
# (with an inertia too small to matter, so that all models need the same kernels)
# inertia of joints that carry each other, and the forces that it takes at the same time
ONE_WAY = f"""
  <fixed armature="0.3" {PULL.format("0.1")}><joint joint="knee" coef="2"/><joint joint="ankle" coef="-0.5"/></fixed>
  <spatial armature="0.7"><site site="wall"/><site site="toe"/></spatial>
  <spatial armature="0.4"><site site="chest"/><site site="toe"/><pulley divisor="2"/><site site="chest"/><site
   site="shin"/><site site="heel"/></spatial>
  <fixed armature="2"><joint joint="hinge" coef="0.5"/></fixed>"""
BRANCHES = f"""
  <fixed armature="0.3" {PULL.format("0.1")}><joint joint="knee" coef="2"/><joint joint="slide" coef="-0.5"/></fixed>
  <spatial armature="0.7"><site site="toe"/><site site="hand"/></spatial>
  <spatial armature="0.4"><site site="wall"/><site site="toe"/><pulley divisor="2"/><site site="hand"/><site
   site="handle"/></spatial>"""
ACTUATED = """<actuator>
  <motor tendon="t" gear="1.5" armature="0.2" damping="0.8"/><motor joint="knee" armature="0.3"/></actuator>"""
BY_ACTUATORS = '<spatial name="t" stiffness="3"><site site="wall"/><site site="toe"/></spatial>' + ONE_WAY
MECHANISMS = {
    "forces": BODIES.format(tendons=FORCES, more=""),
    "one way": BODIES.format(tendons=ONE_WAY, more=""),
    "by actuators": BODIES.format(tendons=BY_ACTUATORS, more=ACTUATED),
}
FIELDS = ("qfrc_spring", "qfrc_damper", "qfrc_passive", "qfrc_bias", "energy")


def forward(model, states):
    """Everything at each state, in lanes."""
    data = lanes(model, states, newton=True, nstage=1)
    FORWARD(model.struct(), data)
    return data


def states(m, seed=3):
    """A state for each lane; positions so that most tendons are some way from slack."""
    rng = np.random.default_rng(seed)
    return [oracle.random_state(m, rng) | {"ctrl": rng.normal(size=m.nu)} for _ in range(lane64.width)]


def full_inertia(m, d):
    """M₀ + Σ a J Jᵀ, with MuJoCo's M without tendons and its Jacobian of them."""
    J = np.zeros((m.ntendon, m.nv))
    J[np.repeat(np.arange(m.ntendon), m.ten_J_rownnz), m.ten_J_colind] = d.ten_J
    mujoco.mj_crb(m, d)
    return oracle.full_inertia(m, d) + (J.T * m.tendon_armature) @ J


@pytest.mark.parametrize("name", MECHANISMS)
def test_mujocos(name):
    """Forces, inertia, bias and energy at random states."""
    model = saltus.load(MECHANISMS[name])
    m = oracle.reference(model)
    group = states(m)
    data = forward(model, group)
    for lane, state in enumerate(group):
        wanted = oracle.forward(m, state)
        for field in FIELDS:
            assert largest_error(data.views[field][..., lane], getattr(wanted, field)) <= TOLERANCE, field
        M = oracle.full_inertia(m, wanted)
        assert largest_error(dense(model, data.M[:, lane]), M) <= TOLERANCE
        assert largest_error(data.qacc[:, lane], wanted.qacc) <= CONDITION * TOLERANCE
    assert np.all(data.qfrc_spring[:8].any(axis=1))


def test_slack():
    """No force and no energy within the range of a spring; beyond its ends the polynomial of the stretch."""
    spring = '<fixed stiffness="3 1 2" springlength="-0.5 0.7" armature="1"><joint joint="hinge" coef="1"/></fixed>'
    model = saltus.load(BODIES.format(tendons=spring, more="").replace('stiffness="20"', 'stiffness="0 0 1e-300"'))
    stretches = {-1.5: -1.0, -0.5: 0.0, 0.2: 0.0, 0.7: 0.0, 1.7: 1.0}
    still = {"qvel": np.zeros(model.nv)}
    for q, x in stretches.items():
        data = forward(model, [still | {"qpos": np.append(model.qpos0[:-1], q)}])
        assert data.qfrc_spring[-1, 0] == pytest.approx(-x * (3.0 + x + 2.0 * x * x), abs=1e-14)
        energy = x * x * (1.5 + x / 3.0 + x * x / 2.0)
        weight = -model.body_mass @ data.xipos[..., 0] @ model.opt.gravity
        assert data.energy[0, 0] - weight == pytest.approx(energy, abs=1e-12)


@pytest.mark.parametrize("tendons", [BRANCHES, BRANCHES + ONE_WAY], ids=["branches", "both"])
def test_inertia_across_branches(tendons):
    """The inertia is that of the energy, whatever a tendon couples."""
    model = saltus.load(BODIES.format(tendons=tendons, more=""))
    m = oracle.reference(model)
    group = states(m, 5)
    data = forward(model, group)
    for lane, state in enumerate(group):
        wanted = oracle.forward(m, state)
        M = full_inertia(m, wanted)
        assert largest_error(dense(model, data.M[:, lane]), M) <= TOLERANCE
        assert np.abs(M - oracle.full_inertia(m, oracle.forward(m, state))).max() > 1e-3  # what MuJoCo leaves out
        assert largest_error(data.qfrc_bias[:, lane], wanted.qfrc_bias) <= TOLERANCE
        assert data.energy[1, lane] == pytest.approx(0.5 * state["qvel"] @ M @ state["qvel"], rel=1e-12)
        qacc = np.linalg.solve(M, wanted.qfrc_smooth)
        assert largest_error(data.qacc[:, lane], qacc) <= CONDITION * TOLERANCE


@pytest.mark.parametrize("tendons", [ONE_WAY, BRANCHES], ids=["one way", "branches"])
def test_momenta(tendons):
    """Joint momenta are M v, and their rates those along the motion: dp/dt = d(M v)/dt, by differences."""
    model = saltus.load(BODIES.format(tendons=tendons, more=""))
    m = oracle.reference(model)
    state = states(m, 9)[0]
    h = 4e-4
    data = forward(model, [state])
    qacc = data.qacc[:, 0].copy()
    p = []
    for s in (-2 * h, -h, h, 2 * h):
        qpos = state["qpos"].copy()
        mujoco.mj_integratePos(m, qpos, state["qvel"], s)
        moved = state | {"qpos": qpos, "qvel": state["qvel"] + s * qacc}
        p.append(dense(model, forward(model, [moved]).M[:, 0]) @ moved["qvel"])
    MOMENTUM(model.struct(), data)
    rate = (p[0] - 8.0 * p[1] + 8.0 * p[2] - p[3]) / (12.0 * h)
    assert largest_error(data.momentum[:, 0], dense(model, data.M[:, 0]) @ state["qvel"]) <= TOLERANCE
    assert largest_error(data.momentum_rate[:, 0], rate) <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "gain"), [("rk4", 16.0), ("implicit_midpoint", 4.0)])
def test_energy_is_conserved(integrator, gain):
    """Springs without slack, tendons with inertia on several branches: what the method loses vanishes at its order."""
    tendons = BRANCHES.replace(PULL.format("0.1"), 'stiffness="30 0 5"')
    xml = BODIES.format(tendons=tendons, more="").replace('springlength="0.3"', 'springlength="0"')
    model = saltus.load(xml)
    assert not model.tendon_damping.any() and (model.tendon_lengthspring[:, 0] == model.tendon_lengthspring[:, 1]).all()
    lost = []
    for h in (2e-3, 1e-3):
        sim = saltus.Simulation(model, integrator, timestep=h)
        sim.qvel[:] = np.random.default_rng(2).normal(size=model.nv)
        before = sum(sim.energy())
        sim.step(round(0.2 / h))
        lost.append(abs(sum(sim.energy()) - before))
        assert sim.energy()[1] > 1.0
    assert lost[0] <= 1e-3 and lost[0] / lost[1] == pytest.approx(gain, rel=0.25)


def test_lanes_are_alone_and_equal_floats():
    """Bit for bit the same whatever the neighbours do; floats differ by how operations are fused."""
    model = saltus.load(BODIES.format(tendons=FORCES + BRANCHES, more=""))
    group = states(model.mujoco, 11)
    first = forward(model, group)
    order = np.random.default_rng(1).permutation(lane64.width)
    shuffled = forward(model, [group[k] for k in order])
    single = Struct(DATA, data_sizes(model.sizes()))
    for field in ("qfrc_passive", "M", "qfrc_bias", "qacc", "energy"):
        assert same_bits(
            np.ascontiguousarray(shuffled.views[field]), np.ascontiguousarray(first.views[field][..., order])
        )
    put(single, group[3])
    single.ints[DATA.slot["has_xfrc"]] = 1
    FORWARD(model.struct(), single)
    for field in ("qfrc_passive", "M", "qfrc_bias", "energy"):
        assert largest_error(single.views[field], first.views[field][..., 3]) <= TOLERANCE


def test_interpreted():
    """The same source uncompiled, on plain floats: every index lies in its field."""
    model = saltus.load(BODIES.format(tendons=FORCES + BRANCHES, more=""))
    state = states(model.mujoco)[0] | {"xfrc_applied": 0.0}
    compiled, plain = Struct(DATA, data_sizes(model.sizes())), SymbolicStruct(DATA, data_sizes(model.sizes()), "float")
    for data in (compiled, plain):
        for name in ("qpos", "qvel", "qfrc_applied"):
            data.fill(name, state[name])
    FORWARD(model.struct(), compiled)
    trace(free_forward, symbolic_model(model.struct(), "float"), plain)
    for field in ("qfrc_passive", "M", "qfrc_bias", "energy"):
        assert largest_error(np.array(getattr(plain, field), float), compiled.views[field]) <= TOLERANCE


def test_left_out():
    """With "tendon" in `ignore` tendons neither pull nor have inertia, and their kernels are not compiled."""
    model = saltus.load(MECHANISMS["by actuators"], ignore=["tendon"])
    assert not {"tendon_force", "tendon_armature"} & model.struct().layout.features
    assert model.left_out == {"tendon"} and len(model.ignored) == model.ntendon
    full = saltus.load(MECHANISMS["by actuators"])
    assert {"tendon_force", "tendon_armature"} <= full.struct().layout.features
    assert full.struct().dof_armature[6] == model.struct().dof_armature[6] == pytest.approx(0.3)


def test_inertia_around_geoms_is_refused():
    """MuJoCo's compiler refuses it too; a model may come to it later."""
    m = mujoco.MjModel.from_xml_string(MECHANISMS["forces"])
    m.tendon_armature[m.ntendon - 1] = 1.0
    with pytest.raises(ModelError, match="armature of a tendon that wraps around geoms"):
        saltus.load(m)
    saltus.load(m, ignore=["tendon"])


LIMITED = """<equality><weld body1="door" relpose="1.5 0.5 0.5 1 0 0 0"/></equality>"""


@pytest.mark.parametrize("tendons", [ONE_WAY, BRANCHES], ids=["one way", "branches"])
def test_constraints_feel_the_inertia(tendons):
    """Limits and a weld: M a = f + Jᵀ λ, λ = -(J a - aref) D where that pushes; as in MuJoCo on one way to the root."""
    xml = BODIES.format(tendons=tendons, more=LIMITED).replace("springlength", 'range="0.1 0.2" springlength')
    xml = xml.replace('<joint name="ankle"', '<joint name="ankle" range="0.2 0.4"')
    m = constraints.tight(mujoco.MjModel.from_xml_string(xml))
    sim, d, rng = saltus.Simulation(saltus.load(m)), mujoco.MjData(m), np.random.default_rng(4)
    for _ in range(4):
        for name, value in constraints.near(m, rng, spread=0.5).items():
            getattr(d, name)[:] = value
        mujoco.mj_forward(m, d)
        constraints.put(sim, d)
        data = sim.data
        if tendons is ONE_WAY:
            assert max(constraints.errors(m, sim, d).values()) <= 1e-8
        residual = data.efc_J @ data.qacc - data.efc_aref
        force = -data.efc_D * residual
        force[data.efc_type != 0] = np.maximum(force[data.efc_type != 0], 0.0)
        assert data.nefc > 6 and largest_error(data.efc_force, force) <= 1e-8
        found = sim.full_M() @ data.qacc - data.qfrc_smooth
        assert largest_error(found, data.efc_J.T @ data.efc_force) <= 1e-9
