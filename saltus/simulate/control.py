"""Controllers that run inside the time loop, with states that the integrator integrates."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.dynamics.control import AT_STAGES, AT_STEPS, CHANGED, LAWS, PID_PARAMETERS, law_word, pid
from saltus.errors import OptionError
from saltus.number.kernels import kernel

if TYPE_CHECKING:
    from saltus.model.model import Model


class Controller:
    """A kernel law(m, d, z) that sets the controls d.ctrl from the state, compiled into the step.

    `m` and `d` are the kernels' Model and Data (fields by MuJoCo's names: `d.time`, `d.qpos[i]`, `d.qvel[i]`,
    `d.actuator_length[k]`, `d.xpos[b]`, ...), `z` the place of its first state: state i is d.act[z + i], its rate,
    which the law must set, d.act_dot[z + i]. `d.control_prm` holds the parameters. It is evaluated with every
    acceleration, so that the stages of Runge-Kutta methods see it; with `hold` once a step, at the state and with the
    quantities of its start, its states by Euler's method.

    What the law refers to by name (numbers, tuples, NumPy arrays, kernels) belongs to its code and must not change once
    a simulation has used it; anything else that it refers to is an OptionError. What is to change are parameters.

    Made by `saltus.controller`, or as `saltus.PID`.
    """

    def __init__(self, law: Any, *, states: int = 0, parameters: Any = (), hold: bool = False):
        if states < 0 or int(states) != states:
            raise OptionError(f"controller: states must be a count, got {states}")
        self.law, self._word = law, ""
        self.states, self.hold = int(states), bool(hold)
        self.given = np.asarray(parameters, float).reshape(-1)

    def __repr__(self) -> str:
        name = self.law.py_func.__name__
        return f"Controller({name}, states={self.states}, parameters={self.given.tolist()}, hold={self.hold})"

    @property
    def word(self) -> str:
        """What tells its law from others among the features of a layout."""
        word = law_word(self.law)  # not before the first use: what it calls may be defined after it
        if self._word not in ("", word):
            raise OptionError(f"{self.law.py_func.__name__}: {CHANGED}")
        self._word, LAWS[word] = word, self.law
        return (AT_STEPS if self.hold else AT_STAGES) + word

    def states_of(self, model: "Model") -> int:
        """How many states it has for a model."""
        return self.states

    def parameters(self, model: "Model") -> np.ndarray:
        """Its parameters for a model, as the law reads them."""
        return self.given

    def key(self, model: "Model") -> tuple[str, int]:
        """What the kernels' Model needs to know of it."""
        return self.word, self.states_of(model)


def controller(
    function: Callable | None = None, *, states: int = 0, parameters: Sequence[float] = (), hold: bool = False
) -> Any:
    """Make a Controller of a function law(m, d, z), as decorator or by a call; see `Controller`.

    The function must keep to what kernels can: numbers, loops, branches on the model, `where` on the state.
    """
    if function is None:
        return lambda law: controller(law, states=states, parameters=parameters, hold=hold)
    return Controller(kernel(function, inline=True), states=states, parameters=parameters, hold=hold)


class PID(Controller):
    """The servo u = kp e + ki ∫e dt - kd v of each actuator, with e = target - position, v the velocity.

    `kp`, `ki`, `kd` (control's unit over rad, rad s, rad/s; or m), `target` (rad, m: of the joint or tendon, before
    gear) and `limit` (of |u|; None: none) are numbers or one for each actuator. `wrap`: errors of angles that have no
    limits are taken into (-π, π]. `actuators`: names of those that it controls (None: all that have one control); the
    others keep their `ctrl`. The integral is a state that the integrator integrates, so that the stages of Runge-Kutta
    methods see it; while u is at its limit it takes only what leads back. `hold`: u is computed once a step and held,
    as by a digital servo (zero-order hold).

    The actuators should be motors, whose control is a torque or force.
    """

    def __init__(
        self,
        kp: Any,
        ki: Any = 0.0,
        kd: Any = 0.0,
        target: Any = 0.0,
        limit: Any = None,
        wrap: bool = True,
        *,
        actuators: Sequence[str] | None = None,
        hold: bool = False,
    ):
        super().__init__(pid, hold=hold)
        self.gains = {"kp": kp, "ki": ki, "kd": kd, "target": target, "limit": 0.0 if limit is None else limit}
        self.wrap, self.actuators = bool(wrap), actuators
        for name, value in self.gains.items():
            if not np.all(np.isfinite(np.asarray(value, float))):
                raise OptionError(f"PID: {name} must be finite, got {value}")
        if np.any(np.asarray(self.gains["limit"], float) < 0):
            raise OptionError(f"PID: limit must not be negative, got {limit}")

    def __repr__(self) -> str:
        return "PID(" + ", ".join(f"{name}={value}" for name, value in self.gains.items()) + f", wrap={self.wrap})"

    def states_of(self, model: "Model") -> int:
        """One integral for each actuator."""
        return model.nactuator

    def parameters(self, model: "Model") -> np.ndarray:
        """kp, ki, kd, target, limit, period, inverse of the gear, whether it is controlled, for each actuator."""
        n = model.nactuator
        names = model.names("actuator")[:n]
        chosen = names if self.actuators is None else list(self.actuators)
        for name in chosen:
            if name not in names:
                raise OptionError.unknown("actuator", name, names)
        if not n:
            raise OptionError("PID: the model has no actuators")
        out = np.zeros((n, PID_PARAMETERS))
        for column, (name, value) in enumerate(self.gains.items()):
            try:
                out[:, column] = value
            except ValueError:
                raise OptionError(f"PID: {name} has shape {np.shape(value)}; expected a number or ({n},)") from None
        gear = model.actuator_gear[model.actuator_outadr, 0]
        out[:, 5] = [2.0 * np.pi if self.wrap and _unlimited_angle(model, k) else 0.0 for k in range(n)]
        out[:, 6] = [1.0 / g if g else 0.0 for g in gear]
        out[:, 7] = [float(names[k] in chosen and model.actuator_ctrlnum[k] == 1) for k in range(n)]
        if self.actuators is not None and not out[[names.index(c) for c in chosen], 7].all():
            raise OptionError("PID: an actuator with several controls, or none, cannot be controlled by one")
        return out.reshape(-1)


def _unlimited_angle(model, k) -> bool:
    """Whether actuator k turns a hinge that may turn on and on."""
    joint = model.actuator_trnid[k, 0]
    return bool(model.actuator_trntype[k] <= 1 and model.jnt_type[joint] == 3 and not model.jnt_limited[joint])
