"""Equations of motion that are given as kernels, in place of the engine's.

Law: the bias is quadratic in the velocities, c(v) = c(0) + vᵀ Γ v, so that (c(v + e) - c(v - e))/2 is its derivative
along e exactly; the engine's analytic derivative (itself tested on its own) is the reference, for the engine's own
bias as the given one. Inverse dynamics is M a + c.

Tolerance: differences over two rad/s of forces lose the digits by which these exceed their change, at most three here:
1e-12 of the largest entry.
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.equations import with_equations
from helpers.random_tree import random_tree
from helpers.states import put

import saltus
from saltus.dynamics.equations import EQUATIONS, inverse_dynamics, velocity_derivative
from saltus.dynamics.tree.inertia import composite_inertia
from saltus.dynamics.user_laws import laws_of, register
from saltus.errors import OptionError
from saltus.model.compile.kernel_model import UserLaws
from saltus.number.kernels import Entry, kernel

ROUNDING = 1e-12

derivative = Entry(
    "test_given_derivative",
    "free_only",
    "composite_inertia(m, d)\nvelocity_derivative(m, d, free_only)",
    composite_inertia=composite_inertia,
    velocity_derivative=velocity_derivative,
)
inverse = Entry("test_given_inverse", "", "inverse_dynamics(m, d)", inverse_dynamics=inverse_dynamics)


def start(seed):
    """A simulation of a random mechanism with everything computed, at a random state."""
    model = saltus.load(random_tree(seed))
    sim = saltus.Simulation(model, "implicit")
    put(sim, oracle.random_state(oracle.reference(model), np.random.default_rng(seed)))
    sim.forward()
    return sim


@pytest.mark.parametrize("free_only", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_derivative_in_the_velocities(seed, free_only):
    """Of all degrees of freedom, and of free bodies that nothing is attached to; velocities are as before."""
    sim = start(seed)
    found = []
    for model in (sim.model.struct(), with_equations(sim.model)):
        qvel = sim.qvel.copy()
        derivative(model, sim.engine.d, free_only)
        np.testing.assert_array_equal(sim.qvel, qvel)
        found.append([sim.engine.d.views[f].copy() for f in ("lower", "upper")])
    scale = np.max(np.abs(found[0]))
    assert free_only or scale > 1.0
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=ROUNDING * scale)


@pytest.mark.parametrize("seed", range(4))
def test_inverse_dynamics(seed):
    sim = start(seed)
    wanted = sim.data.qfrc_inverse.copy()
    sim.engine.d.views["qfrc_inverse"][:] = 0.0
    inverse(with_equations(sim.model), sim.engine.d)
    np.testing.assert_allclose(
        sim.engine.d.views["qfrc_inverse"], wanted, rtol=0, atol=ROUNDING * np.max(np.abs(sim.data.qfrc_bias))
    )


def test_equations_belong_to_their_word():
    """What a kernel refers to is part of it, and must be as it was when the step is compiled."""
    model, parameter = saltus.load("pendulum"), np.array([8.0])

    @kernel
    def inertia(m, d):
        d.M[0] = parameter[0]

    @kernel
    def bias(m, d):
        d.qfrc_bias[0] = 39.24 * d.qpos[0]

    struct = model.struct(laws=UserLaws(equations=EQUATIONS + register((inertia, bias))))
    assert struct.layout.features == {EQUATIONS + register((inertia, bias))}
    assert laws_of(struct, EQUATIONS) == (inertia, bias) and laws_of(model.struct(), EQUATIONS) is None
    parameter[0] = 9.0
    with pytest.raises(OptionError, match="inertia, bias: a value that it refers to has changed"):
        laws_of(struct, EQUATIONS)
