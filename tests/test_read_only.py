"""Read-only arrays: writing into one is an error that tells what to do, and all else goes as with NumPy's arrays.

Reference: the same operation on an ordinary array.
"""

import copy
import pickle

import numpy as np
import pytest

from saltus.read_only import ReadOnly, WriteThrough

PLAIN = np.arange(6.0).reshape(2, 3)


def shown():
    return ReadOnly.of(PLAIN.copy(), "assign x = values")


@pytest.mark.parametrize(
    ("write", "said"),
    [
        *[(f"x{part} = 2.0", "assign x = values") for part in ("[0, 1]", "[0][1]", "[:, 1:][...]")],
        ("np.add(x, 1.0, out=x)", "assign x = values"),
        *[(how, "read-only") for how in ("x.fill(0.0)", "np.copyto(x, 0.0)", "x.sort()", "x.flat[0] = 2.0")],
    ],
)
def test_writing_is_refused_and_tells_the_remedy(write, said):
    """NumPy's own ways to write know of no remedy."""
    x = shown()
    with pytest.raises(ValueError, match=said):
        exec(write, {"x": x, "np": np})
    np.testing.assert_array_equal(x, PLAIN)


@pytest.mark.parametrize(
    "compute",
    ["x + 1.0", "np.sin(x)", "x @ x.T", "np.concatenate([x, x])", "x.mean(0)", "np.stack([x[0], x[1]])", "x.copy()"]
    + ["np.where(x > 1.0, x, 0.0)", "np.linalg.norm(x, axis=1)", "np.add(x, 1.0, out=np.zeros((2, 3)))", "np.array(x)"],
)
def test_results_are_ordinary(compute):
    result, expected = (eval(compute, {"x": x, "np": np}) for x in (shown(), PLAIN))
    assert type(result) is np.ndarray and result.flags.writeable
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_ordinary(again):
    found = again(shown())
    assert type(found) is np.ndarray
    found[0, 0] = 7.0


@pytest.mark.parametrize(
    ("change", "expected"),
    [("x += 1", PLAIN + 1), ("x -= 1", PLAIN - 1), ("x *= 2", PLAIN * 2), ("x /= 2", PLAIN / 2)],
)
def test_changes_in_place_make_another_array(change, expected):
    """So that `owner.x += 1` assigns to the owner."""
    first = shown()
    space = {"x": first}
    exec(change, space)
    np.testing.assert_array_equal(space["x"], expected)
    np.testing.assert_array_equal(first, PLAIN)


def test_memory_of_its_own_is_writeable():
    other = shown().astype(np.float32)
    other[0, 0] = 5.0
    assert other[0, 0] == 5.0


def test_other_libraries_take_a_copy():
    x = shown()
    taken = np.from_dlpack(x)
    np.testing.assert_array_equal(taken, PLAIN)
    assert not np.may_share_memory(taken, x)


def test_it_looks_like_an_array():
    assert repr(shown()) == repr(PLAIN) and str(shown()) == str(PLAIN) and shown().tolist() == PLAIN.tolist()


def test_an_owner_s_numbers_are_set_by_parts():
    """What has changed there since it was read stays, but for the entries that are assigned to."""
    kept = [PLAIN.copy()]
    x = WriteThrough.copy_of(lambda: kept[0].copy(), lambda values: kept.__setitem__(0, values))
    kept[0][1] = 9.0
    x[0, 1:] = 7.0
    x[0][0] = 5.0
    x.T[2, 0] = 6.0
    np.testing.assert_array_equal(kept[0], [[5.0, 7.0, 6.0], [9.0, 9.0, 9.0]])
    np.testing.assert_array_equal(x, [[5.0, 7.0, 6.0], [3.0, 4.0, 5.0]])
    x += 1.0
    np.testing.assert_array_equal(kept[0], np.asarray(x))
    mine = x.copy()
    mine[:] = 0.0
    assert kept[0].any() and type(x + 1) is np.ndarray
