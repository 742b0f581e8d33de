"""What a recording says of its run: enough to make its contact law again, and the tolerances that were used."""

import json

import pytest

import saltus
from saltus.simulate.running.run_metadata import law_numbers, law_of

PAIRS = {("ball", "floor"): 0.1 + 0.2, ("foot", "floor"): {"restitution": 0.1, "friction": 0.6}}


@pytest.mark.parametrize(
    "law",
    [
        saltus.Soft(),
        saltus.Hard(),
        saltus.Hard(1 / 3, friction=0.7, impact="poisson"),
        saltus.Hard(pairs=PAIRS, limits=0.5),
    ],
)
def test_a_law_comes_back_from_a_file(law):
    numbers = json.loads(json.dumps(law_numbers(law)))
    again = law_of(law.name, numbers)
    assert again == law or (again == law.name and not numbers)


def test_laws_of_before_have_no_numbers():
    assert law_of("soft", {}) == "soft"


def test_tolerances_are_recorded():
    fixed = saltus.Simulation("pendulum", "rk4").run(0.02, 0.01).attrs
    free = saltus.Simulation("pendulum", "dopri5", tolerance=(1e-5, 1e-7)).run(0.02, 0.01).attrs
    assert fixed["tolerances"] == {"constraint_solver": saltus.load("pendulum").opt.tolerance}
    assert free["tolerances"] == {**fixed["tolerances"], "step_relative": 1e-5, "step_absolute": 1e-7}
    assert (fixed["contact"], fixed["contact_law"]) == ("soft", {})
