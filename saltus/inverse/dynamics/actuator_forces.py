"""Forces of actuators as linear functions of one effort each: an activation, or a control."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.inverse.dynamics.recorded_forces import RecordedForces
from saltus.inverse.dynamics.unconstrained import unconstrained
from saltus.model.actuator_enums import DYN_FILTER, DYN_FILTEREXACT, DYN_HILL, DYN_INTEGRATOR, DYN_MUSCLE, DYN_NONE
from saltus.model.actuator_enums import TRN_BODY as ON_BODY
from saltus.model.compile.drives.bristle_friction import bristle_actuators
from saltus.model.compile.drives.current_limits import current_limits
from saltus.model.compile.drives.torque_curves import torque_curves
from saltus.model.model import Model

Array = NDArray[np.float64]
LAWS = (DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_FILTEREXACT, DYN_MUSCLE, DYN_HILL)
ACTIVATIONS = (DYN_MUSCLE, DYN_HILL)  # states from 0 to 1
TRIED = (0.5, 1.0, 0.75)  # efforts: two that give a line, and one that must lie on it


class Sample(NamedTuple):
    """Actuators in one position and velocity: force = gain effort + bias [nu] (N, N m) on joints by arms [nu, nv].

    rest [nv] (N, N m): what they exert on joints besides, the gravity compensation that is left to them.
    """

    gain: Array
    bias: Array
    arms: Array
    rest: Array


class AffineActuators:
    """The actuators of a model, whose forces are linear in their efforts.

    least, greatest [nu]: efforts. least_force, greatest_force [nu] (N, N m). joint_range [nv, 2] (N, N m): of what all
    actuators together exert on joints.
    """

    def __init__(self, model: Model):
        from saltus.simulate.simulation import Simulation

        _refuse_others(model)
        m = copy.copy(model.mj_model)
        self.names = tuple(model.names("actuator"))
        self.least_force, self.greatest_force = _ranges(m.actuator_forcelimited, m.actuator_forcerange)
        self.joint_range = np.tile([-np.inf, np.inf], (m.nv, 1))
        for limited, span, i in zip(m.jnt_actfrclimited, m.jnt_actfrcrange, m.jnt_dofadr, strict=True):
            if limited:
                self.joint_range[i] = span
        # without ranges, so that forces are the laws' own
        m.actuator_forcelimited[:] = m.actuator_ctrllimited[:] = m.actuator_actlimited[:] = 0
        m.jnt_actfrclimited[:] = 0
        self._sim: Any = Simulation(unconstrained(model.with_values_of(m, {})), contact="soft")
        views = self._sim.engine.m.views
        laws, count, first = (np.array(views[f"actuator_{f}"]) for f in ("dyntype", "actnum", "actadr"))
        for name, law, states in zip(self.names, laws, count, strict=True):
            if law not in LAWS or states != int(law != DYN_NONE):
                raise _refusal(name, "has states besides one effort, as motors and servos do")
        self._states, self._with_state = first[laws != DYN_NONE], laws != DYN_NONE
        self.least, self.greatest = self._effort_ranges(model, laws)

    def at(self, forces: RecordedForces, k: int) -> Sample:
        """Forces and moment arms at sample k of a motion."""
        sim, found = self._sim, []
        sim.qpos[:], sim.qvel[:] = forces.qpos[k], forces.qvel[k]
        if len(sim.mocap_pos):
            sim.mocap_pos[:], sim.mocap_quat[:] = forces.mocap_pos[k], forces.mocap_quat[k]
        for effort in TRIED:
            sim.act[self._states], sim.ctrl[:] = effort, effort
            sim.forward()
            found.append(np.array(sim.data.actuator_force))
        gain = (found[1] - found[0]) / (TRIED[1] - TRIED[0])
        bias = found[1] - TRIED[1] * gain
        off = abs(found[2] - bias - TRIED[2] * gain) > 1e-9 * np.maximum(abs(found[1]), 1e-9)
        if off.any():
            raise _refusal(self.names[int(np.argmax(off))], "exerts a force that is not linear in its effort")
        arms = np.array(sim.data.actuator_moment)
        return Sample(gain, bias, arms, np.array(sim.data.qfrc_actuator) - arms.T @ found[2])

    def _effort_ranges(self, model: Model, laws: Array) -> tuple[Array, Array]:
        """Least and greatest efforts [nu]: 0 to 1 for muscles, ranges of activations or controls for others."""
        m = model.mj_model
        clamps = not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL.value
        least, greatest = _ranges(m.actuator_ctrllimited * clamps, m.actuator_ctrlrange)
        least[laws == DYN_INTEGRATOR], greatest[laws == DYN_INTEGRATOR] = -np.inf, np.inf
        low, high = _ranges(m.actuator_actlimited, m.actuator_actrange)
        stateful = self._with_state
        least[stateful] = np.maximum(least, low)[stateful]
        greatest[stateful] = np.minimum(greatest, high)[stateful]
        muscles = np.isin(laws, ACTIVATIONS)
        least[muscles], greatest[muscles] = 0.0, 1.0
        return least, greatest


def _ranges(limited: Array, span: Array) -> tuple[Array, Array]:
    """Ends of ranges, infinite where there is no limit."""
    on = np.asarray(limited, bool)
    return np.where(on, span[:, 0], -np.inf), np.where(on, span[:, 1], np.inf)


def _refuse_others(model: Model) -> None:
    """OptionError for actuators that this cannot describe."""
    m = model.mj_model
    if not m.nactuator:
        raise OptionError("static_optimization: the model has no actuators")
    reasons = {
        "is friction by bristles, whose state a motion does not tell": _among(bristle_actuators(m), m.nactuator),
        "has several controls or outputs": (m.actuator_ctrlnum != 1) | (m.actuator_outnum != 1),
        "acts by contacts (adhesion)": m.actuator_trntype == ON_BODY,
        "has a delay, so that forces follow from past controls": m.actuator_delay > 0,
        "has a torque that its speed limits (torque curve)": _among(list(torque_curves(m)), m.nactuator),
        "has a current that is limited (current_limit of a motor)": _among(list(current_limits(m)), m.nactuator),
        "exerts the force of its next activation (actearly)": m.actuator_actearly != 0,
    }
    for reason, there in reasons.items():
        if np.any(there):
            raise _refusal(model.names("actuator")[int(np.argmax(there))], reason)
    for name, muscle in model.muscles.items():
        if not muscle.rigid_tendon:
            raise OptionError(
                f"static_optimization: the tendon of muscle {name} is elastic, so that its force is not linear in the "
                "activation; give it rigid_tendon=True"
            )
    if np.any(m.tendon_actfrclimited):
        name = model.names("tendon")[int(np.argmax(m.tendon_actfrclimited))]
        raise OptionError(
            f"static_optimization: tendon {name} limits the sum of its actuators' forces (actuatorfrcrange), which is "
            "not supported; limit the actuators instead"
        )


def _among(places: ArrayLike, n: int) -> NDArray[np.bool_]:
    """Mask [n] of places."""
    return np.isin(np.arange(n), places)


def _refusal(name: str, reason: str) -> OptionError:
    return OptionError(f"static_optimization: actuator {name} {reason}; leave it out of the model")
