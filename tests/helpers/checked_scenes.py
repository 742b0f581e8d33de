"""Scenes in a checked build, run as a program: SALTUS_CHECKED=1 python -m helpers.checked_scenes NAME ...

Each scene is simulated with scratch full of numbers that show, and once more with scratch full of zeros. Prints, as
JSON, for each whether both agree bit by bit, and whether all numbers are finite; for a planted fault the error's text.
"""

import json
import sys
import warnings

import numpy as np

import saltus
from helpers.selves.whole import touching_tree
from saltus.model.compile.constraints import many_trees
from saltus.number.cache.checked import CHECKED
from saltus.number.kernels import Entry, kernel
from saltus.simulate.engine import engine, poison

BOX = '<body pos="{x} {y} {z}"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>'
CLOTH = """
<mujoco><worldbody><geom type="plane" size="5 5 1"/>
<flexcomp name="cloth" type="grid" count="3 3 1" spacing="0.1 0.1 0.1" pos="0 0 0.02" radius="0.01" mass="0.1" dim="2">
<edge equality="true"/><contact selfcollide="none"/></flexcomp>
<body pos="0 0 0.15"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>
"""
STEPS = 10


def boxes(count, height):
    """Boxes above a plane, a little apart, the first at a height."""
    bodies = "".join(BOX.format(x=0.25 * (k % 4), y=0.25 * (k // 4), z=height + 0.001 * k) for k in range(count))
    return f'<mujoco><worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>'


def soft():
    """A tree whose bodies lie in each other and in a plane."""
    return saltus.Simulation(saltus.load(touching_tree(5, "elliptic")))


def hard():
    """Impacts at located times."""
    return saltus.Simulation("bouncing_ball", contact="hard", timestep=0.1)


def flex():
    """A deformable sheet between a plane and a ball."""
    return saltus.Simulation(saltus.load(CLOTH))


def trees():
    """Many kinematic trees, solved tree by tree."""
    many_trees.FEWEST_TREES, many_trees.FEWEST_DOFS, many_trees.FEW_TREES, many_trees.DOMAIN = 12, 60, 3, 3
    return saltus.Simulation(saltus.load(boxes(14, 0.099)))


def stepping():
    """Moreau's time stepping."""
    return saltus.Simulation(saltus.load(boxes(2, 0.099)), contact="hard", integrator="moreau_jean")


SCENES = {f.__name__: f for f in (soft, hard, flex, trees, stepping)}


def state_after(scene, fill):
    """State and accelerations after some steps, with `fill` in place of `poison`."""
    engine.poison = fill
    sim = scene()
    for _ in range(STEPS):
        sim.step()
    return np.concatenate([sim.qpos, sim.qvel, sim.data.qacc])


def zero(d):
    """Fill scratch with zeros."""
    for name in poison.SCRATCH:
        if name in d.views:
            d.views[name][...] = 0


def compared(scene):
    """Whether numbers in scratch matter."""
    first, second = (state_after(scene, fill) for fill in (poison.poison, zero))
    return {"same": first.tobytes() == second.tobytes(), "finite": bool(np.isfinite(first).all())}


@kernel
def index_past_the_end(m, d):
    """Reads the number after the last velocity."""
    return d.qvel[m.nv]


@kernel
def scratch_before_it_is_written(m, d):
    """Takes an acceleration from scratch."""
    return d.artic_residual[0]


@kernel
def index_from_scratch(m, d):
    """Takes an index from scratch."""
    return d.qvel[d.edge_mark[0]]


def planted(fault):
    """Result of a kernel with a fault: a number, or the error."""
    sim = soft()
    m, d = sim.engine.m, sim.engine.d
    poison.poison(d)
    entry = Entry(f"planted_{fault.py_func.__name__}", "", "return f(m, d)", f=fault)
    try:
        return str(entry(m, d))
    except IndexError as error:
        return str(error)


PLANTED = {f.py_func.__name__: f for f in (index_past_the_end, scratch_before_it_is_written, index_from_scratch)}


def main() -> None:
    """Run the scenes and faults that are named."""
    assert CHECKED, "set SALTUS_CHECKED=1"
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        found = compared(SCENES[name]) if name in SCENES else planted(PLANTED[name])
        print(json.dumps({name: found}), flush=True)


if __name__ == "__main__":
    main()
