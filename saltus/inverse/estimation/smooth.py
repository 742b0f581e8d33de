"""Fixed-interval smoothing by Rauch, Tung and Striebel, with orientations on their manifold.

    C = P Aᵀ P'⁻¹,   x ← x ⊕ C (x'ˢ ⊖ x'),   P ← P + C (P'ˢ - P') Cᵀ

with x', P' the prediction from x, P, and x'ˢ, P'ˢ its smoothed value (Rauch, Tung & Striebel, Maximum likelihood
estimates of linear dynamic systems, AIAA Journal 3 (1965) 1445-1450).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saltus.control.tangent_states import difference, displaced
from saltus.errors import OptionError
from saltus.inverse.estimation.estimates import Estimates, Filtered
from saltus.inverse.estimation.tangents import symmetric, transport

Array = NDArray[np.float64]


def smooth(filtered: Filtered) -> Estimates:
    """Estimates from all measurements, later ones included, of what `KalmanFilter.run` returned.

    `saltus.kalman(sim, ...).run(measurements)` gives the argument. The last estimate stays as it is.

    Raises:
        OptionError: `filtered` is something else.
    """
    if not isinstance(filtered, Filtered):
        raise OptionError(
            f"smooth takes what saltus.kalman(...).run(measurements) returns, got a {type(filtered).__name__}"
        )
    model, P = filtered.model, filtered.covariance.copy()
    qpos, qvel, act = filtered.qpos.copy(), filtered.qvel.copy(), filtered.act.copy()
    for k in reversed(range(len(P) - 1)):
        ahead = filtered.passages[k]
        C = P[k] @ ahead.A.T @ _inverse(ahead.covariance)
        off = difference(model, ahead.state, (qpos[k + 1], qvel[k + 1], act[k + 1]))
        back = np.linalg.inv(transport(model, off))
        change = C @ off
        J = transport(model, change)
        P[k] = symmetric(J @ (P[k] + C @ (back @ P[k + 1] @ back.T - ahead.covariance) @ C.T) @ J.T)
        qpos[k], qvel[k], act[k] = displaced(model, (qpos[k], qvel[k], act[k]), change)
    about = filtered.time.copy(), qpos, qvel, act, P, filtered.nis.copy(), filtered.dof.copy(), filtered.names
    return Estimates(*about)


def _inverse(P: Array) -> Array:
    """Pseudoinverse of a covariance: steps without noise in some direction leave it singular."""
    scale = np.sqrt(np.maximum(np.diag(P), np.finfo(float).tiny))
    return np.linalg.pinv(P / np.outer(scale, scale), hermitian=True) / np.outer(scale, scale)
