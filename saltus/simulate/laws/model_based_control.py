"""Controllers in the time loop that use the model itself: computed torque, gravity compensation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, words
from saltus.dynamics.controllers.model_based_control import computed_torque as computed_torque_law
from saltus.dynamics.controllers.model_based_control import gravity_compensation as gravity_compensation_law
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.model.actuator_enums import (
    BIAS_NONE,
    DYN_NONE,
    GAIN_FIXED,
    MBC_INVERSE,
    MBC_PARAMETERS,
    TRN_JOINT,
    TRN_JOINTINPARENT,
)
from saltus.model.compile.drives.bristle_friction import bristle_actuators
from saltus.model.enums import HINGE, SLIDE
from saltus.simulate.laws.control import Controller

if TYPE_CHECKING:
    from saltus.model.model import Model


class ModelBasedControl(Controller):
    """A law that finds the joints' forces from the model, made by `computed_torque` or `gravity_compensation`."""

    needs_bodies = True

    def __init__(self, title: str, law: Kernel, values: dict[str, ArrayLike], actuators: Sequence[str] | None):
        super().__init__(law)
        self.title, self.actuators = title, actuators
        self.inverts_dynamics = law is not gravity_compensation_law
        self.values = {name: numbers(f"{title}: {name}", value) for name, value in values.items()}
        for name, value in self.values.items():
            if not np.isfinite(value).all() or value.ndim > 1:
                raise OptionError(f"{title}: {name} must be a finite number, or one for each actuator, got {value}")

    def __repr__(self) -> str:
        return f"{self.title}({', '.join(f'{name}={value.tolist()}' for name, value in self.values.items())})"

    def parameters(self, model: Model) -> NDArray[np.float64]:
        """kp, kd, target, rate, acceleration, 1 / (gear gain) for each actuator."""
        n, names = model.nactuator, model.names("actuator")
        friction = bristle_actuators(model.mj_model)
        all_motors = [name for k, name in enumerate(names[:n]) if k not in friction]
        chosen = all_motors if self.actuators is None else words("actuators", self.actuators)
        for name in chosen:
            if name not in names:
                raise OptionError.unknown("actuator", name, names)
        if not chosen:
            raise OptionError(f"{self.title}: the model has no actuators")
        out = np.zeros((n, MBC_PARAMETERS))
        for column, (name, value) in enumerate(self.values.items()):
            if value.ndim and value.shape != (len(chosen),):
                raise OptionError(
                    f"{self.title}: {name} has shape {value.shape}; expected a number or ({len(chosen)},)"
                )
            out[[names.index(c) for c in chosen], column] = value
        for name in chosen:
            k = names.index(name)
            out[k, MBC_INVERSE] = 1.0 / self._effect(model, k, name)
        self._check(model, [names.index(c) for c in chosen])
        return out.reshape(-1)

    def _effect(self, model: Model, k: int, name: str) -> float:
        """Force on its joint for each unit of actuator k's control; OptionError if it is no motor on a joint."""
        joint = int(model.actuator_trnid[k, 0])
        scalar = model.actuator_trntype[k] in (TRN_JOINT, TRN_JOINTINPARENT) and model.jnt_type[joint] in (HINGE, SLIDE)
        kinds = model.actuator_dyntype[k], model.actuator_gaintype[k], model.actuator_biastype[k]
        motor = kinds == (DYN_NONE, GAIN_FIXED, BIAS_NONE) and not model.actuator_delay[k] > 0
        effect = float(model.actuator_gear[model.actuator_outadr[k], 0] * model.actuator_gainprm[k, 0])
        if not (scalar and motor and effect):
            raise OptionError(
                f"{self.title}: actuator {name!r} is no motor without delay on a hinge or slide; make it one, or "
                "name the others in actuators="
            )
        return effect

    def _check(self, model: Model, chosen: list[int]) -> None:
        """OptionError for what the law does not know of."""
        m = model.mujoco
        off = next((k for k in chosen if _is_disabled(m, int(m.actuator_group[k]))), None)
        if off is not None:
            raise OptionError(
                f"{self.title}: actuator {model.names('actuator')[off]!r} is disabled (actuatorgroupdisable); enable "
                "its group, or name the others in actuators="
            )
        dofs = [int(m.jnt_dofadr[m.actuator_trnid[k, 0]]) for k in chosen]
        twice = next((i for i in dofs if dofs.count(i) > 1), None)
        if twice is not None:
            raise OptionError(f"{self.title}: {model.dof_names()[twice]} has two actuators; name one in actuators=")
        if not self.inverts_dynamics:
            if np.any(m.body_gravcomp):
                raise OptionError(f"{self.title}: the model compensates gravity already (gravcomp); take it out")
            return
        trees = {int(m.dof_treeid[i]) for i in dofs}
        free = next((i for i in range(model.nv) if i not in dofs and int(m.dof_treeid[i]) in trees), None)
        if free is not None:
            raise OptionError(
                f"{self.title}: {model.dof_names()[free]} has no motor; every degree of freedom of the mechanism "
                "needs one. saltus.gravity_compensation does without"
            )
        if np.any(m.jnt_actgravcomp) and np.any(m.body_gravcomp):
            raise OptionError(
                f"{self.title}: actuators compensate gravity already (actuatorgravcomp), and the law does it as well; "
                "leave actuatorgravcomp out"
            )
        if np.any(m.tendon_armature):
            raise OptionError(
                f"{self.title}: tendons with armature are not in the law; give the joints armature instead"
            )


