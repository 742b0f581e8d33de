"""Hill-type muscles: their curves, the balance of fibre and tendon, their motion.

Law: the damped equilibrium of Millard, Uchida, Seth & Delp, Flexing computational muscle (2013), eq. 8, with a pennate
fibre of constant width.

References: OpenSim 4.6 (Millard2012EquilibriumMuscle, no minimum of the activation), whose curves, forces and fibre
lengths stand below as numbers; SciPy's root finding and DOP853 on the same equations; the closed balance of work.

Tolerances. Curves: 1e-12, and of slopes, which divide by roundings of the parameter, 1e-11. Motion against OpenSim:
5e-9 of the greatest force or the optimal length, as its starting balance is solved to 2e-9 and its integrator held to
1e-11 a step; Saltus's steps are so small that its own error is below. Roots and balances: 1e-10, the relative
tolerance of the references. Orders: 0.2.
"""

import pickle

import numpy as np
import pytest
from helpers.cases import same_bits
from helpers.hill import FORCE, MUSCLE, OPTIMAL, PATH, PENNATION, ROWS, SLACK, curve, load
from numpy.testing import assert_allclose
from scipy.integrate import quad, simpson, solve_ivp
from scipy.optimize import brentq

import saltus
from saltus.dynamics.fibre_equilibrium import initial_activations
from saltus.model.layout import MODEL

# OpenSim 4.6: argument (of the tendon: strain), value, derivative
OPENSIM_CURVES = {
    "active": [
        (0.3, 0.0, 0.0),
        (0.45, 4.86937283390155e-05, 0.026692754261347523),
        (0.5, 0.09853248961876138, 3.4321403388509952),
        (0.6, 0.4511018783255816, 3.5411692717917744),
        (0.7, 0.7670203685686412, 1.7554353302487387),
        (0.8, 0.87067661327986, 0.8685816945595795),
        (0.95, 0.9950854277615286, 0.46518131941174123),
        (1.0, 1.0, 0.0),
        (1.02, 0.9998613526775124, -0.022932512789712388),
        (1.1, 0.957375532280429, -1.1868107839863644),
        (1.2, 0.823680970871459, -1.3874587616057144),
        (1.4, 0.543730727118193, -1.4038187412019578),
        (1.6, 0.26302688371190536, -1.4021838778460383),
        (1.8, 0.0009943143705208432, -0.2643609535975476),
        (1.9, 0.0, 0.0),
    ],
    "velocity": [
        (-1.2, 0.0, 0.0),
        (-0.97, 0.0007929537502905503, 0.07549336619673407),
        (-0.9, 0.0125, 0.25),
        (-0.7, 0.06651872702326071, 0.31896304494874683),
        (-0.5, 0.15808560444169842, 0.6426314540218343),
        (-0.3, 0.33023970225592203, 1.0797383011870607),
        (-0.1, 0.6252142843129728, 2.2989532584779333),
        (0.0, 1.0, 5.0),
        (0.02, 1.0928356284223233, 3.931675836401804),
        (0.1, 1.225153837753858, 0.684734392201829),
        (0.3, 1.2947073906241897, 0.21424637084427264),
        (0.9, 1.3925, 0.15),
        (0.95, 1.3991328125, 0.075),
        (1.3, 1.4, 0.0),
    ],
    "passive": [
        (0.9, 0.0, 0.0),
        (1.02, 0.000877438740108086, 0.12091012663596783),
        (1.1, 0.01704483509737836, 0.2273483592659682),
        (1.4, 0.2628897766071385, 1.6581167677101247),
        (1.6, 0.7170695270830669, 2.762089944079321),
        (1.7, 1.0, 2.857142857142857),
        (1.9, 1.5714285714285714, 2.857142857142857),
    ],
    "tendon": [
        (-0.01, 0.0, 0.0),
        (0.002, 0.007316946624299866, 7.948332578535417),
        (0.005, 0.03760449363141661, 11.25161365488998),
        (0.01, 0.09967827012198324, 13.8360369282014),
        (0.02, 0.2609359826149298, 19.584008318410284),
        (0.03, 0.47939871234804565, 23.74160249737328),
        (0.049, 1.0, 28.06122448979592),
        (0.06, 1.3086734693877551, 28.06122448979592),
    ],
}

HEAVY, OMEGA = 1e12, float(4 * np.pi)  # a mass whose motion the muscle cannot change; rad/s

