"""Values from distributions.

Charter. Law: distributions are SciPy's (`scipy.stats`), of which ours have the same quantiles to rounding; a
scrambled Sobol sequence has one point in each of 2^k equal parts of every axis (Sobol 1967, Owen 1998), and a Latin
hypercube one in each of n.
"""

import numpy as np
import pytest
import scipy.stats

from saltus.errors import OptionError
from saltus.study.sampling import LogUniform, Normal, Uniform, sampled, unit_points


def test_quantiles_are_scipys():
    u = np.linspace(0.01, 0.99, 50)
    for own, other in (
        (Uniform(-1, 3), scipy.stats.uniform(-1, 4)),
        (LogUniform(0.1, 50), scipy.stats.loguniform(0.1, 50)),
        (Normal(2, 0.5), scipy.stats.norm(2, 0.5)),
    ):
        np.testing.assert_allclose(own.ppf(u), other.ppf(u), rtol=1e-12, atol=1e-14)


def test_every_part_of_an_axis_has_its_points():
    for method, count in (("sobol", 64), ("latin", 50)):
        parts = np.sort((unit_points(count, 3, method, 1) * count).astype(int), axis=0)
        np.testing.assert_array_equal(parts, np.arange(count)[:, None].repeat(3, axis=1))


def test_more_samples_begin_with_the_same_ones():
    for method in ("random", "sobol"):
        np.testing.assert_array_equal(unit_points(40, 2, method, 7), unit_points(300, 2, method, 7)[:40])
        assert (unit_points(40, 2, method, 7) != unit_points(40, 2, method, 8)).all()


def test_points_have_all_paths_and_lists_are_choices():
    points = sampled({"a": scipy.stats.norm(), "b": ["x", "y"], "c": Uniform(0, 1)}, 64, "sobol", 0)
    assert len(points) == 64 and [*points[0]] == ["a", "b", "c"]
    assert sum(point["b"] == "x" for point in points) == 32 and all(0 < point["c"] < 1 for point in points)


def test_what_cannot_be():
    for make in (lambda: Uniform(2, 1), lambda: LogUniform(0, 1), lambda: Normal(0, 0)):
        with pytest.raises(OptionError, match="expected"):
            make()
    with pytest.raises(OptionError, match="need samples"):
        sampled({"a": Uniform(0, 1)}, None, "random", 0)
    with pytest.raises(OptionError, match="sampling"):
        sampled({"a": Uniform(0, 1)}, 3, "halton", 0)
    with pytest.raises(OptionError, match="a: no values"):
        sampled({"a": [], "b": Uniform(0, 1)}, 3, "random", 0)
