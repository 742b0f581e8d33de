"""Rods whose segments twist, against MuJoCo and against the theory of bars.

Law: bending in both material axes and torsion of discrete elastic rods, on reference frames that follow the rod.
Reference: MuJoCo's forces, motions and frames (`plastic`); slopes of the energy; T L/(G J) for the twist of a bar.

Tolerance: forces 1e-12 of the largest, as sums of some tens of products in another order; motions of a second 1e-9,
which rounding grows to; differences of the energy with steps of 1e-6: 1e-8 of the largest force.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
LAW = 'young="1e6" poisson=".3" damping=".01"'
BOX = 'section="box" sectionsize=".02 .01"'
LINE = 'type="grid" count="5 1 1" spacing=".1 .1 .1"'
CURVE = (
    'type="direct" point="0 0 0 .1 0 0 .18 .05 .01 .22 .12 .06 .21 .2 .13" element="0 1 1 2 2 3 3 4"'  # curved at rest
)
CLAMP = '<pin id="0 1"/>'


def rod(shape=LINE, law=LAW, inside=CLAMP, head="", radius=".01"):
    return f"""<mujoco><option gravity="0 0 0" timestep="1e-3"/>{head}<worldbody><flexcomp name="rod" dim="1" {shape}
      radius="{radius}" mass="1">{ALONE}<elasticity {law}/>{inside}</flexcomp></worldbody></mujoco>"""


def between(first='<joint type="ball"/>', last="<freejoint/>"):
    """A rod of five segments, the first and the last clamped to bodies that move."""
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    mass = '<inertial pos="0 0 0" mass=".1" diaginertia="1e-4 1e-4 1e-4"/>'
    inner = "".join(f'<body name="v{i}" pos="{0.1 * i} 0 0">{slides}{mass}</body>' for i in (2, 3))
    hinges = "".join(f'<body><joint name="rod_twist_{i}" axis="1 0 0"/>{mass}</body>' for i in (1, 2, 3))
    return f"""<mujoco><option gravity="0 0 0" timestep="1e-3"/><worldbody><body name="A">{first}{mass}</body>{inner}
      <body name="B" pos=".4 0 0">{last}{mass}</body>{hinges}</worldbody><deformable><flex name="rod" dim="1"
      radius=".01" body="A A v2 v3 B B" vertex="0 0 0 .1 0 0 0 0 0 0 0 0 0 0 0 .1 0 0" element="0 1 1 2 2 3 3 4 4 5">
      {ALONE}<elasticity {LAW}/></flex></deformable></mujoco>"""


def on_arm(model):
    """The same on a body that is turned and turns."""
    arm = '<body name="arm" quat="1 .2 .3 0" pos=".1 .2 .3"><joint axis="0 1 .5"/><geom size=".1" mass="1"/>'
    return model.replace("<worldbody>", f"<worldbody>{arm}").replace("</worldbody>", "</body></worldbody>")


MODELS = {
    "clamped": rod(),
    "free and curved": rod(CURVE, inside=""),
    "box": rod(CURVE, f"{LAW} {BOX}"),
    "flat box, with a shear modulus": rod(
        LINE, LAW + ' shear="2e5" section="box" sectionsize=".005 .02"', radius=".005"
    ),
    "between bodies": between(),
    "box on an arm": on_arm(rod(LINE, f"{LAW} {BOX}", '<pin id="3 4"/>')),
    "box, straight but for 1e-6 m": rod(
        'type="direct" point="0 0 0 .1 0 0 .2 1e-6 0 .3 0 1e-6 .4 0 0" element="0 1 1 2 2 3 3 4"', f"{LAW} {BOX}"
    ),
}


def deformed(name, method="euler", steps=0):
    """A simulation away from rest, and MuJoCo's model and data at the same state, after steps of both."""
    sim = saltus.Simulation(MODELS[name], method)
    rng = np.random.default_rng(len(name))
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    mujoco.mj_integratePos(m, d.qpos, 0.02 * rng.standard_normal(m.nv), 1.0)
    d.qpos[-3:] = 0.5 * rng.standard_normal(3)
    d.qvel[:] = rng.standard_normal(m.nv)
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    for _ in range(steps):
        mujoco.mj_step(m, d)
        sim.step()
    mujoco.mj_forward(m, d)
    sim.forward()
    return sim, d


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steps", [0, 2])
def test_forces_and_frames_are_mujocos(name, steps):
    sim, d = deformed(name, steps=steps)
    for field in ("qfrc_spring", "qfrc_damper"):
        found, wanted = getattr(sim.data, field), getattr(d, field)
        assert_allclose(found, wanted, rtol=0, atol=1e-12 * abs(wanted).max(), err_msg=field)
    assert_allclose(sim.engine.d.views["plastic"], d.plastic, rtol=0, atol=1e-14)
    assert abs(d.qfrc_spring).max() > 0.1  # there is something to agree on


