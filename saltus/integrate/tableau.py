"""Butcher tableaux of Runge-Kutta methods."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import whole_number
from saltus.errors import OptionError
from saltus.terminal.display import notebook_html


class ButcherTableau:
    """A Runge-Kutta method: coefficients a [s, s], weights b [s], nodes c [s] (default: the row sums of a).

    Numbers may be fractions or text such as "1/3". The constructor checks the shapes, that entries are finite, that the
    weights sum to 1 and that c equals the row sums of a, and raises an OptionError that names a violation. `order`
    defaults to the order up to 4 that the order conditions give. A tableau whose a is not strictly lower triangular is
    implicit; its stages are solved by Newton iteration.
    """

    def __init__(
        self,
        a: Sequence[Sequence[float | str | Fraction]],
        b: Sequence[float | str | Fraction],
        c: Sequence[float | str | Fraction] | None = None,
        *,
        name: str = "tableau",
        order: int | None = None,
        reference: str = "given by the user",
    ):
        self.name, self.reference = name, reference
        self.a, self.b = _numbers("a", a), _numbers("b", b)
        if self.a.ndim != 2 or self.a.shape[0] != self.a.shape[1]:
            raise OptionError(f"tableau {name!r}: a must be square, not of shape {self.a.shape}")
        self.c = self.a.sum(axis=1) if c is None else _numbers("c", c)
        if self.b.shape != (self.stages,) or self.c.shape != (self.stages,):
            shapes = f"b has shape {self.b.shape} and c {self.c.shape}"
            raise OptionError(f"tableau {name!r}: {shapes}, but a has {self.stages} stages")
        if abs(self.b.sum() - 1.0) > 1e-12:
            raise OptionError(f"tableau {name!r} is not consistent: the weights b sum to {self.b.sum():.15g}, not 1")
        rows = self.a.sum(axis=1)
        bad = np.flatnonzero(abs(rows - self.c) > 1e-12)
        if bad.size:
            i = int(bad[0])
            raise OptionError(
                f"tableau {name!r} is not consistent: row {i} of a sums to {rows[i]:.15g}, "
                f"but c[{i}] = {self.c[i]:.15g}"
            )
        found, order = self._order(), None if order is None else whole_number("order", order, least=1)
        if order is not None and order > found and found < 4:
            raise OptionError(f"tableau {name!r}: order {order} is claimed, but the order conditions give {found}")
        self.order = found if order is None else order

    @property
    def stages(self) -> int:
        """Number of stages s."""
        return len(self.a)

    @property
    def explicit(self) -> bool:
        """Whether each stage depends only on earlier ones."""
        return not np.triu(self.a).any()

    @property
    def table(self) -> NDArray[np.float64]:
        """The tableau in its usual layout, [s + 1, s + 1]: rows (c_i, a_i), last row (0, b)."""
        s = self.stages
        out = np.zeros((s + 1, s + 1))
        out[:s, 0], out[:s, 1:], out[s, 1:] = self.c, self.a, self.b
        return out

    def _order(self) -> int:
        """Largest order up to 4 whose conditions hold (Hairer, Nørsett & Wanner (1993), table II.2.2)."""
        a, b, c = self.a, self.b, self.c
        conditions = [
            [(b @ c, 1 / 2)],
            [(b @ c**2, 1 / 3), (b @ a @ c, 1 / 6)],
            [(b @ c**3, 1 / 4), (b @ (c * (a @ c)), 1 / 8), (b @ a @ c**2, 1 / 12), (b @ a @ a @ c, 1 / 24)],
        ]
        order = 1
        for level in conditions:
            if any(abs(value - wanted) > 1e-12 for value, wanted in level):
                break
            order += 1
        return order

    _repr_html_ = notebook_html

    def __repr__(self) -> str:
        kind = "explicit" if self.explicit else "implicit"
        return f"ButcherTableau({self.name!r}: {kind}, {self.stages} stages, order {self.order})"


def coefficient(value: float) -> str:
    """A coefficient as a fraction if it is one of at most five digits, else with six digits."""
    fraction = Fraction(value).limit_denominator(99_999)
    return str(fraction) if abs(float(fraction) - value) < 1e-14 * max(1.0, abs(value)) else f"{value:.6g}"


def _numbers(name: str, values: object) -> NDArray[np.float64]:
    try:
        convert = np.vectorize(
            lambda x: float(Fraction(x)) if isinstance(x, str | Fraction) else float(x), otypes=[float]
        )
        out = convert(np.asarray(values, dtype=object))
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise OptionError(f"tableau: {name} is not an array of numbers: {error}") from None
    if not np.isfinite(out).all():
        raise OptionError(f"tableau: {name} holds a number that is not finite")
    return out
