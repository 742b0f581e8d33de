"""Trampolines: a ball falls into a sheet, which catches it or throws it back.

Law: elastic sheets with soft contact. Reference: MuJoCo 4.0 with the same steps and a tight solver; and of what steps
do not change, the height to which the corner-held disc throws its ball, 1.754 m, to which MuJoCo's Euler at 0.1 ms and
its RK4 at 0.2 ms converge.

Tolerance: 10,000 steps of the same method differ by what both solvers leave, 1e-10 of the cost a step; a difference of
1e-12 m grows 23 times in that second; 1e-7 in all. Heights: to 2 mm, what the two methods' own errors make.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.model.load import BUNDLED


def tight(name, timestep):
    """The MjModel of a bundled model with another step and a solver that goes on until rounding stops it."""
    m = mujoco.MjModel.from_xml_string((BUNDLED / f"{name}.xml").read_text())
    m.opt.timestep, m.opt.tolerance, m.opt.iterations = timestep, 1e-14, 200
    return m


def held_at_corners():
    """The bouncy disc, held at four corners of its grid alone."""
    text = (BUNDLED / "bouncy_disc.xml").read_text()
    pins = text.split('<pin id="')[1].split('"')[0]
    return saltus.load(text.replace(pins, "0 15 240 255"))


@pytest.mark.slow
def test_a_sheet_that_diverges_names_the_step():
    """Below the stable step that the error names the sheet falls with g t and less; above, it diverges."""
    sim = saltus.Simulation("trampoline", "explicit_euler", timestep=0.01)
    with pytest.raises(saltus.DivergenceError, match=r"timestep 0\.01 s exceeds the stability limit") as caught:
        for _ in range(100):
            sim.step()
    limit = caught.value.stable_timestep
    assert limit is not None and caught.value.time == sim.time < 0.3
    for factor, stays in ((0.95, True), (1.2, False)):
        sim.reset()
        sim.timestep = factor * limit
        if stays:
            sim.step(round(0.3 / sim.timestep))
            assert abs(sim.qvel).max() < 9.81 * 0.3 + 0.1
        else:
            with pytest.raises(saltus.DivergenceError, match="exceeds the stability limit"):
                sim.step(round(0.3 / sim.timestep))


@pytest.mark.slow
def test_a_second_of_the_trampoline_is_mujocos():
    m = tight("trampoline", 1e-4)
    d = mujoco.MjData(m)
    sim = saltus.Simulation(m, "euler")
    touched = 0
    for _ in range(20):
        mujoco.mj_step(m, d, 500)
        sim.step(500)
        touched += d.ncon > 0
        assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-7)
    assert touched > 5


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "timestep"), [("euler", 1e-4), ("rk4", 2e-4), ("energy_momentum", 5e-4)])
def test_the_disc_throws_the_ball_to_the_same_height(integrator, timestep):
    sim = saltus.Simulation(held_at_corners(), integrator, timestep=timestep)
    height = sim.run(1.4, sample=0.002).qpos[:, 2]
    low = height.argmin()
    assert_allclose([height[low], height[low:].max()], [0.8885, 1.754], rtol=0, atol=3e-3)


@pytest.fixture(scope="module")
def sunk():
    """Positions of the disc with a ball that sinks into it for 0.03 s, by any method."""

    def run(integrator, timestep):
        sim = saltus.Simulation("bouncy_disc", integrator, timestep=timestep)
        sim.qpos[2], sim.qvel[2] = 1.12, -5.0
        sim.run(0.03, sample=0.03)
        assert sim.unconverged == 0
        return sim.qpos[:]

    reference = run("rk4", 1e-4)
    assert reference[2] < 1.0
    return run, reference


@pytest.mark.slow
@pytest.mark.parametrize("integrator", sorted({*saltus.integrators()} - {"euler", "moreau_jean", "discrete", "radau"}))
def test_scenes_run_under_every_integrator(integrator, sunk):
    """By all methods the same to a millimetre. `discrete` refuses dampers along edges, `radau` models this large."""
    run, reference = sunk
    qpos = run(integrator, 1e-4)
    assert_allclose(qpos[:3], reference[:3], rtol=0, atol=1e-3)
    assert np.abs(qpos - reference).max() < 5e-3
