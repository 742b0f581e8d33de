"""Controllers that run inside the time loop; the integrator integrates their states."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import flag, numbers, whole_number
from saltus.dynamics.control import AT_STAGES, AT_STEPS, READS_BODIES, READS_CENTRES, READS_FRAMES, pid
from saltus.dynamics.user_laws import register, user_kernel
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.model.actuator_enums import (
    PID_INVERSE_GEAR,
    PID_KD,
    PID_KI,
    PID_KP,
    PID_LIMIT,
    PID_ON,
    PID_PARAMETERS,
    PID_PERIOD,
    PID_RATE,
    PID_TARGET,
    TRN_BODY,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    TRN_SITE,
)
from saltus.model.compile.drives.bristle_friction import bristle_actuators
from saltus.model.compile.kernel_model import UserLaws
from saltus.model.enums import BALL, FREE, HINGE, SLIDE
from saltus.number.cache.fingerprint import names_in
from saltus.number.structs import Struct

if TYPE_CHECKING:
    from saltus.model.model import Model

# fields that steps compute only for laws that read them, and fields of evaluated states, which steps do not have
READS = {
    READS_BODIES: frozenset({"xquat", "cvel", "cacc", "cdof_dot"}),
    READS_FRAMES: frozenset({"ximat", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat"}),
    READS_CENTRES: frozenset({"subtree_com"}),
}
NOT_IN_STEPS = {"sensordata", "energy", "qLD", "qLDiagInv", "crb", "cfrc_ext", "cfrc_int", "qfrc_inverse"}
NOT_IN_STEPS |= {"subtree_linvel", "subtree_angmom"}
#: law(m, d, z): of the kernels' Model and Data, and the place of the controller's first state in d.act.
ControlLaw: TypeAlias = Callable[[Struct, Struct, int], object]
OF_JOINTS = (TRN_JOINT, TRN_JOINTINPARENT)
_SCALAR = (HINGE, SLIDE)


class Controller:
    """Kernel law(m, d, z), compiled into the step, that sets the controls d.ctrl from the state.

    `m` and `d` are the kernels' Model and Data (fields by MuJoCo's names: `d.time`, `d.qpos[i]`, `d.qvel[i]`,
    `d.actuator_length[k]`, `d.xpos[b]`, `d.site_xpos[s]`, `d.subtree_com[b]`, ...), `z` the place of its first state:
    state i is d.act[z + i], its rate, which the law must set, d.act_dot[z + i]. `d.control_prm` holds the parameters.
    The law is evaluated with every acceleration, so that the stages of Runge-Kutta methods see it; with `hold` once a
    step, at the state and with the quantities of its start, and its states advance by Euler's method. A law that reads
    `d.time` bounds the steps of adaptive integrators, see `max_step` and `breaks` of `saltus.Simulation`.

    Numbers, tuples, NumPy arrays and kernels that the law refers to by name become part of its code and must not change
    once a simulation has used it; other references are an OptionError. Use parameters for values that change.

    Create one with `saltus.controller`, `saltus.PID`, `saltus.computed_torque`, `saltus.operational_space` or
    `saltus.gravity_compensation`.
    """

    needs_bodies = False  # whether the law is wrong where a user's equations of motion replace the bodies'
    inverts_dynamics = False  # whether it takes accelerations of all joints for free, and the base for at rest
    reads: frozenset[str] = frozenset()  # features for fields that steps compute only for laws that read them
    title = "the controller"

    def __init__(self, law: Kernel, *, states: int = 0, parameters: ArrayLike = (), hold: bool = False):
        self._word = ""
        self.law = law
        self.states, self.hold = whole_number("states", states), flag("hold", hold)
        self.given = numbers("parameters", parameters).reshape(-1)

    def __repr__(self) -> str:
        name = self.law.py_func.__name__
        return f"Controller({name}, states={self.states}, parameters={self.given.tolist()}, hold={self.hold})"

    @property
    def feature_key(self) -> str:
        """Name that tells the controller's law from others among the features of a layout."""
        self._word = register((self.law,), self._word)  # on first use: kernels that it calls may be defined after it
        return (AT_STEPS if self.hold else AT_STAGES) + self._word

    def states_of(self, model: Model) -> int:
        """Number of the controller's states for a model."""
        return self.states

    def parameters(self, model: Model) -> NDArray[np.float64]:
        """Parameters of the law for a model, as the law reads them."""
        return self.given


