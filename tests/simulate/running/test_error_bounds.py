"""The bound of a certificate holds the true error, and a run that may have missed something has none.

Laws: closed forms. A pendulum from rest at θ₀ moves by sin(θ/2) = k cd(ωt | k²), k = sin(θ₀/2); the bundled spring by
m x'' + c x' + k x = 0; a ball that drops from h meets the floor after √(2h/g) and rises with e of its speed; a slider
stops after v²/(2μg). Tolerance: none, the bound holds at every sample. It may be loose, by what `error_bound` states:
factors 5/4 and 3 on estimates that miss the largest error by at most half, and in contact a gap tolerance and a bounce.
"""

import numpy as np
import pytest
from helpers.certificate_trials import bounces
from scipy.special import ellipj

import saltus
from saltus.number.functions import where

GRAVITY, FRICTION, REACH = 9.81, 0.3, 2.0
FIXED = ("euler", "velocity_verlet", "rk4")
WAYS = [({"integrator": name, "timestep": h}) for name in FIXED for h in (0.02, 0.005, 0.001)] + [
    {"integrator": "dopri5", "timestep": 0.02, "tolerance": (tolerance, tolerance)} for tolerance in (1e-4, 1e-7, 1e-10)
]
FLOOR = f"""<mujoco><option timestep="0.005" gravity="0 0 -{GRAVITY}"/><worldbody>
<geom name="floor" type="plane" size="5 5 .1" friction="{FRICTION}"/>
<body pos="-1 0 .1"><joint type="slide" axis="0 0 1"/><geom name="ball" size=".1" friction="{FRICTION}"/></body>
<body pos="0 1 .1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
<geom name="puck" size=".1" friction="{FRICTION}"/></body></worldbody></mujoco>"""
RADIUS = 0.05
ROLLER = f"""<mujoco><option timestep="0.01" gravity="0 0 -{GRAVITY}"/><worldbody>
<geom type="plane" size="5 5 .1" friction="{FRICTION}"/><body><joint type="slide" axis="1 0 0"/>
<joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/><geom size="{RADIUS}" mass="1" friction="{FRICTION}"/></body>
</worldbody></mujoco>"""
GALLERY = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
<geom name="wall" type="box" size=".005 .5 .5" pos="1 0 0"/><geom name="block" type="box" size=".2 .5 .5" pos="0 9 0"/>
<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><geom name="bullet" size=".01" mass=".1"/>
</body></worldbody></mujoco>"""


def pendulum_truth(time):
    k = np.sin(np.pi / 4)
    _, cn, dn, _ = ellipj(np.sqrt(GRAVITY / 2) * time, k**2)
    return 2 * np.arcsin(k * cn / dn)


def spring_truth(time):
    damped = 10.0 * np.sqrt(1 - 0.1**2)
    return 0.5 * np.exp(-time) * (np.cos(damped * time) + 1.0 / damped * np.sin(damped * time))


def bounce_truth(time, height, restitution):
    """The ball's height, with bounces down to 1e-13 m/s."""
    start = np.sqrt(2 * height / GRAVITY)
    speed, out = GRAVITY * start, np.where(time < start, height - GRAVITY * time**2 / 2, 0.0)
    while (speed := restitution * speed) > 1e-13:
        since = time - start
        flight = (since >= 0) & (since < 2 * speed / GRAVITY)
        out[flight] = (speed * since - GRAVITY * since**2 / 2)[flight]
        start += 2 * speed / GRAVITY
    return out


def slide_truth(time, speed):
    moving = np.minimum(time, speed / (FRICTION * GRAVITY))
    return speed * moving - FRICTION * GRAVITY * moving**2 / 2


def assert_bounded(certificate, error):
    assert certificate.ok and np.all(error <= certificate.bound)
    assert certificate.final_bound >= max(certificate.bound[-1], certificate.final_error)
    assert "about 0 " not in str(certificate)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
@pytest.mark.parametrize(("model", "truth"), [("pendulum", pendulum_truth), ("spring", spring_truth)])
def test_smooth_motion(model, truth, way):
    trajectory = saltus.Simulation(model, **way).run(REACH, sample=0.05, certify=True)
    error = np.abs(trajectory.qpos[:, 0] - truth(trajectory.time))
    assert_bounded(trajectory.certificate, error)
    # and is no larger than 3 times 3/2 of the largest error, as long as that is not rounding
    loose = np.max(error) > 1e3 * trajectory.certificate.rounding
    assert not loose or trajectory.certificate.final_bound < 4.5 * np.max(error)


@pytest.mark.parametrize("integrator", ["euler", "velocity_verlet", "rk4", "dopri5"])
@pytest.mark.parametrize(("duration", "sample"), [(0.002, 0.001), (0.006, 0.003), (0.016, 0.004), (0.013, 1.0)])
def test_runs_and_samples_that_are_shorter_than_a_step(duration, sample, integrator):
    """Repetitions that reached a sample by the same part of a step would agree on a wrong value."""
    sim = saltus.Simulation("spring", integrator, timestep=0.01)
    trajectory = sim.run(duration, sample=sample, certify=True)
    certificate = trajectory.certificate
    error = np.abs(trajectory.qpos[:, 0] - spring_truth(trajectory.time))
    assert_bounded(certificate, error)
    end = abs(sim.qpos[0] - spring_truth(duration))
    assert end <= certificate.final_bound < 6 * max(end, np.max(error)) + certificate.rounding