@pytest.mark.parametrize("name", MODELS)
def test_springs_are_the_slope_of_the_energy(name):
    """At a state whose frames are new, where the turn of reference frames is a second-order effect."""
    sim, _ = deformed(name)
    force, start, step = sim.data.qfrc_spring.copy(), sim.qpos.copy(), 1e-6
    sim.qvel[:] = 0.0
    sim.step()  # keeps the frames of this state
    m = sim.model.mujoco
    for i in range(sim.model.nv):
        ends = []
        for side in (step, -step):
            sim.qpos[:] = start
            mujoco.mj_integratePos(m, sim.qpos, side * np.eye(sim.model.nv)[i], 1.0)
            ends.append(sim.energy()[0])
        assert_allclose((ends[1] - ends[0]) / (2 * step), force[i], rtol=0, atol=1e-8 * abs(force).max() + 1e-9)


SOFT = 'young="1e5" poisson=".3" damping=".002"'
STRETCH = '<edge stiffness="200" damping="1"/>'
RUNS = {
    "euler": rod(CURVE, SOFT, CLAMP + STRETCH),
    "rk4": rod(CURVE, f"{SOFT} {BOX}", STRETCH),
    "discrete": rod(CURVE, f"{SOFT} {BOX}", CLAMP),
}
METHODS = {"euler": "Euler", "rk4": "RK4", "discrete": "discrete"}


@pytest.mark.parametrize("method", RUNS)
def test_motions_of_a_second_are_mujocos(method):
    model = RUNS[method].replace("<option", f'<option integrator="{METHODS[method]}"')
    sim = saltus.Simulation(model)
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    rng = np.random.default_rng(3)
    d.qvel[:] = 0.3 * rng.standard_normal(m.nv)
    d.qvel[-3:] *= 10.0
    sim.qvel[:] = d.qvel
    for _ in range(1000):
        mujoco.mj_step(m, d)
    sim.run(1.0, sample=1.0)
    assert abs(d.qpos[-3:]).max() > 0.1
    assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-9)


def test_a_bar_twists_by_torque_times_length_over_its_stiffness():
    """T L/(G J), J = π r⁴/2 (Timoshenko & Goodier, §103), from the middle of one segment to that of another."""
    torque, young, poisson, radius, length = 1e-3, 1e6, 0.3, 0.01, 0.1 * 3
    sim = saltus.Simulation(rod(law='young="1e6" poisson=".3" damping=".1"'), "discrete", timestep=0.05)
    for _ in range(400):
        sim.qfrc_applied[-1] = torque
        sim.step()
    stiffness = young / (2 * (1 + poisson)) * np.pi * radius**4 / 2
    assert_allclose(sim.qpos[-1], torque * length / stiffness, rtol=1e-9)
    assert_allclose(np.diff(sim.qpos[-3:]), torque * 0.1 / stiffness, rtol=1e-9)


def test_twist_is_counted_on_beyond_a_turn():
    """MuJoCo's reference twist, unwrapped: an end that its body turns by three whole turns in steps of 0.1 rad."""
    hinge = '<joint axis="1 0 0"/>'
    model = between("", hinge)
    sim = saltus.Simulation(model, "euler")
    d = mujoco.MjData(sim.model.mujoco)
    joint = sim.model.mujoco.nq - 4
    for k in range(189):
        for state in (sim, d):
            state.qpos[:] = 0.0
            state.qpos[joint] = 0.1 * k
            state.qvel[:] = 0.0
        mujoco.mj_step(sim.model.mujoco, d)
        sim.step()
    assert_allclose(sim.engine.d.views["plastic"], d.plastic, rtol=0, atol=1e-12)
    assert_allclose(d.plastic[-1], 0.1 * 188, rtol=1e-12)


