"""Model predictive path integral control and predictive sampling (`mppi`).

References: the closed form of the weighted mean for a linear system with quadratic cost, N(0, σ²) exp(-S / λ) being a
Gaussian whose mean solves (1/σ² + H/λ) x = -g/λ, to the Monte-Carlo error of the samples (5 standard errors); single
simulations of the same controls.
"""

import numpy as np
import pytest

import saltus

SPRING = """
<mujoco><option timestep="0.2" gravity="0 0 0"/><worldbody>
  <body><joint name="a" type="slide" axis="1 0 0" stiffness="2" damping=".3"/>
    <geom size=".1" mass="1" contype="0" conaffinity="0"/></body>
  </worldbody><actuator><motor joint="a"/></actuator></mujoco>"""
LIMITED = SPRING.replace('<motor joint="a"/>', '<motor joint="a" ctrlrange="-.1 .2"/>')


def cost(batch):
    return batch.qpos[:, 0] ** 2 + 0.1 * batch.qvel[:, 0] ** 2 + 0.05 * batch.ctrl[:, 0] ** 2


def displaced(text=SPRING, **options):
    sim = saltus.Simulation(text, "euler", **options)
    sim.qpos[0], sim.qvel[0] = 1.0, -0.5
    return sim


def total(u):
    """Cost of controls [T], by a simulation of its own."""
    sim, out = displaced(), 0.0
    for value in u:
        out += sim.qpos[0] ** 2 + 0.1 * sim.qvel[0] ** 2 + 0.05 * value**2
        sim.ctrl[0] = value
        sim.step()
    return out + 3 * sim.qpos[0] ** 2


@pytest.mark.slow
def test_the_plan_is_the_mean_of_the_weighted_samples():
    T, sigma, temperature, samples = 5, 0.7, 0.1, 8000
    # gradient and Hessian of the quadratic cost, exact by differences of any size
    e = np.eye(T)
    g = np.array([(total(x) - total(-x)) / 2 for x in e])
    H = np.array([[total(x + y) - total(x) - total(y) + total(0 * x) for y in e] for x in e])
    precision = e / sigma**2 + H / temperature
    mean = np.linalg.solve(precision, -g / temperature)
    planner = saltus.mppi(
        displaced(),
        cost,
        T,
        noise=sigma,
        final=lambda b: 3 * b.qpos[:, 0] ** 2,
        samples=samples,
        temperature=temperature,
        threads=1,
    )
    now = planner(displaced())
    effective = 1.0 / (planner.weights**2).sum()
    spread = 5 * np.sqrt(np.diag(np.linalg.inv(precision)) / effective)
    assert (np.abs(planner.controls[:, 0] - mean) <= spread).all()
    assert now == planner.controls[0] and abs(mean).max() > 5 * spread.max()


def test_costs_are_those_of_single_simulations():
    planner = saltus.mppi(
        displaced(),
        cost,
        1.0,
        noise=1e-3,
        final=lambda b: 3 * b.qpos[:, 0] ** 2,
        samples=2,
        controls=np.full((5, 1), 0.4),
        threads=1,
    )
    planner(displaced())
    assert np.isclose(planner.costs[0], total(np.full(5, 0.4)), rtol=1e-13)


def test_predictive_sampling_never_costs_more_than_the_plan():
    """The plan itself is a sample, so that replanning from one state lowers the cost, to the least after many."""
    sim = displaced()
    planner = saltus.mppi(sim, cost, 5, noise=0.3, final=lambda b: 3 * b.qpos[:, 0] ** 2, samples=64, threads=1)
    least = []
    for _ in range(30):
        planner(sim)
        least.append(planner.costs.min())
    assert (np.diff(least) <= 0).all()
    e = np.eye(5)
    g = np.array([(total(x) - total(-x)) / 2 for x in e])
    H = np.array([[total(x + y) - total(x) - total(y) + total(0 * x) for y in e] for x in e])
    assert least[-1] <= 1.02 * total(-np.linalg.solve(H, g))