@pytest.mark.parametrize("integrator", ["dopri5", pytest.param("rk4", marks=pytest.mark.slow)])
def test_contacts_and_friction(integrator):
    """Impacts, bounces that end, sliding that ends: between events these motions are parabolas, without any error."""
    model = saltus.load(FLOOR)
    for restitution, height, speed in ((0.0, 0.3, 0.0), (0.5, 0.2, 0.0), (0.8, 0.4, 0.0), (0.8, 0.0, 3.0)):
        sim = saltus.Simulation(model, integrator, contact=saltus.Hard(restitution=restitution))
        sim.qpos[0], sim.qvel[1] = height, speed
        trajectory = sim.run(REACH, sample=0.05, certify=True)
        time, certificate = trajectory.time, trajectory.certificate
        truth = np.stack([bounce_truth(time, height, restitution), slide_truth(time, speed), 0 * time], axis=1)
        assert_bounded(certificate, np.abs(trajectory.qpos - truth).max(axis=1))
        assert certificate.final_bound < 1e-10 + 1e-8 + 2 * certificate.rounding
        assert "rounding" in str(certificate)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["dopri5", "moreau_jean"])
def test_gaps_that_count_as_closed(integrator):
    """Under located contact those below 1e-10 m; time stepping keeps open what would close within a step.

    The closed form is that of a ball which falls over the gap, bounces, slides and rolls; an error of the gap turns
    into one of the angle, larger by friction and 1 / radius.
    """
    model = saltus.load(ROLLER)
    for gap, restitution, duration in ((3e-11, 0.0, 0.5), (9e-11, 0.8, 0.02), (5e-9, 0.9, 0.5), (1e-9, 0.0, 1.5)):
        for speed, turning in ((-2.0, -15.0), (0.5, 25.0), (0.0, 0.0)):
            sim = saltus.Simulation(model, integrator, contact=saltus.Hard(restitution=restitution))
            sim.qpos[1], sim.qvel[0], sim.qvel[2] = RADIUS + gap, speed, turning
            trajectory = sim.run(duration, sample=duration / 20, certify=True)
            time, slip = trajectory.time, speed - RADIUS * turning
            height, slid = bounces(time, gap, 0.0, slip, restitution, FRICTION, 3.5)
            change = slid - slip * time
            truth = [speed * time + change * 2 / 7, height + RADIUS, turning * time - change * 5 / 7 / RADIUS]
            error = np.abs(trajectory.qpos - np.stack(truth, axis=1)).max(axis=1)
            assert np.all(error <= trajectory.certificate.bound)
            if integrator == "dopri5":
                assert trajectory.certificate.ok and trajectory.certificate.final_bound < 1e-6


def test_a_law_that_all_runs_may_step_over_leaves_no_bound():
    """A hundredth of a second of 100 N on a kilogram: without a longest step no run has to see it."""

    def push(m, d, z):
        d.ctrl[0] = where((d.time > 5) & (d.time < 5.01), 100.0, 0.0)

    model = """<mujoco><option gravity="0 0 0" timestep="1"/><worldbody><body><joint name="x" type="slide"/>
    <geom size=".05" mass="1"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    sim = saltus.Simulation(model, "dopri5", control=saltus.controller(push), max_step=np.inf)
    trajectory = sim.run(10.0, sample=1.0, certify=True)
    truth = 100 * 0.01 * (4.99 + 0.005)
    certificate = trajectory.certificate
    assert abs(trajectory.qpos[-1, 0] - truth) > 1.0
    assert not certificate.ok and np.isinf(certificate.final_bound) and "not bounded" in str(certificate)


def test_a_pulse_that_all_halves_of_a_step_see_alike():
    """From 0.3738 to 0.4038 s: two steps of 1/64 s begin within it, four of half and eight of a quarter of the length.

    So all of them push for 1/32 s, 4 % too long, and differ by what they know of where that begins; truth: 0.03 s.
    """
    model = """<mujoco><option gravity="0 0 0" timestep="0.015625"/><worldbody><body><joint name="x" type="slide"/>
    <geom size=".05" mass="1"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    sim = saltus.Simulation(model, "euler")
    begin, end = 0.3738, 0.4038
    trajectory = sim.run(1.0, 0.1, control=lambda s: [100.0 if begin < s.time < end else 0.0], certify=True)
    since = np.clip(trajectory.time - begin, 0.0, end - begin)
    truth = 50.0 * since**2 + 100.0 * (end - begin) * np.maximum(trajectory.time - end, 0.0)
    certificate = trajectory.certificate
    error = np.abs(trajectory.qpos[:, 0] - truth)
    assert error[-1] > 0.05 and np.all(error <= certificate.bound)
    assert not certificate.ok and "err alike" in certificate.warnings[0]


def test_bodies_that_could_pass_each_other_in_a_step():
    """At 50 m/s and 2 ms the bullet moves 0.1 m a step; bullet and wall are .02 and .01 m thick, the block .4 m."""
    model = saltus.load(GALLERY)
    sim = saltus.Simulation(model, "euler")
    sim.qvel[0] = 50.0
    certificate = sim.run(0.1, certify=True).certificate
    text = next(text for text in certificate.warnings if "could pass" in text)
    assert "bullet and wall move 0.1 m" in text and "mean thickness of 0.015 m" in text
    assert not certificate.ok and np.isinf(certificate.final_bound)
    # away from the wall, slowly, and against what is thick nothing passes
    for velocity in ((-50.0, 0.0), (2.0, 0.0), (0.0, 50.0)):
        sim.reset()
        sim.qvel[:] = velocity
        assert "could pass" not in str(sim.run(0.1, certify=True).certificate)
