"""MuJoCo's compiler, and the memory that it reserves for MuJoCo's own simulations.

Unless a file sets it, this memory grows with the square of the degrees of freedom: a hundred GB for ten thousand free
bodies. Saltus does not use it.
"""

import mujoco

ARENA = 1 << 28  # bytes
OUT_OF_MEMORY = "Could not allocate memory"


def compile_spec(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The compiled model, with ARENA bytes for MuJoCo's simulations if the default does not fit into memory.

    Raises the errors of MuJoCo's compiler: ValueError, RuntimeError or mujoco.FatalError.
    """
    try:
        return spec.compile()
    except ValueError as error:
        if spec.memory >= 0 or OUT_OF_MEMORY not in str(error):
            raise
    spec.memory = ARENA  # pyright: ignore[reportAttributeAccessIssue] (its stubs do not know it)
    try:
        return spec.compile()
    finally:
        spec.memory = -1  # pyright: ignore[reportAttributeAccessIssue]
