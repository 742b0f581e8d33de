"""The explicit Euler method: v' = v + h a, q' = q ⊕ h v.

Unstable for every undamped oscillator: for any step size, energy grows by a factor 1 + (ω h)² per step.
"""

from saltus.integrate.fixed.runge_kutta import explicit_runge_kutta
from saltus.integrate.tableau import ButcherTableau

EXPLICIT_EULER = explicit_runge_kutta(
    ButcherTableau([[0]], [1], name="explicit_euler"),
    reference="Euler, Institutionum calculi integralis (1768), §650; Hairer, Nørsett & Wanner (1993), I.7",
)
