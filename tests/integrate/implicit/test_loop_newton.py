"""Closed loops in steps of `energy_momentum` under hard contact: closed to rounding, by forces that do no work.

Law: with discrete derivatives of the constraints the energy changes by the work of all other forces alone, whatever the
step, and a free mechanism keeps its linear and angular momentum (Gonzalez, Physica D 132 (1999); Betsch & Steinmann,
IJNME 53 (2002)). Order two.
Reference: conserved quantities; a parallelogram, which is a pendulum of known inertia; the quadrature of a four-bar's
one freedom; `dopri5` at 1e-11 under hard contact.

Tolerances: the iteration ends where velocities change by 1e-13 of the largest: 1e-11 of the kinetic energy in a
thousand steps. Orders are fitted to 0.2.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp

import saltus

BARE = '<default><geom type="capsule" size="0.02" contype="0" conaffinity="0"/></default>'
CRANK, COUPLER, ROCKER = np.array([0.15, 0.2]), np.array([0.75, 0.35]), np.array([-0.1, 0.55])
GROUND = CRANK + COUPLER - ROCKER  # where the rocker is hinged


def vector(xz):
    return f"{xz[0]} 0 {xz[1]}"


def four_bar(*, crank=CRANK, coupler=COUPLER, rocker=ROCKER, gravity=9.81, joint="", motor="", more=""):
    """Hinges about y; the rocker's tip is connected to the coupler's; links of 1 kg, with their mass in rods."""
    ground = crank + coupler - rocker
    link = '<geom mass="1" fromto="0 0 0 {}"/>'
    return f"""<mujoco><option gravity="0 0 -{gravity}"/>{BARE}<worldbody>
      <body name="crank"><joint name="drive" axis="0 1 0" {joint}/>{link.format(vector(crank))}
        <body name="coupler" pos="{vector(crank)}"><joint axis="0 1 0"/>{link.format(vector(coupler))}</body></body>
      <body name="rocker" pos="{vector(ground)}"><joint axis="0 1 0"/>{link.format(vector(rocker))}</body></worldbody>
      <equality><connect body1="coupler" body2="rocker" anchor="{vector(coupler)}"/>{more}</equality>{motor}</mujoco>"""


SLIDER_CRANK = f"""<mujoco>{BARE}<worldbody>
  <body><joint axis="0 1 0"/><geom mass="1" fromto="0 0 0 0.1 0 0.2"/>
    <body name="rod" pos="0.1 0 0.2"><joint axis="0 1 0"/><geom mass="1" fromto="0 0 0 0.5 0 -0.2"/></body></body>
  <body name="piston" pos="0.6 0 0"><joint type="slide" axis="1 0 0"/><geom type="sphere" size="0.05" mass="2"/></body>
  </worldbody><equality><connect body1="piston" body2="rod" anchor="0 0 0"/></equality></mujoco>"""
# a crank and a rocker on skew axes, a rod on a ball joint, and a spring in the rocker
SPATIAL = f"""<mujoco>{BARE}<worldbody>
  <body><joint axis="0 1 0.3"/><geom mass="1" fromto="0 0 0 0.1 0 0.2"/>
    <body name="rod" pos="0.1 0 0.2"><joint type="ball"/><geom mass="1" fromto="0 0 0 0.5 0.1 0"/></body></body>
  <body name="rocker" pos="0.6 0.1 -0.2"><joint axis="1 0.4 0" stiffness="3" springref="20"/>
    <geom mass="1" fromto="0 0 0 0 0 0.4"/></body></worldbody>
  <equality><connect body1="rocker" body2="rod" anchor="0 0 0.4"/></equality></mujoco>"""
# half a coupler welded to the other half: five of six rows are redundant in the plane, or scaled
WELDED = f"""<mujoco>{BARE}<worldbody>
  <body><joint axis="0 1 0"/><geom mass="1" fromto="0 0 0 0.15 0 0.2"/>
    <body name="half" pos="0.15 0 0.2"><joint axis="0 1 0"/><geom mass="0.5" fromto="0 0 0 0.3 0 0.05"/></body></body>
  <body pos="1 0 0"><joint axis="0 1 0"/><geom mass="1" fromto="0 0 0 -0.1 0 0.35"/>
    <body name="other" pos="-0.1 0 0.35"><joint axis="0 1 0"/><geom mass="0.5" fromto="0 0 0 -0.45 0 -0.1"/></body>
  </body></worldbody><equality><weld body1="half" body2="other"/></equality></mujoco>"""
GEARED = f"""<mujoco>{BARE}<worldbody><body><joint name="a" axis="0 1 0"/><geom mass="1" fromto="0 0 0 0.4 0 0"/></body>
  <body pos="0 1 0"><joint name="b" axis="0 1 0"/><geom mass="2" fromto="0 0 0 0.3 0 0.1"/></body></worldbody>
  <equality><joint joint1="a" joint2="b" polycoef="0 1.5 0.2 -0.1 0.02"/></equality></mujoco>"""
# in free flight: a base with two arms that hold one rod
FLOATING = f"""<mujoco><option gravity="0 0 0"/>{BARE}<worldbody>
  <body name="base" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.05 0.04" mass="2" pos="0.02 0.01 0"/>
    <body pos="0.1 0 0"><joint axis="0 1 0.2"/><geom mass="0.5" fromto="0 0 0 0.1 0 0.3"/>
      <body name="rod" pos="0.1 0 0.3"><joint type="ball"/><geom mass="0.7" fromto="0 0 0 -0.4 0 0.05"/></body></body>
    <body name="arm" pos="-0.1 0 0"><joint axis="0.1 1 0"/><geom mass="0.5" fromto="0 0 0 -0.2 0 0.35"/></body></body>
  </worldbody><equality><connect body1="arm" body2="rod" anchor="-0.2 0 0.35"/></equality></mujoco>"""
LOOPS = {
    "four-bar": four_bar(),
    "slider-crank": SLIDER_CRANK,
    "spatial": SPATIAL,
    "welded": WELDED,
    "geared": GEARED,
    # three equal cranks: the third holds what the others hold already
    "redundant": four_bar(crank=np.array([0.1, 0.3]), coupler=np.array([1.0, 0.0]), rocker=np.array([0.1, 0.3]))
    .replace(
        "</worldbody>",
        """<body name="third" pos="0.4 0 0"><joint axis="0 1 0"/><geom mass="1" fromto="0 0 0 0.1 0 0.3"/></body>
        </worldbody>""",
    )
    .replace("</equality>", '<connect body1="third" body2="coupler" anchor="0.1 0 0.3"/></equality>'),
}


def moving(model, h, speed=2.0, integrator="energy_momentum", **options):
    """A simulation under hard contact whose first joint is given a speed; the start moves it onto the constraints."""
    sim = saltus.Simulation(model, integrator, contact="hard", timestep=h, **options)
    sim.qvel[:] = speed * np.cos(np.arange(sim.model.nv))
    sim.step(1)
    return sim


def seen_by_mujoco(sim):
    """MuJoCo's data at a simulation's state."""
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, d)
    mujoco.mj_subtreeVel(m, d)
    return d


def gap(sim):
    """Largest violation of a model's equalities (m, rad)."""
    d = seen_by_mujoco(sim)
    return np.abs(d.efc_pos[: d.ne]).max()


