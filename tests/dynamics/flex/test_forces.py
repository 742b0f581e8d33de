"""Forces and energy of deformable bodies, against MuJoCo and against each other.

Law: energies that are quadratic in the growth of edges' squared lengths, and in positions for bending; Rayleigh's
damping.
Reference: MuJoCo's qfrc_spring, qfrc_damper and qacc at random deformations. MuJoCo's own energy leaves the elements
out: here the slope of the energy must be the force, and what moves freely must keep it.

Tolerance: sums of some tens of products in another order, 1e-12 relative. Differences of the energy with steps of
1e-6 m: 1e-8 of the largest force, as rounding of the energy over the step. Runs by dopri5 with 1e-10 a step: 1e-7.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

GRID = 'spacing=".1 .1 .1" mass="1.5" radius=".01" pos="0 0 1"'
ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'


def flex(inside, kind='type="grid" dim="2" count="5 4 1"', body=""):
    soft = f'<flexcomp name="soft" {kind} {GRID}>{ALONE}{inside}</flexcomp>'
    return f"<mujoco><worldbody>{body.format(soft) or soft}</worldbody></mujoco>"


def chain(places, law):
    """Particles at `places` (m), joined by segments of a rod."""
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = "".join(
        f"""<body name="b{i}" pos="{x} {y} {z}">{slides}<inertial pos="0 0 0" mass=".1" diaginertia="1 1 1"/></body>"""
        for i, (x, y, z) in enumerate(places)
    )
    names, pairs = (
        "".join(f"b{i} " for i in range(len(places))),
        "".join(f"{i} {i + 1} " for i in range(len(places) - 1)),
    )
    return f"""<mujoco><worldbody>{bodies}</worldbody><deformable><flex name="rod" dim="1" radius=".01" body="{names}"
      element="{pairs}">{ALONE}<elasticity {law}/></flex></deformable></mujoco>"""


YOUNG = 'young="1e5" poisson="0.3"'
MODELS = {
    "stretch": flex(f'<elasticity {YOUNG} thickness="0.01" elastic2d="stretch"/>'),
    "bend": flex(f'<elasticity {YOUNG} thickness="0.03" elastic2d="bend"/>'),
    "both, damped": flex(
        f'<elasticity {YOUNG} thickness="0.01" elastic2d="both" damping="0.004"/><edge damping="3"/><pin id="0 4"/>'
    ),
    "disc": flex(f'<elasticity {YOUNG} thickness="0.01" elastic2d="both"/>', 'type="disc" dim="2" count="4 4 1"'),
    "curved": flex(
        f'<elasticity {YOUNG} thickness="0.02" elastic2d="both" damping="0.002"/>',
        'type="ellipsoid" dim="2" count="4 4 4"',
    ),
    "solid": flex(f'<elasticity {YOUNG} damping="0.01"/>', 'type="grid" dim="3" count="3 3 3"'),
    "on a body that turns": flex(
        f'<elasticity {YOUNG} thickness="0.01" elastic2d="both" damping="0.002"/><pin id="0 1 2"/>',
        body='<body name="arm" quat="1 0.2 0.3 0"><joint axis="0 1 0.5"/><geom size="0.1" mass="1"/>{}</body>',
    ),
    "ring": flex('<elasticity young="1e6" poisson="0.3" damping="0.01"/>', 'type="circle" dim="1" count="6 1 1"'),
    "coil": chain([(0.1 * i, 0.1 * np.cos(i), 0.1 * np.sin(i)) for i in range(6)], 'young="1e7" damping="0.02"'),
    "elbow": chain([(0, 0, 0), (0.1, 0, 0), (0.16, 0.08, 0), (0.22, 0.16, 0)], 'young="1e7" damping="0.02"'),
}


def deformed(name):
    """A simulation away from rest, and MuJoCo's data at the same state."""
    sim = saltus.Simulation(MODELS[name])
    rng = np.random.default_rng(len(name))
    sim.qpos[:] += 0.02 * rng.standard_normal(sim.model.nq)
    sim.qvel[:] = rng.standard_normal(sim.model.nv)
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, d)
    return sim, d


@pytest.mark.parametrize("name", MODELS)
def test_forces_are_mujocos(name):
    sim, d = deformed(name)
    for field in ("qfrc_spring", "qfrc_damper", "qacc"):
        found, wanted = getattr(sim.data, field), getattr(d, field)
        assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(abs(wanted).max(), 1e-3), err_msg=field)
    assert abs(d.qfrc_spring).max() > 1.0  # there is something to agree on


@pytest.mark.parametrize("name", MODELS)
def test_springs_are_the_slope_of_the_energy(name):
    sim, _ = deformed(name)
    force = sim.data.qfrc_spring.copy()
    sim.qvel[:] = 0.0
    weight = sim.data.qfrc_bias.copy()
    start, step = sim.qpos.copy(), 1e-6
    for i in range(0, sim.model.nv, 7):
        ends = []
        for side in (step, -step):
            sim.qpos[:] = start
            sim.qpos[i] += side
            ends.append(sim.energy()[0])
        slope = (ends[0] - ends[1]) / (2 * step)
        assert_allclose(-slope, force[i] - weight[i], rtol=0, atol=1e-8 * abs(force).max())


@pytest.mark.parametrize("name", ["stretch", "bend", "disc"])
def test_what_moves_freely_keeps_its_energy(name):
    sim = saltus.Simulation(MODELS[name], "dopri5", tolerance=(1e-10, 1e-12))
    sim.qpos[:] += 0.003 * np.random.default_rng(1).standard_normal(sim.model.nq)
    before = sum(sim.energy())
    sim.run(0.05, sample=0.05)
    assert_allclose(sum(sim.energy()), before, atol=1e-7 * sim.energy()[1], rtol=0)
