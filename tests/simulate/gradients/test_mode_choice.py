"""The choice between forward and reverse mode of gradients of runs.

References: both modes named by the caller, whose results agree to 1e-9 of the largest number of a field; counts of
directions by hand, eight in a group.
"""

import numpy as np
import pytest

import saltus
from saltus.simulate.gradients import mode_choice

LINK = """<mujoco><option timestep=".01"/><worldbody><body name="link">
  <joint name="h" axis="0 1 0" damping=".1" stiffness=".3"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/></body></worldbody><actuator><motor joint="h"/></actuator>
  </mujoco>"""


def end(run):
    return run.qpos[-1, 0] ** 2 + 0.1 * run.qvel[-1, 0]


def link(integrator="euler", **options):
    sim = saltus.Simulation(LINK, integrator, **options)
    sim.qpos, sim.qvel, sim.ctrl = 0.5, 0.2, 0.3
    return sim


@pytest.mark.parametrize(
    ("integrator", "wrt", "mode", "forward", "reverse"),
    [
        # all by the adjoint of steps; one group of the state and one of parameters along the run
        ("euler", ("qpos", "body_mass", "dof_damping"), "reverse", 1 + 2 * 12, 1 + 10),
        # one group of geometry, for which each step needs A, B and P
        ("rk4", ("geom_pos",), "forward", 1 + 12, 1 + 6 + 8 + 6),
        ("rk4", ("qpos", "qvel", "ctrl"), "reverse", 1 + 12, 1 + 6),
    ],
)
def test_the_cheaper_mode_is_taken_and_gives_the_result_of_both(integrator, wrt, mode, forward, reverse):
    sim = link(integrator)
    value, gradient = saltus.run_gradient(sim, 0.1, end, wrt=wrt)
    assert gradient.mode == mode
    assert gradient.cost.forward == forward
    assert gradient.cost.reverse == reverse
    assert "costs less" in gradient.cost.reason
    for named in ("forward", "reverse"):
        same, wanted = saltus.run_gradient(sim, 0.1, end, wrt=wrt, mode=named)
        assert wanted.mode == named
        assert np.isnan(wanted.cost.forward)
        assert "named" in wanted.cost.reason
        assert value == pytest.approx(same, rel=1e-12)
        for name in wrt:
            scale = np.max(np.abs(wanted[name]))
            np.testing.assert_allclose(gradient[name], wanted[name], rtol=0, atol=1e-9 * scale)


def test_forces_at_bodies_need_no_matrices_of_steps():
    sim = link()
    sim.xfrc_applied[1, 0] = 0.2
    _, gradient = saltus.run_gradient(sim, 0.05, end, wrt=("qpos", "body_mass"))
    assert gradient.cost.reverse == 1 + 10
    for mode in ("reverse", "forward"):
        _, wanted = saltus.run_gradient(sim, 0.05, end, wrt=("qpos", "body_mass"), mode=mode)
        np.testing.assert_allclose(gradient["qpos"], wanted["qpos"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(gradient["body_mass"], wanted["body_mass"], rtol=1e-9, atol=1e-12)


def test_a_run_without_a_way_back_goes_forward_and_says_why():
    _, gradient = saltus.run_gradient(link("dopri5"), 0.05, end, wrt=("qpos", "qvel"))
    assert gradient.mode == "forward"
    assert np.isnan(gradient.cost.reverse)
    assert "adaptive steps" in gradient.cost.reason
    assert gradient.condition > 0
    assert "condition" in repr(gradient)


def test_states_that_take_too_much_memory_are_not_kept(monkeypatch):
    """Forward mode keeps 4 numbers a sample and direction, fewer than the state has."""
    monkeypatch.setattr(mode_choice, "MOST_MEMORY", 0.0)
    sim = link()
    _, gradient = saltus.run_gradient(sim, 0.1, end, wrt="qpos")
    assert gradient.mode == "forward"
    assert "GB of states" in gradient.cost.reason
    assert gradient.cost.memory == pytest.approx(11 * 8e-6 * sim.snapshot().size, rel=0.5)
    assert saltus.run_gradient(sim, 0.1, end, wrt="qpos", mode="reverse")[1].mode == "reverse"
