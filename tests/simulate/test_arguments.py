"""What simulations and batches make of arguments that mean nothing: an error of Saltus that names them, or none.

Law: whatever a user passes, a call works or raises a SaltusError; no other exception comes out.
"""

import numpy as np
import pytest

import saltus

ODD = {
    "none": None,
    "empty": "",
    "text": "x",
    "negative": -1,
    "zero": 0,
    "half": 1.5,
    "nan": np.nan,
    "infinite": np.inf,
    "list": [],
    "dict": {},
    "object": object(),
    "huge": 10**30,
    "array": np.zeros((3, 2)),
}
CALLS = {
    "Simulation.step": lambda sim, batch, x: sim.step(x),
    "Simulation.reset": lambda sim, batch, x: sim.reset(x),
    "Batch.step": lambda sim, batch, x: batch.step(x),
    "Batch.reset": lambda sim, batch, x: batch.reset(x),
    "Batch.reset to": lambda sim, batch, x: batch.reset(key=x),
    "Batch of": lambda sim, batch, x: saltus.Batch(sim.model, x),
    "Batch by": lambda sim, batch, x: saltus.Batch(sim.model, 2, threads=x),
    "Batch in": lambda sim, batch, x: saltus.Batch(sim.model, 2, precision=x),
    "Simulation with": lambda sim, batch, x: saltus.Simulation(sim.model, control=x),
    "Batch with": lambda sim, batch, x: saltus.Batch(sim.model, 2, control=x),
}
HARMLESS = {
    "Simulation.step": {"zero"},
    "Simulation.reset": {"none", "negative", "zero"},  # of keyframes, from the end too
    "Batch.step": {"zero"},
    "Batch.reset": {"none", "list", "zero"},
    "Batch.reset to": {"none", "negative", "zero"},
    "Batch of": set(),
    "Batch by": {"none"},
    "Batch in": set(),
    "Simulation with": {"none"},
    "Batch with": {"none"},
}


@pytest.fixture(scope="module")
def pair():
    return saltus.Simulation("pendulum"), saltus.Batch("pendulum", 3, threads=1)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("call", CALLS)
def test_odd_arguments(pair, call, value):
    harmless = value in HARMLESS[call]
    if harmless:
        CALLS[call](*pair, ODD[value])
    else:
        with pytest.raises(saltus.SaltusError, match=r"must|needs|unknown|keyframe|shape|ids"):
            CALLS[call](*pair, ODD[value])


def test_an_empty_choice_of_simulations_resets_none(pair):
    _, batch = pair
    batch.reset()
    batch.qpos = [[0.1], [0.2], [0.3]]
    batch.reset([])
    batch.reset(np.zeros(3, bool))
    np.testing.assert_array_equal(batch.qpos[:, 0], [0.1, 0.2, 0.3])