@pytest.mark.parametrize("name", LOOPS)
def test_energy_stays_and_loops_stay_closed(name):
    """Steps in which links turn by up to half a radian; closed as MuJoCo measures it."""
    sim = moving(LOOPS[name], 0.01 if name == "spatial" else 0.02)
    energy, start = sum(sim.energy()), sim.qpos.copy()
    fastest = furthest = 0.0
    for _ in range(10):
        sim.step(100)
        fastest, furthest = max(fastest, sim.energy()[1]), max(furthest, np.abs(sim.qpos - start).max())
        assert gap(sim) < 1e-12
    assert sim.unconverged == 0
    assert furthest > 0.1
    assert_allclose(sum(sim.energy()), energy, rtol=0, atol=1e-11 * max(fastest, 1.0))


def test_momenta_of_a_free_loop_stay():
    """No force from outside: momentum, angular momentum about the centre of mass and energy."""
    sim = moving(FLOATING, 0.02)

    def momenta():
        d = seen_by_mujoco(sim)
        return np.array([sim.model.body_subtreemass[1] * d.subtree_linvel[1], d.subtree_angmom[1]])

    start, energy = momenta(), sum(sim.energy())
    sim.step(1000)
    assert sim.unconverged == 0 and gap(sim) < 1e-12
    assert_allclose(momenta(), start, rtol=0, atol=1e-11 * np.abs(start).max())
    assert_allclose(sum(sim.energy()), energy, rtol=1e-11)


PAIR = f"""<mujoco><option gravity="0 0 0"/>{BARE}<worldbody>
  <body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .05 .04" mass="2"/></body>
  <body name="b" pos=".4 0 1"><freejoint/><geom type="box" size=".1 .06 .03" mass="1"/></body></worldbody>
  <equality><connect body1="a" body2="b" anchor=".2 .05 .02"/></equality></mujoco>"""


