"""Overconstrained loops: equality constraints of a lower rank than their number keep the motion that is left.

Bennett's linkage (Bennett, A new mechanism, Engineering 76 (1903)): four hinges in a ring with twists α, β and lengths
a, b with a/sin α = b/sin β, which can move although every count of freedoms says that it cannot. Its angles follow
tan(θ₁/2) tan(θ₂/2) = sin((β + α)/2)/sin((β - α)/2), and its energy is kept. Tolerances: of the angles, the dense output
of dopri5 at its default tolerance; of energies, the global error of the method, which shrinks by its order with the
step.

A planar loop in a leg that turns in space has a row across its plane that moves nothing while the loop is closed. A
passive leg that drops on its foot, with plastic impacts and friction, gains no energy. Tolerance: 1e-5 of it, above the
error of rk4 at 1 ms, (h ω)⁴ at 30 rad/s, and the lifting of 9 kg by 2 (m/s²) h² after each phase of time stepping.
"""

import numpy as np
import pytest

import saltus

ALPHA, BETA, LENGTH = np.radians(40.0), np.radians(70.0), 0.3
OTHER = LENGTH * np.sin(BETA) / np.sin(ALPHA)
RATIO = np.sin((BETA + ALPHA) / 2) / np.sin((BETA - ALPHA) / 2)


def bennett(h):
    """The linkage, whose last link is attached at two points of the last hinge's axis."""
    axis, start = np.array([0, np.sin(BETA), np.cos(BETA)]), np.array([-OTHER, 0, 0])
    ground = "".join(
        f'<site name="g{k}" pos="{x} {y} {z}"/>' for k, (x, y, z) in enumerate((start, start + 0.2 * axis))
    )
    turned = {twist: f'quat="{np.cos(twist / 2)} {np.sin(twist / 2)} 0 0"' for twist in (ALPHA, BETA)}

    def link(length):
        return f'<joint axis="0 0 1"/><inertial pos="{length / 2} 0 0" mass="1" diaginertia="0.01 0.02 0.03"/>'

    return f"""<mujoco>
      <compiler inertiafromgeom="false"/><option gravity="3 -4 -9" timestep="{h}"/>
      <worldbody>{ground}
        <body>{link(LENGTH)}
          <body pos="{LENGTH} 0 0" {turned[ALPHA]}>{link(OTHER)}
            <body pos="{OTHER} 0 0" {turned[BETA]}>{link(LENGTH)}
              <body pos="{LENGTH} 0 0" {turned[ALPHA]}><site name="e0"/><site name="e1" pos="0 0 0.2"/></body>
            </body>
          </body>
        </body>
      </worldbody>
      <equality><connect site1="g0" site2="e0"/><connect site1="g1" site2="e1"/></equality>
    </mujoco>"""


def moving(name, h):
    """A run of five seconds from rest."""
    sim = saltus.Simulation(bennett(h), name, contact="hard")
    sim.qpos[:] = 1.1, 2 * np.arctan(RATIO / np.tan(0.55)), -1.1
    motion = sim.run(5.0, sample=0.02)
    assert sim.unconverged == 0
    return motion


@pytest.mark.slow
def test_an_overconstrained_loop_moves_as_its_geometry_says():
    motion = moving("dopri5", 0.01)
    first, second, third = motion.qpos.T
    assert np.ptp(first) > 1.0
    np.testing.assert_allclose(np.tan(first / 2) * np.tan(second / 2), RATIO, rtol=1e-6)
    np.testing.assert_allclose(third, -first, atol=1e-6)
    assert np.ptp(motion.energy.sum(1)) < 1e-5


@pytest.mark.slow
def test_an_overconstrained_loop_that_starts_in_motion_is_not_stepped_over():
    """Its redundant rows contradict each other by the error of J̇ v; energy is kept to the integrator's tolerance."""
    sim = saltus.Simulation(bennett(0.01).replace("3 -4 -9", "0 0 0"), contact="hard", tolerance=(1e-10, 1e-12))
    angle, other = 1.1, 2 * np.arctan(RATIO / np.tan(0.55))
    sim.qpos[:] = angle, other, -angle
    sim.qvel[:] = 2.0, -2.0 * np.sin(other) / np.sin(angle), -2.0
    motion = sim.run(5.0, sample=0.05)
    first, second, _ = motion.qpos.T / 2
    energy = motion.energy.sum(1)
    assert np.ptp(energy) < 1e-8 * energy[0]
    closed = np.sin(first) * np.sin(second) - RATIO * np.cos(first) * np.cos(second)
    np.testing.assert_allclose(closed, 0.0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name, order", [("rk4", 4), ("midpoint", 2), ("implicit_midpoint", 2)])
def test_stages_at_which_the_loop_is_open_do_not_lock_it(name, order):
    drifts = [np.ptp(moving(name, h).energy.sum(1)) for h in (4e-3, 2e-3)]
    assert drifts[0] < 1e-2 and drifts[1] < drifts[0] / 2 ** (order - 0.5)


@pytest.mark.slow
def test_time_stepping_through_contradictory_rows_converges_with_the_step():
    drifts = [np.ptp(moving("moreau_jean", h).energy.sum(1)) for h in (1e-3, 5e-4)]
    assert drifts[0] < 0.1 and drifts[1] < drifts[0] / 2**0.8


LEG = """<mujoco>
  <option timestep="0.001"/><default><geom friction="0.6"/></default>
  <worldbody>
    <geom type="plane" size="9 9 1"/>
    <body name="trunk" pos="0 0 1.6">
      <freejoint/><geom type="box" size="0.1 0.1 0.05" mass="5" contype="0" conaffinity="0"/>{}
    </body>
  </worldbody>
  <equality><connect body1="{}" body2="{}" anchor="0.12 0.05 -0.08"/></equality>
</mujoco>"""


def zigzag(links, k=0):
    """Link k and those below it, with a round foot at the last."""
    if k == links:
        return ""
    x, before = (0.1, 0.1) if k % 2 else (-0.1, -0.1 if k else 0.0)
    foot = f'<geom size="0.04" pos="{x} 0 -0.3" mass="0.2"/>' if k == links - 1 else ""
    return f"""<body name="link{k}" pos="{before} 0 -0.3">
      <joint axis="0 1 0"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 {x} 0 -0.3" mass="1" contype="0" conaffinity="0"/>
      {foot}{zigzag(links, k + 1)}
    </body>"""


@pytest.mark.slow
@pytest.mark.parametrize("ends", [("trunk", "link2"), ("trunk", "link3"), ("link0", "link3")])
def test_a_leg_with_a_loop_gains_no_energy_when_it_lands(ends):
    sim = saltus.Simulation(LEG.format(zigzag(4), *ends), "rk4", contact="hard")
    sim.qvel[:] = 0.3 * np.cos(np.arange(sim.model.nv))
    energy = sim.run(1.0, sample=0.005).energy.sum(1)[1:]  # the first sample is before velocities close the loop
    assert np.diff(energy).max() < 1e-5 * energy[0]
