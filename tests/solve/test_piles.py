"""Many bodies on each other: stacks stand, dominoes fall, piles settle; for long, and without energy from nowhere.

Law: soft contact with friction takes energy out. What it stores it gives back: at most ½ f |r| a row, of force f and
violation r. References: that bound; MuJoCo 4.0 where the motion is not chaotic.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import relative, tight

import saltus

pytestmark = pytest.mark.slow
SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".07 .08"',
    "box": 'type="box" size=".1 .08 .06"',
}
FLOOR = '<geom type="plane" size="5 5 .1"/>'
SIDE = 0.5  # m, half of the bin's


def document(bodies, cone="pyramidal", timestep=0.002):
    return f'<mujoco><option timestep="{timestep}" cone="{cone}"/><worldbody>{FLOOR}{bodies}</worldbody></mujoco>'


def pile(count, kinds, cone="pyramidal", seed=0):
    """Bodies of some kinds in turn, in layers of 16 above a bin with four walls."""
    rng = np.random.default_rng(seed)
    text = ""
    for x, y in ((SIDE, 0), (-SIDE, 0), (0, SIDE), (0, -SIDE)):
        text += f'<geom type="plane" size="5 5 .1" pos="{x} {y} 0" zaxis="{-x} {-y} 0"/>'
    for k in range(count):
        layer, place = divmod(k, 16)
        row, column = divmod(place, 4)
        x, y, z = [0.25 * row - 0.375, 0.25 * column - 0.375, 0.2 + 0.27 * layer] + 0.01 * rng.normal(size=3)
        turn = " ".join(map(str, rng.normal(size=4)))
        text += f'<body pos="{x} {y} {z}" quat="{turn}"><freejoint/><geom {SHAPES[kinds[k % len(kinds)]]}/></body>'
    return document(text, cone, 0.005)


def stored(data):
    """What rows can give back at most, J."""
    return 0.5 * float(np.abs(data.efc_force) @ np.abs(data.efc_pos))


def assert_settles(sim, seconds):
    """Second by second: all finite and in the bin, little penetration, no energy gained; in the end nearly at rest."""
    energy, store = sim.energy().sum(), 0.0
    for _ in range(seconds):
        sim.step(round(1 / sim.timestep))
        now = sim.energy().sum()
        assert now <= energy + store
        energy, store = now, stored(sim.data)
        places = sim.qpos.reshape(-1, 7)[:, :3]
        assert np.isfinite(sim.qvel).all()
        assert np.abs(places[:, :2]).max() < SIDE and places[:, 2].min() > 0.04
        assert sim.data.contact["dist"].min() > -0.05
    assert sim.unconverged == 0
    assert sim.energy()[1] < 1e-3 * energy
    return energy


@pytest.mark.parametrize(("cone", "count", "seconds"), [("pyramidal", 100, 10), ("elliptic", 30, 10)])
def test_a_pile_settles(cone, count, seconds):
    """MuJoCo's pile, another one after so many collisions, is as high to a few per cent."""
    m = mujoco.MjModel.from_xml_string(pile(count, tuple(SHAPES), cone))
    sim = saltus.Simulation(saltus.load(m))
    energy = assert_settles(sim, seconds)
    assert len(sim.data.contact) > 2 * count
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY.value
    d = mujoco.MjData(m)
    mujoco.mj_step(m, d, round(seconds / m.opt.timestep))
    mujoco.mj_forward(m, d)
    assert energy == pytest.approx(d.energy.sum(), rel=0.05)


def test_a_pile_in_single_precision():
    """Eight seconds of sixteen piles side by side."""
    m = saltus.load(pile(20, tuple(SHAPES)))
    batch = saltus.Batch(m, 16, precision="float32", threads=1)
    batch.qvel = 0.1 * np.random.default_rng(0).normal(size=(16, m.nv))
    for _ in range(8):
        batch.step(200)
        places = batch.qpos.reshape(16, -1, 7)[:, :, :3]
        assert np.isfinite(batch.qvel).all()
        assert np.abs(places[:, :, :2]).max() < SIDE and places[:, :, 2].min() > 0.04
    assert not batch.diverged.any()
    assert np.abs(batch.qvel).max() < 5


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_stack_of_boxes_stands(cone):
    """Eight boxes, ten seconds: where MuJoCo's are, upright, and at rest.

    Tolerances: the solver stops at 1e-8 of the mean force, which leaves accelerations of 1e-7 m/s² and, as friction
    damps within 0.02 s, creeps by 1e-8 m a second.
    """
    boxes = "".join(
        f'<body pos="0 0 {0.1 + 0.2 * k}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>' for k in range(8)
    )
    m = mujoco.MjModel.from_xml_string(document(boxes, cone))
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    sim.step(5000)
    mujoco.mj_step(m, d, 5000)
    np.testing.assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim.qpos.reshape(-1, 7)[:, 2], d.qpos.reshape(-1, 7)[:, 2], rtol=0, atol=1e-9)
    assert np.abs(sim.qpos.reshape(-1, 7)[:, [0, 1, 4, 5, 6]]).max() < 1e-6
    assert np.abs(sim.qvel).max() < 1e-6
    assert sim.data.ncon == 32


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_dominoes_fall_as_in_mujoco(cone):
    """Twelve in a row, the first one pushed: each falls onto the next, at MuJoCo's times to a step."""
    boxes = "".join(
        f'<body pos="{0.12 * k} 0 .2"><freejoint/><geom type="box" size=".02 .1 .2"/></body>' for k in range(12)
    )
    m = tight(mujoco.MjModel.from_xml_string(document(boxes, cone, 0.001)))
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    fallen = np.full((2, 12), np.nan)
    for state in (sim, d):
        state.qvel[4] = 3.0
    for _ in range(2000):
        sim.step()
        mujoco.mj_step(m, d)
        for times, state in zip(fallen, (sim, d), strict=True):
            tilt = 2 * np.arcsin(np.clip(state.qpos.reshape(-1, 7)[:, 5], -1, 1))
            times[np.isnan(times) & (tilt > 0.5)] = sim.time
    assert (np.diff(fallen[0]) > 0).all()
    np.testing.assert_allclose(fallen[0], fallen[1], rtol=0, atol=1.5e-3)


def test_it_does_not_matter_how_the_pile_is_read():
    """A pile read and saved on its way goes the same way to the bit, and a restored one too."""
    m = saltus.load(pile(20, tuple(SHAPES)))
    plain, read = saltus.Simulation(m), saltus.Simulation(m)
    for _ in range(10):
        plain.step(20)
        for _ in range(20):
            read.step()
        assert read.data.nefc >= 0 and read.energy().all()
        saved = read.snapshot()
        read.step(5)
        read.restore(saved)
    np.testing.assert_array_equal(plain.qpos, read.qpos)
    assert relative(plain.data.qacc, read.data.qacc) == 0.0