def test_lanes_are_as_floats():
    """The same kernels, in lanes."""
    sim, _ = deformed("box", "euler", 3)
    batch = saltus.Batch(MODELS["box"], 3, integrator="euler")
    start, _ = deformed("box")
    batch.qpos[:], batch.qvel[:] = start.qpos, start.qvel
    batch.qvel[1] = 0.0
    batch.step(3)
    for k in (0, 2):
        assert_allclose(batch.qpos[k], sim.qpos, rtol=0, atol=1e-14)
        assert_allclose(batch.read("plastic")[k], sim.engine.d.views["plastic"], rtol=0, atol=1e-14)
    assert abs(batch.qpos[1] - sim.qpos).max() > 1e-6


def test_gradients_of_runs_follow_the_frames():
    """Differences of runs of 20 steps: 1e-6 of the gradient, for steps of 1e-5."""

    def loss(run):
        return (run.qpos[-1] ** 2).sum()

    def value(turn):
        sim, _ = deformed("box")
        sim.qvel[:] += turn
        return float((sim.run(0.02, sample=1e-3).qpos[-1] ** 2).sum())

    sim, _ = deformed("box")
    _, gradient = saltus.run_gradient(sim, 0.02, loss, "qvel", mode="forward")
    for i in (0, 4, 9):
        step = 1e-5 * np.eye(sim.model.nv)[i]
        wanted = (value(step) - value(-step)) / 2e-5
        assert_allclose(np.asarray(gradient["qvel"])[i], wanted, rtol=1e-6, atol=1e-10)
    with pytest.raises(saltus.OptionError, match="rods that twist carry frames"):
        saltus.run_gradient(sim, 0.02, loss, "qvel", mode="reverse")


def test_derivatives_of_a_step_hold_the_kept_frames():
    """Differences of steps with the frames of the step before, by 1e-6: 1e-8 of the largest."""
    sim, _ = deformed("box", steps=2)
    A = np.asarray(sim.linearize()[0])
    start, nv = sim.snapshot(), sim.model.nv
    for i in range(0, 2 * nv, 5):
        ends = []
        for side in (1e-6, -1e-6):
            sim.restore(start)
            (sim.qpos if i < nv else sim.qvel)[i % nv] += side
            sim.step()
            ends.append(np.concatenate([sim.qpos, sim.qvel]))
        assert_allclose(A[:, i], (ends[0] - ends[1]) / 2e-6, rtol=0, atol=1e-8 * abs(A).max())


@pytest.mark.parametrize("name", ["box", "between bodies"])
def test_an_implicit_step_has_the_slope_of_the_dampers(name):
    """(M - h df/dv) a = f, with differences of MuJoCo's forces by 1e-5: 1e-9."""
    sim, d = deformed(name, "implicit")
    m, v = sim.model.mujoco, sim.qvel.copy()
    slope, inertia = np.zeros((m.nv, m.nv)), np.zeros((m.nv, m.nv))
    for i in range(m.nv):
        ends = []
        for side in (1e-5, -1e-5):
            d.qvel[:] = v
            d.qvel[i] += side
            mujoco.mj_forward(m, d)
            ends.append(d.qfrc_passive - d.qfrc_bias)
        slope[:, i] = (ends[0] - ends[1]) / 2e-5
    d.qvel[:] = v
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, inertia)
    wanted = np.linalg.solve(inertia - sim.timestep * slope, d.qfrc_smooth)
    sim.step()
    assert_allclose((sim.qvel - v) / sim.timestep, wanted, rtol=0, atol=1e-9 * abs(wanted).max())


@pytest.mark.parametrize("name", ["box", "between bodies"])
def test_the_ledger_has_the_work_of_dampers(name):
    """Energy lost is work of elastic damping, but for a residual that falls with the step, from the frames."""
    residuals = []
    for h in (4e-4, 2e-4):
        sim, _ = deformed(name, "rk4")
        sim.timestep = h
        before = sum(sim.energy())
        report = sim.run(0.04, sample=0.04, ledger=True).energy_report()
        residuals.append(abs(report.residual[-1]))
        assert before - sum(sim.energy()) > 0.05
    assert residuals[0] < 2e-6
    assert residuals[1] < 0.6 * residuals[0]


def test_a_snapshot_returns_to_the_frames():
    sim, _ = deformed("box", steps=3)
    kept = sim.snapshot()
    sim.run(0.02)
    first = sim.qpos.copy()
    sim.restore(kept)
    sim.run(0.02)
    assert (sim.qpos == first).all()


@pytest.mark.parametrize("method", ["dopri5", "energy_momentum"])
def test_other_methods_are_refused(method):
    with pytest.raises(saltus.OptionError, match=f"{method} does not support rods that twist"):
        saltus.Simulation(MODELS["clamped"], method)
