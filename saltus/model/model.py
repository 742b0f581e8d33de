"""The Model: the constant description of a mechanism."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, Self

import mujoco
import numpy as np
from mujoco import MjModel
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import text_of
from saltus.errors import OptionError, UnknownAttribute, UnknownName, proposal
from saltus.model import features
from saltus.model.compile.cameras_rays import sight
from saltus.model.compile.constraints.broad import check_listable, is_broad
from saltus.model.compile.constraints.cams import cam_curves
from saltus.model.compile.drives.capstans import capstan_friction
from saltus.model.compile.drives.drive_losses import check_losses
from saltus.model.compile.hill import HillMuscle, count_states, find_muscles
from saltus.model.compile.kernel_model import NO_LAWS, UserLaws, kernel_model, why_all_pairs, with_laws
from saltus.model.compile.sensors import sensors
from saltus.model.contact.static_friction import static_friction_of
from saltus.model.enums import BALL, FREE
from saltus.model.field_overrides import can_change, changed, value_of
from saltus.model.layout import model_layout
from saltus.model.model_fields import ModelFields
from saltus.model.semantics.releases import declared, name_of
from saltus.model.tree.singular_inertia import check_inertia, may_be_singular
from saltus.model.tree.sleeping import is_flagged
from saltus.model.written import Copies
from saltus.number.structs import Struct
from saltus.offered import offered
from saltus.read_only import ReadOnly
from saltus.terminal.display import count, notebook_html
from saltus.terminal.inline_page import Page

# data fields of MuJoCo's model, without its methods
_FIELDS = [name for name, value in vars(mujoco.MjModel).items() if isinstance(value, property) and name[0] != "_"]
INTEGRATORS = {0: "euler", 1: "RK4", 2: "implicit", 3: "implicitfast", 4: "discrete"}


COUNTS = {"joint": "njnt", "equality": "neq", "camera": "ncam", "material": "nmat", "texture": "ntex"}
_OBJECTS = [name.removeprefix("mjOBJ_").lower() for name in mujoco.mjtObj.__members__]
KINDS = {name: COUNTS.get(name, f"n{name}") for name in _OBJECTS}  # kinds of named objects, and their size fields
KINDS = {name: size for name, size in KINDS.items() if isinstance(getattr(mujoco.MjModel, size, None), property)}


def constant(field: str) -> str:
    """Text of the error for a value that is assigned to a field of a Model."""
    key = field if field.startswith("opt.") else f"{field}[name]"
    way = (
        f"`model.changed({{'{key}': value}})` is one with other values" if can_change(field) else "load a changed file"
    )
    return f"{field} is read-only: a Model is constant; {way}"


def read_only(field: str, values: np.ndarray) -> ReadOnly:
    """A copy of the values of a field that cannot be written to."""
    return ReadOnly.of(values.copy(), constant(field))


class Options(SimpleNamespace):
    """Values of <option> by MuJoCo's names: timestep (s), gravity (m/s²), integrator (a name), flags and others."""

    timestep: float
    """Length of a step (s)."""
    integrator: str
    """The integrator's name."""
    gravity: NDArray[np.float64]
    """[3] gravity (m/s²), world axes."""
    wind: NDArray[np.float64]
    """[3] velocity of the medium (m/s), world axes."""
    magnetic: NDArray[np.float64]
    """[3] magnetic flux, world axes."""
    density: float
    """Density of the medium (kg/m³)."""
    viscosity: float
    """Viscosity of the medium (Pa s)."""
    impratio: float
    """Impedance of friction over that of the normal."""
    tolerance: float
    """Tolerance of the constraint solver."""
    iterations: int
    """Most iterations of the constraint solver."""

    def __setattr__(self, name: str, value: Any) -> None:
        key = f"opt.{name}"
        raise UnknownAttribute(
            constant(key) if name in vars(self) else f"Model has no {key}{proposal(name, vars(self))}"
        )


