"""Dense output by the collocation polynomial of third degree, in the form of `dopri5`'s.

The polynomial is the cubic one of Hermite by its values and slopes at both ends, and so is the dense output of `dopri5`
for stages whose sum with its weights is the step's mean slope, and whose last term vanishes. The stages are set so,
and what reads dense output, such as the search for contacts, reads this one.
"""

from saltus.integrate.dense.dormand_prince import DENSE, STAGES, WEIGHTS
from saltus.integrate.radau.states import width
from saltus.integrate.radau.tableau import POLYNOMIAL
from saltus.number.kernels import kernel

INNER, OTHER = 2, 3  # stages that carry the mean slope
_DET = WEIGHTS[INNER] * DENSE[OTHER] - WEIGHTS[OTHER] * DENSE[INNER]


@kernel
def leave_dense_output(m, d, h):
    """stage_qvel, stage_qacc, stage_act ← stages of `dopri5` with the polynomial of stage_change for a step of h s."""
    columns = width(m)
    for i in range(m.nv):
        put_polynomial(d, d.stage_qvel, i, m.nv, i, columns, h)
        put_polynomial(d, d.stage_qacc, i, m.nv, m.nv + i, columns, h)
    for k in range(m.nact):
        put_polynomial(d, d.stage_act, k, m.nact, 2 * m.nv + k, columns, h)


@kernel(inline=True)
def put_polynomial(d, slopes, i, n, k, columns, h):
    """Stages of quantity i of n from entry k of the three states in stage_change."""
    z0, z1, z2 = d.stage_change[k], d.stage_change[columns + k], d.stage_change[2 * columns + k]
    first = (POLYNOMIAL[0] * z0 + POLYNOMIAL[1] * z1 + POLYNOMIAL[2] * z2) / h
    second = (POLYNOMIAL[3] * z0 + POLYNOMIAL[4] * z1 + POLYNOMIAL[5] * z2) / h
    third = (POLYNOMIAL[6] * z0 + POLYNOMIAL[7] * z1 + POLYNOMIAL[8] * z2) / h
    last = first + 2.0 * second + 3.0 * third
    for s in range(STAGES):
        slopes[s * n + i] = 0.0 * h
    slopes[i], slopes[(STAGES - 1) * n + i] = first, last
    # Σ WEIGHTS k = mean slope, Σ DENSE k = 0
    mean = first + second + third - WEIGHTS[0] * first - WEIGHTS[STAGES - 1] * last
    bend = -DENSE[0] * first - DENSE[STAGES - 1] * last
    slopes[INNER * n + i] = (mean * DENSE[OTHER] - WEIGHTS[OTHER] * bend) / _DET
    slopes[OTHER * n + i] = (WEIGHTS[INNER] * bend - mean * DENSE[INNER]) / _DET
