"""Mechanisms at random states, for identities that hold for all of them."""

import mujoco
import numpy as np

import saltus
from helpers import oracle
from helpers.random_tree import random_tree
from helpers.states import dense, put
from saltus.dynamics.tree.bias_derivative import bias_derivative
from saltus.number.kernels import Entry

ROUNDING, SOLVED, DIFFERENCED = 1e-12, 1e-10, 1e-9
ALL = ("hinge", "slide", "ball", "free")
STEP = 4e-4


class Case:
    """A mechanism at a random state, and MuJoCo's twin of it."""

    def __init__(self, seed, joints=ALL, passive=True):
        self.model = saltus.load(random_tree(seed, joints=joints, passive=passive))
        self.m = oracle.reference(self.model)
        self.state = oracle.random_state(self.m, np.random.default_rng(1000 + seed))
        self.sim = saltus.Simulation(self.model, "implicit")
        put(self.sim, self.state)

    def at(self, s, v=None, a=None):
        """The simulation, moved along v (default: the state's velocity) and a for s seconds."""
        put(self.sim, self.state)
        self.sim.engine.computed = None  # some tests write computed quantities
        v = self.state["qvel"] if v is None else v
        mujoco.mj_integratePos(self.m, self.sim.qpos, v, s)
        if a is not None:
            self.sim.qvel += s * a
        return self.sim


def slope(f, h=STEP):
    """df/ds at 0 by a central difference of fourth order."""
    return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)


def assert_close(found, wanted, tolerance, scale=None):
    found, wanted = np.asarray(found), np.asarray(wanted)
    scale = max(np.max(np.abs(wanted)), 1e-3) if scale is None else scale
    error = np.max(np.abs(found - wanted)) / scale
    assert error <= tolerance, f"off by {error:.1e} of {scale:.3g}"


derivative_of_bias = Entry("test_bias_derivative", "", "bias_derivative(m, d, 0)", bias_derivative=bias_derivative)


def bias_matrix(case):
    """d(qfrc_bias)/d(qvel) [nv, nv], by the analytic derivative."""
    sim = case.at(0.0)
    sim.forward()
    derivative_of_bias(case.model.struct(), sim.engine.d)
    lower, upper = (dense(case.model, sim.engine.d.views[f]) for f in ("lower", "upper"))
    return np.tril(lower) + np.triu(upper, 1)
