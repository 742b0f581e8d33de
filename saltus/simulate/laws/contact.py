"""Contact laws: `Soft`, `Hard` and `Compliant`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from saltus.arguments import mapping, text_of
from saltus.contact.rows.user_compliance import GIVEN
from saltus.dynamics.user_laws import register, user_kernel
from saltus.errors import OptionError, warn
from saltus.model.compile.constraints.hard import OPTIONS, HardLaw
from saltus.model.contact.static_friction import static_friction_of
from saltus.model.event_enums import DENSE_WAYS, OVERLAP_WAYS
from saltus.model.fields.constraint.impact import IMPACT_LAWS, TREATMENTS
from saltus.number.structs import Struct
from saltus.simulate.laws.coefficients import (
    OF_EACH,
    TANGENTIAL,
    Coefficient,
    Coefficients,
    coefficient_of,
    column,
    entry_of,
    number_of,
    pair_values,
)
from saltus.simulate.laws.control import NOT_IN_STEPS, READS, check_reads
from saltus.simulate.laws.hard_contact import check_hard_contact, check_static_friction, check_turning_friction
from saltus.terminal.display import notebook_html

if TYPE_CHECKING:
    from saltus.integrate.integrator import Integrator
    from saltus.model.model import Model
    from saltus.simulate.laws.events import UserEvents


@dataclass(frozen=True)
class Soft:
    """MuJoCo's soft law, with the parameters that the model holds: `contact="soft"`.

    `saltus.contact_law` explains the parameters.
    """

    name = "soft"

    _repr_html_ = notebook_html


@dataclass(frozen=True)
class Hard:
    """Contact without interpenetration: Signorini's condition, Coulomb's friction, impacts: `contact="hard"`.

    Normal forces prevent penetration; contacts slip only where Coulomb friction cannot hold them, and spin or roll, if
    they have dimension 4 or 6, only where torsional or rolling friction cannot; velocities jump at impacts. With
    adaptive and other one-step integrators the times of these events are located (event-driven simulation);
    `moreau_jean` steps over them.

    In a `saltus.Batch`, restitution, friction, limits and the numbers in `pairs` may be sequences of n numbers, one for
    each simulation.

    Attributes:
        restitution: ratio of the normal velocities after and before an impact, in [0, 1].
        friction: coefficient of Coulomb's friction for all pairs of geoms; None: the model's, for sliding. Torsional
            and rolling friction are the model's, and none where this is 0. Static friction is the model's
            (`saltus.static_friction`), and at least this.
        pairs: other numbers for some pairs: {("ball", "floor"): 0.8, ("foot", "floor"): {"restitution": 0.1,
            "friction": 0.6}}. A name is a geom's, or a body's for all its geoms; a number is a restitution.
        limits: restitution of joint and tendon limits.
        impact: "newton" (of velocities) or "poisson" (of impulses).
        treatment: of simultaneous impacts: "simultaneous" (rounds of reflections of all contacts that approach),
            "moreau" (one complementarity problem), "sequential" (one contact at a time).
        gap_tolerance: m; bodies touch at smaller gaps.
        speed_tolerance: m/s; smaller relative speeds count as zero.
        bounce_height: m; a contact with geometrically shrinking bounces closes once the next is lower than this.
        dense: treatment of more than `dense_events` events of a contact within `dense_time` s, or of more closed
            contacts than memory allows: "step" (take time steps of `dense_step` s until it is over, see
            docs/howto/hard_contact.md; the event "dense" in the log is a summary), "locate" (locate all events, however
            many) or "stop" (EventError).
        overlap: treatment of starts whose bodies overlap, or joints are beyond their limits, by up to `overlap_depth`:
            "separate" (moved apart by the least motion in the metric of the inertia, with a warning and the event
            "separated") or "error" (EventError), as for any larger depth.
        overlap_depth: m, rad.
        tangential_restitution: minus the ratio of the tangential velocities after and before an impact, in [0, 1], if
            friction is large enough for it: 1 for a superball, 0 for sticking. Only under Newton's impact law with
            located events.
    """

    restitution: Coefficient = 0.0
    friction: Coefficient | None = None
    pairs: Mapping[tuple[str, str], Coefficient | Mapping[str, Coefficient]] = field(default_factory=dict)
    limits: Coefficient = 0.0
    impact: str = "newton"
    treatment: str = "simultaneous"
    gap_tolerance: float = 1e-10
    speed_tolerance: float = 1e-9
    bounce_height: float = 1e-8
    dense: str = "step"
    dense_events: float = 32
    dense_time: float = 0.01
    dense_step: float = 0.001
    overlap: str = "separate"
    overlap_depth: float = 0.03
    tangential_restitution: Coefficient = 0.0

    name = "hard"

    _repr_html_ = notebook_html

    def __post_init__(self) -> None:
        for name, most in (
            *(("restitution", 1.0), ("limits", 1.0), ("friction", np.inf)),
            ("tangential_restitution", 1.0),
        ):
            given = getattr(self, name)
            if given is not None and isinstance(found := coefficient_of(name, given, most), tuple):
                object.__setattr__(self, name, found)  # immutable and comparable as a whole
        for name in OPTIONS:
            if not (number_of(name, getattr(self, name)) > 0):
                raise OptionError(f"Hard: {name} must be positive, got {getattr(self, name)}")
        for name in ("impact", "treatment", "dense", "overlap"):
            text_of(f"Hard: {name}", getattr(self, name))
        if self.impact not in IMPACT_LAWS:
            raise OptionError.unknown("impact law", self.impact, list(IMPACT_LAWS))
        if self.treatment not in TREATMENTS:
            raise OptionError.unknown("treatment of impacts", self.treatment, list(TREATMENTS))
        if self.dense not in DENSE_WAYS:
            raise OptionError.unknown("treatment of dense events", self.dense, list(DENSE_WAYS))
        if self.overlap not in OVERLAP_WAYS:
            raise OptionError.unknown("treatment of overlapping starts", self.overlap, list(OVERLAP_WAYS))
        pairs = {pair: pair_values(pair, value) for pair, value in mapping("Hard: pairs", self.pairs).items()}
        if any(isinstance(number, tuple) for values in pairs.values() for number in values.values()):
            object.__setattr__(self, "pairs", pairs)
        if self.impact != "newton" and self.turns:
            raise OptionError(
                f"Hard: tangential_restitution acts by Newton's impact law, not by impact={self.impact!r}; choose "
                'impact="newton", or leave it out'
            )

    @property
    def turns(self) -> bool:
        """Whether some pair may have a tangential restitution."""
        own = [pair_values(pair, value).get(TANGENTIAL, 0.0) for pair, value in self.pairs.items()]
        return any(np.any(np.asarray(number) > 0.0) for number in (self.tangential_restitution, *own))

    def numbers(self, model: Model, *, event: bool) -> HardLaw:
        """The law for a model; OptionError if `pairs` names objects that the model lacks."""
        check_hard_contact(model, event=event)
        if self.turns and not event:
            raise OptionError(
                "contact='hard': moreau_jean has no tangential restitution; choose another integrator, such as "
                "dopri5, or leave tangential_restitution out"
            )
        own = self.coefficients(model)
        check_turning_friction(model, own.friction[0])
        check_static_friction(model, own.friction[0])
        return HardLaw(
            restitution=tuple(own.restitution[0].tolist()),
            friction=tuple(own.friction[0].tolist()),
            limit_restitution=tuple(own.limits[0].tolist()),
            gap_tolerance=float(self.gap_tolerance),
            speed_tolerance=float(self.speed_tolerance),
            bounce_height=float(self.bounce_height),
            impact_law=IMPACT_LAWS.index(self.impact),
            impact_treatment=TREATMENTS.index(self.treatment),
            event=event,
            dense=DENSE_WAYS.index(self.dense),
            dense_events=float(self.dense_events),
            dense_time=float(self.dense_time),
            dense_step=float(self.dense_step),
            overlap_depth=float(self.overlap_depth if self.overlap == "separate" else self.gap_tolerance),
            tangential_restitution=tuple(own.tangential[0].tolist()),
        )

    def coefficients(self, model: Model, n: int | None = None) -> Coefficients:
        """Restitution and friction in n simulations of a model, or in the only one there is.

        OptionError if `pairs` names objects that the model lacks, or a coefficient is neither a number nor n numbers.
        """
        base = model.struct(listed="hard contact")
        first, second = base.views["collision_geom1"], base.views["collision_geom2"]
        rows = 1 if n is None else n
        restitution, friction, tangential = (np.empty((rows, len(first))) for _ in range(3))
        restitution[...] = column("restitution", self.restitution, n)
        tangential[...] = column(TANGENTIAL, self.tangential_restitution, n)
        friction[...] = np.nan if self.friction is None else column("friction", self.friction, n)
        for pair, value in self.pairs.items():
            a, b = (_geoms(model, name) for name in pair)
            chosen = (np.isin(first, a) & np.isin(second, b)) | (np.isin(first, b) & np.isin(second, a))
            if not chosen.any():
                raise OptionError(f"Hard: pairs names {pair[0]!r} and {pair[1]!r}, which never touch in {model.name!r}")
            values = pair_values(pair, value)
            what = f"in pairs[{pair}]"
            restitution[:, chosen] = column(f"restitution {what}", values.get("restitution", self.restitution), n)
            if TANGENTIAL in values:
                tangential[:, chosen] = column(f"{TANGENTIAL} {what}", values[TANGENTIAL], n)
            if "friction" in values:
                friction[:, chosen] = column(f"friction {what}", values["friction"], n)
        limits = np.broadcast_to(column("limits", self.limits, n), (rows, base.nlimit))
        return Coefficients(restitution, friction, limits, tangential)

    def of_first(self) -> Hard:
        """The law of the first simulation."""
        return law_of(self, 0)

    def differs(self, other: Hard) -> str:
        """The first option that differs in `other`, except restitution and friction; "" if there is none."""
        names = [f.name for f in fields(self) if f.name not in (*OF_EACH, "pairs")]
        return next((name for name in names if getattr(self, name) != getattr(other, name)), "")


def law_of(law: Hard, i: int) -> Hard:
    """The law of simulation i of a batch."""
    own = {name: entry_of(getattr(law, name), i) for name in OF_EACH}
    pairs = {pair: {name: entry_of(x, i) for name, x in pair_values(pair, v).items()} for pair, v in law.pairs.items()}
    return replace(law, **own, pairs=pairs)


class Compliant:
    """A user-defined force law for contacts, in place of the soft law: `contact=saltus.Compliant(force)`.

    `force(m, d, gap, velocity)` gives the force on the second geom of a contact (N), a tuple along the normal, which
    points to it, and two tangents. `gap` is the signed distance (m) less the margin, negative for overlap; `velocity`
    (m/s) is that of the second geom relative to the first along the same axes. The force acts at every contact of the
    model, and `solref`, `solimp` and friction of contacts are ignored; a contact of dimension 1 has the force along the
    normal alone. Limits, equalities and dry friction follow the soft law.

    `force` is a plain function of numbers, compiled into the step like a controller (see `saltus.controller`): each
    number may represent many simulations (see docs/howto/compiled_code.md). Objects that it refers to by name become
    part of its code; use `d.userdata[i]` for values that change between runs. Implicit integrators treat the force
    explicitly, without its derivatives; stiff laws need small or controlled steps.
    """

    name = "compliant"

    def __init__(self, force: Callable[[Struct, Struct, float, float], tuple[float, float, float]]):
        self.force = user_kernel("Compliant: force", "force(m, d, gap, velocity)", force)
        self._word = ""

    _repr_html_ = notebook_html

    def __repr__(self) -> str:
        return f"Compliant({self.force.py_func.__name__})"

    @property
    def feature_key(self) -> str:
        """Name that tells the law's kernel from others among the features of a layout."""
        self._word = register((self.force,), self._word)
        check_reads(self.force, "the law of contact", NOT_IN_STEPS.union(*READS.values()))
        return GIVEN + self._word


