"""What an integrator is: a name, what it promises, and the kernel that takes a step."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saltus.model.layout import data_sizes
from saltus.terminal.display import facts_html


@dataclass(frozen=True)
class Integrator:
    """A way from one state to the next.

    `order`: the error at a fixed time shrinks like timestep**order. `kind`: "explicit", "semi-implicit", "implicit",
    "symplectic", "adaptive" or "time-stepping" (over impacts of hard contact). `reference`: where it comes from.
    `leaves`: what it says of the forces that have made v' of v: "" nothing; "damped" they are in the Data, but what it
    took of joint dampers with the inertia; "implicit" those at v are, which it took implicitly: at v', or at that part
    of the way there which its first parameter says; "middle" they are found again by
    `saltus.integrate.implicit.energy_momentum.middle`.
    """

    name: str
    order: int
    kind: str
    reference: str
    step: Any = field(repr=False, compare=False)  # kernel step(m, d, h, *parameters)
    parameters: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    needs: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # for `data_sizes`
    tangent_step: Any = field(default=None, repr=False, compare=False)  # two kernels for derivatives, see `euler`
    adaptive: bool = field(default=False, repr=False)
    leaves: str = field(default="", repr=False, compare=False)
    # its steps bring soft constraints to rest whatever their time constants are
    authored_laws: bool = field(default=False, repr=False, compare=False)

    def _repr_html_(self) -> str:
        facts = {"order": str(self.order), "kind": self.kind, "after": self.reference}
        return facts_html(f"Integrator {self.name}", facts)

    def law_timestep(self, h: float) -> float | None:
        """What bounds the time constants of soft constraints in steps of h seconds; None: the file's step."""
        return None if self.adaptive else 0.0 if self.authored_laws else h

    def memory(self, nv: int) -> int:
        """How many numbers it remembers between steps, for a model with nv degrees of freedom."""
        fixed, each = self.needs.get("memory", (0, 0))
        return fixed + each * nv

    def data_sizes(self, model_sizes: dict[str, int], *, tangents: bool = False, **room: Any) -> dict[str, int]:
        """Sizes of the Data that it works on; `tangents`: one of duals; `room`: for a controller."""
        needs = {k: v for k, v in self.needs.items() if k != "memory"}
        return data_sizes(model_sizes, nmemory=self.memory(model_sizes["nv"]), tangents=tangents, **needs, **room)
