"""The soft law of constraints: how strongly a violation is answered, and towards which acceleration.

For a constraint with violation r (negative where it is violated), velocity v = J q̇ and the acceleration a₀ that it
would have without a force, the acceleration that it gets is

    a₁ = (1 - d(r)) a₀ + d(r) a_ref,    a_ref = -B v - K d(r) r

with the impedance d in (0, 1) and stiffness K and damping B from `saltus.model.contact.contact_parameters`. The force
for it comes from the regularised problem with R = (1 - d)/d Â, where Â approximates the inverse inertia J M⁻¹ Jᵀ
(MuJoCo documentation,
Computation: Constraint model; Todorov, Convex and analytically-invertible dynamics with contacts and constraints
(2014)).
"""

from saltus.number.functions import MINVAL, absolute, maximum, minimum, power, where
from saltus.number.kernels import kernel

TINY = 1e-30


@kernel
def impedance(curve, r):
    """d(r): from curve[0] at r = 0 to curve[1] at |r| = curve[2] along a power law, symmetric in r.

    curve: (impedance at no violation, at full width, width, midpoint, power), not of the lanes' kind.
    """
    first, full, width, midpoint, exponent = curve
    zero = 0.0 * r
    if first == full or width <= MINVAL:
        return zero + 0.5 * (first + full)
    x = minimum(absolute(r) / width, zero + 1.0)
    if exponent == 1.0:
        y = x
    elif exponent == 2.0:
        y = where(x <= midpoint, x * x / midpoint, 1.0 - (1.0 - x) * (1.0 - x) / (1.0 - midpoint))
    else:
        # not of zero: a power's tangent divides by its base
        below = power(maximum(x, zero + TINY), exponent) / midpoint ** (exponent - 1.0)
        above = 1.0 - power(maximum(1.0 - x, zero + TINY), exponent) / (1.0 - midpoint) ** (exponent - 1.0)
        y = where(x <= midpoint, below, above)
    return first + y * (full - first)


@kernel(inline=True)
def regularisation(d, inverse_inertia):
    """R = (1 - d)/d Â (1/kg or 1/(kg m²)), for Â = `inverse_inertia`."""
    return maximum((1.0 - d) / d * inverse_inertia, 0.0 * d + MINVAL)


@kernel(inline=True)
def reference(stiffness, damping, d, r, v):
    """a_ref = -B v - K d r (m/s² or rad/s²)."""
    return -damping * v - stiffness * d * r
