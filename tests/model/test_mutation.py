"""Models with a random mutation end in an error of Saltus that names it, or in finite numbers.

`python tests/helpers/mutation.py 10000` runs ten thousand of them, `... 10000 0 odd` as many with odd numbers.
"""

import pytest
from helpers import mutation


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "seeds"),
    [("changed", range(150)), ("changed", [3715, 5223]), ("odd", range(150))],
    ids=["some", "huge time constants", "odd"],
)
def test_changed_models_are_refused_or_simulated(kind, seeds):
    ends = {seed: how for seed, how, _ in mutation.in_a_process(seeds, kind)}
    assert sorted(ends) == sorted(seeds)
    assert {how for how in ends.values()} <= {"refused", "stepped", "loaded", "diverged"}, ends
    assert len(seeds) < 100 or list(ends.values()).count("stepped") > 10  # or nothing was tried
