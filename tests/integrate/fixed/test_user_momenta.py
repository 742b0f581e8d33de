"""Momenta and their rates from given equations of motion, on any joints.

Law: p = M v, dp/dt = dM/dt v + forces - bias, which for the engine's own M and bias is what it finds from the momenta
of bodies (tested on its own). Tolerance: differences over 1/64 rad lose two digits of M v, whose roundings are 1e-15
for each of some hundred operations: 1e-11 of the largest rate, and 1e-12 for momenta.
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.equations import with_equations
from helpers.random_tree import random_tree
from helpers.states import put

import saltus
from saltus.integrate.implicit.implicit_runge_kutta import momentum_form
from saltus.number.kernels import Entry

momentum = Entry("test_momentum", "", "momentum_form(m, d)", momentum_form=momentum_form)


@pytest.mark.parametrize("speed", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_momenta_of_given_equations(seed, speed):
    model = saltus.load(random_tree(seed))
    sim = saltus.Simulation(model, "implicit_midpoint")
    state = oracle.random_state(oracle.reference(model), np.random.default_rng(seed), speed=speed)
    found = []
    for struct in (model.struct(), with_equations(model)):
        put(sim, state)
        momentum(struct, sim.engine.d)
        np.testing.assert_array_equal(sim.qpos, state["qpos"])
        found.append([sim.engine.d.views[f].copy() for f in ("momentum", "momentum_rate")])
    for wanted, given, tolerance in zip(*found, (1e-12, 1e-11), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=0, atol=tolerance * max(1.0, np.max(np.abs(wanted))))
