"""Work of forces, implicit methods, and contacts within steps of dopri5 in plain Python.

Laws: the ledger of energy closes exactly where a method does the work of its forces (constant inertia under
`energy_momentum`, gravity under `moreau_jean`), and to the order of a method elsewhere; a mass on a soft spring;
servos in closed form.
"""

import math

import numpy as np
import pytest
from helpers.plain_python import plain, plain_python
from numpy.testing import assert_allclose

import saltus
from saltus.dynamics.actuator.servo import limited_integrand
from saltus.number.functions import where

G = 9.81
SMOOTH = """<mujoco><option timestep=".01" density="20" viscosity=".1" wind="1 0 0"/>
<default><geom contype="0" conaffinity="0"/></default><worldbody>
<body><joint name="a" axis="0 1 0" damping=".1" stiffness="2"/><geom type="capsule" size=".05" fromto="0 0 0 0 0 -1"/>
<site name="s" pos="0 0 -.5"/><body pos="0 0 -1" gravcomp=".3"><joint name="b" axis="0 1 0" damping=".1"/>
<geom type="capsule" size=".05" fromto="0 0 0 0 0 -1"/><site name="t" pos="0 0 -.8"/></body></body>
<site name="o" pos="1 0 0"/></worldbody>
<tendon><spatial stiffness="5" damping=".5"><site site="o"/><site site="s"/><site site="t"/></spatial></tendon>
<actuator><position joint="b" kp="3" kv=".2"/></actuator></mujoco>"""
SLIDES = """<mujoco><option timestep=".002" cone="elliptic" impratio="1000" tolerance="1e-13"/><worldbody>
<geom type="plane" size="0 0 1" friction=".3"/>
<body pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
<geom type="box" size=".1 .1 .1" mass="2" friction=".3"/></body>
<body pos="0 3 .099"><joint name="flat" type="slide" axis="0 0 1"/><geom size=".1" mass="1" condim="1"/></body>
<body pos="0 4 3"><joint name="dry" type="slide" axis="1 0 0" frictionloss="4"/><geom size=".1" mass="1"/></body>
<body pos="0 5 3"><joint name="limited" type="slide" axis="1 0 0" range="-.01 .01" limited="true"/>
<geom size=".1" mass="1"/></body>
<body pos="0 7 3"><joint name="first" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
<body pos="0 8 3"><joint name="second" type="slide" axis="1 0 0" damping=".3"/><geom size=".1" mass="1"/></body>
</worldbody><equality><joint joint1="first" joint2="second" solref=".1 .5"/></equality></mujoco>"""
BALL = """<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="0 0 1" solref=".02 .3"/>
<body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="2" solref=".02 .3"/></body></worldbody>
</mujoco>"""
SHEET = """<mujoco><option gravity="0 0 0" timestep=".002"/><worldbody>
<flexcomp name="soft" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" mass="1.5" radius=".01">
<contact contype="0" conaffinity="0" selfcollide="none"/><edge damping=".2"/>
<elasticity young="3e5" poisson=".3" thickness=".01" damping="1e-4" elastic2d="both"/></flexcomp></worldbody>
</mujoco>"""


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def report(sim, steps, parts=2):
    duration = steps * sim.timestep
    return sim.run(duration, sample=duration / parts, ledger=True).energy_report()


# ---------------------------------------------------------------- ledgers


@pytest.mark.parametrize(("integrator", "close"), [("rk4", 1e-6), ("energy_momentum", 2e-2), ("implicitfast", 0.2)])
def test_all_smooth_forces_close(integrator, close):
    """The residual is what the method makes of energy; each force does its power's integral, as rk4's does."""
    found = []
    for name in (integrator, "rk4"):
        sim = saltus.Simulation(SMOOTH, name)
        sim.qpos[:], sim.ctrl[0], sim.qvel[:] = [0.6, -0.3], 0.5, [0.5, 1.0]
        sim.qfrc_applied[1], sim.xfrc_applied[2] = 0.4, [1, 0, 2, 0, 0.3, 0]
        found.append(report(sim, 20))
    one, other = found
    scale = np.ptp(other["kinetic"])
    assert np.abs(one.residual).max() < close * scale
    for name in ("actuators", "applied", "dampers", "medium", "gravity compensation"):
        assert abs(other[name][-1]) > 1e-3
        assert_allclose(one[name], other[name], atol=max(close, 1e-12) * scale, err_msg=name)


