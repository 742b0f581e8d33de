"""The benchmark of an arm of seven joints that is identified.

References: the values by which the motion was made; intervals of 95 % of a normal distribution. With three repeats of
31 parameters, 93 intervals, fewer than 77 hold the value in one of 10,000 such tests (binomial, independent).
"""

import json

import numpy as np
import pytest

import saltus
from saltus.bench.identify_arm import command
from saltus.bench.identify_arm.driven_arm import driven_arm
from saltus.errors import OptionError


@pytest.fixture(scope="module")
def arm():
    return saltus.load(driven_arm())


def test_numbers_that_stand_for_the_base_parameters_are_independent(arm):
    """As many as for such an arm in Gautier & Khalil (1990), and base parameters change by each on its own."""
    base = saltus.base_parameters(arm)
    names = command.telling_numbers(arm, base)
    assert len(names) == len(set(names)) == 43
    G = base.matrix @ command.slopes(arm, names)
    assert np.linalg.matrix_rank(G) == 43


@pytest.mark.slow  # fits
def test_intervals_of_a_few_repeats(arm):
    found = command.covered(arm, 3)
    assert found.converged == 3
    assert found.all >= 77 / 93


@pytest.mark.slow  # a fit
def test_figures_are_written(tmp_path, capsys, monkeypatch):
    """A fit of the motors alone stands for that of the whole arm, which takes minutes."""
    monkeypatch.setattr(
        command, "whole_arm", lambda model, length: command.WholeArm(length, 64, 1, 1, True, 0, 1, 2, 0.5)
    )
    path = tmp_path / "figures.json"
    command.bench_identify_arm(duration=2.0, repeats=1, json_path=path)
    out = capsys.readouterr().out
    assert "64 parameters of an arm of seven joints" in out and "1 repeats" in out
    found = json.loads(path.read_text())
    assert found["arm"]["friction"] == 2 and found["coverage"]["repeats"] == 1


def test_what_is_wrong_is_named():
    for wrong, word in ((dict(duration=0.0, repeats=1), "duration"), (dict(duration=1.0, repeats=-1), "repeats")):
        with pytest.raises(OptionError, match=word):
            command.bench_identify_arm(**wrong, json_path=None)