# OpenSim 4.6, integrator accuracy 1e-11: time (s), path (m), activation, fibre (optimal lengths), force (N)
OPENSIM_RUNS = {
    # the path held, activation from 0 with excitation 1
    "on": [
        (0.01, 3.594403786951e-01, 6.186231913496e-01, 1.005210429893e00, 1.055760995956e02),
        (0.02, 3.594403786951e-01, 7.977647278876e-01, 9.869426535756e-01, 2.032780794117e02),
        (0.04, 3.594403786951e-01, 9.327658791285e-01, 9.686723435777e-01, 3.235220744852e02),
        (0.08, 3.594403786951e-01, 9.912916130798e-01, 9.547738955140e-01, 4.259764589476e02),
        (0.30, 3.594403786951e-01, 9.999998555019e-01, 9.484868197166e-01, 4.723762546713e02),
    ],
    # the same, activation from 1 with excitation 0
    "off": [
        (0.01, 3.594403786951e-01, 6.524886059170e-01, 9.580469468231e-01, 4.018335819855e02),
        (0.05, 3.594403786951e-01, 2.235644120534e-01, 1.000300547356e00, 1.289328332988e02),
        (0.10, 3.594403786951e-01, 9.122945700350e-02, 1.019172729792e00, 4.966264935359e01),
        (0.40, 3.594403786951e-01, 1.693042473077e-03, 1.035030353848e00, 2.519144353952e00),
    ],
    # the path swings by a quarter of the optimal fibre length at 2 Hz, excitation 0.5
    "swing": [
        (0.05, 3.770739362638e-01, 0.5, 1.110810040022e00, 3.141644234194e02),
        (0.10, 3.879720741838e-01, 0.5, 1.204397914293e00, 2.737759434897e02),
        (0.20, 3.770739362639e-01, 0.5, 1.149178626502e00, 9.422473577765e01),
        (0.30, 3.418068211266e-01, 0.5, 8.734453533206e-01, 7.368315619003e01),
        (0.40, 3.309086832068e-01, 0.5, 7.597571489090e-01, 2.258954320710e02),
        (0.75, 3.594403786959e-01, 0.5, 1.014637434555e00, 6.692345245856e01),
    ],
    # the muscle pulls a mass of 20 kg from rest, activation from 0.05 with excitation 1, until the tendon is slack
    "pull": [
        (0.02, 3.586265803973e-01, 8.010217149560e-01, 9.835290062275e-01, 1.854786213830e02),
        (0.05, 3.508845648589e-01, 9.606103040983e-01, 9.268873084309e-01, 1.587413385643e02),
        (0.10, 3.240358611920e-01, 9.968534017945e-01, 7.416930734058e-01, 4.991566349962e01),
        (0.15, 2.903893308103e-01, 9.997422705059e-01, 5.147663505698e-01, 0.0),
    ],
    # the swing with a rigid tendon
    "rigid": [
        (0.05, 3.770739362636e-01, 0.5, 1.179890754578e00, 2.959063850914e02),
        (0.20, 3.770739362637e-01, 0.5, 1.179890754579e00, 8.864165315673e01),
        (0.30, 3.418068211266e-01, 0.5, 8.983863775523e-01, 7.878742170830e01),
        (0.40, 3.309086832067e-01, 0.5, 8.131716136620e-01, 2.544801068286e02),
    ],
}


def begin(model, integrator="rk4", *, path=PATH, activation=0.0, excitation=0.0, speed=0.0):
    """A simulation from a balance of fibre and tendon."""
    sim = saltus.Simulation(model, integrator)
    sim.qpos, sim.qvel, sim.ctrl = path, speed, excitation
    sim.act = initial_activations(model, {"qpos": [path], "act": [activation]})
    return sim


def value(model, name, x):
    return float(curve(model, name, x)[0][0])


# ---------------------------------------------------------------- curves


@pytest.mark.parametrize("name", ROWS)
def test_curves_are_those_of_opensim(name):
    x, y, slope = np.transpose(OPENSIM_CURVES[name])
    mine = curve(load(), name, x)
    assert_allclose(mine[0], y, rtol=0, atol=1e-12)
    assert_allclose(mine[1], slope, rtol=0, atol=1e-11)


# ---------------------------------------------------------------- the balance of fibre and tendon


def balance(model, muscle, act, path, length, v):
    """Fibre's less tendon's force along the tendon, in units of the greatest."""
    sine = np.sin(muscle.pennation_angle)
    along = np.sqrt(length**2 - sine**2)
    strain = (path - muscle.optimal_fiber_length * along) / muscle.tendon_slack_length - 1
    active = act * value(model, "active", length) * value(model, "velocity", v)
    fibre = active + value(model, "passive", length) + muscle.fiber_damping * v
    return fibre * along / length - value(model, "tendon", strain)


