"""Controllers that run inside the time loop: kernels that set the controls from the state, with states of their own.

Which one belongs to a model is told by a word among the features of its layout (see `saltus.model.layout`), so that a
step is compiled with its controller, and without any where there is none.
"""

from numba.extending import overload

from saltus.errors import OptionError
from saltus.number.fingerprint import fingerprint
from saltus.number.functions import clip, floor, where
from saltus.number.kernels import kernel, only_with

LAWS: dict = {}  # word -> kernel law(m, d, z): sets ctrl; its states are act[z:], whose rates it puts into act_dot[z:]
PID_PARAMETERS = 8  # of each actuator, see `pid`
AT_STAGES, AT_STEPS = "control_", "hold_"  # how the words begin: evaluated with every acceleration, or once a step

CHANGED = "a value that it refers to has changed since its first use; what changes must be one of its parameters"


def law_word(law) -> str:
    """The word of a law: one that changes with all that its code depends on. OptionError where that cannot be told."""
    function = law.py_func
    return "_".join(part for part in (function.__name__, fingerprint(function)[:12]) if part)


def _law(m, beginning):
    """The law of a layout, when it is compiled: what it refers to must still be what its word tells."""
    for word in m.layout.features:
        if word.startswith(beginning):
            law = LAWS[word.removeprefix(beginning)]
            if not word.endswith(law_word(law)):
                raise OptionError(f"{law.py_func.__name__}: {CHANGED}")
            return law
    return None


def _at_stages(m, d, z):
    """The controls and rates of a continuous controller at the present state; nothing without one."""


def _at_steps(m, d, z):
    """The controls and rates of a controller that holds its controls for a step; nothing without one."""


_INLINE = dict(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@overload(_at_stages, strict=False, jit_options=_INLINE)
def _choose_at_stages(m, d, z):
    law = _law(m, AT_STAGES)
    return (lambda m, d, z: None) if law is None else (lambda m, d, z: law(m, d, z))


@overload(_at_steps, strict=False, jit_options=_INLINE)
def _choose_at_steps(m, d, z):
    law = _law(m, AT_STEPS)
    return (lambda m, d, z: None) if law is None else (lambda m, d, z: law(m, d, z))


@kernel
def control(m, d):
    """ctrl [nu] and the rates of the controller's states, at the present positions, velocities and time."""
    _at_stages(m, d, m.nact - m.ncontrol_state)


@only_with(AT_STEPS)
@kernel
def held_control(m, d):
    """The same for a controller that is evaluated once a step."""
    _at_steps(m, d, m.nact - m.ncontrol_state)


@kernel
def pid(m, d, z):
    """u = kp e + ki z - kd v for each actuator k with gains, dz/dt = e, with e the target less the position.

    Parameters of actuator k in control_prm[8 k:]: kp, ki, kd, target (rad, m), limit of |u| (0: none), period of angles
    (0: none), inverse of the gear, 1 if the actuator is controlled. While the control is at its limit, the integral
    takes only what leads away from it.
    """
    for k in range(m.nactuator):
        p = PID_PARAMETERS * k
        if m.actuator_ctrlnum[k] == 1:
            o = m.actuator_outadr[k]
            c = m.actuator_ctrladr[k]
            inverse = d.control_prm[p + 6]
            error = d.control_prm[p + 3] - inverse * d.actuator_length[o]
            period = d.control_prm[p + 5]
            wraps = period > 0.0
            one = 0.0 * period + 1.0
            # into (-period/2, period/2]
            turns = -floor(0.5 - error / where(wraps, period, one))
            error = where(wraps, error - period * turns, error)
            u = d.control_prm[p] * error + d.control_prm[p + 1] * d.act[z + k]
            u = u - d.control_prm[p + 2] * inverse * d.actuator_velocity[o]
            limit = d.control_prm[p + 4]
            limited = clip(u, -limit, limit)
            limited = where(limit > 0.0, limited, u)
            zero = 0.0 * error
            winds = ((u > limited) & (error > 0.0)) | ((u < limited) & (error < 0.0))
            on = d.control_prm[p + 7] > 0.5
            d.ctrl[c] = where(on, limited, 0.0 * limited + d.ctrl[c])
            d.act_dot[z + k] = where(on, where(winds, zero, error), zero)
        else:
            d.act_dot[z + k] = 0.0 * d.time


LAWS[law_word(pid)] = pid
