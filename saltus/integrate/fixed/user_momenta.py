"""Joint momenta and their rates for user-defined equations of motion.

M dv/dt + bias = forces gives, with p = M v, dp/dt = dM/dt v + forces - bias. The rate of M along the motion is found by
central differences of order 8 (Fornberg, Generation of finite difference formulas on arbitrarily spaced grids (1988),
table 1), at positions displaced by multiples of ε v to either side. M is a polynomial in lengths, and of second degree
in the sines and cosines of each angle, so that its highest frequency along the motion is 2 Σ|v|. With ε Σ|v| up to 1/64
the truncation error is (1/32)⁸/630 < 2e-15 of the rate of that frequency, and rounding errors grow by 64.
"""

from saltus.dynamics.equations import EQUATIONS, bias_force, joint_inertia
from saltus.dynamics.tree.factor import multiply
from saltus.dynamics.tree.manifold import displace
from saltus.dynamics.tree.momentum import momenta
from saltus.number.conditions import has
from saltus.number.functions import absolute
from saltus.number.kernels import kernel

WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
STEP = 1.0 / 64.0  # rad


@kernel
def joint_momenta(m, d):
    """Joint momenta M v and their rates, for user-defined equations or else for the bodies (see `momenta`).

    Reads qpos, qvel, qfrc_tau [nv]. Writes momentum [nv] (N m s, N s) and momentum_rate [nv] (N m, N), M and
    qfrc_bias. Overwrites qpos_here.
    """
    if not has(m, EQUATIONS):
        momenta(m, d)
        return
    # forces - bias
    bias_force(m, d, d)
    moved = 1.0 + 0.0 * d.time
    for i in range(m.nv):
        d.momentum_rate[i] = d.qfrc_tau[i] - d.qfrc_bias[i]
        moved = moved + absolute(d.qvel[i])
    # + dM/dt v by central differences
    eps = STEP / moved
    for k in range(m.nq):
        d.qpos_here[k] = d.qpos[k]
    for s in range(len(WEIGHTS)):
        _add_difference(m, d, (s + 1.0) * eps, WEIGHTS[s] / eps)
        _add_difference(m, d, -(s + 1.0) * eps, -WEIGHTS[s] / eps)
    # p = M v at the current positions
    for k in range(m.nq):
        d.qpos[k] = d.qpos_here[k]
    joint_inertia(m, d)
    multiply(m, d, d.qvel, d.momentum)


@kernel
def _add_difference(m, d, time, weight):
    """momentum_rate += weight M v (weight in 1/s), with M at positions displaced by `time` (s) times v."""
    displace(m, d.qpos_here, time, d.qvel, d.qpos)
    joint_inertia(m, d)
    multiply(m, d, d.qvel, d.momentum)
    for i in range(m.nv):
        d.momentum_rate[i] = d.momentum_rate[i] + weight * d.momentum[i]