def fibre_velocity(model, muscle, act, path, length):
    return brentq(lambda v: balance(model, muscle, act, path, length, v), -1e4, 1e5, xtol=1e-15, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.1, 1e-3])
def test_the_fibre_velocity_balances_fibre_and_tendon(damping):
    """A thousandth of the damping is still solved; all pieces of all curves and what lies beyond them."""
    muscle = saltus.HillMuscle(FORCE, OPTIMAL, SLACK, PENNATION, fiber_damping=damping)
    model, rng = load(muscle), np.random.default_rng(1)
    sim = begin(model)
    for activation in (0.0, 1e-4, 0.3, 1.0):
        for length in rng.uniform(0.45, 1.9, 12):
            along = OPTIMAL * np.sqrt(length**2 - np.sin(PENNATION) ** 2)
            path = along + SLACK * (1 + rng.uniform(-0.01, 0.08))
            sim.qpos, sim.act = path, [activation, length]
            assert sim.data.qacc[0] < np.inf  # computes everything
            rate = float(sim.engine.d.views["act_dot"][1])
            v = fibre_velocity(model, muscle, activation, path, length)
            assert rate / muscle.max_contraction_velocity == pytest.approx(v, rel=1e-10, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("activation", [0.0, 0.5, 1.0])
def test_muscles_begin_in_balance(activation):
    """The fibre where SciPy finds it, and at rest; the force is the fibre's."""
    model = load()
    for path in PATH + OPTIMAL * np.array([-0.3, 0.0, 0.3]):
        sim = begin(model, path=path, activation=activation, excitation=activation)
        length = float(sim.act[1])
        top = np.hypot((path - SLACK) / OPTIMAL, np.sin(PENNATION))
        found = brentq(lambda x, path=path: balance(model, MUSCLE, activation, path, x, 0.0), 0.45, top, xtol=1e-15)
        assert length == pytest.approx(found, abs=1e-10 if activation else 1e-4)
        along = np.sqrt(length**2 - np.sin(PENNATION) ** 2)
        force = activation * value(model, "active", length) + value(model, "passive", length)
        assert -sim.data.actuator_force[0] == pytest.approx(FORCE * force * along / length, abs=1e-8 * FORCE)
        assert sim.data.qfrc_actuator[0] == sim.data.actuator_force[0]  # it pulls the insertion to the origin


def test_a_slack_muscle_at_rest_stays_as_it_is():
    sim = begin(load(), path=0.9 * PATH)
    before = sim.act.copy()
    sim.step(100)
    assert sim.act[0] == 0 and abs(sim.data.actuator_force[0]) < 1e-12 * FORCE
    assert sim.act[1] == pytest.approx(before[1], abs=1e-12)


# ---------------------------------------------------------------- motion


SETTINGS = {  # muscle, mass, stiffness of a spring, and how it begins
    "on": (MUSCLE, HEAVY, 0.0, dict(activation=0.0, excitation=1.0)),
    "off": (MUSCLE, HEAVY, 0.0, dict(activation=1.0, excitation=0.0)),
    "pull": (MUSCLE, 20.0, 0.0, dict(activation=0.05, excitation=1.0)),
}
SWING = dict(activation=0.5, excitation=0.5, speed=0.25 * OPTIMAL * OMEGA)
RIGID = saltus.HillMuscle(FORCE, OPTIMAL, SLACK, PENNATION, rigid_tendon=True)
SETTINGS["swing"] = (MUSCLE, HEAVY, HEAVY * OMEGA**2, SWING)
SETTINGS["rigid"] = (RIGID, HEAVY, HEAVY * OMEGA**2, SWING)


@pytest.mark.parametrize("name", SETTINGS)
def test_motion_is_that_of_opensim(name):
    muscle, mass, stiffness, start = SETTINGS[name]
    sim = saltus.Simulation(load(muscle, mass, stiffness), "rk4", timestep=2e-5)
    begun = begin(sim.model, **start)
    sim.restore(begun.snapshot())
    for time, path, activation, length, force in OPENSIM_RUNS[name]:
        sim.step(round((time - sim.time) / sim.timestep))
        assert sim.qpos[0] == pytest.approx(path, abs=5e-9 * OPTIMAL)
        assert sim.act[0] == pytest.approx(activation, abs=5e-9)
        assert -sim.data.actuator_force[0] == pytest.approx(force, abs=5e-9 * FORCE)
        if not muscle.rigid_tendon:
            assert sim.act[1] == pytest.approx(length, abs=5e-9)


def rates(model, muscle, mass, excitation):
    """d(path, speed, activation, fibre)/dt of a mass that a muscle pulls, by SciPy's roots."""
    sine = np.sin(muscle.pennation_angle)

    def slope(t, y):
        path, speed, act, length = y
        along = np.sqrt(length**2 - sine**2)
        strain = (path - muscle.optimal_fiber_length * along) / muscle.tendon_slack_length - 1
        force = muscle.max_isometric_force * value(model, "tendon", strain)
        share = 0.5 + 1.5 * act
        rising, falling = muscle.activation_time_constant * share, muscle.deactivation_time_constant / share
        act_rate = (excitation - act) / (rising if excitation > act else falling)
        rate = muscle.max_contraction_velocity * fibre_velocity(model, muscle, act, path, length)
        return [speed, -force / mass, act_rate, rate]

    return slope


DURATION = 0.064


@pytest.fixture(scope="module")
def solution():
    """The pull of a mass by SciPy's eighth-order method: start and end of (path, speed, activation, fibre)."""
    model = load()
    start = np.concatenate([[PATH, 0.0], begin(model, activation=0.3).act])
    found = solve_ivp(
        rates(model, MUSCLE, 20.0, 0.6), (0, DURATION), start, method="DOP853", rtol=1e-12, atol=1e-13, max_step=2e-3
    )
    return start, found.y[:, -1]


@pytest.mark.parametrize("integrator,order", [("rk4", 4), ("euler", 1), ("midpoint", 2)])
def test_the_order_of_integrators(integrator, order, solution):
    start, end = solution
    steps = np.array([1e-3, 5e-4, 2.5e-4] if order > 2 else [2.5e-4, 1.25e-4, 6.25e-5])
    errors = []
    for h in steps:
        sim = saltus.Simulation(load(), integrator, timestep=h)
        sim.qpos, sim.qvel, sim.act, sim.ctrl = start[0], start[1], start[2:], 0.6
        sim.step(round(DURATION / h))
        errors.append(np.abs(np.concatenate([sim.qpos, sim.qvel, sim.act]) - end).max())
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.2)


