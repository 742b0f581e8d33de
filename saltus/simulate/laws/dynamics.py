"""`saltus.Dynamics`: user-defined equations of motion in place of the engine's."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.dynamics.equations import EQUATIONS
from saltus.dynamics.user_laws import register, user_kernel
from saltus.errors import OptionError
from saltus.number.kernels import interpret
from saltus.number.structs import Struct

if TYPE_CHECKING:
    from saltus.model.model import Model

NUDGE = 0.1  # rad, m, ... from the model's start, which may be singular, to where a law is tried


class Dynamics:
    """Two kernels for the equations M(q) dv/dt + bias(q, v) = forces, compiled into the step of every integrator.

    inertia(m, d): writes the whole inertia matrix d.M [nC] (kg, kg m, kg m²), including armature and tendons. Row i of
        the lower triangle has its entries from m.M_rowadr[i] on: those of i's ancestors in the tree in ascending order,
        itself last. For a chain of joints d.M is M11, M21, M22, M31, ...
    bias(m, d): writes d.qfrc_bias [nv] (N, N m): Coriolis, centrifugal and gravitational forces, or their replacement;
        a polynomial of second degree in the velocities.

    M must be positive definite, as for every mechanism: OptionError if it is not near the model's start, and
    DivergenceError if a simulation's steps end where it is not. Steps of a batch are not checked.

    Both may read positions d.qpos [nq], d.userdata and the kernels' Model m, whose fields have MuJoCo's names; `bias`
    also reads velocities d.qvel [nv]. Each number may represent many simulations side by side, or have derivatives: use
    `sincos` of `saltus.number.functions` for sine and cosine, and its `where` for branches on the state. As for
    `saltus.controller`, objects that they refer to by name become part of their code and must not change afterwards.

    Springs, dampers, actuators, applied forces, contacts and limits act as usual; limits and contacts use the given M,
    but take their softness from the model's inertia. Energies, and sensor readings of forces and momenta of bodies, are
    those of the model's bodies in the resulting motion: if the equations describe another mechanism, its energy is not
    reported.

    Pass it to `saltus.Simulation(..., dynamics=...)` or `saltus.Batch`.
    """

    def __init__(self, inertia: Callable[[Struct, Struct], object], bias: Callable[[Struct, Struct], object]):
        self.inertia = user_kernel("Dynamics: inertia", "inertia(m, d)", inertia)
        self.bias = user_kernel("Dynamics: bias", "bias(m, d)", bias)
        self._word = ""

    def __repr__(self) -> str:
        return f"Dynamics({self.inertia.py_func.__name__}, {self.bias.py_func.__name__})"

    @property
    def feature_key(self) -> str:
        """Name that tells the kernels from others among the features of a layout."""
        self._word = register((self.inertia, self.bias), self._word)
        return EQUATIONS + self._word

    def check(self, model: "Model") -> None:
        """Try both kernels on a model, as plain Python; OptionError unless they write exactly the required fields.

        The inertia matrix that they write must be positive definite.
        """
        sizes = model.sizes()
        position = model.qpos0 + NUDGE
        read = {"qpos": _Given("qpos", position), "userdata": _Given("userdata", [0.0] * sizes["nuserdata"])}
        M, force = _Written("M", sizes["nC"]), _Written("qfrc_bias", model.nv)
        _try(self.inertia, model, M, **read)
        _check_positive(self.inertia, model, M)
        _try(self.bias, model, force, qvel=_Given("qvel", [NUDGE] * model.nv), **read)


def _check_positive(law: Any, model: "Model", M: "_Written") -> None:
    """Raise OptionError for an inertia matrix that is not positive definite."""
    if fault := inertia_fault(full_inertia(model.struct(), np.array(M.values))):
        raise OptionError(f"Dynamics: {law.py_func.__name__} on the model {model.name!r}: the inertia matrix {fault}")


def full_inertia(m: Any, M: np.ndarray, places: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """The full inertia matrix [nv, nv] from its entries M [nC] in the kernels' Model m.

    `places`: `inertia_places` of m, found here where they are not given.
    """
    nv = m.nv
    full = np.zeros(nv * nv)
    for place in places or inertia_places(m):
        full[place] = M
    return full.reshape(nv, nv)


def inertia_places(m: Any) -> tuple[np.ndarray, np.ndarray]:
    """Places of the entries M [nC] and of their mirror images in the full matrix [nv nv]."""
    rows, columns = np.repeat(np.arange(m.nv), m.M_rownnz), m.M_colind
    return rows * m.nv + columns, columns * m.nv + rows


def inertia_fault(full: np.ndarray) -> str:
    """Fault of an inertia matrix [nv, nv] that is not positive definite; "" if it is."""
    if not np.isfinite(full).all():
        return "is not finite"
    try:
        np.linalg.cholesky(full)
    except np.linalg.LinAlgError:
        return f"is not positive definite, its smallest eigenvalue is {np.linalg.eigvalsh(full).min():.3g}"
    return ""


def equations_key(dynamics: Any, model: "Model") -> str:
    """Key of a Dynamics that has been tried on a model, "" for None; OptionError for anything else."""
    if dynamics is None:
        return ""
    if not isinstance(dynamics, Dynamics):
        raise OptionError(f"dynamics must be a saltus.Dynamics, got {type(dynamics).__name__}")
    word = dynamics.feature_key
    dynamics.check(model)
    return word


class _Given:
    """A field of Data that a law may read."""

    def __init__(self, name: str, values: Any):
        self.name, self._values = name, [float(x) for x in values]

    def __getitem__(self, k: int) -> float:
        return self._values[_place(self.name, k, len(self._values))]

    def __setitem__(self, k: int, value: float) -> None:
        raise OptionError(f"it writes d.{self.name}")


class _Written(_Given):
    """A field of Data of which a law must write every entry."""

    def __init__(self, name: str, size: int):
        super().__init__(name, [0.0] * size)
        self._missing = set(range(size))

    def __setitem__(self, k: int, value: float) -> None:
        self._values[_place(self.name, k, len(self._values))] = value
        self._missing.discard(k)

    @property
    def values(self) -> list[float]:
        """Values that were written."""
        return self._values

    def require(self) -> None:
        if self._missing:
            raise OptionError(f"it does not write d.{self.name}[{min(self._missing)}] of {len(self._values)}")


class _Fields:
    """The fields of Data that a law may read and write."""

    def __init__(self, fields: dict[str, _Given]):
        vars(self).update(fields)

    def __getattr__(self, name: str) -> Any:
        raise OptionError(f"it reads d.{name}; available are: {', '.join(vars(self))}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise OptionError(f"it assigns to d.{name} as a whole")


def _place(name: str, k: Any, size: int) -> int:
    if not 0 <= k < size:
        raise OptionError(f"it uses d.{name}[{k}], which has {size} entries")
    return k


def _try(law: Any, model: "Model", out: _Written, **read: _Given) -> None:
    """Run a law on the fields that it may use, and check that it writes all of `out`."""
    try:
        interpret(law)(model.struct(), _Fields({**read, out.name: out}))
        out.require()
    except OptionError as error:
        raise OptionError(f"Dynamics: {law.py_func.__name__} does not fit the model {model.name!r}: {error}") from None
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        raise OptionError(f"Dynamics: {law.py_func.__name__} on the model {model.name!r}: {error}") from error