Law: TypeAlias = Soft | Hard | Compliant
#: A contact law, or its name: "soft", "hard"; None is the soft one.
ContactChoice: TypeAlias = str | Law | None


def _geoms(model: Model, name: str) -> list[int]:
    """Numbers of the geom with a name, or of all geoms of the body with that name."""
    geoms, bodies = model.names("geom"), model.names("body")
    if name in geoms:
        return [geoms.index(name)]
    if name in bodies:
        return np.flatnonzero(model.geom_bodyid == bodies.index(name)).tolist()
    raise OptionError.unknown("geom or body in Hard's pairs", name, [*geoms, *bodies])


def find_contact_law(contact: ContactChoice, with_events: Model | None = None) -> Law:
    """Return the contact law for a name or a law; None is the soft law.

    `with_events`: a model whose events are to be located. The soft law is then an OptionError, unless nothing touches
    or constrains: both laws are equal, and the hard one is returned.
    """
    law = _find_contact_law(contact)
    if with_events is None or isinstance(law, Hard):
        return law
    if "constraint" in with_events.struct().layout.features:
        raise OptionError(f"events and discrete states need hard contact, not {law.name!r}: {_unlocated(law)}")
    return Hard()


def _unlocated(law: Law) -> str:
    """Why events cannot be located under a law that is not hard, and what to do."""
    if isinstance(law, Soft):
        why = "forces of soft contact begin and end inside steps, which a search for events would take for smooth"
    else:
        why = "the law's forces may jump inside steps where the bodies touch, which no search for events can know"
    return (
        f'{why}; use contact="hard" or saltus.Hard(...), or a saltus.controller that switches by `where` at its '
        "stages, without located events"
    )


