"""The energy-momentum method keeps the energy and the momenta of elastic bodies at steps that are large for them.

Law: the elastic forces of a step do exactly the work by which the elastic energy falls, and have no resultant and no
moment; dampers only take energy (Simo & Tarnow, The discrete energy-momentum method, ZAMP 43 (1992)). Mechanisms of
rigid bodies keep theirs likewise (`saltus.dynamics.balance`; long runs are benchmarks, `saltus.verify.families.
conservation`). Where nothing moves it has MuJoCo's soft constraint forces.
Reference: conserved quantities; the work of edges' dampers, d (ΔL/h)² h; `dopri5` with 1e-10 a step; MuJoCo at rest.

Tolerances: the iteration ends where velocities change by 1e-10, which leaves 1e-9 of the kinetic energy in a hundred
steps. The order is fitted to 0.2. MuJoCo's solver is at 1e-12 and bodies at rest still creep by 1e-9 m.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
YOUNG = 'young="3e5" poisson="0.3"'
GRID = 'type="grid" dim="2" count="5 4 1"'


def flex(inside, kind=GRID, gravity="0 0 0"):
    return f"""<mujoco><option gravity="{gravity}" timestep="0.004"/><worldbody>
      <flexcomp name="soft" {kind} spacing=".1 .1 .1" mass="1.5" radius=".01" pos="0 0 1">{ALONE}{inside}</flexcomp>
      </worldbody></mujoco>"""


SHEET = f'<elasticity {YOUNG} thickness="0.01" elastic2d="both"/>'
FREE = {
    "sheet": flex(SHEET),
    "curved": flex(
        f'<elasticity {YOUNG} thickness="0.02" elastic2d="both"/>', 'type="ellipsoid" dim="2" count="4 4 4"'
    ),
    "solid": flex(f"<elasticity {YOUNG}/>", 'type="grid" dim="3" count="3 3 3"'),
    "ring": flex(
        '<elasticity young="3e7" poisson="0.3"/><edge stiffness="3e4"/>', 'type="circle" dim="1" count="8 1 1"'
    ),
    "rope": flex('<edge stiffness="3e4"/>', 'type="grid" dim="1" count="8 1 1"'),
}


def thrown(model, integrator="energy_momentum", speed=2.0, **options):
    """A simulation whose vertices start with random velocities."""
    sim = saltus.Simulation(model, integrator, **options)
    sim.qvel[:] = speed * np.random.default_rng(1).standard_normal(sim.model.nv)
    return sim


def momenta(sim):
    """Linear and angular momentum [2, 3] of free vertices (kg m/s, kg m²/s)."""
    mass = sim.model.mujoco.body_mass[1:, None]
    x, p = sim.data.xpos[1:], mass * sim.qvel.reshape(-1, 3)
    return np.array([p.sum(axis=0), np.cross(x, p).sum(axis=0)])


@pytest.mark.parametrize("name", FREE)
def test_energy_and_momenta_stay(name):
    """At 4 ms, beyond the limit of explicit steps: 4 ms ω is 2.2 to 7.7 for the stiffest oscillations."""
    sim = thrown(FREE[name])
    energy, start = sum(sim.energy()), momenta(sim)
    lowest = sim.energy()[0]
    for _ in range(20):
        sim.step(5)
        assert_allclose(sum(sim.energy()), energy, rtol=0, atol=1e-9 * sim.energy()[1])
        # the force of a volume, which sheets have that are curved at rest, has a moment of second order in the step
        kept = 1 if name == "curved" else 2
        assert_allclose(momenta(sim)[:kept], start[:kept], rtol=0, atol=1e-9)
    assert sim.energy()[0] - lowest > 0.1  # the shape has changed
    assert sim.unconverged == 0


def test_it_falls_and_hangs():
    """Weight and pins in the world: the whole energy stays."""
    sim = saltus.Simulation(flex(SHEET + '<pin id="0 3 19"/>', gravity="0 0 -9.81"), "energy_momentum")
    energy = sum(sim.energy())
    sim.step(100)
    assert abs(sim.energy()[1]) > 0.1
    assert_allclose(sum(sim.energy()), energy, rtol=0, atol=1e-9 * energy)


def test_dampers_take_their_work():
    """Edges without stiffness: a step loses d (ΔL/h)² h of every edge."""
    d, h = 3.0, 0.004
    sim = thrown(flex(f'<elasticity {YOUNG} thickness="0.01" elastic2d="stretch"/><edge damping="{d}"/>'))
    edges = sim.model.mujoco.flex_edge

    def lengths():
        x = sim.data.xpos[1:]
        return np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)

    for _ in range(20):
        before, length = sum(sim.energy()), lengths()
        sim.step()
        lost = d / h * np.sum((lengths() - length) ** 2)
        assert lost > 0
        assert_allclose(before - sum(sim.energy()), lost, rtol=0, atol=1e-9 * before)


def test_rayleigh_damping_only_takes():
    inside = f'<elasticity {YOUNG} thickness="0.01" elastic2d="both" damping="0.01"/>'
    sim = thrown(flex(inside))
    energies = [sum(sim.energy())]
    for _ in range(30):
        sim.step()
        energies.append(sum(sim.energy()))
    assert np.all(np.diff(energies) < 0)


@pytest.mark.parametrize("inside", [SHEET, SHEET.replace("/>", ' damping="0.005"/><edge damping="0.3"/>')])
def test_order(inside):
    """Second order on a sheet, damped or not; the reference's own damping has steps too small to matter."""
    model = saltus.load(flex(inside))
    exact = thrown(model, "rk4", 0.2, timestep=2e-6)
    exact.step(5000)
    errors = []
    steps = np.array([4e-4, 2e-4, 1e-4])
    for h in steps:
        sim = thrown(model, speed=0.2, timestep=h)
        sim.step(round(0.01 / h))
        errors.append(np.linalg.norm(sim.qpos - exact.qpos))
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.2)


