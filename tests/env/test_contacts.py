"""Contacts in terms.

Reference: MuJoCo's contacts and `mj_contactForce` at the state that the environment has reached; both solve one convex
problem with a tolerance of 1e-14, so that forces agree to 1e-8 of the largest. A body at rest presses with its weight.
"""

import mujoco
import numpy as np
import pytest

import saltus.env
from saltus.env import Environment, pressing, term, touching, uniform
from saltus.errors import OptionError

WORLD = """
<mujoco>
  <option timestep="0.005" tolerance="1e-14" iterations="200"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body pos="0 0 0.12"><freejoint/><geom name="low" size="0.1" mass="1"/></body>
    <body pos="0 0 0.35"><freejoint/><geom name="high" size="0.1" mass="2"/></body>
    <body pos="1 0 0.5"><freejoint/><geom name="aside" type="box" size="0.1 0.1 0.1" mass="1"/></body>
  </worldbody>
</mujoco>"""
GEOMS = ("floor", "low", "high", "aside")


@term
def heights(m, d, e):
    d.qpos[2] = uniform(e, 0.095, 0.2)
    d.qpos[9] = d.qpos[2] + uniform(e, 0.195, 0.25)
    d.qpos[16] = uniform(e, 0.095, 0.2)


@term
def seen(m, d, e):
    return (
        touching(m, d, e.low, e.high),
        touching(m, d, e.floor),
        touching(m, d, e.aside, e.floor),
        touching(m, d, e.high, e.floor),
    )


@term
def felt(m, d, e):
    return pressing(m, d, e.low, e.high), pressing(m, d, e.floor), pressing(m, d, e.floor, e.aside)


class Falling(Environment):
    model = WORLD
    observation = ("qpos", seen, felt)
    reset = heights
    ids = {name: ("geom", name) for name in GEOMS}


def contacts_of(m, qpos, qvel):
    """Pairs of geoms in contact by name, with their normal forces (N)."""
    data, found = mujoco.MjData(m), {}
    data.qpos, data.qvel = qpos, qvel
    mujoco.mj_forward(m, data)
    for k in range(data.ncon):
        force = np.zeros(6)
        mujoco.mj_contactForce(m, data, k, force)
        pair = frozenset(m.geom(g).name for g in data.contact[k].geom)
        found[pair] = found.get(pair, 0.0) + force[0]
    return found


def test_terms_know_contacts_and_their_forces():
    envs = saltus.env.make_vec(Falling, 6, threads=1)
    m = envs.model.mj_model
    observations, _ = envs.reset(seed=0)
    met = set()
    for _ in range(25):
        qpos, qvel = envs.read("qpos"), envs.read("qvel")
        for i in range(6):
            found = contacts_of(m, qpos[i], qvel[i])
            met |= found.keys()
            of_floor = [pair for pair in found if "floor" in pair]
            low_high, aside = frozenset(("low", "high")), frozenset(("aside", "floor"))
            wanted = [low_high in found, bool(of_floor), aside in found, frozenset(("high", "floor")) in found]
            np.testing.assert_array_equal(observations[i, 21:25], wanted)
            forces = [found.get(low_high, 0.0), sum(found[pair] for pair in of_floor), found.get(aside, 0.0)]
            np.testing.assert_allclose(observations[i, 25:], forces, rtol=1e-8, atol=1e-8 * 100.0)
        observations, *_ = envs.step(np.zeros((6, 0)))
    assert len(met) >= 3, "there was to be contact"


def test_a_body_at_rest_presses_with_its_weight():
    """A second after it was laid down, what is left of the motion is below 1e-6 of it."""
    env = saltus.env.make(Falling)
    qpos = env.model.qpos0.copy()
    qpos[9], qpos[16] = 3.0, 0.1
    env.reset(options={"qpos": qpos})
    for _ in range(120):
        observation, *_ = env.step([])
    assert observation[-1] == pytest.approx(9.81, rel=1e-6)


@pytest.mark.parametrize("name", ["before_step", "reset"])
def test_terms_that_come_before_contacts_are_refused(name):
    @term
    def early(m, d, e):
        d.qvel[0] = touching(m, d, e.floor)

    with pytest.raises(OptionError, match=f"{name} cannot read contacts"):
        saltus.env.make(type("Early", (Falling,), {name: early}))


def test_a_model_without_contacts_touches_nothing():
    class Alone(Environment):
        model = "pendulum"
        observation = (seen, felt)
        ids = {name: ("geom", 0) for name in GEOMS}

    env = saltus.env.make(Alone)
    assert not env.reset()[0].any()
