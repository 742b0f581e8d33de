"""Contact by a law of the user's, against closed forms of one mass on one spring.

Laws: a linear spring k with a dashpot c, in contact until the distance is zero again: half a period of the damped
oscillation, which leaves e = exp(-π ζ/√(1 - ζ²)) of the speed; Hertz' F = k δ^(3/2), which gives the speed back after a
depth of (5 m v²/(4 k))^(2/5); friction μ N v/√(v² + s²), which is Coulomb's to ½ (s/v)², 2e-6 of it here.

Tolerance: the integrator's, 1e-8 a step, where a step goes over the corner of the force too: 1e-6 at the end.
"""

import math

import numpy as np
import pytest
from helpers.hard_models import BLOCK, G, floor
from numpy.testing import assert_allclose

import saltus
from saltus.model.layout import MODEL
from saltus.number.functions import sqrt, where
from saltus.record.table.contact_forces import contact_table

BALL = floor('<body pos="0 0 0.1"><freejoint/><geom name="ball" size="0.1" mass="2"/></body>', gravity=(0, 0, 0))
HEAVY = BALL.replace('gravity="0 0 0"', f'gravity="0 0 {-G}"')
K, C, SLOW, MU = 1e4, 20.0, 1e-3, 0.3


def spring(m, d, gap, velocity):
    return -K * gap - C * velocity[0], 0.0, 0.0


def hertz(m, d, gap, velocity):
    return -1e6 * gap * sqrt(where(gap < 0.0, -gap, 0.0 * gap)), 0.0, 0.0


def rubbing(m, d, gap, velocity):
    normal = where(gap < 0.0, -K * gap - 200.0 * velocity[0], 0.0 * gap)
    share = -MU * normal / sqrt(velocity[1] * velocity[1] + velocity[2] * velocity[2] + SLOW * SLOW)
    return normal, share * velocity[1], share * velocity[2]


SPRING, HERTZ, RUBBING = (saltus.Compliant(law) for law in (spring, hertz, rubbing))


def thrown(law, integrator="dopri5", timestep=None):
    """A ball of 2 kg that meets the floor at 1 m/s, without gravity."""
    tight = (
        (1e-11, 1e-13) if integrator == "dopri5" else None
    )  # forces begin with a jump, which its error estimate misses
    sim = saltus.Simulation(BALL, integrator, contact=law, timestep=timestep, tolerance=tight)
    sim.qpos[2], sim.qvel[2] = 0.1, -1.0
    return sim


@pytest.mark.slow
def test_a_spring_and_a_dashpot_give_back_part_of_the_speed():
    zeta = C / (2 * math.sqrt(2 * K))
    sim = thrown(SPRING)
    sim.run(0.2, sample=0.2)
    assert_allclose(sim.qvel[2], math.exp(-math.pi * zeta / math.sqrt(1 - zeta**2)), rtol=1e-6)


@pytest.mark.slow
def test_hertz_gives_all_of_it_back():
    sim = thrown(HERTZ)
    trajectory = sim.run(0.1, sample=1e-5)
    assert_allclose(sim.qvel[2], 1.0, rtol=1e-6)
    deepest = 0.1 - trajectory.qpos[:, 2].min()
    assert_allclose(deepest, (5 * 2 / (4 * 1e6)) ** 0.4, rtol=1e-4)  # samples are 1e-5 s apart


@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator", ["euler", "rk4", "implicitfast", "implicit_midpoint", "energy_momentum", "discrete"]
)
def test_every_integrator_follows_the_law(integrator):
    """At a hundredth of a millisecond: an error of first order, of ω h = 7e-4, at the most."""
    zeta = C / (2 * math.sqrt(2 * K))
    sim = thrown(SPRING, integrator, 1e-5)
    sim.step(10_000)
    assert_allclose(sim.qvel[2], math.exp(-math.pi * zeta / math.sqrt(1 - zeta**2)), rtol=1e-3)


@pytest.mark.slow
def test_forces_are_to_be_read():
    """At rest: the depth is m g/k, the force the weight; what sensors, tables and joints have of it, too."""
    sensor = '<sensor><contact geom1="ball" num="1" data="force"/></sensor></mujoco>'
    sim = saltus.Simulation(HEAVY.replace("</mujoco>", sensor), "euler", contact=SPRING)
    sim.qpos[2] = 0.1 - 2 * G / K
    assert_allclose(sim.data.qacc[2], 0.0, atol=1e-9)
    assert_allclose(sim.data.qfrc_constraint[2], 2 * G, rtol=1e-10)
    assert_allclose(np.abs(sim.sensordata[0]), 2 * G, rtol=1e-10)
    assert sim.data.ncon == 1
    assert_allclose(contact_table(sim.engine.m, sim.engine.d)[0, 3:6], [0, 0, 2 * G], rtol=1e-10, atol=1e-12)
    assert sim.contact == "compliant"