def test_warm_starts_move_the_plan_and_ranges_hold():
    sim = displaced(LIMITED)
    plan = np.linspace(-0.05, 0.15, 8)[:, None]
    planner = saltus.mppi(sim, cost, 8, noise=1e-9, temperature=1.0, samples=4, controls=plan, threads=1)
    planner(sim)
    assert np.allclose(planner.controls, plan, rtol=0, atol=1e-8)
    sim.step(3)
    planner(sim)
    assert np.allclose(planner.controls[:, 0], [*plan[3:, 0], *[plan[-1, 0]] * 3], rtol=0, atol=1e-8)
    wide = saltus.mppi(sim, lambda batch: -batch.ctrl[:, 0], 8, noise=5.0, samples=16, threads=1)
    wide(sim)
    assert wide.controls.min() >= -0.1 and wide.controls.max() <= 0.2 and wide.controls.max() == 0.2


def test_after_a_reset_the_same_plans_are_made():
    plan = np.linspace(-0.5, 0.5, 6)[:, None]
    planner = saltus.mppi(displaced(), cost, 6, noise=0.3, samples=8, controls=plan, temperature=0.1, threads=1)
    made = []
    for _ in range(2):
        sim = displaced()
        made.append([planner(sim) for _ in range(3) if sim.step() is None])
        planner.reset()
        assert (planner.controls == plan).all()
    np.testing.assert_array_equal(*made)
    assert (made[0] != plan[1:4]).all()


def test_a_seed_draws_its_own_noise_and_the_same_again():
    sim = displaced()
    plans = [saltus.mppi(sim, cost, 5, noise=0.5, samples=8, seed=seed, threads=1) for seed in (0, 1, 1)]
    first, other, again = (planner(sim)[0] for planner in plans)
    assert first != other == again
    plans[1].reset()
    assert plans[1](sim)[0] == other


def test_another_state_at_the_same_time_is_planned_for():
    """Plans are those of a planner that has not seen the first state: noise is too small to leave any trace of it."""
    planner = saltus.mppi(displaced(), cost, 6, noise=1e-9, samples=4, every=3, threads=1)
    planner(displaced())
    first, moved = planner.costs.copy(), displaced()
    moved.qpos[0] = 2.0
    planner(moved)
    fresh = saltus.mppi(displaced(), cost, 6, noise=1e-9, samples=4, threads=1)
    fresh(moved)
    np.testing.assert_allclose(planner.costs, fresh.costs, rtol=1e-6)
    assert planner.costs.min() > 2 * first.max()


def test_plans_in_a_run_every_few_steps():
    sim = displaced()
    planner = saltus.mppi(sim, cost, 10, noise=0.5, temperature=0.1, samples=128, every=2, hold=2, threads=1)
    free = displaced()
    sim.run(4.0, control=planner, progress=False)
    free.run(4.0, progress=False)

    def energy(s):
        return s.qvel[0] ** 2 + 2 * s.qpos[0] ** 2

    assert energy(sim) < 0.2 * energy(free)


def of_all(rollout):
    """`cost` of all samples and steps [samples, T], after each step."""
    return rollout.qpos[..., 0] ** 2 + 0.1 * rollout.qvel[..., 0] ** 2 + 0.05 * rollout.ctrl[..., 0] ** 2


def test_costs_of_recorded_fields_are_those_of_single_simulations():
    """Those of the states after each step: the first state is not among them, the last one is."""
    u, sim, wanted = np.full(5, 0.4), displaced(), 0.0
    for value in u:
        sim.ctrl[0] = value
        sim.step()
        wanted += sim.qpos[0] ** 2 + 0.1 * sim.qvel[0] ** 2 + 0.05 * value**2
    how = dict(noise=1e-3, samples=2, controls=u[:, None], threads=1, record=("qpos", "qvel"))
    for each in (of_all, lambda rollout: of_all(rollout).sum(axis=1)):
        planner = saltus.mppi(displaced(), each, 5, **how)
        planner(displaced())
        assert np.isclose(planner.costs[0], wanted, rtol=1e-13)