def test_two_free_bodies_that_are_connected():
    """Energy and momentum to rounding, and the angular momentum, of which each tree has its own, to second order."""
    errors = []
    for h in (0.02, 0.01):
        sim = moving(PAIR, h)
        d = seen_by_mujoco(sim)
        start, turning, energy = d.subtree_linvel[0].copy(), d.subtree_angmom[0].copy(), sum(sim.energy())
        sim.step(round(1.0 / h))
        d = seen_by_mujoco(sim)
        assert_allclose(sum(sim.energy()), energy, rtol=1e-12)
        assert_allclose(d.subtree_linvel[0], start, rtol=0, atol=1e-12)
        errors.append(np.linalg.norm(d.subtree_angmom[0] - turning))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_a_parallelogram_is_a_pendulum():
    """Equal cranks of length l and mass m under a bar of mass m: θ'' = -(m l + m l) g sin θ / (2 m l²/3 + m l²)."""
    down = np.array([0.3, -0.4])
    model = four_bar(crank=down, coupler=np.array([1.0, 0.0]), rocker=down)
    length, start = 0.5, np.arctan2(0.3, 0.4)
    # rods with round ends: the inertia of MuJoCo's capsule about the hinge
    inertia = saltus.load(model).body_inertia[1, 1] + 0.25 * length**2
    rate = 2.0 * length * 9.81 / (2.0 * inertia + length**2)
    exact = solve_ivp(lambda _, y: (y[1], -rate * np.sin(y[0])), (0.0, 1.0), (start, 0.0), "DOP853", rtol=1e-12)
    steps, errors = np.array([0.02, 0.01, 0.005]), []
    for h in steps:
        sim = saltus.Simulation(model, "energy_momentum", contact="hard", timestep=h)
        sim.step(round(1.0 / h))
        # the hinge turns the crank towards -x for growing θ
        errors.append(abs(abs(sim.qpos[0]) - abs(exact.y[0, -1] - start)))
        assert_allclose(sim.qpos[1], -sim.qpos[0], rtol=0, atol=1e-12)
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.2)
    assert errors[-1] < 1e-3


def reduced_inertia(angle, model):
    """2 T / θ'² (kg m²) of the four-bar when its crank has turned by an angle: kinematics by circles that meet."""
    inertias, lengths = model.body_inertia[1:, 1], [np.linalg.norm(x) for x in (CRANK, COUPLER, ROCKER)]
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    crank = turn @ CRANK
    # the tip lies on circles about the crank's tip and the ground hinge, on the side of the start
    span = GROUND - crank
    distance = np.linalg.norm(span)
    along = (lengths[1] ** 2 - lengths[2] ** 2 + distance**2) / (2.0 * distance)
    across = np.sqrt(lengths[1] ** 2 - along**2)
    normal = np.array([-span[1], span[0]]) / distance
    coupler = along * span / distance + across * normal
    rocker = crank + coupler - GROUND

    def rate(link):
        return np.array([link[1], -link[0]])  # velocity of its tip for a unit rate about y

    # crank' + c coupler' = r rocker'
    c, r = np.linalg.solve(np.column_stack([rate(coupler), -rate(rocker)]), -rate(crank))
    middle = rate(crank) + 0.5 * c * rate(coupler)
    pivots = inertias[[0, 2]] + 0.25 * np.array(lengths)[[0, 2]] ** 2
    return pivots[0] + pivots[1] * r**2 + inertias[1] * c**2 + middle @ middle


def test_a_four_bar_turns_in_the_time_of_its_quadrature():
    """Without gravity T = ½ I(θ) θ'² stays, so that a turn takes ∫ (I(θ) / 2 T)^½ dθ; of second order."""
    model = saltus.load(four_bar(gravity=0.0))
    steps, errors = np.array([0.02, 0.01, 0.005]), []
    for h in steps:
        sim = moving(model, h)
        kinetic, start = sim.energy()[1], sim.qpos[0]
        turn = quad(lambda x, k=kinetic: np.sqrt(0.5 * reduced_inertia(x, model) / k), start, start + 2.0 * np.pi)[0]
        # as many steps as fit in, then the angle that is left at the speed there
        sim.step(round(turn / h))
        late = turn - h * round(turn / h)
        slope = np.sqrt(2.0 * kinetic / reduced_inertia(start, model))
        errors.append(abs(sim.qpos[0] + slope * late - start - 2.0 * np.pi))
    assert errors[-1] < 2e-3
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slider-crank", "spatial"])
def test_order(name):
    exact = moving(LOOPS[name], 1e-3, integrator="dopri5", tolerance=1e-11)
    state = exact.qpos.copy(), exact.qvel.copy()
    exact.run(0.5)
    steps, errors = np.array([0.01, 0.005, 0.0025]), []
    for h in steps:
        sim = saltus.Simulation(LOOPS[name], "energy_momentum", contact="hard", timestep=h)
        sim.qpos[:], sim.qvel[:] = state
        sim.step(round(0.5 / h))
        errors.append([np.linalg.norm(sim.qpos - exact.qpos), np.linalg.norm(sim.qvel - exact.qvel)])
    for e in np.transpose(errors):
        assert np.polyfit(np.log(steps), np.log(e), 1)[0] == pytest.approx(2.0, abs=0.2)


