"""The implicit midpoint rule, the Gauss method with one stage.

    p' = p + h dp/dt(q_m, v_m),   q' = q ⊕ h v_m,   q_m = q ⊕ h/2 v_m,   M(q_m) v_m = (p + p') / 2

with joint momenta p = M v. Symmetric, and symplectic on hinges and slides: the energy error stays bounded, and
quadratic invariants, such as the energy of an oscillator, are conserved exactly (Hairer, Lubich & Wanner, Geometric
Numerical Integration (2006), theorems IV.2.2, VI.4.2 and IX.8.1).
"""

from saltus.integrate.implicit.implicit_runge_kutta import implicit_runge_kutta
from saltus.integrate.tableau import ButcherTableau

IMPLICIT_MIDPOINT = implicit_runge_kutta(
    ButcherTableau([["1/2"]], [1], name="implicit_midpoint"),
    kind="symplectic",
    reference="Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), II.1.3 and VI.4",
)