def test_samples_that_diverge_have_no_weight_in_recorded_fields():
    sim = displaced()
    how = dict(noise=1e15, temperature=1.0, samples=4, threads=1, record=("qpos", "qvel"))
    planner = saltus.mppi(sim, of_all, 3, **how)
    planner(sim)
    assert np.isinf(planner.costs[1:]).all() and planner.weights[0] == 1.0 and not planner.controls.any()


def test_samples_that_diverge_have_no_weight():
    """A force of 1e12 N in one step is beyond the largest velocity: only the plan itself is left."""
    sim = displaced()
    planner = saltus.mppi(sim, cost, 3, noise=1e15, temperature=1.0, samples=4, threads=1)
    planner(sim)
    assert np.isinf(planner.costs[1:]).all() and planner.weights[0] == 1.0 and not planner.controls.any()


def test_a_controller_in_the_time_loop_and_forces_go_with_the_samples():
    control = saltus.PID(3.0, 1.0, 0.2)
    sim = displaced(control=control)
    sim.qfrc_applied[0], sim.act[0] = 0.3, 0.1
    ends = []
    planner = saltus.mppi(
        sim,
        lambda b: 0 * b.time,
        4,
        noise=1.0,
        samples=2,
        threads=1,
        final=lambda b: ends.append(b.qpos[0, 0]) or 0 * b.time,
    )
    planner(sim)
    sim.step(4)
    assert np.isclose(ends[0], sim.qpos[0], rtol=1e-13)


@pytest.mark.parametrize(
    ("make", "arguments", "said"),
    [
        (lambda: displaced(), dict(noise=0.0), "noise must be"),
        (lambda: displaced(), dict(noise=[1, 2]), "noise must be"),
        (lambda: displaced(), dict(temperature=-1.0), "temperature"),
        (lambda: displaced(), dict(samples=1), "samples"),
        (lambda: displaced(), dict(record="qpoz"), "qpoz"),
        (lambda: displaced(), dict(record="qpos", final=cost), "add the cost of its end there"),
        (lambda: displaced(), dict(controls=[[1.0]]), "controls must have shape"),
        (lambda: saltus.Simulation(SPRING, "verlet"), {}, "half steps"),
        (lambda: saltus.Simulation(SPRING.replace('<actuator><motor joint="a"/></actuator>', "")), {}, "no controls"),
        (lambda: saltus.Batch(SPRING, 2, threads=1), {}, "must be a saltus.Simulation"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(make, arguments, said):
    with pytest.raises(saltus.OptionError, match=said):
        saltus.mppi(make(), cost, 4, **{"noise": 1.0, "threads": 1, "samples": 4, **arguments})


def test_costs_of_wrong_shape_are_refused():
    sim = displaced()
    with pytest.raises(saltus.OptionError, match="one number for each sample"):
        saltus.mppi(sim, lambda batch: 1.0, 4, noise=1.0, samples=4, threads=1)(sim)
    with pytest.raises(saltus.OptionError, match="cost must be finite"):
        saltus.mppi(sim, lambda batch: batch.time * np.nan, 4, noise=1.0, samples=4, threads=1)(sim)
    for wrong, said in (
        (lambda rollout: rollout.qpos, "must return"),
        (lambda rollout: rollout.time * np.nan, "cost must be finite"),
    ):
        with pytest.raises(saltus.OptionError, match=said):
            saltus.mppi(sim, wrong, 4, noise=1.0, samples=4, threads=1, record=("qpos", "time"))(sim)
    other = saltus.mppi(sim, cost, 4, noise=1.0, samples=4, threads=1)
    with pytest.raises(saltus.OptionError, match="own model and timestep"):
        other(saltus.Simulation(SPRING, "euler", timestep=0.01))
