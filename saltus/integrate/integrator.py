"""The Integrator record: name, order, capabilities and step kernel of a time-stepping method."""

from dataclasses import dataclass, field
from types import FunctionType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from saltus.model.layout import data_sizes
from saltus.terminal.display import notebook_html


class Kernel(Protocol):
    """A compiled kernel of `saltus.number.kernels.kernel`; `py_func`: the original function."""

    @property
    def py_func(self) -> FunctionType: ...

    def __call__(self, *arguments: object) -> object: ...


@dataclass(frozen=True)
class Integrator:
    """A numerical integrator: one step from a state to the next.

    `order`: the error at a fixed time is proportional to timestep**order. `kind`: "explicit", "semi-implicit",
    "implicit", "symplectic", "adaptive" or "time-stepping" (over impacts of hard contact). `reference`: its source.
    `leaves`: the forces of the step that are in the Data after it: "" none in particular; "damped" all, except the
    implicit part of joint damping; "implicit" those at the initial velocity, while the step used them implicitly, at
    the final velocity or at the fraction in between given by its first parameter; "middle" none, but
    `saltus.integrate.implicit.energy_momentum.middle` evaluates them again.
    """

    name: str
    order: int
    kind: str
    reference: str
    step: Kernel = field(repr=False, compare=False)  # kernel step(m, d, h, *parameters)
    parameters: tuple[NDArray[np.float64], ...] = field(default=(), repr=False, compare=False)
    needs: dict[str, object] = field(default_factory=dict, repr=False, compare=False)  # arguments of `data_sizes`
    # two kernels for derivatives, see `euler`
    tangent_step: tuple[Kernel, ...] | None = field(default=None, repr=False, compare=False)
    # kernel for all derivatives in closed form, of models of `saltus.simulate.derivatives.closed_form`, see `euler`
    jacobian: Kernel | None = field(default=None, repr=False, compare=False)
    # two kernels for gradients by many parameters, and by state and controls, see `euler`
    adjoints: tuple[Kernel, ...] | None = field(default=None, repr=False, compare=False)
    adaptive: bool = field(default=False, repr=False)
    # kernels take numbers in double precision without tangents, and no events are located in steps
    doubles_only: bool = field(default=False, repr=False, compare=False)
    leaves: str = field(default="", repr=False, compare=False)
    # soft constraints are stable at any step size, so that their time constants need no bound
    authored_laws: bool = field(default=False, repr=False, compare=False)

    _repr_html_ = notebook_html

    @property
    def tableau(self) -> NDArray[np.float64] | None:
        """The Butcher tableau of a Runge-Kutta method [s + 1, s + 1], rows (c_i, a_i) and (0, b); None for others."""
        return self.parameters[0].copy() if "nstage" in self.needs else None

    def law_timestep(self, h: float) -> float | None:
        """The time step (s) that bounds the time constants of soft constraints in steps of h (s); None: the file's."""
        return None if self.adaptive else 0.0 if self.authored_laws else h

    def memory(self, nv: int) -> int:
        """Number of values kept in `memory` between steps, for a model with nv degrees of freedom."""
        fixed, each = self.needs.get("memory", (0, 0))
        return fixed + each * nv

    def data_sizes(self, model_sizes: dict[str, int], *, tangents: bool = False, **room: int) -> dict[str, int]:
        """Sizes of the Data that the integrator needs; `tangents`: of duals; `room`: for a controller."""
        needs = {k: v for k, v in self.needs.items() if k != "memory"}
        return data_sizes(model_sizes, nmemory=self.memory(model_sizes["nv"]), tangents=tangents, **needs, **room)
