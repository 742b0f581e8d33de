"""Random numbers: Philox4x32-10's published test vectors, and the distributions that are made of its words.

Vectors: Random123's known answers (kat_vectors, D. E. Shaw Research). Distributions: Kolmogorov and Smirnov's test of
4000 draws at a level of 1e-4, moments within five standard errors.
"""

import numpy as np
import pytest
from scipy.stats import kstest

from saltus.env.layout import Added, episode_layout
from saltus.env.random import DRAW, EPISODE, KEY_LOW, normal, philox, uniform
from saltus.number.kernels import entry
from saltus.number.structs import Struct

ONES = 0xFFFFFFFF
VECTORS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@entry(structs=("e",))
def words(e, c0, c1, c2, c3, k0, k1, out):
    out[0], out[1], out[2], out[3] = philox(c0, c1, c2, c3, k0, k1)


@entry(structs=("e",))
def draw(e):
    e.observation[0] = uniform(e, -1.0, 3.0)
    e.observation[1] = normal(e)


def episode(kind="lane64"):
    width = {"float64": 1, "lane64": 16, "lane32": 16}[kind]
    sizes = {"naction": 1, "nvalue": 1, "nobservation": 2, "width": width}
    return Struct(episode_layout(Added({}, {}, ())), sizes, kind)


@pytest.mark.parametrize("counter, key, wanted", VECTORS)
def test_blocks_are_the_published_ones(counter, key, wanted):
    out = np.zeros(4, np.uint64)
    words(episode("float64"), *map(np.uint64, (*counter, *key)), out)
    assert tuple(out) == wanted


def drawn(seed, episode_number, count=4000):
    e = episode()
    e.random[:, KEY_LOW] = seed
    e.random[:, EPISODE] = episode_number
    found = []
    for _ in range(count):
        draw(e)
        found.append(e.observation[:, 0].copy())
    return np.array(found)


def test_distributions():
    numbers = drawn(5, 2)
    flat, bell = numbers.T
    assert kstest(flat, "uniform", args=(-1.0, 4.0)).pvalue > 1e-4
    assert kstest(bell, "norm").pvalue > 1e-4
    assert abs(np.corrcoef(flat, bell)[0, 1]) < 5.0 / np.sqrt(len(flat))
    assert abs(np.corrcoef(bell[1:], bell[:-1])[0, 1]) < 5.0 / np.sqrt(len(flat))
    assert flat.min() >= -1.0 and flat.max() < 3.0


def test_numbers_depend_on_seed_episode_and_draw():
    one = drawn(5, 2, 3)
    np.testing.assert_array_equal(one, drawn(5, 2, 3))
    for other in (drawn(6, 2, 3), drawn(5, 3, 3)):
        assert (one != other).all()
    assert len(np.unique(one)) == one.size


def test_floats_draw_what_lanes_draw():
    e, alone = episode(), episode("float64")
    for struct in (e, alone):
        struct.random[:, DRAW] = 7
        draw(struct)
    np.testing.assert_array_equal(e.observation[:, 0], alone.observation)