def user_laws(model: Model, control: Controller | None, equations: str) -> UserLaws:
    """The user's laws that the kernels' Model is compiled with: a controller, and the key of equations of motion."""
    if control is None:
        return UserLaws(equations=equations)
    if equations and control.needs_bodies:
        raise OptionError(f"{control.title} computes with the model's bodies, which equations of your own replace")
    return UserLaws(control.feature_key, control.states_of(model), equations, reads=_reads(control, model))


def check_reads(kernel: Any, what: str, names: Collection[str]) -> None:
    """Raise OptionError if a user's kernel reads any of these fields, which are not computed for it."""
    for name in sorted(names_in(kernel.py_func) & set(names)):
        raise OptionError(f"{what} {kernel.py_func.__name__} reads d.{name}, which steps do not compute")


def _reads(control: Controller, model: Model) -> frozenset[str]:
    """Features for the fields that a controller reads and steps do not compute; OptionError for unsupported ones."""
    sampled = {"sensordata"} if "sensor_delay" in model.struct().layout.features else set()
    check_reads(control.law, "the controller", NOT_IN_STEPS - sampled)
    names = names_in(control.law.py_func)
    return control.reads | frozenset(word for word, fields in READS.items() if names & fields)


@overload
def controller(
    function: None = None, *, states: int = 0, parameters: ArrayLike = (), hold: bool = False
) -> Callable[[ControlLaw], Controller]: ...
@overload
def controller(
    function: ControlLaw, *, states: int = 0, parameters: ArrayLike = (), hold: bool = False
) -> Controller: ...
def controller(
    function: ControlLaw | None = None, *, states: int = 0, parameters: ArrayLike = (), hold: bool = False
) -> Controller | Callable[[ControlLaw], Controller]:
    """Make a Controller of a function law(m, d, z), as decorator or by a call; see `Controller`.

    The function is Python as docs/howto/compiled_code.md describes it: numbers, loops, branches, functions of math and
    NumPy. OptionError, with file and line, for anything else.
    """
    if function is None:
        return lambda law: controller(law, states=states, parameters=parameters, hold=hold)
    law = user_kernel("controller: law", "law(m, d, z)", function, inline=True)
    return Controller(law, states=states, parameters=parameters, hold=hold)