def test_work_is_balanced():
    """What the mass gains is the active fibres' work less what tendon and passive fibre store and the damper takes.

    m ẋ²/2 + F₀ ∫ f_T dl_T + F₀ ∫ f_P dl + F₀ ∫ (a f_L f_V + β v) dl = 0, along the run. Tolerance: the error of
    Simpson's rule over 640 intervals, some (1/640)⁴ of joules.
    """
    model, h = load(), 1e-4
    sim = saltus.Simulation(model, "rk4", timestep=h)
    begun = begin(model, activation=0.3, excitation=0.6)
    sim.restore(begun.snapshot())
    lengths, acts, speeds, paths, rate = [], [], [], [], []
    for k in range(641):
        if k:
            sim.step(1)
        assert sim.data.qacc[0] < 0
        paths.append(sim.qpos[0])
        speeds.append(sim.qvel[0])
        acts.append(sim.act[0])
        lengths.append(sim.act[1])
        rate.append(float(sim.engine.d.views["act_dot"][1]))
    length, v = np.array(lengths), np.array(rate) / MUSCLE.max_contraction_velocity
    active = np.array(acts) * curve(model, "active", length)[0] * curve(model, "velocity", v)[0]
    power = FORCE * (active + MUSCLE.fiber_damping * v) * OPTIMAL * np.array(rate)
    along = OPTIMAL * np.sqrt(length[[0, -1]] ** 2 - np.sin(PENNATION) ** 2)
    strain = (np.array(paths)[[0, -1]] - along) / SLACK - 1
    options = dict(epsabs=1e-12, epsrel=1e-12, limit=200)
    stored = FORCE * SLACK * quad(lambda x: value(model, "tendon", x), *strain, **options)[0]
    stored += FORCE * OPTIMAL * quad(lambda x: value(model, "passive", x), *length[[0, -1]], **options)[0]
    gained = 0.5 * 20.0 * (speeds[-1] ** 2 - speeds[0] ** 2)
    assert gained > 1.0
    assert gained + stored + simpson(power, dx=h) == pytest.approx(0.0, abs=1e-6 * gained)


