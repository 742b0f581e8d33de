"""Dense output of any one-step method, for event location inside a step.

dopri5 has its own dense output. For any other method a shorter step from the same start serves as dense output, of the
method's order. Such a method is named by a feature key in the Model's layout (see `saltus.model.layout`); it begins
each step without memory of earlier ones.
"""

from typing import Any

from numba.extending import overload

from saltus.integrate.dense.dense_output import interpolate
from saltus.number.cache.fingerprint import fingerprint
from saltus.number.conditions import has
from saltus.number.features import looks_at
from saltus.number.kernels import CHOICE, kernel
from saltus.solve.status import OK

FIXED = "steps_"  # prefix of the feature key
PARTS = 4  # parts of a step, at whose ends event functions are sampled
METHODS: dict[str, Any] = {}  # feature key without its prefix -> kernel step(m, d, h, *parameters)


def method_word(step: Any) -> str:
    """Register a method's kernel for the compilation of loops; returns its feature key."""
    function = step.py_func
    parts = function.__module__.rsplit(".", 1)[-1].strip("_"), fingerprint(function)[:12]
    word = "_".join(part for part in parts if part)
    METHODS[word] = step
    return FIXED + word


@looks_at(FIXED)
def _one_step(m, d, h, method):
    """One step of h seconds of a method with its parameters (a tuple)."""


@overload(_one_step, strict=False, jit_options=CHOICE)
def _choose_step(m, d, h, method):
    word = next(w for w in m.layout.features if w.startswith(FIXED))
    step = METHODS[word.removeprefix(FIXED)]
    if len(method) == 0:
        return lambda m, d, h, method: step(m, d, h)
    if len(method) == 1:
        return lambda m, d, h, method: step(m, d, h, method[0])
    if len(method) == 2:
        return lambda m, d, h, method: step(m, d, h, method[0], method[1])
    return lambda m, d, h, method: step(m, d, h, *method)


@kernel
def state_at(m, d, h, start, theta, method):
    """The state at the fraction theta of a step of h seconds that began at `start` (s). Returns a status."""
    # dopri5: its dense output
    if not has(m, FIXED):
        interpolate(m, d, h, start, theta)
        return OK
    # state at the step's start, without memory
    for k in range(m.nq):
        d.qpos[k] = d.qpos_start[k]
    for i in range(m.nv):
        d.qvel[i] = d.qvel_start[i]
    for k in range(m.nact):
        d.act[k] = d.act_start[k]
    for k in range(d.nmemory):
        d.memory[k] = 0.0 * start
    d.time = start
    # a step of theta h
    status = OK
    if theta > 0.0:
        status = _one_step(m, d, theta * h, method)
    d.time = start + theta * h
    return status


@kernel
def keep_start(m, d):
    """Save the current state in qpos_start, qvel_start, act_start, as the start of the next step."""
    for k in range(m.nq):
        d.qpos_start[k] = d.qpos[k]
    for i in range(m.nv):
        d.qvel_start[i] = d.qvel[i]
    for k in range(m.nact):
        d.act_start[k] = d.act[k]
