"""Properties of every run under located hard contact, on random scenes.

Laws: a motion is the same to the bit whatever is looked at or kept beside it; forces push and lie in their cones;
energy never grows, at impacts (restitution of at most 1) or between; nothing goes into the floor; what can neither
slide, roll nor swing for ever comes to rest (`hard_scenes.must_rest` says why). Scenes: `hard_scenes.random_scene`,
boxes, cylinders, capsules, chains that hang from hinges, feet with shanks, on floors and slopes.

Tolerances:
- forces: problems are solved to 1e-10 of their numbers, of which forces are the size of weights: 1e-8 of the weight or
  of the largest force;
- energy: the integrator's error of 1e-8 a step in at most a thousand steps, 1e-5 of the energy in play; at an impact
  1e-9 of it. Time stepping is of first order: h times the fastest rate, 20 1/s;
- depth: 1e-7 m, the error of dense output; more where the run goes over to time stepping
  (`hard_scenes.depth_of_steps`), and where it bounces there what is noticed a step late, at the 0.1 m/s that rattling
  bodies reach;
- rest: slower than a bounce of `bounce_height`, 4.4e-4 m/s.

A run may end with an EventError that names Painlevé's paradox where there is one: rods and plates whose point of
contact drags behind have no accelerations from some friction on (2 √(κ (κ + 1)) with κ = I/(m r²): 0.88 for a square
plate on its corner, and less for what hangs from a hinge).
"""

import warnings

import numpy as np
import pytest
from helpers import hard_scenes as scenes
from helpers.hard_layout import share_layout
from helpers.hard_scenes import same_bits

import saltus
from saltus.errors import SaltusWarning
from saltus.record.table.certificate import energy_in_play

RATE, DEEPEST, SLOW_BOUNCE, PLATE = 20.0, 1e-7, 0.1, 0.85
SHORT = 0.5  # s, of runs that are compared; the first impacts are at √(2·0.4/g) = 0.29 s at the latest, but for chains

few = list(range(scenes.NORMAL))
rest = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(scenes.NORMAL, scenes.COUNT)]


@pytest.fixture(autouse=True)
def one_layout(monkeypatch):
    """All scenes need the same kernels."""
    share_layout(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)  # of forces that are found to a lesser tolerance
        yield


def may_jam(scene):
    return scene.about["kind"] in ("chain", "foot") or scene.friction > PLATE


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*few, *rest])
def test_laws_hold(seed):
    scene = scenes.random_scene(seed)
    try:
        found = scene.measured()
    except saltus.EventError as error:
        assert "Painlevé" in str(error) and may_jam(scene), f"{scene.name}: {error}"
        return
    t, sim = found.recordings[0], found.sim
    h = sim.timestep if "dense" in found.events["kind"] else 0.0
    assert (np.diff(found.events["time"]) >= 0).all(), "the log is not in order"
    force = np.abs(t.contact_force).max(initial=scenes.G * sim.model.body_mass.sum())
    assert scenes.cone_excess(t, scene.friction) <= 1e-8 * force, "a force outside its cone"
    scale = energy_in_play(t.energy)
    assert scenes.gained(t) <= max(1e-5, RATE * h) * scale, f"energy grows: {scenes.energy_jump(t)}"
    assert scenes.gained_at_impacts(t) <= 1e-9 * scale, "energy grows at an impact"
    late = SLOW_BOUNCE * h if scene.about["restitution"] > 0.0 else 0.0
    deepest = DEEPEST + scenes.depth_of_steps(sim.model, [t], h) + late
    assert scenes.deepest(sim.model, [t]) <= deepest, "it goes into the floor"
    if scene.rests:
        assert scenes.fastest(sim) < scene.still, "it does not come to rest"


def motion(scene, sim, **options):
    """The end of a short run, and its log, or why it ended."""
    scene.start(sim)
    try:
        t = sim.run(SHORT, **{"sample": 0.02, "progress": False, **options})
    except saltus.EventError as error:
        return np.array([error.time]), error.trajectory.events
    return sim.qpos.copy(), sim.qvel.copy(), t.events


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [pytest.param(p, marks=[] if p < 10 else pytest.mark.slow) for p in range(scenes.COUNT)]
)
def test_what_is_added_changes_no_bit(seed):
    """Samples, a control function that leaves the controls as they are, and ledgers look at a motion, no more."""
    scene = scenes.random_scene(seed)
    sim = scene.simulation()
    expected = motion(scene, sim)
    for options in (
        {"sample": 0.005},
        {"sample": 0.0137},
        {"control": lambda sim: None},
        {"ledger": True},
        {"control": lambda sim: None, "ledger": True, "sample": 0.0137},
    ):
        found = motion(scene, sim, **options)
        assert len(found) == len(expected) and all(map(same_bits, found, expected)), options


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [pytest.param(p, marks=[] if p < 10 else pytest.mark.slow) for p in range(scenes.COUNT)]
)
def test_a_snapshot_is_gone_back_to_to_the_bit(seed):
    scene = scenes.random_scene(seed)
    sim, other = scene.simulation(), scene.simulation()
    scene.start(sim)
    try:
        sim.run(SHORT / 2, sample=0.02, progress=False)
        kept, motions = sim.snapshot(), []
        for each in (sim, sim, other):
            each.restore(kept)
            t = each.run(SHORT / 2, sample=0.02, progress=False)
            motions.append((each.qpos.copy(), each.qvel.copy(), t.events))
    except saltus.EventError as error:
        assert "Painlevé" in str(error) and may_jam(scene), f"{scene.name}: {error}"
        return
    for found in motions[1:]:
        assert all(map(same_bits, found, motions[0]))
