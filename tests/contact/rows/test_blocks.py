"""Products with the rows of constraints. Reference: NumPy's, with the same Jacobian as a dense matrix."""

from types import SimpleNamespace

import numpy as np

from saltus.contact.counts import NBLOCK, NEDGE
from saltus.contact.rows.blocks import add_transpose_rows, times_rows
from saltus.number.kernels import interpret

NV, DIMS, CHAINS = 6, [1, 3, 4, 1, 6], [[0, 2], [1, 2, 5], [3], [0, 1, 2, 3, 4, 5], [2, 4]]


def test_products_are_numpys():
    """The last two lists of degrees of freedom are those made for deformable bodies, behind the model's."""
    rng, rows = np.random.default_rng(0), sum(DIMS)
    J, count, entries, places = np.zeros((rows, NV)), np.zeros(16, int), [], []
    first = np.cumsum(DIMS) - DIMS
    for row, dim, chain in zip(first, DIMS, CHAINS, strict=True):
        part = rng.normal(size=(dim, len(chain)))
        J[row : row + dim, chain] = part
        places.append(len(entries))
        entries += list(part.T.ravel())  # by degree of freedom
    count[NBLOCK], count[NEDGE] = len(DIMS), -1
    length, dofs = [len(chain) for chain in CHAINS], np.concatenate(CHAINS)
    m = SimpleNamespace(nchaindof=6, chain_dof=dofs[:6], nv=NV, layout=SimpleNamespace(features={"flexcontact"}))
    d = SimpleNamespace(count=count, block_dim=DIMS, block_row=first, block_J=places, block_num=length, time=0.0)
    d.row_J, d.block_dofs, d.flex_dof = entries, np.cumsum(length) - length, dofs[6:]
    x, f, y = rng.normal(size=NV), rng.normal(size=rows), np.zeros(rows)
    interpret(times_rows)(m, d, x, y)
    np.testing.assert_allclose(y, J @ x, atol=1e-14)
    found = x.copy()
    interpret(add_transpose_rows)(m, d, f, found)
    np.testing.assert_allclose(found, x + J.T @ f, atol=1e-14)
