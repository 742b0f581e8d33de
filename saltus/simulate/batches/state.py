"""Access of users to a batch: state, inputs, computed quantities, contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import several, whole_number
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.read_only import WriteThrough
from saltus.simulate.attributes import ArrayProperty, KnownAttributes
from saltus.simulate.batches.arrays import SupportsDLPack, WritableArray
from saltus.simulate.batches.contacts import BatchContacts, contacts
from saltus.simulate.batches.fields import check_name
from saltus.simulate.batches.reading import Reader
from saltus.simulate.batches.singly import contacts_singly
from saltus.simulate.batches.views import Views
from saltus.simulate.batches.writing import write
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.batch.one_by_one import OneByOne
from saltus.simulate.engine.batch.states import BatchStates
from saltus.simulate.engine.threads.turn import Turn, in_turn

#: Selection of simulations of a batch: their numbers, or a mask [n]; None: all.
Ids: TypeAlias = int | Sequence[int] | NDArray[np.integer | np.bool_] | None


def _field(name: str, unit: str) -> ArrayProperty[np.floating]:
    """Attribute for a field of all simulations: reading copies it out, assigning to it or to a part sets it."""

    def read(self: BatchState) -> NDArray[np.floating]:
        return WriteThrough.copy_of(lambda: self.read(name), lambda values: self.write(name, values))

    def write(self: BatchState, values: ArrayLike | SupportsDLPack) -> None:
        self.write(name, values)

    return ArrayProperty(
        read, write, doc=f"{name} of all simulations {unit}: a copy to read; assigning to it or to a part sets it."
    )


class BatchState(KnownAttributes):
    """State, inputs and computed quantities of the simulations that `lanes` hold."""

    n: int
    lanes: BatchStates
    _turn: Turn
    _reader: Reader
    _views: Views

    def _notice(self) -> None:
        """Apply values that were written into views, before anything is computed."""
        self._views.notice()

    @overload
    def read(self, name: str, out: WritableArray | None = None) -> NDArray[np.floating]: ...
    @overload
    def read(
        self, name: tuple[str, ...] | list[str], out: Sequence[WritableArray | None] | None = None
    ) -> tuple[NDArray[np.floating], ...]: ...
    @in_turn
    def read(
        self,
        name: str | tuple[str, ...] | list[str],
        out: WritableArray | Sequence[WritableArray | None] | None = None,
    ) -> NDArray[np.floating] | tuple[NDArray[np.floating], ...]:
        """A field of all simulations [n, ...], or several at once: fields of `Simulation.data`, and `sensordata`.

        Quantities are those of the present states, in MuJoCo's shapes (`xmat` [n, nbody, 9]); only what a field needs
        is computed, and once for all fields of a call. With several names the result is a tuple in their order.

        `out`: arrays to write into, one for each name: float64 or float32, with any strides, of NumPy or of any object
        that shares its memory by DLPack or the buffer protocol, such as a PyTorch tensor on the CPU. New arrays have
        the batch's precision; times are always float64.
        """
        names = [name] if isinstance(name, str) else several("name", name)
        for each in names:
            check_name(each)
        outs: list[Any] = [None] * len(names)
        if out is not None:
            outs = [out] if isinstance(name, str) else several("out", out)
        if len(outs) != len(names):
            raise OptionError(f"out must hold an array, or None, for each of {len(names)} names, not {len(outs)}")
        self._notice()
        found = self._reader.read(names, outs)
        return found[0] if isinstance(name, str) else tuple(found)

    @in_turn
    def write(self, name: str, values: ArrayLike | SupportsDLPack, ids: Ids = None) -> None:
        """Set a field of the state or the inputs, of all simulations or of those with the given ids or mask.

        `values`: [n, ...], with ids [len(ids), ...], or one row for all; arrays and tensors on the CPU (DLPack) of
        float64 or float32 are read without a copy.
        """
        self._views.notice()
        write(self.lanes, name, values, None if ids is None else indices("write", ids, self.n))
        self._views.keep()

    @in_turn
    def sensor(self, name: str, out: WritableArray | None = None) -> NDArray[np.floating]:
        """Readings [n, dim] of a sensor at the present states; SI units, no noise. `out` as in `read`."""
        self._notice()
        return self._reader.sensor(name, out)

    @in_turn
    def view(self, name: str) -> NDArray[np.floating]:
        """A field of the state or the inputs where it lies in memory, without a copy: [groups, width, ...].

        Simulation i is at [i // width, i % width], width being the number of lanes of a register; places beyond n
        are spare. The view is live: steps change it, and values written into it count from the next call on, as with
        `write`. Libraries that support strides take it by DLPack without a copy, for example `torch.from_dlpack`.
        """
        return self._views.of(name)

    @in_turn
    def contacts(self) -> BatchContacts:
        """The contacts of all simulations at their present states, with forces: a `BatchContacts`."""
        self._notice()
        if isinstance(self.lanes, OneByOne):
            return contacts_singly(self.lanes)
        assert isinstance(self.lanes, Lanes)
        return contacts(self.lanes)

    @in_turn
    def contact_force(
        self,
        on: int | str | Sequence[int | str],
        by: int | str | Sequence[int | str] | None = None,
        *,
        kind: Literal["geom", "body"] = "geom",
    ) -> NDArray[np.floating]:
        """The sum of contact forces on a geom, or on all geoms of a body, in each simulation [n, 3] (N, world axes).

        `on`, `by`: names or numbers of geoms, or with kind="body" of bodies, one or several together; forces are those
        from `by`, or from all that touch. Contacts with deformable bodies are in `contacts` only.
        """
        if not isinstance(kind, str) or kind not in ("geom", "body"):
            raise OptionError.unknown("kind", kind, ("geom", "body"))
        owner = np.arange(self.lanes.model.ngeom) if kind == "geom" else self.lanes.model.geom_bodyid
        geoms = np.isin(owner, _numbers(self.lanes.model, kind, on))
        others = np.ones(len(owner), bool) if by is None else np.isin(owner, _numbers(self.lanes.model, kind, by))
        return self.contacts().force_on(geoms, others)

    time = _field("time", "[n] (s)")
    """Times [n] (s)."""
    qpos = _field("qpos", "[n, nq] (rad, m, quaternion parts)")
    """Positions [n, nq] (rad, m, quaternion parts)."""
    qvel = _field("qvel", "[n, nv] (rad/s, m/s)")
    """Velocities [n, nv] (rad/s, m/s; of free and ball joints in body axes)."""
    act = _field("act", "[n, na and the controller's states]")
    """States of actuators, then those of the controller [n, na + states]."""
    ctrl = _field("ctrl", "[n, nu] (actuator's unit)")
    """Controls [n, nu] (each in its actuator's unit)."""
    mocap_pos = _field("mocap_pos", "[n, nmocap, 3] (m)")
    """Positions of mocap bodies [n, nmocap, 3] (m)."""
    mocap_quat = _field("mocap_quat", "[n, nmocap, 4] (quaternions)")
    """Orientations of mocap bodies [n, nmocap, 4] (quaternions w, x, y, z)."""
    mocap_vel = _field("mocap_vel", "[n, nmocap, 6] (m/s, rad/s)")
    """Velocities of mocap bodies under hard contact [n, nmocap, 6] (m/s of the origins, rad/s; world axes)."""
    eq_active = _field("eq_active", "[n, neq] (1: active, 0: not)")
    """Equality constraints that act [n, neq], 1 or 0."""
    userdata = _field("userdata", "[n, nuserdata] (for controllers)")
    """User data [n, nuserdata] for controllers."""
    control_prm = _field("control_prm", "[n, p] (as the controller reads them)")
    """Parameters of the controller [n, p], in the order that its law reads."""
    qfrc_applied = _field("qfrc_applied", "[n, nv] (N m, N)")
    """Forces along the coordinates [n, nv] (N m, N)."""
    actuation_state = _field("actuation_state", "[n, discrete states] (as events change them)")
    """Discrete states of actuation [n, discrete states], changed by events."""
    xfrc_applied = _field("xfrc_applied", "[n, nbody, 6] (force N, torque N m)")
    """Forces (N) at the centres of mass and torques (N m) [n, nbody, 6], world axes."""

    @property
    @in_turn
    def sensordata(self) -> NDArray[np.floating]:
        """Readings of all sensors of all simulations [n, nsensordata] at their present states; SI units, no noise."""
        return self.read("sensordata")


def _numbers(model: Model, kind: str, things: int | str | Sequence[int | str]) -> list[int]:
    """Numbers of geoms or bodies, from names or numbers."""
    found = []
    for thing in [things] if isinstance(things, str | int | np.integer) else several(f"each {kind}", things):
        k = model.id(kind, thing) if isinstance(thing, str) else whole_number(f"the number of a {kind}", thing)
        if k >= len(model.names(kind)):
            raise OptionError(f"no {kind} {k}; the model has {len(model.names(kind))}")
        found.append(k)
    return found


def simulation_index(what: str, i: Any, n: int) -> int:
    """The number of one simulation."""
    i = whole_number(f"{what}: the number of a simulation", i)
    if i >= n:
        raise OptionError(f"{what}: there is no simulation {i}; the batch has {n}, from 0")
    return i


def indices(what: str, ids: Ids, n: int) -> NDArray[np.int64]:
    """Numbers of simulations, from ids or a mask; all if `ids` is None."""
    if ids is None:
        return np.arange(n)
    given = np.atleast_1d(np.asarray(ids))
    if given.dtype == bool:
        if given.shape != (n,):
            raise OptionError(f"{what}: the mask has shape {given.shape}, expected ({n},)")
        return np.flatnonzero(given)
    if given.size and not (np.issubdtype(given.dtype, np.integer) and given.min() >= 0 and given.max() < n):
        raise OptionError(f"{what}: ids must be whole numbers from 0 to {n - 1}")
    return given.astype(np.int64)
