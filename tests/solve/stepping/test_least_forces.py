"""Forces of time stepping that the laws of contact leave open are those of least norm.

Law: of all forces f with the same Jᵀ f, the pseudoinverse of Jᵀ gives those of least Euclidean norm, from NumPy's
singular value decomposition. Tolerance: 1e-6 of the load; the forces reproduce Jᵀ f to the tolerance of the step, 1e-9,
and conjugate gradients lose the condition number of J, below 1e2 here.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

LOAD = 9.81
PLACES = [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.3, -0.5), (0.1, 0.2)]


def hung(places):
    """A body on ropes, limits of tendons, at places in its plane (m), and at rest."""
    above = "".join(f'<site name="n{k}" pos="{x} {y} 5"/>' for k, (x, y) in enumerate(places))
    below = "".join(f'<site name="a{k}" pos="{x} {y} .5"/>' for k, (x, y) in enumerate(places))
    ropes = "".join(
        f'<spatial limited="true" range="0 2.5"><site site="n{k}"/><site site="a{k}"/></spatial>'
        for k in range(len(places))
    )
    source = f"""<mujoco><worldbody>{above}<body pos="0 0 2"><freejoint/>
    <geom type="box" mass="1" size=".5 .5 .5"/>{below}</body></worldbody><tendon>{ropes}</tendon></mujoco>"""
    sim = saltus.Simulation(source, contact="hard", integrator="moreau_jean")
    sim.run(1.0)
    return sim


@pytest.mark.parametrize("count", [3, 4, 5])
def test_ropes(count):
    """Three are determined; four and five are not."""
    sim = hung(PLACES[:count])
    J, force = sim.data.efc_J, sim.data.efc_force
    assert J.shape[0] == count
    assert_allclose(J.T @ force, sim.data.qfrc_constraint, atol=1e-6 * LOAD)
    assert_allclose(force, np.linalg.pinv(J.T) @ sim.data.qfrc_constraint, atol=1e-6 * LOAD)
    assert_allclose(force.sum(), LOAD, rtol=1e-6)


def test_ropes_only_pull():
    """Two pairs of ropes at different distances from a body that hangs askew: least forces would push, but cannot."""
    sim = hung([(0.5, 0.0), (0.45, 0.1), (0.45, -0.1), (-0.02, 0.0)])
    force = sim.data.efc_force
    assert np.min(np.linalg.pinv(sim.data.efc_J.T) @ sim.data.qfrc_constraint) < -0.01 * LOAD
    assert (force >= 0.0).all()
    assert_allclose(sim.data.efc_J.T @ force, sim.data.qfrc_constraint, atol=1e-6 * LOAD)
