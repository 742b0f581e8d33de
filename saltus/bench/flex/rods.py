"""Heaps of rods that bend and twist, stacked crosswise over a floor, under `discrete`; and MuJoCo's solver for them."""

from __future__ import annotations

import mujoco
import numpy as np

from saltus.bench.harness import peers

ACROSS = 4  # rods of a layer
SPACING, RADIUS = 0.05, 0.01  # m
SETTLE = 1.0  # s
PREFIX = "rods"  # of the names of cases


class Heap(peers.Constrained):
    """A heap for both sides, each under its integrator `discrete`."""

    integrator = "discrete"
    scheme = mujoco.mjtIntegrator.mjINT_DISCRETE


def heap_of_rods(n: int = 20, segments: int = 10, *, solver: str = "CG", seed: int = 0) -> str:
    """MJCF of n rods in layers, each turned by about a right angle from the last; reproducible from the arguments."""
    rng = np.random.default_rng(seed)
    length = SPACING * segments
    rods = []
    for k in range(n):
        layer, place = divmod(k, ACROSS)
        along, across = rng.uniform(-0.02, 0.02, 2)
        across += 0.25 * length * (place - 0.5 * (ACROSS - 1))
        x, y = (along, across) if layer % 2 == 0 else (across, along)
        turn, height = 90 * (layer % 2) + rng.uniform(-10, 10), 3 * RADIUS * (layer + 1)
        rods.append(f"""
  <flexcomp name="rod{k}" type="grid" dim="1" count="{segments + 1} 1 1" spacing="{SPACING} .1 .1" radius="{RADIUS}"
    mass=".1" pos="{x:.4f} {y:.4f} {height:.4f}" euler="0 0 {turn:.2f}">
    <contact selfcollide="none" friction=".8"/><edge equality="true"/>
    <elasticity young="1e6" poisson=".3" damping=".01"/>
  </flexcomp>""")
    return f"""<mujoco model="{n} rods">
<option integrator="discrete" solver="{solver}"/>
<size memory="900M"/>
<worldbody>
  <geom type="plane" size="9 9 .1"/>{"".join(rods)}
</worldbody>
</mujoco>"""
