"""Hill-type muscles with an elastic tendon: parameters, curves, and fields of the kernels' Model.

The muscle is that of Millard, Uchida, Seth & Delp, Flexing computational muscle: modeling and simulation of
musculotendon dynamics, J. Biomech. Eng. 135 (2013) 021005, with the damped equilibrium; its curves are the default ones
of OpenSim's Millard2012EquilibriumMuscle. See `saltus.dynamics.actuator.hill_muscle` for the equations.
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from saltus.errors import OptionError
from saltus.model.actuator_enums import (
    DYN_HILL,
    GAIN_HILL,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    TRN_SITE,
    TRN_SLIDERCRANK,
    TRN_TENDON,
)
from saltus.model.enums import HINGE, SLIDE
from saltus.terminal.display import notebook_html

# columns of hill_prm
FORCE, OPTIMAL, SLACK, SINE, FASTEST, DAMPING, SHORTEST, OFFSET = range(8)
# a muscle's curves among its rows of hill_segment: the first row and the number of rows of each
ACTIVE, VELOCITY, PASSIVE, TENDON_CURVE = 0, 5, 9, 11
NACTIVE, NVELOCITY, NPASSIVE, NTENDON = 5, 4, 2, 2
NSEGMENT = 13

STEEPEST = math.acos(0.1)  # rad, largest pennation angle
# active force by length: active from, knee of the ascending limb, optimum, active to; slope below the optimum
LENGTHS, SHALLOW_SLOPE = (0.47 - 0.0259, 0.73, 1.0, 1.8123), 0.8616
# force by velocity: slopes at rest and near the fastest shortening and lengthening
ISOMETRIC_SLOPE, CONCENTRIC_SLOPE, ECCENTRIC_SLOPE = 5.0, 0.25, 0.15


@dataclass(frozen=True)
class HillMuscle:
    """Muscle with fibres in series with an elastic tendon: an actuator law for `saltus.load`.

        saltus.load(source, muscles={"biceps": saltus.HillMuscle(624.3, 0.1157, 0.2723)})

    replaces the force law of the actuator "biceps". The transmission is kept: its length (times gear) is the length of
    the muscle-tendon unit, and the muscle's force shortens it. The control is the excitation, 0 to 1. The states are
    activation and fibre length, the latter in units of the optimal one.

    Parameters, with the names and defaults of OpenSim's Millard2012EquilibriumMuscle where it has them:
        max_isometric_force: N, active force at full activation, optimal length and rest.
        optimal_fiber_length: m, the fibres' length at which the active force is greatest.
        tendon_slack_length: m, the tendon's length at which it begins to carry force.
        pennation_angle: rad, between fibres and tendon at the optimal length; the muscle keeps its width.
        max_contraction_velocity: optimal lengths a second, fastest shortening (Zajac 1989: 10).
        activation_time_constant, deactivation_time_constant: s, of the activation's response to excitation.
        fiber_damping: force at the fastest contraction, relative to the greatest, of a damper parallel to the fibres.
        tendon_strain_at_max_force: tendon's strain at the greatest isometric force (Maganaris & Paul 2002: 0.049).
        passive_strain_at_max_force: fibres' strain beyond the optimal length at which they resist as much (0.7).
        max_eccentric_force: force in lengthening faster than the fastest shortening, in units of the isometric (1.4).
        length_offset: m, added to the actuator's length, which may be an angle times a moment arm (gear).
        rigid_tendon: the tendon keeps its slack length, and the fibre length is not a state.
    """

    max_isometric_force: float
    optimal_fiber_length: float
    tendon_slack_length: float
    pennation_angle: float = 0.0
    max_contraction_velocity: float = 10.0
    activation_time_constant: float = 0.010
    deactivation_time_constant: float = 0.040
    fiber_damping: float = 0.1
    tendon_strain_at_max_force: float = 0.049
    passive_strain_at_max_force: float = 0.7
    max_eccentric_force: float = 1.4
    length_offset: float = 0.0
    rigid_tendon: bool = False

    _repr_html_ = notebook_html

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "rigid_tendon":
                if not isinstance(value, bool | np.bool_):
                    raise OptionError(f"rigid_tendon must be True or False, not {value!r}")
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
                raise OptionError(f"{field.name} must be a number, not {value!r}")
            if not math.isfinite(value):
                raise OptionError(f"{field.name} must be finite, not {value!r}")
            least, most, why = _BOUNDS.get(field.name, (0.0, math.inf, ""))
            if not least < value < most and not (field.name == "pennation_angle" and value == 0.0):
                bounds = f"above {least:g}" + (f" and below {most:g}" if most < math.inf else "")
                raise OptionError(f"{field.name} must be {bounds}{why}, not {value!r}")


_BOUNDS = {
    "pennation_angle": (0.0, math.pi / 4, " rad, or 0"),
    "fiber_damping": (0.0, math.inf, " (without damping, the velocity of inactive fibres is undefined)"),
    # the knee between two slopes must lie between them
    "max_eccentric_force": (1.0 + ECCENTRIC_SLOPE, ISOMETRIC_SLOPE, ""),
    "passive_strain_at_max_force": (0.0, 5.0, ""),
    "length_offset": (-math.inf, math.inf, ""),
}


# ---------------------------------------------------------------- curves


def corner(x0, y0, slope0, x1, y1, slope1, curviness):
    """A C-shaped quintic Bézier curve between two points with given slopes, as polynomials: x and y [12].

    The tangents meet in a corner; the curve comes closer to it with greater curviness (0 to 1). Its second derivative
    is zero at both ends, so that pieces join twice differentiably (Millard et al. 2013, appendix).
    """
    c = 0.1 + 0.8 * curviness
    meet = (y1 - y0 - x1 * slope1 + x0 * slope0) / (slope0 - slope1)
    height = y1 + slope1 * (meet - x1)
    pull = lambda start, end: start + c * (end - start)  # noqa: E731
    x = [x0, pull(x0, meet), pull(x0, meet), pull(x1, meet), pull(x1, meet), x1]
    y = [y0, pull(y0, height), pull(y0, height), pull(y1, height), pull(y1, height), y1]
    return [*_power_coefficients(x), *_power_coefficients(y)]


def _power_coefficients(points):
    """Coefficients of 1, u, ..., u⁵ of the Bézier polynomial with six control points."""
    differences, row = [], list(points)
    while row:
        differences.append(row[0])
        row = [b - a for a, b in itertools.pairwise(row)]
    return [math.comb(5, j) * difference for j, difference in enumerate(differences)]


def active_force_length():
    """Pieces of the active force by length: ascending limb with a knee, optimum at 1, descending limb."""
    shortest, knee, optimum, longest = LENGTHS
    shoulder = 0.05 * optimum
    at_knee = 1.0 - SHALLOW_SLOPE * (optimum - shoulder - knee)
    rise = 1.25 * at_knee / (knee - shortest)
    fall = -1.0 / (longest - optimum - 2.0 * shoulder)
    points = [
        (shortest, 0.0, 0.0),
        (0.5 * (shortest + knee), 0.5 * at_knee, rise),
        (0.5 * (knee + optimum - shoulder), 0.5 * (at_knee + 1.0), SHALLOW_SLOPE),
        (optimum, 1.0, 0.0),
        (0.5 * (optimum + shoulder + longest), 0.5, fall),
        (longest, 0.0, 0.0),
    ]
    return [corner(*a, *b, 1.0) for a, b in itertools.pairwise(points)]


def force_velocity(most):
    """Pieces of the force by velocity, from the fastest shortening -1 by 1 at rest to `most` at 1."""
    near = (-0.9, 0.05 * CONCENTRIC_SLOPE, CONCENTRIC_SLOPE)
    rest = (0.0, 1.0, ISOMETRIC_SLOPE)
    far = (0.9, most - 0.05 * ECCENTRIC_SLOPE, ECCENTRIC_SLOPE)
    return [
        corner(-1.0, 0.0, 0.0, *near, 0.6),
        corner(*near, *rest, 0.6),
        corner(*rest, *far, 0.9),
        corner(*far, 1.0, most, 0.0, 0.9),
    ]


def passive_force_length(strain):
    """Pieces of the fibres' passive force by length, from 1 to 1 + strain, where it is 1; linear beyond."""
    stiffest, soft = 2.0 / strain, 0.14 / strain  # OpenSim's 0.2 at its strain of 0.7
    low = 0.05 * strain
    at_low = (1.0 + low, 0.5 * soft * low, soft)
    return [corner(1.0, 0.0, 0.0, *at_low, 0.75), corner(*at_low, 1.0 + strain, 1.0, stiffest, 0.75)]


