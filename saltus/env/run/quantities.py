"""Quantities that terms and observations read beyond the state, and the kernels that compute them after a step.

Two times are possible. "present": at the state that the step has reached, which costs a forward pass if more than the
state is read. "step": as left by the integrator, as with MuJoCo's `mj_step`: at the start of the last substep, or its
last stage under Runge-Kutta methods.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from saltus.dynamics.control import READS_BODIES
from saltus.dynamics.tree.com_frame import centre_of_mass
from saltus.dynamics.tree.kinematics import attached_frames
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.model.layout import DATA
from saltus.number.kernels import kernel
from saltus.sense.delay import delayed_readings
from saltus.sense.forces import body_forces, external_wrenches
from saltus.sense.sensors import sense
from saltus.sense.subtree import subtree_momenta
from saltus.solve.acceleration import forward as accelerations

TIMES = ("present", "step")
STATE = {"time", "timestep", "qpos", "qvel", "act", "ctrl", "history", "plastic", "mocap_pos", "mocap_quat", "userdata"}
STATE |= {"eq_active", "control_prm", "qfrc_applied", "xfrc_applied"}
FRAMES = {"ximat", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat"}
CENTRES = {"subtree_com"}
WRENCHES = {"cfrc_ext"}
BODIES = {"cacc", "cfrc_int"}
MOMENTA = {"subtree_linvel", "subtree_angmom"}
NOT_LEFT = BODIES | MOMENTA | {"sensordata", "energy", "qLD", "qLDiagInv", "crb", "qfrc_inverse", "qfrc_smooth"}
NEVER = {"qfrc_inverse"}


class Quantities:
    """Fields of Data that an environment reads: `names`; `words` for the layout of Model; the kernels for them."""

    def __init__(self, names: Iterable[str], time: str):
        if time not in TIMES:
            raise OptionError.unknown("time of quantities", time, TIMES)
        self.names = frozenset(names) & set(DATA.fields) - STATE
        self.left = time == "step"
        missing = self.names & (NOT_LEFT if self.left else NEVER)
        if missing:
            how = 'with quantities = "step"; use "present"' if self.left else ""
            raise OptionError(f"an environment cannot read {', '.join(sorted(missing))} {how}".rstrip())

    @property
    def reads(self) -> frozenset[str]:
        """Feature keys of the quantities that steps must keep."""
        return frozenset({READS_BODIES}) if self.names and self.left else frozenset()

    @property
    def words(self) -> frozenset[str]:
        """Feature keys of the quantities computed after a step, except those of sensors."""
        found = {"sense_body"} if self.names & (WRENCHES | BODIES) else set()
        return frozenset(found | ({"sense_subtree"} if self.names & MOMENTA else set()))

    def after_step(self) -> Kernel:
        """The kernel f(m, s, d) to call after the last substep; it returns a status."""
        if not self.left:
            return self.after_reset()
        kernels: list[Any] = []
        if self.names & FRAMES:
            kernels.append(_frames)
        if self.names & CENTRES:
            kernels.append(_centres)
        if self.names & WRENCHES:
            kernels.append(_wrenches)
        return _in_turn(kernels)

    def after_reset(self) -> Kernel:
        """The kernel f(m, s, d) to call at the start of an episode; it returns a status.

        External wrenches are zero there if quantities are those of the step: MuJoCo's forward pass leaves them out.
        """
        kernels: list[Any] = [_forward] if self.names else []
        if self.left and self.names & WRENCHES:
            kernels.append(_no_wrenches)
        if not self.left:
            found = {"sensordata": _readings}
            kernels += [found[name] for name in found if name in self.names]
            if self.names & (WRENCHES | BODIES):
                kernels.append(_bodies)
            if self.names & MOMENTA:
                kernels.append(_momenta)
        return _in_turn(kernels)


@kernel
def _forward(m, s, d):
    return accelerations(m, d)


@kernel
def _frames(m, s, d):
    attached_frames(m, d)
    return 0


@kernel
def _centres(m, s, d):
    centre_of_mass(m, d)
    return 0


@kernel
def _wrenches(m, s, d):
    external_wrenches(s, d)
    return 0


@kernel
def _no_wrenches(m, s, d):
    zero = 0.0 * d.time
    for b in range(m.nbody):
        d.cfrc_ext[b] = (zero, zero, zero, zero, zero, zero)
    return 0


@kernel
def _readings(m, s, d):
    sense(s, d)
    delayed_readings(s, d)
    return 0


@kernel
def _bodies(m, s, d):
    body_forces(s, d)
    return 0


@kernel
def _momenta(m, s, d):
    subtree_momenta(s, d)
    return 0


@kernel
def _nothing(m, s, d):
    return 0


def _in_turn(kernels: list[Any]) -> Kernel:
    made = _nothing
    for one in reversed(kernels):
        made = _first(one, made)
    return made


@functools.cache
def _first(one: Callable[..., int], rest: Callable[..., int]) -> Any:
    @kernel(inline=True)
    def both(m, s, d):
        return max(one(m, s, d), rest(m, s, d))

    return both
