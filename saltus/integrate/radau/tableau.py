"""Coefficients of the method Radau IIA with three stages, and of its simplified Newton iteration.

The inverse of A is T Λ T⁻¹ with a real eigenvalue and a complex pair, Λ = diag(REAL, [[ALPHA, -BETA], [BETA, ALPHA]]):
Hairer & Wanner, Solving Ordinary Differential Equations II (1996), table IV.5.6 and section IV.8.
"""

import numpy as np
from numpy.typing import NDArray

from saltus.integrate.tableau import ButcherTableau

STAGES = 3
_ROOT = 6.0**0.5
_A = [
    [(88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225],
    [(296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225],
    [(16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9],
]
TABLEAU = ButcherTableau(_A, _A[-1], name="radau", order=5)
NODES = ((4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0)

# eigenvalues of the inverse of A: the roots of x³ - 9 x² + 36 x - 60
_THIRD = 3.0 ** (1 / 3)
REAL = 3.0 + _THIRD**2 - _THIRD
ALPHA = 3.0 + 0.5 * (_THIRD - _THIRD**2)
BETA = 0.5 * (3.0 ** (5 / 6) + 3.0 ** (7 / 6))


def _eigenvector(inverse: NDArray[np.float64], value: complex) -> NDArray[np.complex128]:
    """The eigenvector of a 3 x 3 matrix to an eigenvalue, with a last component of 1."""
    matrix = inverse - value * np.eye(3)
    return np.append(np.linalg.solve(matrix[:2, :2], -matrix[:2, 2]), 1.0)


def _transformation() -> NDArray[np.float64]:
    inverse = np.linalg.inv(np.array(_A))
    pair = _eigenvector(inverse, ALPHA - 1j * BETA)
    return np.column_stack([_eigenvector(inverse, REAL).real, pair.real, pair.imag])


#: T and its inverse, row by row.
TO_STAGES = tuple(_transformation().ravel().tolist())
FROM_STAGES = tuple(np.linalg.inv(_transformation()).ravel().tolist())

# the error estimate is (REAL/h - J)⁻¹ (f(y) + Σ e_i Z_i / h): eqs. IV.8.18 and IV.8.19, multiplied by REAL / h
ERROR = ((-13 - 7 * _ROOT) / 3, (-13 + 7 * _ROOT) / 3, -1 / 3)


def _dense() -> NDArray[np.float64]:
    """Coefficients of θ, θ², θ³ [3, 3] in the polynomial that is 0 at θ = 0 and Z_i at the nodes, from Z_i."""
    nodes = np.array(NODES)
    return np.linalg.inv(np.column_stack([nodes, nodes**2, nodes**3]))


#: The collocation polynomial is Σ_k θ^(k+1) Σ_i POLYNOMIAL[3 k + i] Z_i.
POLYNOMIAL = tuple(_dense().ravel().tolist())
