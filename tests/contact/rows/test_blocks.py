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


def test_products_with_lengths_of_edges_are_numpys():
    """Their rows stand between other blocks; an edge has three degrees of freedom at each end that moves, else -1."""
    rng, edges = np.random.default_rng(1), np.array([[0, 3], [-1, 6], [3, -1], [6, 0]])
    J, count, entries, places = np.zeros((7, 9)), np.zeros(16, int), [], []
    chains = [
        (0, 2, [1, 4]),
        *((2 + r, 1, [i + k for i in ends if i >= 0 for k in range(3)]) for r, ends in enumerate(edges)),
    ]
    chains.append((6, 1, [8]))
    for row, dim, chain in chains:
        part = rng.normal(size=(dim, len(chain)))
        J[row : row + dim, chain] = part
        places.append(len(entries))
        entries += list(part.T.ravel())
    count[NBLOCK], count[NEDGE] = len(chains), 1
    dofs = [chain for *_, chain in chains]
    m = SimpleNamespace(nchaindof=99, chain_dof=np.concatenate(dofs), nv=9, layout=SimpleNamespace(features=set()))
    m.nedgerow, m.edgerow_dof, m.edgerow_J = len(edges), edges, np.array(places[1:5]) - places[1]
    d = SimpleNamespace(count=count, block_dim=[dim for _, dim, _ in chains], block_row=[row for row, *_ in chains])
    d.block_J, d.block_num, d.time, d.row_J = places, [len(x) for x in dofs], 0.0, entries
    d.block_dofs = np.cumsum(d.block_num) - d.block_num
    x, f, y = rng.normal(size=9), rng.normal(size=7), np.zeros(7)
    interpret(times_rows)(m, d, x, y)
    np.testing.assert_allclose(y, J @ x, atol=1e-14)
    found = x.copy()
    interpret(add_transpose_rows)(m, d, f, found)
    np.testing.assert_allclose(found, x + J.T @ f, atol=1e-14)
