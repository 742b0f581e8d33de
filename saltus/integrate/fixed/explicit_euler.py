"""Explicit Euler: v' = v + h a, q' = q ⊕ h v.

The simplest method, and unstable for every oscillator: energy grows by a factor 1 + (ω h)² a step whatever the step.
"""

from saltus.integrate.fixed.runge_kutta import explicit_runge_kutta
from saltus.integrate.tableau import ButcherTableau

EXPLICIT_EULER = explicit_runge_kutta(
    ButcherTableau([[0]], [1], name="explicit_euler"),
    reference="Euler, Institutionum calculi integralis (1768), §650; Hairer, Nørsett & Wanner (1993), I.7",
)
