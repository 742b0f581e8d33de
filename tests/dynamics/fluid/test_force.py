"""Forces of a medium on moving bodies, and their derivatives in the velocities.

Laws: the box of inertia and the ellipsoids of MuJoCo 4.0 (documentation, Computation, "Fluid forces"), whose
`mj_forward`, `qDeriv` and `mj_step` are the reference; Stokes' and quadratic drag of a sphere, which have closed forms;
the work of drag, lift and added mass.

Tolerances: 1e-11 of a field's largest entry, a few hundred roundings; 1e-9 after fifty steps; derivatives by
differences are fourth order with h = 4e-4: 1e-9 of their size; tangents of duals are algebra, 1e-11 again. RK4 follows
a closed form to h⁴/120 of the fifth derivative, 1e-10 for steps of a hundredth of the time constant. float32 carries
some hundred of its roundings, 1e-5 of the largest.
"""

import copy

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.actuators import largest_error
from helpers.cases import same_bits
from helpers.files import packaged
from helpers.random_tree import random_tree
from helpers.states import dense, lanes

import saltus
from saltus.dynamics.fluid.force_derivative import fluid_derivative
from saltus.dynamics.smooth import force_stage, free_acceleration, position_stage
from saltus.dynamics.tree.bias_derivative import clear_derivative
from saltus.integrate.tangents import seed_state
from saltus.model.layout import DATA, data_sizes, model_layout
from saltus.number.kernels import Entry
from saltus.number.kinds import NTANGENT, lane32, lane64
from saltus.number.structs import Struct
from saltus.number.symbols import symbolic_data, symbolic_model, trace

TOLERANCE, STEPPED, DIFFERENCED, SINGLE = 1e-11, 1e-9, 1e-9, 1e-5
STEP = 4e-4
FLUID = Entry(
    "fluid_alone",
    "symmetric",
    """
position_stage(m, d, 0)
force_stage(m, d, 0)
clear_derivative(m, d)
fluid_derivative(m, d, symmetric)
""",
    position_stage=position_stage,
    force_stage=force_stage,
    clear_derivative=clear_derivative,
    fluid_derivative=fluid_derivative,
)
TANGENTS = Entry(
    "fluid_tangents",
    "qpos, qvel, nothing, column",
    """
seed_state(m, d, qpos, qvel, nothing, nothing, column)
position_stage(m, d, 0)
force_stage(m, d, 0)
""",
    position_stage=position_stage,
    force_stage=force_stage,
    seed_state=seed_state,
)

# both models on all joints: several geoms a body, a moving base, bodies that nothing moves, without mass, on three
# slides (whose row of the inertia is a diagonal), alone on a free joint
ELLIPSOID = 'fluidshape="ellipsoid" fluidcoef="0.6 0.2 1.4 0.9 1.2"'
OPTION = '<option density="{density}" viscosity="{viscosity}" wind="{wind}" {more}><flag contact="disable"/></option>'
MECHANISM = f"""
<mujoco>{OPTION}<default><geom density="300"/></default><worldbody>
  <body pos="0 0 3"><geom type="box" size="0.3 0.2 0.1" {ELLIPSOID}/>
    <body pos="0.2 0 0" euler="10 20 30"><joint axis="0 1 1" pos="0 0.1 0"/>
      <geom type="capsule" size="0.05 0.2" euler="40 10 20" pos="0.1 0 0.2" {ELLIPSOID}/>
      <geom type="box" size="0.02 0.2 0.3" euler="0 0 20" fluidshape="ellipsoid" pos="0 0.1 0.2"/>
      <geom size="0.1"/>
      <body pos="0.2 0.1 0"><joint type="slide" axis="1 0 1"/><joint type="ball" pos="0.1 0 0"/>
        <geom type="box" size="0.1 0.2 0.05" euler="20 0 30" pos="0.1 0 0"/>
        <body pos="0.3 0 0"><joint axis="1 0 0"/><geom type="cylinder" size="0.1 0.02" pos="0 0.1 0.1" {ELLIPSOID}/>
        </body>
        <body pos="0 0.2 0" euler="0 50 0"><geom type="ellipsoid" size="0.1 0.2 0.15" {ELLIPSOID}/></body>
      </body>
      <body pos="0 0 0.3"><joint axis="0 0 1" armature="0.1"/><inertial pos="0 0 0" mass="1e-16" diaginertia="0 0 0"/>
        <geom size="0.2" mass="0" {ELLIPSOID}/><body pos="0.1 0 0"><geom size="0.05" mass="0.2"/></body></body>
    </body></body>
  <body pos="1 0 1"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.02" pos="0.05 0 0" {ELLIPSOID}/>
    <geom size="0.05" pos="0 0.1 0" {ELLIPSOID}/></body>
  <body pos="1 1 1"><freejoint/><geom type="box" size="0.1 0.2 0.02"/></body>
  <body pos="0 1 1"><freejoint/><geom type="box" size="0.1 0.2 0.02" {ELLIPSOID}/>
    <body pos="0.2 0 0"><joint axis="0 1 0"/><geom type="capsule" size="0.03 0.1" pos="0.1 0 0"/></body></body>
  <body pos="2 0 1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><geom type="ellipsoid" size="0.1 0.2 0.02" euler="30 20 10" {ELLIPSOID}/></body>
</worldbody></mujoco>"""


