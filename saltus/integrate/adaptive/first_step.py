"""The size of the first step, from the state and its slopes."""

from saltus.integrate.adaptive.memory import ERROR_BEFORE, STEP
from saltus.number.components import frozen
from saltus.number.functions import absolute, maximum, minimum, where
from saltus.number.kernels import kernel


@kernel
def first_step_size(m, d):
    """Set the first step size (s), unless one is known, from the largest velocity v and acceleration a.

    h = 0.01 min(1 / v, max(v, 1e-3) / a, 100), after Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations
    I (1993), II.4. Reads qvel, qacc [nv].
    """
    speed = 1e-10 + 0.0 * d.time
    force = speed
    for i in range(m.nv):
        speed = maximum(speed, absolute(d.qvel[i]))
        force = maximum(force, absolute(d.qacc[i]))
    guess = 0.01 * minimum(1.0 / speed, minimum(maximum(speed, 1e-3 + 0.0 * speed) / force, 100.0 + 0.0 * speed))
    known = d.memory[STEP] > 0.0
    d.memory[STEP] = frozen(where(known, d.memory[STEP], guess))
    d.memory[ERROR_BEFORE] = where(known, d.memory[ERROR_BEFORE], 1e-4 + 0.0 * guess)
