"""Attributes of a simulation: its state and inputs, which users assign to, and options, which cannot be changed.

The class that uses them must have an `engine`, and a `_turn` for `in_turn`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import put
from saltus.errors import OptionError, UnknownAttribute, proposal
from saltus.model.model import constant
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.threads.turn import Turn, in_turn
from saltus.simulate.stepping import refuse_in_control

Number = TypeVar("Number", bound=np.generic)


class ArrayProperty(property, Generic[Number]):
    """Attribute that returns an array of a type of number, and accepts anything that NumPy can convert to one.

    A class of its own, because type checkers would take a property made by a function for `Any`.
    """

    def __init__(self, fget: Callable[[Any], Any], fset: Callable[[Any, Any], None], doc: str):
        super().__init__(fget, fset, doc=doc)
        self.__doc__ = doc  # otherwise help would show the docstring of this class

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type, /) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type | None = None, /) -> NDArray[Number]: ...
        def __get__(self, instance: object, owner: type | None = None, /) -> Self | NDArray[Number]: ...

        def __set__(self, instance: object, value: ArrayLike, /) -> None: ...


def state_property(name: str, unit: str) -> ArrayProperty[np.float64]:
    """A field of the state or the inputs as an attribute: reading gives a view, assigning writes into it."""

    def read(self: Any) -> NDArray[np.float64]:
        return self.engine.d.views[name]

    @in_turn
    def write(self: Any, value: ArrayLike) -> None:
        put(name, self.engine.d.views[name], value)

    return ArrayProperty(read, write, doc=f"{name} {unit}: a view to read and write.")


def mocap_velocities() -> ArrayProperty[np.float64]:
    """The velocities of mocap bodies as an attribute; OptionError under soft contact, which does not have them."""

    def found(self: Any) -> NDArray[np.float64]:
        if self.engine.model.nmocap and not self.engine.guidance.has_movers:
            what = "soft contact takes mocap bodies for bodies at rest, as MuJoCo does; use hard contact"
            raise OptionError(f"mocap_vel: {what}")
        return self.engine.d.views["mocap_vel"]

    @in_turn
    def write(self: Any, value: ArrayLike) -> None:
        put("mocap_vel", found(self), value)

    return ArrayProperty(found, write, doc="mocap_vel [nmocap, 6] (m/s, rad/s): a view to read and write.")


def made_with(name: str, option: str, about: str) -> Any:
    """Read-only attribute for an option of the constructor; assigning to it raises an OptionError."""

    def write(self: Any, value: Any) -> None:
        raise OptionError(f"{name} cannot be changed; make another simulation: saltus.Simulation({option})")

    return property(lambda self: getattr(self.engine, name), write, doc=about)


class KnownAttributes:
    """An object whose attributes are known: assigning to another name is an error that names the right way.

    `__init__` ends with `_made()`. Attributes that subclasses of users add, and those that begin with "_", are free;
    those in `_chosen` are set by the constructor alone.
    """

    _made_attributes: frozenset[str] = frozenset()
    _chosen: frozenset[str] = frozenset()

    def _made(self) -> None:
        """Note the attributes that there are; from now on there are no others."""
        self._made_attributes = frozenset({*vars(self), "_made_attributes"})

    def _own_attributes(self) -> dict[str, Any]:
        """Attributes that a subclass has added."""
        return {name: value for name, value in vars(self).items() if name not in self._made_attributes}

    def __setattr__(self, name: str, value: Any) -> None:
        if self._made_attributes and not self._can_be_set(name):
            what, why = type(self).__name__, self._why_not(name)
            if not why and (name in self._chosen or hasattr(type(self), name)):
                why = f"{name} of a {what} cannot be assigned: it is chosen when the {what} is made, or computed"
            if not why and type(self).__module__.partition(".")[0] == "saltus":
                why = f"{what} has no attribute {name!r}{proposal(name, [x for x in dir(self) if x[0] != '_'])}"
            if why:
                raise UnknownAttribute(why)
        object.__setattr__(self, name, value)

    def _can_be_set(self, name: str) -> bool:
        """Whether a name is one that users may assign to."""
        own = getattr(type(self), name, None)
        if isinstance(own, property):
            return own.fset is not None
        return name[0] == "_" or (
            name not in self._chosen and (hasattr(type(self), name) or name in self._made_attributes)
        )

    def _why_not(self, name: str) -> str:
        """Text of the error for a name of something else; "" for a name of nothing."""
        raise NotImplementedError


def belongs_elsewhere(name: str, model: Any, computed: Collection[str], reading: str) -> str:
    """Text of the error for assigning to a field of the model, or to one that is computed; "" for other names.

    `reading`: how a computed field is read, with {name}.
    """
    if name in computed:
        return f"{name} is computed from the state and cannot be assigned; {reading.format(name=name)} reads it"
    for field in (f"opt.{name}", name):
        if isinstance(getattr(model.opt if "." in field else model, name, None), int | float | np.ndarray):
            return constant(field)
    return ""


class StateAttributes(KnownAttributes):
    """Time, state and inputs of the simulation that an engine holds."""

    engine: Engine
    _turn: Turn

    @property
    def time(self) -> float:
        """Time in s."""
        return self.engine.time

    @time.setter
    @in_turn
    def time(self, value: float) -> None:
        refuse_in_control(self.engine, "time")
        put("time", self.engine.d.views["time"], value)

    qpos = state_property("qpos", "[nq] (rad, m, quaternion parts)")
    """Positions [nq] (rad, m, quaternion parts): a view to read and write."""
    qvel = state_property("qvel", "[nv] (rad/s, m/s)")
    """Velocities [nv] (rad/s, m/s; of free and ball joints in body axes): a view to read and write."""
    ctrl = state_property("ctrl", "[nu] (actuator's unit)")
    """Controls [nu] (each in its actuator's unit): a view to read and write."""
    qfrc_applied = state_property("qfrc_applied", "[nv] (N m, N)")
    """Forces along the coordinates [nv] (N m, N): a view to read and write."""
    xfrc_applied = state_property("xfrc_applied", "[nbody, 6] (force N, torque N m; world axes, at the centre of mass)")
    """Forces (N) at the centres of mass and torques (N m) [nbody, 6], world axes: a view to read and write."""

    mocap_pos = state_property("mocap_pos", "[nmocap, 3] (m)")
    """Positions of mocap bodies [nmocap, 3] (m): a view to read and write."""
    mocap_quat = state_property("mocap_quat", "[nmocap, 4] (quaternions)")
    """Orientations of mocap bodies [nmocap, 4] (quaternions w, x, y, z): a view to read and write."""
    mocap_vel = mocap_velocities()
    """Velocities of mocap bodies under hard contact [nmocap, 6] (m/s of the origin, rad/s; world axes): a view.

    Reading gives the velocities with which bodies move to their poses. Assigned velocities are kept.
    """
    eq_active = state_property("eq_active", "[neq] (1: active, 0: not)")
    """Equality constraints that act [neq], 1 or 0: a view to read and write; a weld with 0 has let go."""
    userdata = state_property("userdata", "[nuserdata] (for controllers and other laws)")
    """User data [nuserdata] for controllers and other laws: a view to read and write."""

    actuation_state = state_property("actuation_state", "[n] (discrete, changed by events)")
    """Discrete states of actuation [n], changed by events: a view to read and write."""

    @property
    def act(self) -> NDArray[np.float64]:
        """States of actuators [na], then those of a controller: a view to read and write."""
        return self.engine.act

    @act.setter
    @in_turn
    def act(self, value: ArrayLike) -> None:
        put("act", self.act, value)
