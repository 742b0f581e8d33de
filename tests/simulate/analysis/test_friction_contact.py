"""Dense friction-contact problems from arrays.

References: closed forms; Siconos' test problems with their certified solutions, where the shared data are there (forces
are compared where W has full rank, otherwise they are not the only ones). The tolerance is the solver's, 1e-10.
"""

import numpy as np
import pytest
from helpers.cones import violation
from helpers.files import SHARED

from saltus.errors import EventError, OptionError
from saltus.simulate.analysis.friction_contact import friction_contact

PROBLEMS = sorted((SHARED.parent / "data" / "friction").glob("*.npz"))


@pytest.mark.slow
def test_a_block_pulled_along():
    solution = friction_contact(np.eye(3) / 2, [-9.81, 3.0, 4.0], [0.1])
    np.testing.assert_allclose(solution.r, [19.62, -1.962 * 0.6, -1.962 * 0.8], rtol=1e-13)
    np.testing.assert_allclose(solution.u, [0, 3 - 0.981 * 0.6, 4 - 0.981 * 0.8], atol=1e-13)
    assert solution.residual < 1e-14


@pytest.mark.skipif(not PROBLEMS, reason="the shared data are not there")
@pytest.mark.parametrize("path", PROBLEMS, ids=lambda p: p.stem)
def test_siconos(path):
    with np.load(path) as given:
        W, q, mu, r = (given[name] for name in ("W", "q", "mu", "r"))
    solution = friction_contact(W, q, mu)
    assert solution.residual < 1e-12
    assert violation(W, q, mu, solution.r) < 1e-10
    values = np.linalg.svd(W, compute_uv=False)
    if values[-1] > 1e-11 * values[0]:
        # what the files' residuals of 1e-12 leave open over the condition of those that are regular
        np.testing.assert_allclose(solution.r, r, atol=1e-9 * abs(r).max())
    else:
        assert np.linalg.norm(solution.r) <= np.linalg.norm(r) * (1 + 1e-9)


def test_no_solution():
    # W_NN - μ W_NT < 0 where it slides and where it sticks: an indefinite W
    with pytest.raises(EventError, match=r"residual .* may have no solution"):
        friction_contact([[-1, 0, 0], [0, 1, 0], [0, 0, 1]], [-1, 2, 0], [0.5])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W": np.eye(4)}, r"W: has shape \(4, 4\); 1 friction coefficients need \(3, 3\)"),
        ({"q": np.zeros(2)}, "q: has 2 entries"),
        ({"mu": 0.5}, "mu: has 0 axes"),
        ({"mu": [-0.1]}, "mu: -0.1 is negative"),
        ({"q": [np.nan, 0, 0]}, "q: .*not finite"),
        ({"W": "W"}, "W: is not an array of numbers"),
        ({"tolerance": 0.0}, "tolerance: must be a positive number"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(OptionError, match=message):
        friction_contact(**({"W": np.eye(3), "q": [-1, 0, 0], "mu": [0.5]} | change))


def test_no_contact():
    solution = friction_contact(np.zeros((0, 0)), [], [])
    assert solution.r.shape == (0,)
    assert solution.residual == 0
