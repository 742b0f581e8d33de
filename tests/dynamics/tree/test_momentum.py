"""Joint momenta are M v, and their rates those along the motion.

Law: p = M v; along a motion dp/dt = M dv/dt + (dM/dt) v; on hinges and slides without dampers dp_i/dt = ∂L/∂q_i + τ_i
with L = T - V (Goldstein, Classical Mechanics, 3rd ed., section 8.1).

Tolerances: p to rounding of a few hundred products, 1e-12; rates are compared with differences of fourth order at
h = 4e-4, good to 1e-9 of their size.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.random_tree import random_tree
from helpers.states import put

import saltus
from saltus.integrate.implicit.implicit_runge_kutta import momentum_form
from saltus.number.kernels import Entry

ROUNDING, DIFFERENCED, STEP = 1e-12, 1e-9, 4e-4

momentum = Entry("test_momentum", "", "momentum_form(m, d)", momentum_form=momentum_form)


def slope(f, h=STEP):
    """df/ds at 0 by a central difference of fourth order."""
    return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)


def start(seed, **options):
    model = saltus.load(random_tree(seed, **options))
    m = oracle.reference(model)
    sim = saltus.Simulation(model, "implicit_midpoint")
    return sim, m, oracle.random_state(m, np.random.default_rng(seed))


def momenta(sim):
    """p and dp/dt [nv] at the simulation's state."""
    sim.forward()
    momentum(sim.model.struct(), sim.engine.d)
    sim.engine.computed = None  # the kernel has overwritten some of what was computed
    return tuple(sim.engine.d.views[f].copy() for f in ("momentum", "momentum_rate"))


@pytest.mark.parametrize("seed", range(5))
def test_momenta_along_the_motion(seed):
    sim, m, state = start(seed)
    put(sim, state)
    qacc = sim.data.qacc.copy()

    def at(s):
        put(sim, state)
        mujoco.mj_integratePos(m, sim.qpos, state["qvel"], s)
        sim.qvel += s * qacc
        return sim.full_M() @ sim.qvel

    wanted, rate = at(0.0), slope(at)
    put(sim, state)
    p, p_rate = momenta(sim)
    assert np.max(np.abs(p - wanted)) <= ROUNDING * np.max(np.abs(wanted))
    assert np.max(np.abs(p_rate - rate)) <= DIFFERENCED * np.max(np.abs(rate))


@pytest.mark.parametrize("seed", range(3))
def test_hamiltons_equations(seed):
    sim, m, state = start(seed, joints=("hinge", "slide"))
    put(sim, state)
    _, p_rate = momenta(sim)
    # dampers and what is applied are no part of L
    other = sim.data.qfrc_smooth + sim.data.qfrc_bias - sim.data.qfrc_spring

    def lagrangian(k):
        def at(s):
            put(sim, state)
            sim.qpos[k] += s
            potential, kinetic = sim.energy()
            return kinetic - potential

        return at

    gradient = np.array([slope(lagrangian(k)) for k in range(m.nv)])
    scale = np.max(np.abs(gradient))
    assert np.max(np.abs(p_rate - other - gradient)) <= DIFFERENCED * scale
