"""The report of an impact says what the laws and treatments give, and where they differ.

References: Newton's cradle by its closed forms; the outcome of a row with friction from the kernels' own tests. What is
printed is compared with the numbers that the report holds.
"""

import numpy as np
import pytest
from helpers.impacts import double_pendulum

from saltus.errors import OptionError
from saltus.model.fields.constraint.cone import BILATERAL, COULOMB, UNILATERAL
from saltus.model.fields.constraint.impact import IMPACT_LAWS, MOREAU, POISSON, SEQUENTIAL, TREATMENTS
from saltus.simulate.analysis.impact_report import impact_report

pytestmark = pytest.mark.slow

J = np.diff(np.eye(5), axis=0)
NAMES = ["a b", "b c", "c d", "d e"]


@pytest.fixture(scope="module")
def cradle():
    return impact_report(J @ J.T, J @ [1, 0, 0, 0, 0], 1.0, names=NAMES)


def test_it_says_where_treatments_differ(cradle):
    assert cradle.differing() == []
    assert cradle.differing(("newton", "simultaneous"), ("newton", "moreau")) == ["a b", "d e"]
    text = str(cradle)
    assert "moreau: differs from simultaneous at a b, d e" in text
    assert "sequential: the same as simultaneous; 4 successive impacts" in text


def test_its_table_has_every_outcome(cradle):
    table = cradle.table
    assert len(table) == len(IMPACT_LAWS) * len(TREATMENTS) * 4
    row = table[(table["law"] == "poisson") & (table["treatment"] == "moreau")]
    assert list(row["name"]) == NAMES
    np.testing.assert_allclose(row["impulse"], [1.6, 1.2, 0.8, 0.4], atol=1e-12)
    np.testing.assert_allclose(row["before"], [-1, 0, 0, 0])
    np.testing.assert_allclose(row["after"], [1, 0, 0, 0], atol=1e-12)
    outcome = cradle.outcomes["newton", "simultaneous"]
    np.testing.assert_allclose(outcome.impulse, 1, atol=1e-12)
    assert abs(outcome.energy_change) < 1e-12 and outcome.rounds == 4


def test_a_dissipative_row_differs_one_after_the_other():
    report = impact_report(J @ J.T, J @ [1, 0, 0, 0, 0], 0.5, names=NAMES)
    assert report.differing() == NAMES
    # the lump and the last ball: energy of velocities .1, .1, .1, .1, .6 beside that of 1
    assert report.outcomes["newton", "simultaneous"].energy_change == pytest.approx(0.5 * (4 * 0.01 + 0.36 - 1))
    assert "-0.3" in str(report)


def test_it_says_that_the_energetic_coefficient_was_needed():
    W, tip = double_pendulum()
    report = impact_report(W, tip @ [-0.1, -0.2], 0.5, 0.5)
    assert report.outcomes["newton", "simultaneous"].energetic
    assert not report.outcomes["poisson", "simultaneous"].energetic
    assert "since newton's law would gain energy" in str(report)
    assert "poisson: " not in str(report)
    assert "simultaneous: differs from newton at contact 0" in str(report)


def test_blocks_of_several_kinds():
    K = np.array([[1.0, 0.0], [1.0, -1.0]])
    report = impact_report(K @ K.T, [-1, 0], [0.6, 0], names=["floor", "rod"], kinds=[UNILATERAL, BILATERAL])
    np.testing.assert_allclose(report.outcomes["newton", "simultaneous"].after, [0.6, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (dict(W=np.eye(3)), "W"),
        (dict(restitution=[1.5, 0.5]), "restitution"),
        (dict(restitution=[0.1, 0.2, 0.3], kinds=[UNILATERAL] * 2), "restitution"),
        (dict(friction=-1), "friction"),
        (dict(names=["one"]), "kinds"),
        (dict(names=["one"], kinds=[UNILATERAL] * 2), "names"),
        (dict(kinds=[COULOMB]), "kinds"),
        (dict(kinds=[3, 1]), "kinds"),
        (dict(before=[np.nan, 1]), "not finite"),
    ],
)
def test_what_it_does_not_take(changed, what):
    given = dict(W=np.eye(2), before=[-1, -1], restitution=[0.5, 0.5]) | changed
    with pytest.raises(OptionError, match=what):
        impact_report(**given)


def test_names_have_the_kernels_numbers():
    assert IMPACT_LAWS.index("poisson") == POISSON
    assert TREATMENTS.index("moreau") == MOREAU
    assert TREATMENTS.index("sequential") == SEQUENTIAL
