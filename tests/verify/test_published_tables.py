"""Published tables that benchmarks are compared with agree among themselves, so that none of them is mistyped.

Meijaard et al. (2007) print matrices with up to 17 digits and eigenvalues with 15: 1e-12 of the largest, times the
condition of the eigenvalues (up to 1e2). Garcia et al. (1998) print the walker's gait with 15 digits: 1e-11, ten times
what SciPy's integration is asked for.
"""

import numpy as np
import pytest

from saltus.verify.families.rolling.bicycle import EIGENVALUES, table_matrix
from saltus.verify.families.rolling.walkers import GAIT, simplest_gait


@pytest.mark.parametrize("speed", EIGENVALUES)
def test_the_bicycles_eigenvalues_are_those_of_its_matrices(speed):
    found = np.sort_complex(np.linalg.eigvals(table_matrix(speed)))
    np.testing.assert_allclose(found, np.sort_complex(np.array(EIGENVALUES[speed])), rtol=0, atol=1e-10)


def test_the_walkers_gait_is_that_of_its_equations():
    after, period = simplest_gait()
    np.testing.assert_allclose(after[[0, 2]], list(GAIT.values()), rtol=0, atol=1e-11)
    assert round(period, 2) == 3.88