def _find_contact_law(contact: ContactChoice) -> Law:
    name = contact if isinstance(contact, str) else None
    if contact is None or name == "soft":
        return Soft()
    if name == "hard":
        return Hard()
    if isinstance(contact, Law):
        return contact
    raise OptionError.unknown("contact law", contact, ["soft", "hard"])


def refuse_adhesion(model: Model, law: Law) -> None:
    """Raise OptionError if geoms of a model adhere, which only the soft law supports."""
    if not isinstance(law, Soft) and "adhesive" in model.struct().layout.features:
        raise OptionError(
            f"contact={law.name!r}: {model.name!r} has geoms or pairs with adhesion, which only the soft law "
            "simulates; leave it out with ignore=['adhesion']"
        )


def _warn_of_turning_friction(model: Model) -> None:
    """Warn of torsional and rolling friction in a model, which compliant laws lack, naming the first geom or pair."""
    m = model.mj_model
    geoms = np.flatnonzero(((m.geom_contype | m.geom_conaffinity) != 0) & (m.geom_condim > 3))
    pairs = np.flatnonzero(m.pair_dim > 3)
    if not model.struct().nconmax or not geoms.size + pairs.size:
        return
    kind, first = ("geom", geoms[0]) if geoms.size else ("pair", pairs[0])
    more = f", and of {geoms.size + pairs.size - 1} more" if geoms.size + pairs.size > 1 else ""
    warn(
        "contact: a compliant law is forces along the normal and two tangents; torsional and rolling friction of "
        f"{kind} {model.names(kind)[first]!r}{more} is ignored (condim 4 and 6)"
    )


