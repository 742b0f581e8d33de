"""Published numbers that benchmarks are compared with agree among themselves, so that none of them is mistyped.

Meijaard et al. (2007) print matrices with up to 17 digits and eigenvalues with 15: 1e-12 of the largest, times the
condition of the eigenvalues (up to 1e2).
"""

import numpy as np
import pytest

from saltus.verify.families.rolling.bicycle import EIGENVALUES, table_matrix


@pytest.mark.parametrize("speed", EIGENVALUES)
def test_the_bicycles_eigenvalues_are_those_of_its_matrices(speed):
    found = np.sort_complex(np.linalg.eigvals(table_matrix(speed)))
    np.testing.assert_allclose(found, np.sort_complex(np.array(EIGENVALUES[speed])), rtol=0, atol=1e-10)