def test_a_sheet_on_a_body_that_turns():
    """Pinned to an arm: the energy is as good as the midpoint rule keeps it, to second order."""
    model = f"""<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="arm" pos="0 0 1"><joint axis="0 1 0.3"/>
      <geom size="0.1" mass="1"/><flexcomp name="soft" {GRID} spacing=".1 .1 .1" mass=".5" radius=".01">
      {ALONE}{SHEET}<pin id="0 1 2 3"/></flexcomp></body></worldbody></mujoco>"""
    errors = []
    for h in (0.002, 0.001):
        sim = saltus.Simulation(model, "energy_momentum", timestep=h)
        sim.qvel[0] = 3.0
        energy = sum(sim.energy())
        sim.step(round(0.1 / h))
        errors.append(abs(sum(sim.energy()) - energy))
        assert sim.unconverged == 0
    assert errors[1] < 0.4 * errors[0] < 0.01


BOXES = """<mujoco><option cone="{cone}" timestep="0.002" tolerance="1e-12"/><worldbody>
  <geom type="plane" size="2 2 1" friction="0.8"/>
  <body pos="0 0 0.3"><freejoint/><geom type="box" size="0.1 0.15 0.05" mass="1"/></body>
  <body pos="0.05 0.02 0.5" euler="10 5 0"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="0.5"/></body>
  <body pos="1 0 1"><joint axis="0 1 0" range="-20 20" damping="0.5" frictionloss="0.1"/>
    <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1"/></body>
  </worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_at_rest_constraint_forces_are_mujocos(cone):
    """Boxes on each other and an arm at its limit: where velocities and accelerations are zero all methods agree."""
    sim = saltus.Simulation(BOXES.format(cone=cone), "energy_momentum")
    m = sim.model.mujoco
    sim.step(1500)
    assert sim.unconverged == 0
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, d)
    assert d.ncon >= 5 and np.sum(d.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT) == 1
    assert_allclose(sim.qvel, 0.0, rtol=0, atol=1e-5)
    assert_allclose(d.qacc, 0.0, rtol=0, atol=1e-3)


@pytest.mark.slow
def test_lanes_do_not_see_each_other():
    """A thrown sheet and one that rests, side by side, to the bit; and as a simulation alone, to rounding."""
    model = saltus.load(flex(SHEET))
    sim = thrown(model)
    start = sim.qvel.copy()
    sim.step(10)
    alone, both = (saltus.Batch(model, n, threads=1, integrator="energy_momentum") for n in (1, 2))
    alone.qvel = start
    both.qvel = np.array([start, 0.0 * start])
    alone.step(10)
    both.step(10)
    assert np.array_equal(alone.qpos[0], both.qpos[0])
    assert_allclose(both.qpos[0], sim.qpos, rtol=0, atol=1e-9)
    assert_allclose(both.qvel[1], 0.0, rtol=0, atol=1e-12)


BOX = '<geom type="box" size=".1 .05 .04" pos=".1 .02 0" contype="0" conaffinity="0"/>'
ARM = f"""<mujoco><option timestep="0.02"/><worldbody><body><joint axis="0 1 .3" {{damping}}/>{BOX}<site name="p"/>
  <body pos=".2 0 0"><joint type="ball" {{damping}}/>{BOX}</body></body>
  <body pos="1 0 0"><freejoint/>{BOX}<body pos=".2 0 0"><joint axis="0 1 1"/>{BOX}<site name="q"/></body></body>
  </worldbody>
  <tendon><spatial stiffness="5" {{damping}}><site site="p"/><site site="q"/></spatial></tendon></mujoco>"""


@pytest.mark.parametrize("damping", ["", 'damping=".02"'])
def test_a_mechanism_loses_what_dampers_take(damping):
    """A tree at the world and a free one, joined by a spring: the ledger closes to rounding, also with dampers."""
    sim = thrown(ARM.format(damping=damping))
    report = sim.run(2.0, sample=0.5, ledger=True).energy_report()
    assert sim.unconverged == 0
    assert np.abs(report.residual).max() < 1e-11
    assert (report["dampers"][-1] < -0.1) == bool(damping)


@pytest.mark.slow
def test_steps_of_a_turn_converge():
    """Where Newton's simplified matrix does not suffice: a fast box turns by a radian and a half each step."""
    sim = thrown(ARM.format(damping=""))
    sim.qvel[1:4] = [75.0, 10.0, -15.0]
    energy = sum(sim.energy())
    sim.step(50)
    assert sim.unconverged == 0
    assert_allclose(sum(sim.energy()), energy, rtol=1e-10)