def tendon_force_strain(strain):
    """Pieces of the tendon's force by strain: a toe up to 2/3 of the greatest force, and a line through (strain, 1)."""
    stiffness, at_toe = 1.375 / strain, 2.0 / 3.0
    line = lambda force: strain + (force - 1.0) / stiffness  # noqa: E731
    toe, foot = line(at_toe), 0.1 * line(at_toe)
    middle = line(0.5 * at_toe)
    slope = 0.5 * at_toe / (middle - foot)
    knee = (0.5 * (foot + middle), 0.5 * slope * (middle - foot), slope)
    return [corner(0.0, 0.0, 0.0, *knee, 0.5), corner(*knee, toe, at_toe, stiffness, 0.5)]


def segments(muscle: HillMuscle) -> list[list[float]]:
    """Rows of hill_segment of a muscle."""
    return [
        *active_force_length(),
        *force_velocity(muscle.max_eccentric_force),
        *passive_force_length(muscle.passive_strain_at_max_force),
        *tendon_force_strain(muscle.tendon_strain_at_max_force),
    ]


# ---------------------------------------------------------------- the kernels' Model


def find_muscles(m: mujoco.MjModel, muscles: Mapping[str, HillMuscle]) -> dict[int, HillMuscle]:
    """The muscles by actuator; OptionError for unsuitable actuators."""
    found = {}
    for name, muscle in muscles.items():
        if not isinstance(muscle, HillMuscle):
            raise OptionError(f"muscles[{name!r}] must be a HillMuscle, not {muscle!r}")
        k = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
        if k < 0:
            names = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_ACTUATOR, i) for i in range(m.nactuator)]
            raise OptionError.unknown("actuator in muscles", name, [n for n in names if n])
        if m.actuator_ctrlnum[k] != 1 or m.actuator_outnum[k] != 1:
            raise OptionError(f"actuator {name!r} cannot be a HillMuscle: it must have one control and one force")
        if m.actuator_actnum[k] > 1:
            raise OptionError(f"actuator {name!r} cannot be a HillMuscle: it has {m.actuator_actnum[k]} states")
        if not _has_length(m, k):
            raise OptionError(f"actuator {name!r} cannot be a HillMuscle: its transmission has no length")
        found[k] = muscle
    return dict(sorted(found.items()))