def test_a_motor_does_its_work():
    """A torque of the file, and one of `qfrc_applied`: the energy grows by torque times angle, to rounding."""
    motor = '<actuator><motor joint="drive"/></actuator>'
    sim = moving(four_bar(motor=motor), 0.02)
    energy, start = sum(sim.energy()), sim.qpos.copy()
    sim.ctrl[0], sim.qfrc_applied[2] = 0.7, -0.4
    report = sim.run(1.0, sample=0.25, ledger=True).energy_report()
    motor, applied = 0.7 * (sim.qpos[0] - start[0]), -0.4 * (sim.qpos[2] - start[2])
    assert min(abs(motor), abs(applied)) > 1e-3
    assert_allclose(sum(sim.energy()) - energy, motor + applied, rtol=0, atol=1e-11)
    assert_allclose([report["actuators"][-1], report["applied"][-1]], [motor, applied], rtol=0, atol=1e-11)
    assert np.abs(report.residual).max() < 1e-11 and sim.unconverged == 0


def test_an_open_loop_is_free():
    """An equality that is switched off has no forces: the rocker keeps its own energy, as a pendulum."""
    sim = moving(four_bar(), 0.02)
    sim.eq_active[0] = 0

    def energy_of_rocker():
        d = seen_by_mujoco(sim)
        inertia = sim.model.body_inertia[3, 1] + 0.25 * ROCKER @ ROCKER
        return 0.5 * inertia * sim.qvel[2] ** 2 + 9.81 * d.xipos[3, 2]

    before = energy_of_rocker()
    sim.step(100)
    assert_allclose(energy_of_rocker(), before, rtol=0, atol=1e-11)
    sim.eq_active[0] = 1
    assert gap(sim) > 0.01


def test_batches_and_snapshots_repeat_to_the_bit():
    """Simulations of a batch are those alone, whatever their neighbours; a snapshot continues where it was taken."""
    model = saltus.load(four_bar())
    alone = moving(model, 0.02, speed=1.0)
    batch = saltus.Batch(model, 2, integrator="energy_momentum", contact="hard", timestep=0.02)
    batch.qvel = np.array([np.cos(np.arange(3)), 3.0 * np.cos(np.arange(3))])
    batch.step(1)
    assert np.array_equal(batch.qpos[0], alone.qpos)
    batch.step(20)
    alone.step(10)
    kept = alone.snapshot()
    alone.step(10)
    assert np.array_equal(batch.qpos[0], alone.qpos)
    assert not np.array_equal(batch.qpos[1], alone.qpos)
    end = alone.qpos.copy()
    alone.restore(kept)
    alone.step(10)
    assert np.array_equal(alone.qpos, end)


# a ball that falls on the crank of a slider-crank; both bounce without loss
STRUCK = SLIDER_CRANK.replace(
    '<geom mass="1" fromto="0 0 0 0.5 0 -0.2"/>', '<geom name="rod" mass="1" fromto="0 0 0 0.5 0 -0.2" contype="1"/>'
).replace(
    "</worldbody>",
    """<body name="ball" pos="0.3 0 0.4"><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size="0.05" mass="0.5" conaffinity="1" condim="1"/></body></worldbody>""",
)


@pytest.mark.slow
def test_a_ball_strikes_a_linkage():
    """Steps that keep the energy between located impacts: of second order to `dopri5`, and the loop stays closed."""

    def struck(integrator, h, **options):
        sim = saltus.Simulation(STRUCK, integrator, contact=saltus.Hard(restitution=1.0), timestep=h, **options)
        sim.qvel[-1] = -1.0
        energy = sum(sim.energy())
        run = sim.run(0.3, sample=0.1)
        return sim, run.events["kind"].tolist(), sum(sim.energy()) - energy

    exact, kinds, lost = struck("dopri5", 1e-3, tolerance=1e-11)
    assert "impact" in kinds
    steps, errors = np.array([0.01, 0.005, 0.0025]), []
    for h in steps:
        sim, own, change = struck("energy_momentum", h)
        assert own == kinds and gap(sim) < 1e-9
        errors.append([np.linalg.norm(sim.qpos - exact.qpos), abs(change - lost)])
    for e in np.transpose(errors):
        assert np.polyfit(np.log(steps), np.log(e), 1)[0] > 1.8