def _is_disabled(m: mujoco.MjModel, group: int) -> bool:
    """Whether a group of actuators is disabled."""
    return 0 <= group < 31 and bool(m.opt.disableactuator >> group & 1)


def computed_torque(
    kp: ArrayLike,
    kd: ArrayLike,
    target: ArrayLike = 0.0,
    *,
    target_rate: ArrayLike = 0.0,
    target_acceleration: ArrayLike = 0.0,
) -> ModelBasedControl:
    """Controller in the time loop whose errors e = target - q follow e'' + kd e' + kp e = 0, whatever the model.

    tau = M(q) (target_acceleration + kd (target_rate - v) + kp e) + bias(q, v) - passive forces (Craig, Introduction to
    Robotics (2005), 10.4), evaluated with every acceleration, so that the stages of Runge-Kutta methods see it. `kp`
    (1/s²), `kd` (1/s), `target` (rad, m) and its rates are numbers or one for each actuator; angles are not wrapped.
    Every degree of freedom of the mechanism must be a hinge or slide with one motor; bodies that hang on no motor are
    left to themselves. Contacts, limits, dry friction, applied forces and
    the ranges of controls disturb the errors.

    Raises:
        OptionError: a value is not finite; from the simulation, a degree of freedom or actuator that does not fit.
    """
    values = {"kp": kp, "kd": kd, "target": target, "target_rate": target_rate}
    values["target_acceleration"] = target_acceleration
    return ModelBasedControl("computed_torque", computed_torque_law, values, None)


def gravity_compensation(
    kp: ArrayLike = 0.0,
    kd: ArrayLike = 0.0,
    target: ArrayLike = 0.0,
    *,
    target_rate: ArrayLike = 0.0,
    actuators: Sequence[str] | None = None,
) -> ModelBasedControl:
    """Controller in the time loop that carries the weight of what joints hold, with a spring and damper to a target.

    tau = g(q) + kp (target - q) + kd (target_rate - v) (Takegaki & Arimoto 1981), evaluated with every acceleration.
    `kp` (N m/rad, N/m), `kd` (N m s, N s/m), `target` (rad, m) and `target_rate` are numbers or one for each controlled
    actuator, which must be motors on hinges and slides; other joints may be of any type and without actuator.
    `actuators`: names of the controlled ones (None: all); the others keep their `ctrl`.

    Raises:
        OptionError: a value is not finite; from the simulation, an actuator that does not fit, or gravcomp.
    """
    values = {"kp": kp, "kd": kd, "target": target, "target_rate": target_rate}
    return ModelBasedControl("gravity_compensation", gravity_compensation_law, values, actuators)
