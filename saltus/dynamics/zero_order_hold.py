"""Zero-order hold: controls that are constant over a step, like those of a digital servo."""

from saltus.dynamics.actuator.transmission import output
from saltus.dynamics.awake.walks import awake_outputs
from saltus.dynamics.control import AT_STEPS, held_control
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.tendon.length import tendon_velocities
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.number.kernels import kernel, only_with


@only_with(AT_STEPS)
@kernel
def hold_control(m, d, h):
    """Set ctrl [nu] for the step of h seconds that begins now; advance the controller's states by Euler's method."""
    # quantities that controllers read
    position_stage(m, d, 1)
    newton_euler_forward(m, d, d, 0, 1)
    for o in awake_outputs(m, d):
        output(m, d, o)
    tendon_velocities(m, d)
    held_control(m, d)
    # advance the controller's states; they are constant within the step
    for k in range(m.nact - m.ncontrol_state, m.nact):
        d.act[k] = d.act[k] + h * d.act_dot[k]
        d.act_dot[k] = 0.0 * d.time