def _has_length(m, k) -> bool:
    """Whether the transmission has a length: tendons, hinges, slides, slider-cranks, sites with a reference."""
    kind, (one, other) = m.actuator_trntype[k], m.actuator_trnid[k]
    if kind in (TRN_JOINT, TRN_JOINTINPARENT):
        return bool(m.jnt_type[one] in (SLIDE, HINGE))
    return kind in (TRN_TENDON, TRN_SLIDERCRANK) or (kind == TRN_SITE and other >= 0)


def count_states(m: mujoco.MjModel, muscles: Mapping[int, HillMuscle]) -> int:
    """Number of states of the muscles beyond MuJoCo's activations."""
    return sum(int(m.actuator_actnum[k] == 0) + int(not muscle.rigid_tendon) for k, muscle in muscles.items())


def replace_laws(m: mujoco.MjModel, muscles: Mapping[int, HillMuscle], values: dict, sizes: dict) -> None:
    """Give actuators the laws of muscles, in the fields and sizes of the kernels' Model.

    Activation states of MuJoCo's laws keep their places; further states follow all of MuJoCo's, actuator by actuator.
    """
    changed = "dyntype gaintype biastype dynprm gainprm biasprm actadr actnum slot period"
    fields: dict[str, Any] = {f: np.array(values[f"actuator_{f}"]) for f in changed.split()}
    place = m.na
    for row, (k, muscle) in enumerate(muscles.items()):
        fields["dyntype"][k], fields["gaintype"][k] = DYN_HILL, GAIN_HILL
        fields["biastype"][k] = 0
        for f in ("dynprm", "gainprm", "biasprm", "period"):
            fields[f][k] = 0.0
        fields["dynprm"][k, :2] = muscle.activation_time_constant, muscle.deactivation_time_constant
        activation, fibre = int(m.actuator_actadr[k]), -1
        if m.actuator_actnum[k] == 0:
            activation, place = place, place + 1
        if not muscle.rigid_tendon:
            fibre, place = place, place + 1
        fields["actadr"][k], fields["actnum"][k] = activation, 1
        fields["slot"][k, :3] = activation, fibre, row
    values |= {f"actuator_{f}": value for f, value in fields.items()}
    values["hill_prm"] = [_parameters(muscle) for muscle in muscles.values()]
    values["hill_segment"] = [row for muscle in muscles.values() for row in segments(muscle)]
    sizes |= {"nact": place, "nhill": len(muscles), "nhillsegment": NSEGMENT * len(muscles)}


def _parameters(muscle: HillMuscle) -> list[float]:
    """A row of hill_prm."""
    sine = math.sin(muscle.pennation_angle)
    shortest = max(LENGTHS[0], sine / math.sin(STEEPEST))
    return [
        *(muscle.max_isometric_force, muscle.optimal_fiber_length, muscle.tendon_slack_length, sine),
        *(muscle.max_contraction_velocity, muscle.fiber_damping, shortest, muscle.length_offset),
    ]