@pytest.mark.parametrize("integrator", ["euler", "energy_momentum", "implicitfast"])
def test_soft_constraints(integrator):
    """Each takes what its bodies lose: these only slide, and all accounts but the contact's are apart."""
    sim = saltus.Simulation(SLIDES, integrator)
    names = sim.model.names("joint")
    for name, speed in {"x": 2.0, "dry": 2.0, "limited": 3.0, "first": 1.0}.items():
        sim.qvel[names.index(name)] = speed
    before = sim.qvel.copy()
    taken = report(sim, 12)
    masses = np.array([2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    lost = 0.5 * masses * (sim.qvel**2 - before**2)
    t = 12 * 0.002
    exact = integrator == "energy_momentum"
    close = 1e-9 if exact else 2e-2
    assert_allclose(taken["dry friction"][-1], lost[names.index("dry")], atol=close)
    assert_allclose(taken["dry friction"][-1], -4.0 * (2.0 * t - 2.0 * t * t), rtol=1e-2)
    assert_allclose(taken["limits"][-1], lost[names.index("limited")], atol=close)
    assert_allclose(taken["equalities"][-1] + taken["dampers"][-1], lost[-2:].sum(), atol=close)
    assert taken["limits"][-1] < -0.1 and taken["equalities"][-1] < -1e-3
    weights = 9.81 * (2 * sim.qpos[names.index("z")] + sim.qpos[names.index("flat")])
    assert_allclose(taken["contact"][-1], lost[:3].sum() + weights, atol=close)
    assert np.abs(taken.residual).max() < (1e-10 if exact else 3e-2)


#: A ball on a frictionless floor, another that hangs by adhesion from a ceiling, and a joint that meets its limit.
SMOOTH_CONTACT = """<mujoco><option timestep=".002" cone="elliptic" impratio="1000" tolerance="1e-13"/><worldbody>
<geom name="floor" type="plane" size="0 0 1"/>
<body pos="0 0 .099"><joint name="down" type="slide" axis="0 0 1"/><geom name="ball" size=".1" mass="1"/></body>
<geom name="ceiling" type="box" size=".2 .2 .1" pos="3 0 1" contype="2" conaffinity="2" {sticky}/>
<body pos="3 0 .801"><joint name="up" type="slide" axis="0 0 1"/><geom size=".1" mass="1" contype="2" conaffinity="2"
{sticky}/></body>
<body pos="0 5 3"><joint name="limited" type="slide" axis="1 0 0" range="-.01 .01" limited="true"/>
<geom size=".1" mass="1" contype="0" conaffinity="0"/></body></worldbody>
<contact><pair geom1="floor" geom2="ball" condim="1"/></contact></mujoco>"""


@pytest.mark.parametrize("dim", [0, 1, 3])
@pytest.mark.parametrize("integrator", ["energy_momentum", "euler"])
def test_contacts_without_friction_and_limits_have_accounts_of_their_own(integrator, dim):
    """Their rows are of one kind; so are those of the gap of contacts that attract (`dim`: of these; 0, none)."""
    sticky = f'condim="{dim}" margin=".02" gap=".04" adhesion="30"' if dim else ""
    sim = saltus.Simulation(SMOOTH_CONTACT.format(sticky=sticky), integrator)
    names = sim.model.names("joint")
    for name, speed in {"limited": 3.0, "down": -0.3, "up": -0.1}.items():
        sim.qvel[names.index(name)] = speed
    before, high = sim.qvel.copy(), sim.qpos.copy()
    taken = report(sim, 12)
    lost = 0.5 * (sim.qvel**2 - before**2)
    close = 1e-9 if integrator == "energy_momentum" else 3e-2
    assert_allclose(taken["limits"][-1], lost[names.index("limited")], atol=close)
    weight = G * (sim.qpos - high)[[names.index("down"), names.index("up")]].sum()
    moved = lost[[names.index("down"), names.index("up")]].sum() + weight
    assert_allclose(taken["contact"][-1], moved, atol=close)
    assert taken["limits"][-1] < -0.1 and abs(taken["contact"][-1]) > 1e-3
    assert np.abs(taken.residual).max() < (1e-9 if integrator == "energy_momentum" else 3e-2)


def test_a_bouncing_ball():
    """All that it loses is the contact's, also under a law of the user's; of hard contact impacts'."""
    for law in ("soft", saltus.Compliant(elastic)):
        sim = saltus.Simulation(BALL, "energy_momentum" if law == "soft" else "rk4", contact=law, timestep=1e-3)
        sim.qpos[0], sim.qvel[0] = 0.003, -1.0
        found = report(sim, 12)
        assert np.abs(found.residual).max() < (1e-10 if law == "soft" else 0.03)
        assert abs(found["contact"][1]) > 0.1
    sim = saltus.Simulation(BALL, "dopri5", contact=saltus.Hard(restitution=0.5))
    sim.qpos[0] = 0.02
    found = report(sim, 40)  # lands at 64 ms
    assert_allclose(found["impacts"][-1], -0.75 * 2 * G * 0.02, rtol=1e-8)
    assert np.abs(found.residual).max() < 1e-9
    sim = saltus.Simulation(BALL, "moreau_jean", contact=saltus.Hard(restitution=0.5))
    sim.qpos[0] = 0.02
    found = report(sim, 40)
    assert_allclose(found["contact"][-1], -0.75 * 2 * G * 0.02, rtol=5e-2)
    assert np.abs(found.residual).max() < 2 * G * 0.63 * 0.002  # a lift by what it sinks in within a step


def test_a_sheet():
    """What a damped sheet loses is elastic damping's, and an undamped one keeps its energy."""
    rng = np.random.default_rng(2)
    slopes = rng.standard_normal((3, 3))
    for damping in (True, False):
        model = SHEET if damping else SHEET.replace('damping=".2"', "").replace('damping="1e-4"', "")
        sim = saltus.Simulation(model, "energy_momentum")
        sim.qvel[:] = np.sin(4.0 * sim.data.xpos[1:] @ slopes).ravel()
        found = report(sim, 3)
        assert np.abs(found.residual).max() < 1e-9 * found.total[0]
        assert (found["elastic damping"][-1] < -1e-3 * found.total[0]) == damping


TWISTED = """<mujoco><option gravity="0 0 0" timestep="2e-4"/><worldbody><flexcomp name="rod" dim="1" type="direct"
point="0 0 0 .1 0 0 .18 .05 .01 .22 .12 .06 .21 .2 .13" element="0 1 1 2 2 3 3 4" radius=".01" mass="1">
<contact contype="0" conaffinity="0" selfcollide="none"/><elasticity young="1e6" poisson=".3" damping="{damping}"
section="box" sectionsize=".02 .01"/><pin id="0 1"/></flexcomp></worldbody></mujoco>"""


@pytest.mark.parametrize("damping", [0.0, 0.02])
def test_a_rod_that_twists(damping):
    """Dampers of stretch, bending and twist take what it loses, to the error of rk4; without them nothing is lost."""
    sim = saltus.Simulation(TWISTED.format(damping=damping), "rk4")
    rng = np.random.default_rng(1)
    sim.qvel[:] = 0.1 * rng.standard_normal(len(sim.qvel))
    sim.qvel[-3:] = 30.0, -20.0, 25.0  # of segments about themselves
    found = report(sim, 10)
    lost = found.total[0] - found.total[-1]
    assert (lost > 0.01 * found.total[0]) == (damping > 0.0)
    assert_allclose(found["elastic damping"][-1], -lost, atol=1e-3 * found.total[0] * (1e-2 if damping == 0.0 else 1.0))


def mass(m, d):
    d.M[0] = 2.0


def damping(m, d):
    d.qfrc_bias[0] = d.userdata[0] * d.qvel[0]


@pytest.mark.parametrize("integrator", ["euler", "energy_momentum", "rk4"])
def test_damping_in_given_equations_is_their_work(integrator):
    """The damper of an oscillator in its bias: M' is M, so that all that it loses is the equations'."""
    xml = """<mujoco><option timestep=".005" gravity="0 0 0"/><size nuserdata="1"/><worldbody><body>
    <joint type="slide" axis="1 0 0" stiffness="40"/><geom size=".1" mass="2" contype="0"/></body></worldbody>
    </mujoco>"""
    sim = saltus.Simulation(xml, integrator, dynamics=saltus.Dynamics(mass, damping))
    sim.qpos[0], sim.userdata[0] = 0.5, 0.8
    found = report(sim, 40)
    decay, t = 0.2, 0.2
    w = math.sqrt(20 - decay**2)
    x = 0.5 * math.exp(-decay * t) * (math.cos(w * t) + decay / w * math.sin(w * t))
    v = -0.5 * math.exp(-decay * t) * (w + decay**2 / w) * math.sin(w * t)
    lost = 20.0 * (0.25 - x**2) - v**2
    rough = {"euler": 2e-2, "energy_momentum": 1e-3, "rk4": 1e-3}[integrator]
    assert_allclose(found["equations"][-1], -lost, rtol=rough)


# ---------------------------------------------------------------- contacts within steps of dopri5


def elastic(m, d, gap, velocity):
    zero = 0.0 * gap
    return where(gap < 0.0, -100000.0 * gap, zero), zero, zero


@pytest.mark.parametrize("height", [0.01, 0.06])
def test_a_ball_bounces_on_an_elastic_table(height):
    """Flight and contact of a drop take 2 √(2 h/g) + 2 (π - arctan(v / (g √(m/k)))) √(m/k)."""
    fall, unit = math.sqrt(2 * height / G), math.sqrt(2 / 1e5)
    period = 2 * fall + 2 * (math.pi - math.atan(fall / unit)) * unit
    sim = saltus.Simulation(BALL, "dopri5", contact=saltus.Compliant(elastic), timestep=period)
    sim.qpos[0] = height
    sim.step()
    assert_allclose(sim.qpos[0], height, atol=1e-5)
    run = sim.run(period, sample=period / 5.3)
    flying = run.time - period < fall
    assert_allclose(run.qpos[flying, 0], height - 0.5 * G * (run.time[flying] - period) ** 2, atol=1e-5)
    assert_allclose(sim.qpos[0], height, atol=2e-5)


def test_a_soft_ball_under_dopri5_is_rk4s():
    """Contact begins within a step; a step of 0.5 ms of rk4 cannot miss it, and errs by its part in contact."""
    ends = []
    for name, h, steps in (("dopri5", 0.03, 3), ("rk4", 5e-4, 180)):
        sim = saltus.Simulation(BALL, name, timestep=h)
        sim.qpos[0] = 0.01
        sim.step(steps)
        ends.append([*sim.qpos, *sim.qvel])
    assert_allclose(ends[0], ends[1], atol=5e-3)


# ---------------------------------------------------------------- servos


@pytest.mark.parametrize("error", [-0.3, 0.0, 0.3])
@pytest.mark.parametrize("integral", [-1.5, -1.0, 0.0, 1.0, 1.5])
def test_integrals_do_not_wind_up(error, integral):
    """At its limit of 1 an integral takes only what brings it back; without a limit everything."""
    given = np.float64(error), np.float64(integral)
    outwards = abs(integral) >= 1.0 and error * integral > 0.0
    assert plain(limited_integrand)(*given, 1.0) == (0.0 if outwards else error)
    assert plain(limited_integrand)(*given, 0.0) == error
