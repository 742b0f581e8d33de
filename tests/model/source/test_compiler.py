"""MuJoCo's compiler where it would reserve more memory than there is, or refuses an integrator.

Reference: MuJoCo itself, which refuses such a model; the same model with a size or an integrator of its own.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.model.source.compiler import ARENA, compile_spec

BALL = '<mujoco>{}<worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
HUGE = BALL.format('<size njmax="30000000"/>')


def test_memory_that_nobody_needs_is_not_reserved():
    with pytest.raises(ValueError, match="Could not allocate memory"):
        mujoco.MjSpec.from_string(HUGE).compile()
    spec = mujoco.MjSpec.from_string(HUGE)
    assert compile_spec(spec).narena == ARENA
    assert spec.memory == -1
    sim = saltus.Simulation(HUGE)
    sim.step(10)
    assert sim.qpos[2] < 0.0


def test_what_the_file_asks_for_stays():
    assert saltus.load(BALL.format('<size memory="3M"/>')).mujoco.narena == 3 << 20
    with pytest.raises(saltus.ModelError, match="Could not allocate memory"):
        saltus.load(BALL.format('<size memory="900000G"/>'))


ELASTIC = """<mujoco><option integrator="{0}" timestep=".0005"/><worldbody>
  <flexcomp name="sheet" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".001" mass="1" dim="2">
    <contact contype="0" conaffinity="0" selfcollide="none"/>
    <elasticity young="75000" poisson="0" thickness="0.01" elastic2d="stretch"/><pin id="0 2 6 8"/>
  </flexcomp></worldbody></mujoco>"""


@pytest.mark.parametrize("integrator", ["implicit", "implicitfast"])
@pytest.mark.parametrize("apart", [False, True])
def test_implicit_integrators_keep_elastic_bodies(integrator, apart):
    """MuJoCo 4.0's compiler refuses them. Reference: the file for Euler, moved by that integrator, to the bit."""
    with pytest.raises(ValueError, match="no longer integrated implicitly"):
        mujoco.MjModel.from_xml_string(ELASTIC.format(integrator))
    with pytest.warns(saltus.SaltusWarning, match="elastic forces of deformable bodies are those of each step's start"):
        model = saltus.load(ELASTIC.format(integrator), apart=apart)
    assert model.opt.integrator == integrator
    other = saltus.load(ELASTIC.format("Euler"))
    for name in ("flex_stiffness", "body_mass", "qpos0"):
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name))


@pytest.mark.slow
def test_the_file_s_integrator_moves_as_the_one_that_is_asked_for():
    with pytest.warns(saltus.SaltusWarning, match="implicitfast|implicit"):
        own = saltus.Simulation(ELASTIC.format("implicitfast"))
    asked = saltus.Simulation(ELASTIC.format("Euler"), "implicitfast")
    own.step(100)
    asked.step(100)
    np.testing.assert_array_equal(own.qpos, asked.qpos)
    assert abs(own.qvel).max() > 0.1