def mechanism(density=50.0, viscosity=0.3, wind="0.5 -1 0.7", more=""):
    return MECHANISM.format(density=density, viscosity=viscosity, wind=wind, more=more)


def in_medium(xml, option='density="20" viscosity="0.1" wind="1 -0.5 0.3"'):
    return xml.replace("<worldbody>", f"<option {option}/><worldbody>", 1)


def small():
    """A leaf of 3 by 2 by 0.1 mm in slow air."""
    leaf = f'<geom type="ellipsoid" size="0.003 0.002 0.0001" {ELLIPSOID}/>'
    body = f'<body pos="0 0 1"><joint type="slide" axis="1 0 1"/><joint type="ball"/>{leaf}</body>'
    option = OPTION.format(density=1.2, viscosity=1.8e-5, wind="0.03 0.01 -0.02", more="")
    return f"<mujoco>{option}<worldbody>{body}</worldbody></mujoco>"


MODELS = {
    "mechanism": mechanism(),
    "density alone": mechanism(viscosity=0.0, wind="0 0 0"),
    "viscosity alone": mechanism(density=0.0),
    "random tree": in_medium(random_tree(11, bodies=12)),
    "small": small(),
    "dm_control fish": ("dm_control", "suite/fish.xml"),
    "dm_control swimmer": ("dm_control", "suite/swimmer.xml"),
    "gymnasium swimmer": ("gymnasium", "envs/mujoco/assets/swimmer.xml"),
}


def load(name):
    """The model, and MuJoCo's of it without constraints and actuators."""
    source = MODELS[name]
    if isinstance(source, tuple):
        files = packaged(source[0])
        if source[1] not in files:
            pytest.skip(f"{source[0]} is not installed")
        source = files[source[1]]
    model = saltus.load(source)
    m = oracle.reference(model)
    m.opt.disableflags |= oracle.NO_ACTUATION
    return model, m


def struct(model, kind="float64"):
    """The kernels' Model with nothing but the medium, so that all models need the same kernels."""
    whole = copy.copy(model.struct(kind))
    assert "fluid" in whole.layout.features and whole.keep_bodies == 1
    whole.layout = model_layout(frozenset({"fluid"}))
    return whole


def random_states(m, count=lane64.width, seed=3, speed=1.0):
    rng = np.random.default_rng(seed)
    group = [oracle.random_state(m, rng, speed=speed) for _ in range(count)]
    return [{name: state[name] for name in ("qpos", "qvel")} for state in group]


def computed(model, states, symmetric=0):
    data = lanes(model, states, implicit=True)
    FLUID(struct(model), data, symmetric)
    return data


def matrix(model, data, lane):
    """The derivative [nv, nv] that `fluid_derivative` subtracted."""
    lower, upper = (dense(model, data.views[f][..., lane]) for f in ("lower", "upper"))
    return -np.tril(lower) - np.triu(upper, 1)


