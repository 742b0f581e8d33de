"""The explicit midpoint rule: a half step of Euler's method, then a whole step with the slope found there."""

from saltus.integrate.fixed.runge_kutta import explicit_runge_kutta
from saltus.integrate.tableau import ButcherTableau

MIDPOINT = explicit_runge_kutta(
    ButcherTableau([[0, 0], ["1/2", 0]], [0, 1], name="midpoint"),
    reference="Runge (1895); Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), eq. II.1.4",
)
