"""The classical Runge-Kutta method of order four.

With rotations on their manifold, as in `runge_kutta`, this is also MuJoCo's RK4.
"""

from saltus.integrate.fixed.runge_kutta import explicit_runge_kutta
from saltus.integrate.tableau import ButcherTableau

_TABLEAU = ButcherTableau(
    [[0, 0, 0, 0], ["1/2", 0, 0, 0], [0, "1/2", 0, 0], [0, 0, 1, 0]], ["1/6", "1/3", "1/3", "1/6"], name="rk4"
)

RK4 = explicit_runge_kutta(_TABLEAU, reference="Kutta (1901); Hairer, Nørsett & Wanner (1993), table II.1.2")
