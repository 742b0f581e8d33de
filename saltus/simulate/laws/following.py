"""Controllers in the time loop whose targets are a reference motion."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.dynamics.control import pid
from saltus.dynamics.controllers.model_based_control import computed_torque, gravity_compensation
from saltus.dynamics.controllers.reference import HEAD, POWERS, put_targets
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.model.actuator_enums import (
    MBC_ACCELERATION,
    MBC_PARAMETERS,
    MBC_RATE,
    MBC_TARGET,
    PID_PARAMETERS,
    PID_RATE,
    PID_TARGET,
    TRN_JOINT,
    TRN_JOINTINPARENT,
)
from saltus.model.enums import HINGE, SLIDE
from saltus.number.kernels import kernel
from saltus.simulate.laws.control import PID, Controller
from saltus.simulate.laws.model_based_control import ModelBasedControl
from saltus.trajectories.reference_motion import ReferenceMotion

if TYPE_CHECKING:
    from saltus.model.model import Model

Array = NDArray[np.float64]
LARGEST = 1024  # segments of a motion


@functools.cache
def law_of(law: Kernel, capacity: int) -> Kernel:
    """The kernel of a controller that follows a motion of at most so many segments."""
    if law is pid:

        @kernel
        def follow(m, d, z):
            table = PID_PARAMETERS * m.nactuator
            put_targets(m, d, d.time, capacity, (table, PID_PARAMETERS, PID_TARGET, PID_RATE, -1))
            pid(m, d, z)

    elif law is computed_torque:

        @kernel
        def follow(m, d, z):
            table = MBC_PARAMETERS * m.nactuator
            put_targets(m, d, d.time, capacity, (table, MBC_PARAMETERS, MBC_TARGET, MBC_RATE, MBC_ACCELERATION))
            computed_torque(m, d, z)

    else:

        @kernel
        def follow(m, d, z):
            table = MBC_PARAMETERS * m.nactuator
            put_targets(m, d, d.time, capacity, (table, MBC_PARAMETERS, MBC_TARGET, MBC_RATE, -1))
            gravity_compensation(m, d, z)

    return follow


class Following(Controller):
    """A controller whose target is a motion, made by `follow`."""

    def __init__(self, control: PID | ModelBasedControl, motion: ReferenceMotion):
        segments = len(motion.polynomials.x) - 1
        if segments > LARGEST:
            raise OptionError(f"follow: the motion has {segments} segments; at most {LARGEST}, so thin out its points")
        self.capacity = 1 << (segments - 1).bit_length()
        super().__init__(law_of(control.law, self.capacity), hold=control.hold)
        self.control, self.motion = control, motion
        self.needs_bodies, self.inverts_dynamics = control.needs_bodies, control.inverts_dynamics
        self.title = f"follow({control.title})"

    def __repr__(self) -> str:
        return f"follow({self.control!r}, {self.motion!r})"

    def states_of(self, model: Model) -> int:
        """Number of states of the controller that follows."""
        return self.control.states_of(model)

    def parameters(self, model: Model) -> Array:
        """Parameters of the controller, then the motion's polynomials for each actuator."""
        m, other = model.mujoco, self.motion.model.mujoco
        if m.nq != other.nq or not np.array_equal(m.jnt_type, other.jnt_type):
            raise OptionError("follow: the motion is of a model with other joints; make it of this one")
        curve, capacity = self.motion.polynomials, self.capacity
        segments = len(curve.x) - 1
        begins = np.full(capacity, np.inf)
        begins[:segments] = curve.x[:-1]
        table = np.zeros((model.nactuator, capacity, POWERS))
        for k in range(model.nactuator):
            joint = int(m.actuator_trnid[k, 0])
            if m.actuator_trntype[k] in (TRN_JOINT, TRN_JOINTINPARENT) and m.jnt_type[joint] in (HINGE, SLIDE):
                table[k, :segments, POWERS - len(curve.c) :] = curve.c[:, :, m.jnt_dofadr[joint]].T
                table[k, :segments, -1] += self.motion.first[m.jnt_qposadr[joint]]
            elif self._controls(model, k):
                name = model.names("actuator")[k]
                raise OptionError(f"follow: actuator {name!r} is on no hinge or slide; leave it out by actuators=")
        head = np.zeros(HEAD)
        head[:] = self.motion.start, self.motion.period, self.motion.end
        return np.concatenate([self.control.parameters(model), head, begins, table.reshape(-1)])

    def _controls(self, model: Model, k: int) -> bool:
        """Whether the controller acts on actuator k."""
        chosen = self.control.actuators
        return chosen is None or model.names("actuator")[k] in chosen


def follow(control: PID | ModelBasedControl, motion: ReferenceMotion) -> Following:
    """The controller in the time loop with a motion as its target, evaluated with every acceleration.

    `control`: a `saltus.PID`, `saltus.computed_torque` or `saltus.gravity_compensation`, whose own target is replaced:
    PID and gravity compensation follow position and velocity, computed torque also the acceleration, so that its errors
    e'' + kd e' + kp e = 0 do not know of the motion. `motion`: from `saltus.minimum_jerk`, `saltus.spline`,
    `saltus.gait` or `saltus.read_motion`, of a model with the same joints; actuators on hinges and slides follow it.

    Raises:
        OptionError: another controller or motion; from the simulation, a motion of other joints.
    """
    if not isinstance(motion, ReferenceMotion):
        raise OptionError(f"follow: motion must be a ReferenceMotion, got {type(motion).__name__}")
    laws = (pid, computed_torque, gravity_compensation)
    if not isinstance(control, (PID, ModelBasedControl)) or control.law not in laws:
        raise OptionError("follow: control must be a saltus.PID, saltus.computed_torque or saltus.gravity_compensation")
    return Following(control, motion)
