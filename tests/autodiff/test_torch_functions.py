"""Steps and runs as functions of PyTorch tensors.

Reference: central differences, by `torch.autograd.gradcheck`. Steps of 1e-5: truncation below 1e-9, rounding and what
the constraint solver leaves 1e-8; agreement is asked to 1e-6.
"""

import numpy as np
import pytest
from helpers.differentiated import MADE, PENDULUM, TUMBLING, ball, pendulum, value_of

import saltus
import saltus.torch

torch = pytest.importorskip(
    "torch", exc_type=ImportError, reason="PyTorch is not installed: pip install 'saltus[torch]'"
)
HOW = {"eps": 1e-5, "atol": 1e-6, "rtol": 1e-6}


def tensor(values, dtype=None):
    return torch.tensor(np.array(values), dtype=dtype or torch.float64, requires_grad=True)


def state_of(sim):
    return [tensor(x) for x in (sim.qpos, sim.qvel, sim.act, sim.ctrl)]


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_gradcheck_of_a_step_and_of_a_run(make):
    sim, name = make(), MADE[make]
    value = tensor(value_of(sim, name))

    def step(*given):
        return saltus.torch.step(sim, *given[:4], parameters={name: given[4]})

    def run(*given):
        return saltus.torch.run(sim, *given[:4], steps=3, parameters={name: given[4]})

    qpos, qvel, act, ctrl = state_of(sim)
    assert torch.autograd.gradcheck(step, (qpos, qvel, act, ctrl, value), **HOW)
    rows = tensor(0.1 * np.arange(3.0)[:, None] + sim.ctrl) if len(sim.ctrl) else None
    assert torch.autograd.gradcheck(run, (qpos, qvel, act, rows, value), **HOW)


def test_gradcheck_of_quaternions_and_of_a_held_control():
    sim = saltus.Simulation(TUMBLING, "euler")
    qpos, qvel = tensor(np.random.default_rng(0).normal(size=11)), tensor(np.random.default_rng(1).normal(size=9))
    assert torch.autograd.gradcheck(lambda q, v: saltus.torch.step(sim, q, v)[:2], (qpos, qvel), **HOW)
    sim = pendulum()
    qpos, qvel, _, ctrl = state_of(sim)
    assert torch.autograd.gradcheck(lambda u: saltus.torch.run(sim, qpos, qvel, ctrl=u, steps=4)[0], (ctrl,), **HOW)


def test_gradcheck_of_a_batch():
    batch = saltus.Batch(PENDULUM, 3, "rk4", vary=["body_mass"])
    rng = np.random.default_rng(0)
    qpos, qvel, masses = tensor(rng.normal(size=(3, 1))), tensor(rng.normal(size=(3, 1))), tensor([1.0, 2.0, 3.0])

    def run(q, v, m):
        return saltus.torch.run(batch, q, v, steps=3, parameters={"body_mass[link]": m})[:2]

    assert torch.autograd.gradcheck(run, (qpos, qvel, masses), **HOW)
    assert torch.autograd.gradcheck(run, (qpos, qvel, tensor(2.0)), **HOW)


def test_samples_are_those_of_the_simulation():
    sim = ball()
    qpos, qvel, _ = saltus.torch.run(sim, torch.tensor(sim.qpos), torch.tensor(sim.qvel), steps=5)
    assert not qpos.requires_grad
    np.testing.assert_allclose(qpos[0], sim.qpos, rtol=1e-15)
    sim.step(5)
    np.testing.assert_allclose(qpos[-1], sim.qpos, rtol=1e-13)
    np.testing.assert_allclose(qvel[-1], sim.qvel, rtol=1e-12)


def test_single_precision_is_rounded_at_the_ends():
    """Inputs and results are float32, what is between is not: relative errors are a few units of 6e-8."""
    sim = pendulum()
    found = {}
    for dtype in (torch.float32, torch.float64):
        qpos, qvel = tensor([0.5], dtype), tensor([0.25], dtype)
        end = saltus.torch.run(sim, qpos, qvel, steps=50).qpos[-1, 0]
        end.backward()
        assert end.dtype == qpos.grad.dtype == dtype
        found[dtype] = np.array([x.item() for x in (end, qpos.grad, qvel.grad)])
    np.testing.assert_allclose(found[torch.float32], found[torch.float64], rtol=3e-7)


def test_steps_one_by_one_are_a_run():
    sim = pendulum()
    ends = []
    for whole in (True, False):
        qpos, qvel, act, ctrl = state_of(sim)
        q, v = qpos, qvel
        if whole:
            q = saltus.torch.run(sim, q, v, act, ctrl, 6).qpos[-1]
        else:
            for _ in range(6):
                q, v, _ = saltus.torch.step(sim, q, v, act, ctrl)
        q.sum().backward()
        ends.append([x.item() for x in (q, qpos.grad, qvel.grad, ctrl.grad)])
    np.testing.assert_allclose(*ends, rtol=1e-12)


def test_a_gradient_is_used_once_and_needs_what_was_given():
    sim = pendulum()
    qpos, qvel, _, ctrl = state_of(sim)
    (by_qpos,) = torch.autograd.grad(saltus.torch.step(sim, qpos, qvel, ctrl=ctrl).qpos.sum(), qpos, create_graph=True)
    with pytest.raises(saltus.OptionError, match="first derivatives only"):
        by_qpos.sum().backward()
    end = saltus.torch.step(sim, qpos, qvel, ctrl=ctrl).qpos.sum()
    with torch.no_grad():
        ctrl += 1.0
    with pytest.raises(RuntimeError, match="inplace"):
        end.backward()


def test_what_is_wrong_is_named():
    sim = pendulum()
    qpos, qvel, *_ = state_of(sim)
    for given, said in (
        (([0.5], qvel), "qpos must be a tensor of float32 or float64, not list"),
        ((qpos.detach().int(), qvel), "qpos must be a tensor of float32 or float64, not torch.int32"),
        ((tensor([0.5, 1.0]), qvel), r"qpos must have shape \[1\], not \[2\]"),
        ((qpos, qvel, None, "x"), r"ctrl must have shape \[1\], not \[\]"),
    ):
        with pytest.raises(saltus.OptionError, match=said):
            saltus.torch.step(sim, *given)
    guided = saltus.Simulation(PENDULUM, "rk4", motions={"h": lambda t: t})
    saltus.torch.step(guided, qpos.detach(), qvel.detach())
    with pytest.raises(saltus.OptionError, match="prescribed motions"):
        saltus.torch.step(guided, qpos, qvel)
    with pytest.raises(saltus.OptionError, match="steps"):
        saltus.torch.run(sim, qpos, qvel, steps=0)
