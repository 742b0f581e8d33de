"""Controllers inside the time loop: kernels that set the controls from the state, optionally with states.

A controller is a kernel law(m, d, z), see `saltus.dynamics.user_laws`: it sets ctrl; its states are act[z:], whose
rates it writes to act_dot[z:].
"""

from numba.extending import overload

from saltus.dynamics.tree.com_frame import centre_of_mass
from saltus.dynamics.tree.kinematics import attached_frames
from saltus.dynamics.user_laws import check_types, laws_of, register
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
)
from saltus.number.features import looks_at
from saltus.number.functions import clip, floor, where
from saltus.number.kernels import CHOICE, kernel, only_with

AT_STAGES, AT_STEPS = "control_", "hold_"  # key prefixes: evaluated with every acceleration, or once per step
# features for quantities that a controller reads but steps do not need; with any of them all body quantities are kept
READS_BODIES, READS_FRAMES, READS_CENTRES = "reads_bodies", "reads_frames", "reads_centres"


@looks_at(AT_STAGES)
def _at_stages(m, d, z):
    """Controls and state rates of a continuous controller at the present state; does nothing without one."""


@looks_at(AT_STEPS)
def _at_steps(m, d, z):
    """Controls and state rates of a zero-order-hold controller; does nothing without one."""


def _choose(m, d, z, beginning):
    found = laws_of(m, beginning)
    if found is None:
        return lambda m, d, z: None
    (law,) = found
    check_types("controller", law, (m, d, z))
    return lambda m, d, z: law(m, d, z)


@overload(_at_stages, strict=False, jit_options=CHOICE)
def _choose_at_stages(m, d, z):
    return _choose(m, d, z, AT_STAGES)


@overload(_at_steps, strict=False, jit_options=CHOICE)
def _choose_at_steps(m, d, z):
    return _choose(m, d, z, AT_STEPS)


@only_with(READS_FRAMES)
@kernel
def read_frames(m, d):
    """Poses of geoms, sites and principal axes of inertia, for controllers that read them."""
    attached_frames(m, d)


@only_with(READS_CENTRES)
@kernel
def read_centres(m, d):
    """Centres of mass of all subtrees, for controllers that read them; steps need only those of whole trees."""
    centre_of_mass(m, d)


@kernel
def control(m, d):
    """ctrl [nu] and the rates of controller states, at the present positions, velocities and time."""
    read_frames(m, d)
    read_centres(m, d)
    _at_stages(m, d, m.nact - m.ncontrol_state)


@only_with(AT_STEPS)
@kernel
def held_control(m, d):
    """`control` for a controller that is evaluated once per step (zero-order hold)."""
    read_frames(m, d)
    read_centres(m, d)
    _at_steps(m, d, m.nact - m.ncontrol_state)


@kernel
def pid(m, d, z):
    """u = kp e + ki z + kd (r - v) for each actuator k with gains, dz/dt = e, with the error e = target - position.

    The parameters of actuator k are control_prm[PID_PARAMETERS k:], at the places that `saltus.model.actuator_enums`
    names. While the control is saturated, by its limit or the actuator's range, the integral accepts only errors that
    lead out of saturation: conditional integration (Åström & Hägglund, PID Controllers: Theory, Design, and Tuning
    (1995), 3.5).
    """
    for k in range(m.nactuator):
        p = PID_PARAMETERS * k
        if m.actuator_ctrlnum[k] == 1:
            o = m.actuator_outadr[k]
            c = m.actuator_ctrladr[k]
            inverse = d.control_prm[p + PID_INVERSE_GEAR]
            error = d.control_prm[p + PID_TARGET] - inverse * d.actuator_length[o]
            period = d.control_prm[p + PID_PERIOD]
            wraps = period > 0.0
            one = 0.0 * period + 1.0
            # wrap the error into (-period/2, period/2]
            turns = -floor(0.5 - error / where(wraps, period, one))
            error = where(wraps, error - period * turns, error)
            # control, and its saturation
            u = d.control_prm[p + PID_KP] * error + d.control_prm[p + PID_KI] * d.act[z + k]
            u = u + d.control_prm[p + PID_KD] * (d.control_prm[p + PID_RATE] - inverse * d.actuator_velocity[o])
            limit = d.control_prm[p + PID_LIMIT]
            limited = clip(u, -limit, limit)
            limited = where(limit > 0.0, limited, u)
            if m.actuator_ctrllimited[c]:
                limited = clip(limited, m.actuator_ctrlrange[c, 0], m.actuator_ctrlrange[c, 1])
            zero = 0.0 * error
            # conditional integration
            winds = ((u > limited) & (error > 0.0)) | ((u < limited) & (error < 0.0))
            on = d.control_prm[p + PID_ON] > 0.5
            d.ctrl[c] = where(on, limited, 0.0 * limited + d.ctrl[c])
            d.act_dot[z + k] = where(on, where(winds, zero, error), zero)
        else:
            d.act_dot[z + k] = 0.0 * d.time


register((pid,))
