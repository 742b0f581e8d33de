"""Tendon springs and dampers.

A tendon's force acts on the joints through the gradient of its length (MuJoCo documentation, XML Reference, "tendon":
stiffness, damping, springlength).
"""

from saltus.dynamics.awake.walks import awake_tendons
from saltus.number.functions import absolute, where
from saltus.number.kernels import kernel, only_with


@only_with("tendon_force")
@kernel
def add_tendon_forces(m, d):
    """Add the generalised forces of tendon springs and dampers to qfrc_spring and qfrc_damper [nv] (N, N m).

    Reads ten_length, ten_velocity [ntendon], ten_J [ntenJ].
    """
    for t in awake_tendons(m, d):
        pull, drag = spring_and_damper(m, d, t)
        for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
            i = m.tendon_dof[k]
            d.qfrc_spring[i] = d.qfrc_spring[i] + d.ten_J[k] * pull
            d.qfrc_damper[i] = d.qfrc_damper[i] + d.ten_J[k] * drag


@kernel(inline=True)
def spring_and_damper(m, d, t):
    """Forces (N, N m) of tendon t's spring and damper, positive if they lengthen it.

    With x the stretch beyond the spring's slack range and v the rate of the length: -x (k + p1 x + p2 x²) and
    -v (b + p1 |v| + p2 v²).
    """
    x = stretch(m, d, t)
    v = d.ten_velocity[t]
    speed = absolute(v)
    spring = m.tendon_stiffnesspoly[t]
    damper = m.tendon_dampingpoly[t]
    pull = -x * (m.tendon_stiffness[t] + x * (spring[0] + x * spring[1]))
    drag = -v * (m.tendon_damping[t] + speed * (damper[0] + speed * damper[1]))
    return pull, drag


@kernel(inline=True)
def stretch(m, d, t):
    """Stretch (m, rad) of tendon t beyond its slack range; negative below it, zero within.

    Without slack, duals have the slope 1 at rest, too.
    """
    over = d.ten_length[t] - m.tendon_lengthspring[t, 1]
    under = d.ten_length[t] - m.tendon_lengthspring[t, 0]
    return where(over >= 0.0, over, where(under < 0.0, under, 0.0 * under))


@kernel(inline=True)
def damping_slope(m, d, t):
    """Slope of tendon t's damping force in the rate of its length (N s/m, N m s): b + 2 p1 |v| + 3 p2 v²."""
    speed = absolute(d.ten_velocity[t])
    poly = m.tendon_dampingpoly[t]
    return m.tendon_damping[t] + speed * (2.0 * poly[0] + speed * (3.0 * poly[1]))


@only_with("tendon_force", otherwise="0.0 * d.time")
@kernel
def tendon_spring_energy(m, d):
    """Energy (J) of tendon springs: the integral of x (k + p1 x + p2 x²) to the present stretch."""
    energy = 0.0 * d.time
    for t in awake_tendons(m, d):
        x = stretch(m, d, t)
        poly = m.tendon_stiffnesspoly[t]
        energy = energy + x * x * (0.5 * m.tendon_stiffness[t] + x * (poly[0] / 3.0 + x * poly[1] / 4.0))
    return energy
