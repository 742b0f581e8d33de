"""The derivative of a step in MJX, MuJoCo's engine in JAX, on the processor, beside `linearize`.

JAX pushes forward all directions at once, `jax.jacfwd` of `mjx.step`, compiled by `jax.jit`; compiling is timed apart.
Columns are small changes of positions along the axes of qvel, of velocities and of controls, as those of A and B.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.bench.harness import peers
from saltus.bench.harness.timing import Contender
from saltus.simulate.gradients.coordinates import Coordinates

MISSING = "MJX: not measured, it is not installed; pip install jax mujoco-mjx"


@dataclass(frozen=True)
class MjxDerivative:
    """A and B of a step by MJX and by Saltus, in s of the processor; `ratio`: the speed of Saltus relative to MJX.

    compiling: s until the first derivative is there, which count as neither. difference: the largest of an entry of A
    or B. refused: why MJX does not take the model, whose numbers are then 0.
    """

    model: str
    version: str
    mjx: float = 0.0
    saltus: float = 0.0
    ratio: float = 0.0
    compiling: float = 0.0
    difference: float = 0.0
    refused: str = ""


def is_installed() -> bool:
    """Whether JAX and MJX are there."""
    return all(find_spec(name) for name in ("jax", "mujoco")) and find_spec("mujoco.mjx") is not None


def mjx_derivative(name: str, setup: peers.Constrained, timed: Any) -> MjxDerivative:
    """`jax.jacfwd` of a step in MJX and `linearize`, in turn, from the start of a setup.

    `timed`: how `saltus.bench.harness.timing.in_turn` measures.
    """
    from importlib.metadata import version

    from saltus.bench.harness.timing import in_turn

    installed = version("mujoco-mjx")
    try:
        begin = time.process_time()
        step = MjxStep(setup)
        A, B = step.matrices()
        compiling = time.process_time() - begin
    except (NotImplementedError, ValueError, TypeError) as error:
        return MjxDerivative(name, installed, refused=str(error).partition("\n")[0])
    sim = setup.simulation()
    setup.begin(sim, setup.start)
    found = sim.linearize()
    apart = max(float(abs(x - y).max(initial=0.0)) for x, y in ((A, found[0]), (B, found[1])))
    _, saltus = peers.derivatives(setup)[0]
    times = in_turn([Contender("mjx", lambda: None, step.work, 1), saltus], **timed)
    peer, own = times["mjx"], times["saltus"]
    return MjxDerivative(name, installed, peer.median, own.median, own.ratio_to(peer), compiling, apart)


class MjxStep:
    """A step in MJX in double precision, at the state where the timed steps of a setup begin."""

    def __init__(self, setup: peers.Constrained):
        import jax  # pyright: ignore[reportMissingImports]
        from mujoco import mjx  # pyright: ignore[reportMissingImports, reportAttributeAccessIssue]

        jax.config.update("jax_enable_x64", True)
        self._jax, self._coordinates = jax, Coordinates(setup.model)
        m, data = setup.mujoco, setup.data()
        setup.begin(data, setup.start)
        nv, tangent = m.nv, self._coordinates.changes(data.qpos, np.eye(m.nv))
        model, start = mjx.put_model(m), mjx.put_data(m, data)

        def after(change: Any) -> Any:
            """Positions and velocities after a step from a state that has changed, and the positions once more."""
            moved = start.replace(
                qpos=start.qpos + tangent @ change[:nv],
                qvel=start.qvel + change[nv : 2 * nv],
                ctrl=start.ctrl + change[2 * nv :],
            )
            end = mjx.step(model, moved)
            return jax.numpy.concatenate([end.qpos, end.qvel]), end.qpos

        self._nv, self._none = nv, np.zeros(2 * nv + m.nu)
        self._slopes = jax.jit(jax.jacfwd(after, has_aux=True))

    def work(self) -> tuple[Any, Any]:
        """Derivatives of the state after the step [nq + nv, 2 nv + nu] and positions there, in JAX's memory."""
        return self._jax.block_until_ready(self._slopes(self._none))

    def matrices(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A [2 nv, 2 nv] and B [2 nv, nu], as `linearize` gives them."""
        nq, nv = self._coordinates.nq, self._nv
        slopes, end = map(np.array, self.work())
        back = np.linalg.pinv(self._coordinates.changes(end, np.eye(nv)))
        found = np.asarray(np.concatenate([back @ slopes[:nq], slopes[nq:]]), float)
        return found[:, : 2 * nv], found[:, 2 * nv :]


def told(found: MjxDerivative) -> list[str]:
    """Lines that say what was found."""
    begun = f"{found.model}: jax.jacfwd of a step in MJX {found.version}"
    if found.refused:
        return [f"{begun}: refused, {found.refused}"]
    return [
        f"{begun}, jitted, on the processor in double precision: {found.mjx * 1e3:.3g} ms, "
        f"and {found.compiling:.0f} s before for compiling,",
        f"  linearize {found.saltus * 1e6:.3g} µs, {found.ratio:.3g} x; difference {found.difference:.1g}",
    ]