def _warn_of_static_friction(model: Model, law: Law) -> None:
    """Warn of static friction in a model, which laws without sticking lack, naming the first geom or pair."""
    declared = static_friction_of(model.mj_model)
    if not model.struct().nconmax or not (declared.geoms or declared.pairs):
        return
    kind, numbers = ("geom", declared.geoms) if declared.geoms else ("pair", declared.pairs)
    why = "whose friction creeps at rest" if isinstance(law, Soft) else "which has friction of its own"
    warn(
        f"contact: static friction of {kind} {model.names(kind)[min(numbers)]!r} is ignored by the {law.name} law, "
        f"{why}; use contact='hard'"
    )


def suits_soft(integrator: Integrator, model: Model) -> bool:
    """Whether an integrator can step a model under the soft law; any can if there are no constraints."""
    return integrator.kind != "time-stepping" or "constraint" not in model.struct().layout.features


def hard_numbers(
    model: Model, law: Law, integrator: Integrator, events: UserEvents, states: tuple[float, ...]
) -> HardLaw | None:
    """The hard law for a model under an integrator; None for another law. OptionError for an unsuitable law.

    `events`: user-defined events; `states`: discrete states of actuation.
    """
    refuse_adhesion(model, law)
    stepping = integrator.kind == "time-stepping"
    if not isinstance(law, Hard):
        if isinstance(law, Compliant):
            _warn_of_turning_friction(model)
        _warn_of_static_friction(model, law)
        if not suits_soft(integrator, model):
            raise OptionError(f'{integrator.name} requires hard contact: contact="hard" or saltus.Hard(...)')
        return None
    if stepping and (events.all or states):
        raise OptionError(
            f"{integrator.name} steps over events: impacts and sliding are impulses of whole steps, inside which there "
            "is no motion to locate an event in; choose another integrator, such as dopri5, or a saltus.controller "
            "that switches by `where`, without events"
        )
    sizes = model.struct().sizes
    if not (events.all or states or any(sizes[name] for name in ("nconmax", "nlimit", "nfriction", "neq"))):
        return None  # no contacts, no constraints, no events
    if integrator.doubles_only:
        raise OptionError(
            f"{integrator.name} does not locate events, which hard contact, events and discrete states need; choose "
            f'another integrator, such as dopri5, or for {integrator.name} contact="soft" or a saltus.Compliant'
        )
    numbers = law.numbers(model, event=not stepping)
    loops = bool(integrator.needs.get("balance"))
    return numbers._replace(user_events=events.numbers, actuation_states=len(states), loops=loops)
