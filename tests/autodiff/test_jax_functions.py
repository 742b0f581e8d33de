"""Steps and runs as functions of JAX arrays, in a process of their own where JAX computes in float64.

Reference: central differences, by `jax.test_util.check_grads`, whose steps of 1e-5 leave errors of 1e-8 or so.
"""

import numpy as np
import pytest
from helpers.differentiated import MADE, PENDULUM, TUMBLING, pendulum, value_of

import saltus
import saltus.jax

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'saltus[jax]'")
jnp = pytest.importorskip("jax.numpy")
test_util = pytest.importorskip("jax.test_util")
HOW = {"order": 1, "modes": ["rev"], "eps": 1e-5, "atol": 1e-6, "rtol": 1e-6}


@pytest.fixture(autouse=True)
def float64():
    """JAX's numbers are of double precision within a test."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def state_of(sim):
    return [jnp.array(np.array(x)) for x in (sim.qpos, sim.qvel, sim.act, sim.ctrl)]


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_gradients_of_a_step_and_of_a_run(make):
    sim, name = make(), MADE[make]
    value = jnp.array(value_of(sim, name))

    def step(*given):
        return tuple(saltus.jax.step(sim, *given[:4], parameters={name: given[4]}))

    def run(*given):
        return tuple(saltus.jax.run(sim, *given[:4], steps=3, parameters={name: given[4]}))

    qpos, qvel, act, ctrl = state_of(sim)
    test_util.check_grads(jax.jit(step), (qpos, qvel, act, ctrl, value), **HOW)
    rows = jnp.array(0.1 * np.arange(3.0)[:, None] + sim.ctrl)
    test_util.check_grads(run, (qpos, qvel, act, rows, value), **HOW)


def test_gradients_of_quaternions():
    sim = saltus.Simulation(TUMBLING, "euler")
    rng = np.random.default_rng(0)
    given = jnp.array(rng.normal(size=11)), jnp.array(rng.normal(size=9))
    test_util.check_grads(lambda q, v: tuple(saltus.jax.step(sim, q, v)[:2]), given, **HOW)


def test_gradients_of_a_batch():
    batch = saltus.Batch(PENDULUM, 3, "rk4", vary=["body_mass"])
    rng = np.random.default_rng(0)
    given = jnp.array(rng.normal(size=(3, 1))), jnp.array(rng.normal(size=(3, 1))), jnp.array([1.0, 2.0, 3.0])

    def run(q, v, m):
        return tuple(saltus.jax.run(batch, q, v, steps=3, parameters={"body_mass[link]": m})[:2])

    test_util.check_grads(run, given, **HOW)


def test_compiled_and_vectorised_gradients_are_the_same():
    sim = pendulum()

    def end(q):
        return saltus.jax.run(sim, q, jnp.array([0.2]), steps=5).qpos[-1, 0]

    starts = jnp.array([[0.3], [0.4]])
    one_by_one = [jax.grad(end)(q) for q in starts]
    np.testing.assert_array_equal(jax.jit(jax.vmap(jax.grad(end)))(starts), one_by_one)
    # a traced function keeps the time and the inputs that the simulation had
    traced = jax.jit(end)
    before = traced(starts[0])
    sim.qfrc_applied[0] = 1.0
    assert traced(starts[0]) == before != end(starts[0])


def test_single_precision_is_rounded_at_the_ends():
    sim = pendulum()
    found = {}
    for x64 in (True, False):
        jax.config.update("jax_enable_x64", x64)
        end, by = jax.value_and_grad(lambda q: saltus.jax.run(sim, q, jnp.array([0.25]), steps=50).qpos[-1, 0])(
            jnp.array([0.5])
        )
        assert end.dtype == by.dtype == (jnp.float64 if x64 else jnp.float32)
        found[x64] = np.array([float(end), float(by[0])])
    np.testing.assert_allclose(found[False], found[True], rtol=3e-7)


def test_what_is_wrong_is_named():
    sim = pendulum()
    with pytest.raises(saltus.OptionError, match=r"qpos must have shape \[1\], not \[2\]"):
        saltus.jax.step(sim, jnp.zeros(2), jnp.zeros(1))
    with pytest.raises(saltus.OptionError, match="qvel must have shape"):
        saltus.jax.step(sim, jnp.zeros(1), "x")
    guided = saltus.Simulation(PENDULUM, "rk4", motions={"h": lambda t: t})
    saltus.jax.step(guided, jnp.zeros(1), jnp.zeros(1))
    with pytest.raises(saltus.OptionError, match="prescribed motions"):
        jax.grad(lambda q: saltus.jax.step(guided, q, jnp.zeros(1)).qpos[0])(jnp.zeros(1))
    with pytest.raises(Exception, match="the state or an input was not finite"):
        jax.block_until_ready(saltus.jax.step(sim, jnp.array([np.nan]), jnp.zeros(1)).qpos)
