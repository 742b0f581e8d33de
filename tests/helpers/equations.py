"""The engine's own inertia and bias as kernels that a user might give: from qpos and qvel alone, for any model."""

from saltus.dynamics.equations import EQUATIONS
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.tree.inertia import composite_inertia
from saltus.dynamics.tree.rnea import newton_euler_backward, newton_euler_forward
from saltus.dynamics.user_laws import register
from saltus.model.compile.kernel_model import UserLaws
from saltus.number.kernels import kernel


@kernel
def inertia(m, d):
    position_stage(m, d, 1)
    composite_inertia(m, d)


@kernel
def bias(m, d):
    position_stage(m, d, 1)
    newton_euler_forward(m, d, d, 0, 1)
    newton_euler_backward(m, d, d, d.qfrc_bias)


def with_equations(model):
    """The kernels' Model of a model that takes the two for given equations."""
    return model.struct(laws=UserLaws(equations=EQUATIONS + register((inertia, bias))))