class Model(ModelFields):
    """An immutable mechanism. Fields have MuJoCo's names, `nq`, `body_mass`, `jnt_axis`, ..., and are read-only.

    `opt`: the options. `ignored`: the features that the user has chosen to leave out. `xml`: the model as MJCF text
    (None if the source was an MjModel). `semantics`: MuJoCo's release whose meaning it has (see `load`). `mj_model`:
    the compiled MuJoCo model itself, which must not be written to (`mujoco` gives copies). `initial_key`: the keyframe
    that simulations start from (None: qpos0 at rest). `muscles`: the muscle laws that replace those of actuators.
    `changes`: the values that differ from `xml` (see `changed`). Models are made by `saltus.load`.
    """

    def __init__(
        self,
        mj_model: mujoco.MjModel,
        *,
        name: str,
        xml: str | None = None,
        ignored: list[str] | None = None,
        initial_key: int | None = None,
        muscles: Mapping[str, HillMuscle] | None = None,
        changes: Mapping[str, ArrayLike] | None = None,
    ):
        self.mj_model = mj_model
        # declarations in <custom>; a ModelError for what is none
        check_losses(mj_model)
        cam_curves(mj_model)
        capstan_friction(mj_model)
        static_friction_of(mj_model)
        self._muscles = find_muscles(mj_model, muscles or {})
        self.muscles = MappingProxyType(dict(muscles or {}))
        self.changes = MappingProxyType(dict(changes or {}))
        self._structs: dict[tuple[str, float, frozenset[str], bool, bool], Struct] = {}
        self._finds_pairs: bool | None = None
        self._may_be_singular: bool | None = None
        self._sensing: dict[Any, Struct] = {}
        self._copies = Copies(mj_model)
        self.name, self.xml, self.ignored = name, xml, tuple(ignored or ())
        self.semantics, self.initial_key = name_of(declared(mj_model)), initial_key
        self.opt = _options(mj_model)

    def __getattr__(self, field: str) -> Any:
        if field.startswith("_"):
            raise AttributeError(field)
        try:
            value = getattr(self.mj_model, field)
        except AttributeError:
            raise AttributeError(f"Model has no field {field!r}") from None
        if isinstance(value, np.ndarray):
            value = read_only(field, value)
        self.__dict__[field] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_FIELDS})

    def __setattr__(self, field: str, value: Any) -> None:
        if "opt" in self.__dict__:
            known = hasattr(self, field)
            raise UnknownAttribute(
                constant(field) if known else f"Model has no field {field!r}{proposal(field, dir(self))}"
            )
        super().__setattr__(field, value)

    def __repr__(self) -> str:
        m = self.mj_model
        left = f", ignoring {count(len(self.ignored), 'feature')}" if self.ignored else ""
        parts = f"{count(m.nbody - 1, 'body')}, {count(m.njnt, 'joint')}, nq {m.nq}, nv {m.nv}, nu {m.nu}"
        return f"Model({self.name!r}: {parts}{left})"

    _repr_html_ = notebook_html

    def page(self, path: str | os.PathLike[str] | None = None, *, height: int = 520, **options: object) -> Page:
        """Return a page that simulates this model in the reader's browser, without a server; notebooks show it inline.

        `path`: HTML file to write as well. `height`: of the frame in a notebook, pixels. `options`: those of
        `saltus.page` (integrator, contact, timestep, key, speed, playing, integrators, contacts, ...).

        Raises:
            ModelError, OptionError: pages do not support this model, or an option is invalid.
            RecordError: the file cannot be written.
        """
        return offered("make_page")(self, path, height, options)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # as it cannot change, copies of what holds it share it, with what has been made of it for kernels

    def __reduce__(self):
        laws, changes = dict(self.muscles), dict(self.changes)
        return _rebuild, (self.mj_model, self.name, self.xml, list(self.ignored), self.initial_key, laws, changes)

    @property
    def na(self) -> int:
        """Number of actuator states: MuJoCo's, then the additional ones of muscles."""
        return self.mj_model.na + count_states(self.mj_model, self._muscles)

    @property
    def mujoco(self) -> mujoco.MjModel:
        """A copy of the compiled MuJoCo model, a new one each time: writing to it does not change this Model.

        `saltus.load` of the copy gives a Model with the written values; to change a few values see `changed`. If a copy
        was written to but not loaded, a simulation of this model gives a SaltusWarning that names the field.
        """
        self._copies.look()
        return self._copies.made()

    def warn_of_writes(self) -> None:
        """Warn of values that were written into copies from `mujoco` without effect."""
        self._copies.look()
        self._copies.warn(self)

    def changed(self, values: Mapping[str, ArrayLike]) -> Model:
        """A copy with other values, {"body_mass[bob]": 3.0, "opt.gravity[2]": -1.62}; see `field_overrides`.

        The copy's `changes` are all changes since the file was loaded.

        Raises:
            OptionError: there is no such field or element, or the value is not allowed.
            ModelError: with these values the model has an unsupported feature, a value is too large, or the inertia
                matrix is singular.
        """
        m = changed(self.mj_model, values, self._labels())
        return self.with_values_of(m, {key: np.asarray(value, float).tolist() for key, value in values.items()})

    def with_values_of(self, m: MjModel, changes: Mapping[str, ArrayLike]) -> Model:
        """Copy of this model with the values of another MjModel of the same structure, recorded as `changes`."""
        check_inertia(m)
        return type(self)(
            m,
            name=self.name,
            xml=self.xml,
            ignored=features.check(m, self.left_out),
            initial_key=self.initial_key,
            muscles=self.muscles,
            changes={**self.changes, **changes},
        )

    def value(self, key: str) -> float | NDArray[np.float64]:
        """The current value for a key of `changed`: a float, or an array for several numbers."""
        return value_of(self.mj_model, key, self._labels())

    def _labels(self) -> dict[str, list[str]]:
        return {"dof": self.dof_names(), "qpos": self.qpos_names()}

    def names(self, kind: str) -> list[str]:
        """Names of all objects of a kind ("joint", "body", "actuator", ...), "#i" for unnamed ones."""
        if text_of("kind", kind) not in KINDS:
            raise OptionError.unknown("kind of object", kind, KINDS)
        return [features.name_of(self.mj_model, kind.upper(), i) for i in range(getattr(self.mj_model, KINDS[kind]))]

    def id(self, kind: str, name: str) -> int:
        """Index of the object of a kind with a name; otherwise an OptionError, also a KeyError, lists the names."""
        names = self.names(kind)
        if not isinstance(name, str) or name not in names:
            there = f"there are: {', '.join(names)}" if names else "the model has none"
            raise UnknownName(f"no {kind} {name!r}; {there}")
        return names.index(name)

    def qpos_names(self) -> list[str]:
        """One label for each element of qpos: the joint's name, with .x .y .z .qw .qx .qy .qz where it has several."""
        return self._coordinate_names(("x", "y", "z", "qw", "qx", "qy", "qz"), ("qw", "qx", "qy", "qz"))

    def dof_names(self) -> list[str]:
        """One label for each degree of freedom: the joint's name, with .vx ... .wz where it has several."""
        return self._coordinate_names(("vx", "vy", "vz", "wx", "wy", "wz"), ("wx", "wy", "wz"))

    def _coordinate_names(self, free, ball):
        labels = []
        for name, kind in zip(self.names("joint"), self.mj_model.jnt_type, strict=True):
            parts = free if kind == FREE else ball if kind == BALL else ()
            labels += [f"{name}.{p}" for p in parts] or [name]
        return labels

    def coordinate_units(self) -> tuple[list[str], list[str]]:
        """SI units of qpos and of qvel."""
        qpos: list[str] = []
        qvel: list[str] = []
        for kind in self.mj_model.jnt_type:
            qpos += (["m"] * 3 + [""] * 4, [""] * 4, ["m"], ["rad"])[kind]
            qvel += (["m/s"] * 3 + ["rad/s"] * 3, ["rad/s"] * 3, ["m/s"], ["rad/s"])[kind]
        return qpos, qvel

    def sizes(self) -> dict[str, int]:
        """Sizes in the shapes of fields. Unlike MuJoCo's, nC counts all ancestors, also of simple bodies."""
        return dict(self.struct().sizes)

    def struct(
        self,
        kind: str = "float64",
        timestep: float | None = None,
        laws: UserLaws = NO_LAWS,
        vary: frozenset[str] = frozenset(),
        listed: str = "",
    ) -> Struct:
        """The model in the kernels' form, with numbers of a kind: "float64", "float32" or "dual".

        `timestep` (s): of the simulation, which bounds the time constants of soft constraints; None: the file's.
        `laws`: kernels provided by the user, such as a controller in the time loop. `vary`: fields that will differ
        from lane to lane, or by which duals will have tangents (see `saltus.model.vary`). `listed`: the reason why a
        list of all pairs of geoms that may touch is needed; without one, models with many pairs find those near each
        other at run time (see `saltus.model.compile.constraints.broad`).

        Raises:
            ModelError: there are too many pairs for a list.
        """
        listed = listed or why_all_pairs(laws, vary)
        asleep = NO_LAWS._replace(sleeps=laws.sleeps)
        if laws != asleep:
            return with_laws(self.struct(kind, timestep, asleep, vary, listed), laws)
        pairs = bool(listed) or not (self.finds_pairs or laws.sleeps)
        key = kind, float(self.opt.timestep if timestep is None else timestep), vary, pairs, laws.sleeps
        if key not in self._structs:
            if pairs:
                check_listable(self.mj_model, self.left_out, listed)
            m, muscles = self.mj_model, self._muscles
            self._structs[key] = kernel_model(
                m, key[1], self.left_out, muscles, kind, vary, listed=pairs, sleeps=laws.sleeps
            )
        return self._structs[key]

    @property
    def finds_pairs(self) -> bool:
        """Whether so many geoms may touch that pairs are found at run time instead of listed."""
        if self._finds_pairs is None:
            object.__setattr__(self, "_finds_pairs", is_broad(self.mj_model, self.left_out))
        return bool(self._finds_pairs)

    @property
    def inertia_may_be_singular(self) -> bool:
        """Whether the inertia matrix may be singular at some positions, as where hinges come to lie on one axis."""
        if self._may_be_singular is None:
            object.__setattr__(self, "_may_be_singular", may_be_singular(self.mj_model))
        return bool(self._may_be_singular)

    def sensing_struct(
        self,
        kind: str = "float64",
        timestep: float | None = None,
        laws: UserLaws = NO_LAWS,
        words: frozenset[str] | None = None,
        listed: str = "",
    ) -> Struct:
        """`struct` with the additional features that reading sensors needs, or with the feature keys `words`."""
        key = kind, timestep, laws, words, bool(listed)
        if key not in self._sensing:
            struct = copy.copy(self.struct(kind, timestep, laws, listed=listed))
            if words is None:
                words = frozenset(sensors(self.mj_model, self.left_out).features | sight(self.mj_model).features)
            struct.layout = model_layout(struct.layout.features | words)
            self._sensing[key] = struct
        return self._sensing[key]

    @property
    def may_sleep(self) -> bool:
        """Whether trees may fall asleep: the file's flag `sleep`, unless it is left out."""
        return is_flagged(self.mj_model, self.left_out)

    @property
    def left_out(self) -> frozenset[str]:
        """Kinds of features that the user has chosen to leave out."""
        return frozenset(entry.split(":")[0] for entry in self.ignored)


def _rebuild(mj_model, name, xml, ignored, initial_key, muscles, changes):
    laws = dict(muscles=muscles, changes=changes)
    return Model(mj_model, name=name, xml=xml, ignored=ignored, initial_key=initial_key, **laws)


def _options(m: mujoco.MjModel) -> Options:
    values = {}
    for name in dir(m.opt):
        value = getattr(m.opt, name) if not name.startswith("_") else None
        if isinstance(value, np.ndarray):
            value = read_only(f"opt.{name}", value)
        if isinstance(value, int | float | np.ndarray):
            values[name] = value
    values["integrator"] = INTEGRATORS[int(m.opt.integrator)]
    return Options(**values)
