"""MuJoCo's compiler, and the memory that it reserves for MuJoCo's own simulations.

Unless a file sets it, this memory grows with the square of the degrees of freedom: a hundred GB for ten thousand free
bodies. Saltus does not use it.
"""

import mujoco
import numpy as np

ARENA = 1 << 28  # bytes
OUT_OF_MEMORY = "Could not allocate memory"
NOT_IMPLICIT = "flex elasticity is no longer integrated implicitly"
IMPLICIT = (mujoco.mjtIntegrator.mjINT_IMPLICIT.value, mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value)


def compile_spec(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The compiled model, with ARENA bytes for MuJoCo's simulations if the default does not fit into memory.

    The implicit integrators keep elastic deformable bodies, which MuJoCo 4.0 refuses: here their elastic forces are
    those of the step's start (see `elastic_explicitly`).

    Raises the errors of MuJoCo's compiler: ValueError, RuntimeError or mujoco.FatalError.
    """
    try:
        return spec.compile()
    except ValueError as error:
        if NOT_IMPLICIT in str(error):
            return _compile_elastic(spec)
        if spec.memory >= 0 or OUT_OF_MEMORY not in str(error):
            raise
    spec.memory = ARENA  # pyright: ignore[reportAttributeAccessIssue] (its stubs do not know it)
    try:
        return spec.compile()
    finally:
        spec.memory = -1  # pyright: ignore[reportAttributeAccessIssue]


def _compile_elastic(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The compiled model with the integrator of the file, which MuJoCo's compiler does not accept."""
    given, euler = spec.option.integrator, mujoco.mjtIntegrator.mjINT_EULER.value
    spec.option.integrator = euler
    try:
        compiled = compile_spec(spec)
    finally:
        spec.option.integrator = given
    compiled.opt.integrator = given
    return compiled


def elastic_explicitly(m: mujoco.MjModel) -> bool:
    """Whether the file's integrator is implicit in velocities, and there are elastic forces that it leaves explicit."""
    return m.opt.integrator in IMPLICIT and bool(np.any(m.flex_stiffness) or np.any(m.flex_bending))