def mujocos_derivative(m, state, integrator):
    """d(qfrc_fluid)/d(qvel) [nv, nv] as MuJoCo's integrator takes it: qDeriv with the medium less that without."""
    found = []
    for medium in (1.0, 0.0):
        twin = copy.copy(m)
        twin.opt.integrator = integrator
        twin.opt.density, twin.opt.viscosity = m.opt.density * medium, m.opt.viscosity * medium
        d = oracle.forward(twin, state)
        mujoco.mj_step(twin, d)
        full = np.zeros((m.nv, m.nv))
        full[np.repeat(np.arange(m.nv), m.D_rownnz), m.D_colind] = d.qDeriv
        found.append(full)
    return found[0] - found[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_mujocos(name):
    """Forces and their derivatives, symmetric and not, at a state of its own in each lane."""
    model, m = load(name)
    integrators = mujoco.mjtIntegrator.mjINT_IMPLICIT, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    states = random_states(m, speed=1e-2 if name == "small" else 1.0)
    for symmetric, integrator in enumerate(integrators):
        data = computed(model, states, symmetric)
        for lane, state in enumerate(states):
            wanted = oracle.forward(m, state)
            assert np.max(np.abs(wanted.qfrc_fluid)) > 0
            assert largest_error(data.qfrc_fluid[:, lane], wanted.qfrc_fluid, 1e-30) <= TOLERANCE
            others = data.qfrc_spring[:, lane] + data.qfrc_damper[:, lane]
            assert largest_error(data.qfrc_passive[:, lane] - others, wanted.qfrc_fluid, 1e-30) <= TOLERANCE
            derivative = mujocos_derivative(m, state, integrator)
            assert largest_error(matrix(model, data, lane), derivative, 1e-30) <= TOLERANCE


@pytest.mark.slow
def test_tangents():
    """Duals through the forces: in velocities the analytic derivative, in positions differences of MuJoCo's forces."""
    model, m = load("mechanism")
    (state,) = random_states(m, 1, seed=5)
    analytic = matrix(model, computed(model, [state]), 0)
    data = Struct(DATA, data_sizes(model.sizes(), tangents=True), "dual")
    tangents = np.zeros((m.nv, 2 * m.nv))
    for column in range(0, 2 * m.nv, NTANGENT):
        TANGENTS(struct(model), data, state["qpos"], state["qvel"], np.zeros(0), column)
        columns = slice(column, min(column + NTANGENT, 2 * m.nv))
        tangents[:, columns] = data.qfrc_fluid[:, 1, : columns.stop - column]
    assert largest_error(tangents[:, m.nv :], analytic) <= TOLERANCE

    def moved(direction, s):
        qpos = state["qpos"].copy()
        mujoco.mj_integratePos(m, qpos, direction, s)
        return oracle.forward(m, state | {"qpos": qpos}).qfrc_fluid.copy()

    h = STEP
    for i, e in enumerate(np.eye(m.nv)):
        slope = 8.0 * (moved(e, h) - moved(e, -h)) - (moved(e, 2 * h) - moved(e, -2 * h))
        assert np.max(np.abs(tangents[:, i] - slope / (12.0 * h))) <= DIFFERENCED * np.max(np.abs(tangents[:, : m.nv]))


@pytest.mark.slow
def test_rest():
    """In still media nothing acts on what rests; the derivative is Stokes' resistance, for duals too."""
    model = saltus.load(mechanism(wind="0 0 0"))
    m = oracle.reference(model)
    state = random_states(m, 1)[0] | {"qvel": np.zeros(m.nv)}
    data = computed(model, [state])
    assert not data.qfrc_fluid[:, 0].any()
    tangents = Struct(DATA, data_sizes(model.sizes(), tangents=True), "dual")
    TANGENTS(struct(model), tangents, state["qpos"], state["qvel"], np.zeros(0), m.nv)
    found, analytic = tangents.qfrc_fluid[:, 1, :], matrix(model, data, 0)
    assert largest_error(found, analytic[:, :NTANGENT]) <= TOLERANCE
    assert np.linalg.eigvalsh(analytic).max() <= TOLERANCE and (np.diag(analytic) < 0).all()


@pytest.mark.parametrize("shape", ["", ELLIPSOID], ids=["box", "ellipsoid"])
def test_symbols(shape):
    """The same source on symbols, with numbers put in at the end."""
    body = f'<body><joint axis="0 1 0"/><geom type="box" size="0.1 0.2 0.05" pos="0.3 0 0" {shape}/></body>'
    model = saltus.load(in_medium(f"<mujoco><worldbody>{body}</worldbody></mujoco>"))
    data = symbolic_data(DATA, data_sizes(model.sizes()))
    trace(free_acceleration, symbolic_model(model.struct()), data)
    state = {"qpos": [0.3], "qvel": [0.7]}
    found = float(data.qfrc_fluid[0].subs({"qpos_0": 0.3, "qvel_0": 0.7}))
    assert found == pytest.approx(oracle.forward(model.mujoco, state).qfrc_fluid[0], rel=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mechanism", "small"])
def test_single_precision(name):
    """float32 lanes, down to small shapes whose areas squared are too small for its range."""
    model, m = load(name)
    states = random_states(m, lane32.width, speed=1e-2 if name == "small" else 1.0)
    data = Struct(DATA, data_sizes(model.sizes(), implicit=True), "lane32")
    for lane, state in enumerate(states):
        for field, value in state.items():
            data.views[field][..., lane] = value
    FLUID(struct(model, "float32"), data, 0)
    for lane, state in enumerate(states):
        wanted = oracle.forward(m, state).qfrc_fluid
        assert largest_error(data.qfrc_fluid[:, lane], wanted, 1e-30) <= SINGLE


def test_lanes_do_not_meet():
    """The same bits with any neighbours, also with some at rest."""
    model, m = load("mechanism")
    states = random_states(m)
    alone = [computed(model, [state] * lane64.width) for state in states[:3]]
    states[3:] = [state | {"qvel": 0.0 * state["qvel"]} for state in states[3:]]
    mixed = computed(model, states)
    for lane, data in enumerate(alone):
        for field in ("qfrc_fluid", "lower", "upper"):
            assert same_bits(mixed.views[field][..., lane].copy(), data.views[field][..., lane].copy())


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_steps(integrator):
    """Fifty steps of MuJoCo's integrators; the medium is dense enough for the implicit ones to differ."""
    model = saltus.load(mechanism(more=f'timestep="0.004" integrator="{integrator}"'))
    m = model.mujoco
    sim, d = saltus.Simulation(model, integrator=None), mujoco.MjData(m)
    (state,) = random_states(m, 1, seed=1)
    for name, value in state.items():
        getattr(sim, name)[:] = getattr(d, name)[:] = value
    sim.step(50)
    for _ in range(50):
        mujoco.mj_step(m, d)
    assert largest_error(sim.qpos, d.qpos, 1.0) <= STEPPED
    assert largest_error(sim.qvel, d.qvel, 1.0) <= STEPPED
    assert (
        largest_error(sim.data.qfrc_fluid, oracle.forward(m, {"qpos": sim.qpos, "qvel": sim.qvel}).qfrc_fluid) < 1e-11
    )


@pytest.mark.parametrize("off", ["", "spring", "damper", "spring damper"])
def test_flags(off):
    """The medium goes only with springs and dampers both switched off, as in MuJoCo."""
    flags = " ".join(f'{word}="disable"' for word in off.split())
    model = saltus.load(mechanism().replace('<flag contact="disable"/>', f'<flag contact="disable" {flags}/>'))
    (state,) = random_states(model, 1)
    wanted = oracle.forward(oracle.reference(model), state).qfrc_fluid
    assert wanted.any() == (off != "spring damper")
    assert model.struct().nfluid == (12 if wanted.any() else 0)
    assert ("fluid" in model.struct().layout.features) == wanted.any()


def test_left_out_on_purpose():
    model = saltus.load(mechanism(), ignore=["fluid"])
    assert model.ignored == ("fluid: option density, viscosity",)
    assert model.struct().nfluid == 0 and "fluid" not in model.struct().layout.features
    assert not model.struct().layout.features


# ---------------------------------------------------------------- closed forms


def sphere(density, viscosity, geom="", wind="0 0 0"):
    """A sphere of 2 kg and 0.1 m on three slides and a ball joint, in the same kernels as the mechanism."""
    option = OPTION.format(density=density, viscosity=viscosity, wind=wind, more='integrator="RK4"')
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    body = f'<body pos="0 0 1">{slides}<joint type="ball"/><geom size="0.1" mass="2" {geom}/></body>'
    return saltus.Simulation(saltus.load(f"<mujoco>{option}<worldbody>{body}</worldbody></mujoco>"), integrator=None)


MASS, RADIUS, GRAVITY = 2.0, 0.1, 9.81


@pytest.mark.parametrize("shape", ["box", "ellipsoid"])
def test_stokes(shape):
    """A falling sphere: v = v∞ (1 - exp(-t/τ)), τ = m/(6πβr), v∞ = gτ; its spin decays with I/(8πβr³).

    The box of a sphere's inertia has half sides √(3/5) r, which stand for the radius.
    """
    viscosity = 40.0
    sim = sphere(0.0, viscosity, ELLIPSOID if shape == "ellipsoid" else "")
    r = RADIUS * (np.sqrt(0.6) if shape == "box" else 1.0)
    lag = MASS / (6 * np.pi * viscosity * r)
    spin_lag = 0.4 * MASS * RADIUS**2 / (8 * np.pi * viscosity * r**3)
    sim.qvel[3:] = 1.0, 2.0, -3.0
    h = 0.01 * min(lag, spin_lag)
    sim.timestep = h
    sim.step(200)
    t = sim.time
    assert sim.qvel[2] == pytest.approx(-GRAVITY * lag * (1 - np.exp(-t / lag)), rel=1e-9)
    assert sim.qvel[3:] == pytest.approx(np.array([1.0, 2.0, -3.0]) * np.exp(-t / spin_lag), rel=1e-9)


def test_quadratic_drag():
    """A sphere that falls in a wind: relative speed v∞ tanh(g t/v∞), v∞² = m g/(ρ C π r²), along its weight alone."""
    density, blunt = 100.0, 0.6
    sim = sphere(density, 0.0, ELLIPSOID, wind="0.3 0.4 0")
    sim.qvel[:2] = 0.3, 0.4
    limit = np.sqrt(MASS * GRAVITY / (density * blunt * np.pi * RADIUS**2))
    sim.timestep = 0.01 * limit / GRAVITY
    sim.step(200)
    assert sim.qvel[2] == pytest.approx(-limit * np.tanh(GRAVITY * sim.time / limit), rel=1e-8)
    assert sim.qvel[:2] == pytest.approx([0.3, 0.4], rel=1e-13)
    assert np.max(np.abs(sim.qvel[3:])) < 1e-13


def power(model, states):
    """Power (W) of the medium at each state, and the sum of its terms' sizes."""
    data = computed(model, states)
    terms = np.array([state["qvel"] * data.qfrc_fluid[:, lane] for lane, state in enumerate(states)])
    return terms.sum(axis=1), np.abs(terms).sum(axis=1)


def test_drag_dissipates():
    """In still media both models take energy from any motion."""
    for model in (saltus.load(mechanism(wind="0 0 0")), saltus.load(in_medium(random_tree(11), 'density="20"'))):
        found, size = power(model, random_states(model))
        assert (found < -1e-3 * size).all()


def test_lift_and_added_mass_do_no_work():
    """Kutta's and Magnus's lifts are normal to the velocity, and what added mass gives to spin it takes from motion."""
    shape = 'fluidshape="ellipsoid" fluidcoef="0 0 0 1.3 0.8"'
    geom = f'<geom type="box" size="0.1 0.3 0.05" pos="0.1 0 0" euler="10 20 30" {shape}/>'
    joints = "<freejoint/>", '<joint axis="1 1 0" pos="0 0 0.2"/><joint type="ball"/>'
    bodies = "".join(f'<body pos="{k} 0 1">{joint}{geom}</body>' for k, joint in enumerate(joints))
    option = OPTION.format(density=80.0, viscosity=0.0, wind="0 0 0", more="")
    model = saltus.load(f"<mujoco>{option}<worldbody>{bodies}</worldbody></mujoco>")
    found, size = power(model, random_states(model))
    assert (size > 1.0).all() and (np.abs(found) <= 1e-13 * size).all()
