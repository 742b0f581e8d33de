"""The state inside a step, by dense output of order four.

Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), eq. II.6.12, in the form of their code
DOPRI5.
"""

from saltus.dynamics.motions import prescribe
from saltus.dynamics.tree.manifold import displace
from saltus.integrate.dense.dormand_prince import DENSE, STAGES, WEIGHTS
from saltus.number.kernels import kernel, only_with


@kernel
def interpolate(m, d, h, start, theta):
    """The state at the fraction theta of a step of h seconds from the saved state, into qpos, qvel, act, time.

    The step began at `start` (s). Prescribed motions have their values at the interpolated time.
    """
    rest = 1.0 - theta
    for i in range(m.nv):
        d.qstep[i] = dense(m, d, d.stage_qvel, i, m.nv, theta, rest)
        d.qvel[i] = d.qvel_saved[i] + h * dense(m, d, d.stage_qacc, i, m.nv, theta, rest)
    displace(m, d.qpos_saved, h, d.qstep, d.qpos)
    interpolate_activations(m, d, h, theta, rest)
    d.time = start + theta * h
    prescribe(m, d)


@only_with("act")
@kernel
def interpolate_activations(m, d, h, theta, rest):
    """Dense output of act at the fraction theta of the step."""
    for k in range(m.nact):
        d.act[k] = d.act_saved[k] + h * dense(m, d, d.stage_act, k, m.nact, theta, rest)


@kernel(inline=True)
def dense(m, d, slopes, i, n, theta, rest):
    """theta times the mean slope of quantity i of n from the step's start to theta; rest = 1 - theta."""
    whole = 0.0 * d.time
    bend = whole
    for s in range(STAGES):
        whole = whole + WEIGHTS[s] * slopes[s * n + i]
        bend = bend + DENSE[s] * slopes[s * n + i]
    first = slopes[i] - whole
    last = whole - slopes[(STAGES - 1) * n + i] - first
    return theta * (whole + rest * (first + theta * (last + rest * bend)))
