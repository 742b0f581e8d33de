"""Coefficients of the Dormand-Prince method of order 5(4) and of its dense output of order four.

Dormand & Prince, A family of embedded Runge-Kutta formulae (1980); Hairer, Nørsett & Wanner, Solving Ordinary
Differential Equations I (1993), table II.5.2 and II.6. The last stage is at the new state: first same as last.
"""

from saltus.integrate.tableau import ButcherTableau

_A = [
    [0, 0, 0, 0, 0, 0, 0],
    ["1/5", 0, 0, 0, 0, 0, 0],
    ["3/40", "9/40", 0, 0, 0, 0, 0],
    ["44/45", "-56/15", "32/9", 0, 0, 0, 0],
    ["19372/6561", "-25360/2187", "64448/6561", "-212/729", 0, 0, 0],
    ["9017/3168", "-355/33", "46732/5247", "49/176", "-5103/18656", 0, 0],
    ["35/384", 0, "500/1113", "125/192", "-2187/6784", "11/84", 0],
]
TABLEAU = ButcherTableau(_A, _A[-1], name="dopri5", order=5)
STAGES = 7
WEIGHTS = tuple(float(x) for x in TABLEAU.b)
# weights of the error estimate, b - b̂, and of the dense output's last term (Hairer, Nørsett & Wanner, II.6)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
DENSE = (
    -12715105075 / 11282082432,
    0.0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)