def test_one_stage_methods_stay_stable_where_an_inactive_fibre_meets_a_stiff_tendon():
    """The fibre's rate constant is v₀ l₀ k_T / (l_s β), some 1400/s: 5 ms would be too long for Euler's method."""
    sim = saltus.Simulation(load(mass=HEAVY), "euler", timestep=5e-3)
    sim.qpos, sim.act = PATH, [0.0, 0.97]
    sim.step(200)
    settled = begin(load(), activation=0.0).act
    assert sim.act[1] == pytest.approx(settled[1], abs=1e-3)


@pytest.mark.slow
def test_lanes_give_what_one_simulation_gives():
    """Batches to some hundred roundings of single runs, and a simulation to the bit with any neighbours."""
    model, count = load(), 11
    rng = np.random.default_rng(3)
    paths = PATH + OPTIMAL * rng.uniform(-0.4, 0.4, count)
    begins = zip(paths, rng.uniform(size=count), strict=True)
    acts = np.array([initial_activations(model, {"qpos": [x], "act": [a]}) for x, a in begins])
    controls = rng.uniform(size=(count, 1))

    def run(order):
        batch = saltus.Batch(model, count, integrator="rk4", timestep=1e-3)
        batch.qpos, batch.act, batch.ctrl = paths[order, None], acts[order], controls[order]
        batch.step(60)
        return np.hstack([batch.qpos, batch.qvel, batch.act])

    order = rng.permutation(count)
    together = run(np.arange(count))
    assert same_bits(run(order), together[order])
    for k in range(count):
        sim = saltus.Simulation(model, "rk4", timestep=1e-3)
        sim.qpos, sim.act, sim.ctrl = paths[k], acts[k], controls[k]
        sim.step(60)
        assert_allclose(np.concatenate([sim.qpos, sim.qvel, sim.act]), together[k], atol=1e-13, rtol=1e-12)


@pytest.mark.slow
def test_derivatives_are_exact():
    """A step's derivatives by dual numbers with Richardson's differences, whose error is about 1e-9 of 1."""
    sim = begin(load(), "euler", activation=0.3, excitation=0.6)
    sim.step(20)
    A, B = sim.linearize()
    state, control, place = np.concatenate([sim.qpos, sim.qvel, sim.act]), sim.ctrl.copy(), sim.snapshot()

    def after(change):
        sim.restore(place)
        x = state + change[:4]
        sim.qpos, sim.qvel, sim.act, sim.ctrl = x[0], x[1], x[2:], control + change[4]
        sim.step(1)
        return np.concatenate([sim.qpos, sim.qvel, sim.act])

    for k in range(5):
        unit = np.eye(5)[k]
        coarse, fine = ((after(h * unit) - after(-h * unit)) / (2 * h) for h in (2e-4, 1e-4))
        wanted = B[:, 0] if k == 4 else A[:, k]
        assert_allclose((4 * fine - coarse) / 3, wanted, rtol=1e-5, atol=1e-8)


# ---------------------------------------------------------------- models


def test_states_follow_those_of_mujoco():
    """A muscle of MuJoCo's keeps its place in act for the activation; fibres and other activations come after."""
    xml = """<mujoco><worldbody><body><joint name="x" type="slide"/><geom size="0.1"/></body></worldbody><actuator>
      <general name="none" joint="x"/><muscle name="own" joint="x" lengthrange="0 1"/>
      <general name="filter" joint="x" dyntype="filter"/></actuator></mujoco>"""
    muscles = {"own": saltus.HillMuscle(1, 1, 1), "none": saltus.HillMuscle(2, 1, 1)}
    model = saltus.load(xml, muscles=muscles)
    assert model.na == 5 and model.mujoco.na == 2
    kernel_model = model.struct()
    assert kernel_model.actuator_slot[:2, :3].tolist() == [[2, 3, 0], [0, 4, 1]]
    assert kernel_model.hill_prm[:, 0].tolist() == [2, 1]
    assert {"hill", "act"} <= kernel_model.layout.features and "muscle" not in kernel_model.layout.features
    rigid = saltus.load(xml, muscles={"own": saltus.HillMuscle(1, 1, 1, rigid_tendon=True)})
    assert rigid.na == 2
    again = pickle.loads(pickle.dumps(model))
    assert again.na == 5 and dict(again.muscles) == muscles
    assert saltus.load(again) is again and saltus.load(again, muscles={"filter": MUSCLE}).na == 6


def test_models_without_such_muscles_are_as_before():
    model = saltus.load("pendulum")
    assert model.na == 0 and not model.muscles
    assert model.struct().layout.fields == MODEL.fields