class PID(Controller):
    """The servo u = kp e + ki ∫e dt + kd (target_rate - v) of each actuator, e = target - position, v the velocity.

    `kp`, `ki`, `kd` (control's unit over rad, rad s, rad/s; or m), `target` (rad, m: of the joint or tendon, before
    gear), `limit` (of |u|; None: none) and `target_rate` (rad/s, m/s: the velocity that is wanted; the target itself
    does not move) are numbers or one for each actuator. `wrap`: errors of angles without limits are wrapped to (-π, π].
    `actuators`: names of the controlled actuators (None: all with a single control); the others keep their `ctrl`. The
    integral is a state that the integrator integrates, so that the stages of Runge-Kutta methods see it;
    while u is at its limit, or at an end of the actuator's `ctrlrange`, which bounds u too, it takes only what leads
    back (conditional integration: Åström & Hägglund, PID Controllers (1995), 3.5). `hold`: u is computed once a step
    and held, as by a digital servo (zero-order hold).

    The actuators should be motors, whose control is a torque or force. On a ball joint, or a site with a reference, the
    position is the component along the gear (rotation vector, offset), over the gear's first number that is not zero.
    OptionError for those without a position: on bodies, free joints, sites without a reference, or with gear 0.
    """

    def __init__(
        self,
        kp: ArrayLike,
        ki: ArrayLike = 0.0,
        kd: ArrayLike = 0.0,
        target: ArrayLike = 0.0,
        limit: ArrayLike | None = None,
        wrap: bool = True,
        *,
        actuators: Sequence[str] | None = None,
        hold: bool = False,
        target_rate: ArrayLike = 0.0,
    ):
        super().__init__(pid, hold=hold)
        self.gains = {"kp": kp, "ki": ki, "kd": kd, "target": target, "limit": 0.0 if limit is None else limit}
        self.gains["target_rate"] = target_rate
        self.wrap, self.actuators = flag("wrap", wrap), actuators
        for name, value in self.gains.items():
            if not np.all(np.isfinite(numbers(f"PID: {name}", value))):
                raise OptionError(f"PID: {name} must be finite, got {value}")
        if np.any(np.asarray(self.gains["limit"], float) < 0):
            raise OptionError(f"PID: limit must not be negative, got {limit}")

    def __repr__(self) -> str:
        return "PID(" + ", ".join(f"{name}={value}" for name, value in self.gains.items()) + f", wrap={self.wrap})"

    def states_of(self, model: Model) -> int:
        """Number of states: one integral for each actuator."""
        return model.nactuator

    def parameters(self, model: Model) -> NDArray[np.float64]:
        """kp, ki, kd, target, limit, period, inverse of the gear, whether it is controlled, rate: for each actuator."""
        n = model.nactuator
        names = model.names("actuator")[:n]
        chosen = names if self.actuators is None else list(self.actuators)
        for name in chosen:
            if name not in names:
                raise OptionError.unknown("actuator", name, names)
        if not n:
            raise OptionError("PID: the model has no actuators")
        out = np.zeros((n, PID_PARAMETERS))
        motors = np.setdiff1d(np.arange(n), bristle_actuators(model.mj_model))
        given = (PID_KP, PID_KI, PID_KD, PID_TARGET, PID_LIMIT, PID_RATE)
        for column, (name, value) in zip(given, self.gains.items(), strict=True):
            try:
                out[motors, column] = value
            except ValueError:
                raise OptionError(
                    f"PID: {name} has shape {np.shape(value)}; expected a number or ({len(motors)},)"
                ) from None
        out[:, PID_PERIOD] = [2.0 * np.pi if self.wrap and _unlimited_angle(model, k) else 0.0 for k in range(n)]
        out[:, PID_ON] = [float(names[k] in chosen and model.actuator_ctrlnum[k] == 1) for k in range(n)]
        for k in np.flatnonzero(out[:, PID_ON]):
            gear, without = _gear(model, k)
            if not gear:
                raise OptionError(
                    f"PID: actuator {names[k]!r} has no position to control: it {without}; choose others by actuators="
                )
            out[k, PID_INVERSE_GEAR] = 1.0 / gear
        if self.actuators is not None and not out[[names.index(c) for c in chosen], PID_ON].all():
            raise OptionError("PID: every controlled actuator must have exactly one control")
        return out.reshape(-1)

    def settled(self, model: Model, qpos: NDArray[np.float64], parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions qpos [nq] with controlled hinges and slides moved to the targets in `parameters`."""
        out = qpos.copy()
        own = parameters.reshape(-1, PID_PARAMETERS)[: model.nactuator]
        for k, (target, on) in enumerate(own[:, [PID_TARGET, PID_ON]]):
            joint = model.actuator_trnid[k, 0]
            if on > 0.5 and model.actuator_trntype[k] in OF_JOINTS and model.jnt_type[joint] in _SCALAR:
                out[model.jnt_qposadr[joint]] = target
        return out


def check_control(control: Any) -> None:
    """Raise OptionError if `control` is not a controller for the time loop."""
    if control is not None and not isinstance(control, Controller):
        raise OptionError(
            f"control must be a controller in the time loop, such as saltus.PID or saltus.controller(law), got a "
            f"{type(control).__name__}; pass functions of the simulation to run(..., control=...)"
        )


def _gear(model, k) -> tuple[float, str]:
    """Ratio of actuator k's length to its position, or 0 and the reason why there is none."""
    kind, (one, other) = model.actuator_trntype[k], model.actuator_trnid[k]
    axes = 1
    if kind == TRN_BODY:
        return 0.0, "acts on the contacts of a body"
    if kind == TRN_SITE:
        axes = 6
        if other < 0:
            return 0.0, "acts on a site without a reference"
    if kind in OF_JOINTS:
        if model.jnt_type[one] == FREE:
            return 0.0, "acts on a free joint"
        axes = 3 if model.jnt_type[one] == BALL else 1
    gear = model.actuator_gear[model.actuator_outadr[k], :axes]
    return float(next((g for g in gear if g), 0.0)), "has gear 0"


def _unlimited_angle(model, k) -> bool:
    """Whether actuator k turns a hinge without limits."""
    joint = model.actuator_trnid[k, 0]
    hinge = model.actuator_trntype[k] in OF_JOINTS and model.jnt_type[joint] == HINGE
    return bool(hinge and not model.jnt_limited[joint])


def room_of(model: Model, control: Controller | None) -> dict[str, Any]:
    """Memory that a Data reserves for a controller: that of a PID on every actuator, or more."""
    states, parameters = model.nu, PID_PARAMETERS * model.nactuator
    if control is not None:
        states = max(states, control.states_of(model))
        parameters = max(parameters, len(control.parameters(model)))
    return {"control_states": states, "control_prm": parameters}


def fits(sizes: dict[str, int], room: dict[str, int]) -> bool:
    """Whether a Data with these sizes has the memory that a controller needs."""
    return sizes["nact"] + room["control_states"] <= sizes["nact_room"] and room["control_prm"] <= sizes["ncontrol_prm"]
