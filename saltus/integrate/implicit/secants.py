"""Broyden's method: Newton steps with a matrix that is kept, improved by the steps taken with it.

With B⁻¹ the inverse of the matrix and s_j the steps so far, each of them full, the next step follows from z = -B⁻¹ r by
z ← z + s_{j+1} (s_j · z)/|s_j|² and a last division (Kelley, Iterative Methods for Linear and Nonlinear Equations
(1995), section 7.3). Steps of lanes that were damped count as none.
"""

from saltus.number.functions import where
from saltus.number.kernels import kernel

LARGEST = 0.9  # component along the last step from which on it is left out: the step would grow tenfold


@kernel
def improve_change(m, d, k):
    """metric_change ← step of Broyden's method from the simplified Newton step, after k steps with the same matrix.

    The step is kept in secant [SECANTS, nv].
    """
    for j in range(k):
        share = along_secant(m, d, j)
        if j < k - 1:
            for i in range(m.nv):
                d.metric_change[i] = d.metric_change[i] + share * d.secant[(j + 1) * m.nv + i]
        else:
            share = where(share < LARGEST, share, 0.0 * share)
            for i in range(m.nv):
                d.metric_change[i] = d.metric_change[i] / (1.0 - share)
    for i in range(m.nv):
        d.secant[k * m.nv + i] = d.metric_change[i]


@kernel
def along_secant(m, d, j):
    """Component of metric_change along step j, relative to that step; 0 for a step of length 0."""
    dot = square = 0.0 * d.time
    for i in range(m.nv):
        step = d.secant[j * m.nv + i]
        dot = dot + step * d.metric_change[i]
        square = square + step * step
    there = square > 0.0
    return where(there, dot / where(there, square, 1.0 + 0.0 * square), 0.0 * dot)


@kernel
def forget_secants(m, d, k, damped):
    """Clear steps up to k in lanes that were damped, in which they are no secants."""
    for n in range((k + 1) * m.nv):
        d.secant[n] = where(damped, 0.0 * d.secant[n], d.secant[n])