def test_lanes_of_mechanisms_do_not_see_each_other():
    """A slow and a fast one, which takes more iterations, side by side, to the bit; and as a simulation alone."""
    model = saltus.load(ARM.format(damping=""))
    sim = thrown(model)
    start = sim.qvel.copy()
    sim.step(10)
    alone, both = (saltus.Batch(model, n, threads=1, integrator="energy_momentum") for n in (1, 2))
    alone.qvel = start
    both.qvel = np.array([start, 5.0 * start])
    alone.step(10)
    both.step(10)
    assert np.array_equal(alone.qpos[0], both.qpos[0])
    assert_allclose(both.qpos[0], sim.qpos, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_masses_of_their_own():
    """Mechanisms with masses, axes and springs of their own in a batch are those of simulations alone."""
    model = saltus.load(ARM.format(damping='stiffness=".1"').replace('stiffness="5" stiffness=".1"', 'stiffness="5"'))
    fields = ("body_mass", "body_ipos", "jnt_axis", "jnt_stiffness")
    batch = saltus.Batch(model, 2, threads=1, integrator="energy_momentum", vary=fields)
    batch.qvel = np.tile(thrown(model).qvel, (2, 1))
    values = {"body_mass[#1]": 0.9, "jnt_stiffness[#1]": 0.3}
    batch.model.body_mass[1, 1], batch.model.jnt_stiffness[1, 1] = values.values()
    batch.step(10)
    for k, alone in enumerate((model, model.changed(values))):
        sim = thrown(alone)
        sim.step(10)
        assert_allclose(batch.qpos[k], sim.qpos, rtol=0, atol=1e-10)
    assert np.abs(batch.qpos[0] - batch.qpos[1]).max() > 1e-3


def test_what_it_cannot_do_is_said():
    with pytest.raises(saltus.OptionError, match=r"does not support energy_momentum.*implicit_midpoint"):
        saltus.Simulation(FREE["sheet"], "energy_momentum").linearize()
    sim = saltus.Simulation("double_pendulum", "energy_momentum", timestep=0.5)
    sim.qvel[:] = 3.0
    with pytest.warns(saltus.SaltusWarning, match=r"energy_momentum.*did not converge.*0.5 s"):
        sim.step(50)
    assert sim.unconverged > 0


TRAMPOLINE = """<mujoco><option timestep="0.004"/><worldbody>
  <geom type="plane" size="5 5 1"/>
  <body pos="0 0 3"><freejoint/><geom size="0.1" solref="0.001 1" solimp="0.99 0.999 0.0001"/></body>
  <flexcomp name="sheet" type="disc" dim="2" count="16 16 1" spacing=".1 .1 .1" pos="0 0 1" radius=".01" mass="10">
    <contact condim="3" solref="0.001 1" solimp="0.99 0.999 0.00001" selfcollide="none"/>
    <edge damping="2"/><elasticity young="1.5e6" poisson="0" thickness="0.015" elastic2d="both"/>
    <pin id="0 15 240 255"/></flexcomp>
  </worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("h", [0.004, 0.002, pytest.param(0.001, marks=pytest.mark.slow)])
def test_a_ball_on_a_trampoline(h):
    """It falls 2 m onto a sheet and comes back to 1.755 m, as MuJoCo's Euler method converges to at 0.1 ms, within 2 %.

    MuJoCo's own implicit method, `discrete`, loses up to half a metre at these steps.
    """
    sim = saltus.Simulation(TRAMPOLINE, "energy_momentum", timestep=h)
    before = sum(sim.energy())
    height = sim.run(1.25, sample=0.004).qpos[:, 2]
    lowest = height.argmin()
    assert 0.88 < height[lowest] < 0.9
    assert height[lowest:].max() == pytest.approx(1.755, rel=0.02)
    assert sum(sim.energy()) < before
    assert sim.unconverged == 0