@pytest.mark.slow
def test_friction_brakes():
    """v = v0 - μ g t, from 1 m/s to a half."""
    sim = saltus.Simulation(floor(BLOCK, friction=1.0), "dopri5", contact=RUBBING)
    sim.run(0.5, sample=0.5)
    sim.qvel[0] = 1.0
    t = 0.5 / (MU * G)
    sim.run(t, sample=t)
    assert_allclose(sim.qvel[0], 0.5, rtol=1e-5)


@pytest.mark.slow
def test_derivatives_go_through_the_law():
    """dv'/dz = -h k/m of semi-implicit Euler."""
    sim = saltus.Simulation(HEAVY, "euler", contact=SPRING, timestep=1e-3)
    sim.qpos[2] = 0.1 - 2 * G / K
    A, _ = sim.linearize()
    assert_allclose(A[6 + 2, 2], -1e-3 * K / 2, rtol=1e-9)
    assert_allclose(A[6 + 2, 6 + 2], 1 - 1e-3 * C / 2, rtol=1e-9)


def test_what_cannot_be():
    with pytest.raises(saltus.OptionError, match="force must be a function"):
        saltus.Compliant(3.0)
    with pytest.raises(saltus.OptionError, match="requires hard contact"):
        saltus.Simulation(BALL, "moreau_jean", contact=SPRING)
    with pytest.raises(saltus.OptionError, match="events and discrete states need hard contact, not 'compliant'"):
        saltus.Simulation(BALL, contact=SPRING, events=[saltus.Event(lambda m, d: d.qpos[0])])


def test_contacts_without_room_are_no_silent_loss():
    """Two balls on the floor, room for one contact."""
    pair = BALL.replace(
        "</worldbody>", '<body pos="1 0 0.1"><freejoint/><geom size="0.1" mass="2"/></body></worldbody>'
    )
    sim = saltus.Simulation(pair, "euler", contact=SPRING)
    sim.engine.m.ints[MODEL.slot["nconmax"]] = 1
    sim.qpos[2] = sim.qpos[9] = 0.099
    with pytest.raises(saltus.ModelError, match="more than 1 contacts at once"):
        sim.step()


def test_what_contact_does_not_compute_cannot_be_read():
    def force(m, d, gap, velocity):
        return d.site_xpos[0][2], 0.0, 0.0

    with pytest.raises(saltus.OptionError, match=r"law of contact force reads d\.site_xpos"):
        saltus.Simulation(BALL, contact=saltus.Compliant(force))


def test_an_interrupted_run_goes_on_with_the_law_given_again(tmp_path):
    def stop(progress):
        if progress > 0.5:
            raise KeyboardInterrupt

    whole = thrown(SPRING, "rk4", 1e-4).run(0.1, sample=0.01)
    path = tmp_path / "run.zarr"
    with pytest.warns(saltus.SaltusWarning, match="interrupted"):
        thrown(SPRING, "rk4", 1e-4).run(0.1, sample=0.01, save=path, progress=stop)
    with pytest.raises(saltus.OptionError, match=r"user-defined contact forces, touch_spring.*contact=\.\.\."):
        saltus.resume(path)
    with pytest.raises(saltus.OptionError, match="not touch_hertz"):
        saltus.resume(path, contact=HERTZ)
    np.testing.assert_array_equal(saltus.resume(path, contact=SPRING).qpos, whole.qpos)


@pytest.mark.slow
def test_a_certificate_repeats_the_law():
    """Of a law object, not of its name: else the second run would fall through the floor, or bounce otherwise."""
    sim = thrown(SPRING)
    certificate = sim.run(0.2, sample=0.02, certify=True).certificate
    assert certificate.final_error < 1e-5
    hard = saltus.Simulation("bouncing_ball", contact=saltus.Hard(restitution=0.8))
    hard.qpos[0] = 1.0
    assert hard.run(1.0, sample=0.1, certify=True).certificate.final_error < 1e-10
