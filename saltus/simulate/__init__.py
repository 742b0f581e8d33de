"""Running models: `saltus.simulate(model, t0, tf, sampling_period, q0, v0)`, and the modules behind it.

The package can be called, with the arguments of `saltus.simulate.function.simulate`. `saltus.Simulation` gives control
of the state between steps.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory


class _Callable(ModuleType):
    """A module that is also the function of its name."""

    @property
    def __signature__(self) -> inspect.Signature:
        """Return the signature with every option, for `inspect` and for editors."""
        from saltus.simulate.function import simulate

        return inspect.signature(simulate)

    def __call__(
        self,
        model: Any,
        t0: float,
        tf: float,
        sampling_period: float,
        q0: ArrayLike,
        v0: ArrayLike,
        **options: Any,
    ) -> Trajectory:
        """Simulate a model from t0 to tf (s) from positions q0 [nq] and velocities v0 [nv], with hard contact.

        Options, errors and what comes back: see `saltus.simulate.function.simulate`.
        """
        from saltus.simulate.function import simulate

        return simulate(model, t0, tf, sampling_period, q0, v0, **options)


sys.modules[__name__].__class__ = _Callable
