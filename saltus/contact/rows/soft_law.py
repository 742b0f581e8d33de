"""Soft constraint model: impedance, regularisation and reference acceleration.

For a constraint with violation r (negative where it is violated), velocity v = J q̇ and unconstrained acceleration a₀,
the constrained acceleration is

    a₁ = (1 - d(r)) a₀ + d(r) a_ref,    a_ref = -B v - K d(r) r

with impedance d in (0, 1), and stiffness K and damping B from `saltus.model.contact.contact_parameters`. The force
follows from the regularisation R = (1 - d)/d Â, where Â approximates the inverse inertia J M⁻¹ Jᵀ (MuJoCo
documentation, Computation: Constraint model; Todorov, Convex and analytically-invertible dynamics with contacts and
constraints (2014)).
"""

from saltus.number.components import value_of
from saltus.number.functions import MINVAL, absolute, any_lane, maximum, minimum, power, where
from saltus.number.kernels import kernel

TINY = 1e-30


@kernel
def impedance(curve, r):
    """d(r): sigmoid from curve[0] at r = 0 to curve[1] at |r| = curve[2] by a power law, symmetric in r.

    curve: (impedance at r = 0, impedance at full width, width, midpoint, power).
    """
    first, full, width, midpoint, exponent = curve
    exponent = value_of(exponent)  # has no tangents
    zero = 0.0 * r
    constant = zero + 0.5 * (first + full)
    wide = width > MINVAL
    if not any_lane(wide):
        return constant
    # power sigmoid of |r| / width
    x = minimum(absolute(r) / maximum(width, MINVAL), zero + 1.0)
    y = x
    if any_lane(exponent == 2.0):
        square = where(x <= midpoint, x * x / midpoint, 1.0 - (1.0 - x) * (1.0 - x) / (1.0 - midpoint))
        y = where(exponent == 2.0, square, y)
    if any_lane(other_power(exponent) > 0.0):
        # bases kept above zero: the tangent of a power divides by its base
        below = power(maximum(x, zero + TINY), exponent) / power(midpoint, exponent - 1.0)
        above = 1.0 - power(maximum(1.0 - x, zero + TINY), exponent) / power(1.0 - midpoint, exponent - 1.0)
        y = where(other_power(exponent) > 0.0, where(x <= midpoint, below, above), y)
    # where both impedances are equal, each still has a tangent of its own
    return where(wide, first + y * (full - first), constant)


@kernel(inline=True)
def other_power(exponent):
    """1 for exponents other than 1 and 2, which have shorter formulas."""
    return where(exponent == 1.0, 0.0 * exponent, where(exponent == 2.0, 0.0 * exponent, 0.0 * exponent + 1.0))


@kernel(inline=True)
def regularisation(d, inverse_inertia):
    """R = (1 - d)/d Â (1/kg or 1/(kg m²)), for Â = `inverse_inertia`."""
    return maximum((1.0 - d) / d * inverse_inertia, 0.0 * d + MINVAL)


@kernel(inline=True)
def reference(stiffness, damping, d, r, v):
    """a_ref = -B v - K d r (m/s² or rad/s²)."""
    return -damping * v - stiffness * d * r
