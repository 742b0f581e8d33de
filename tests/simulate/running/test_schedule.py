"""Where steps and samples of a run are: counts by integer arithmetic, whatever rounding does to the quotients."""

from fractions import Fraction

import numpy as np
import pytest

from saltus.simulate.running.schedule import Plan


@pytest.mark.parametrize("duration", ["1", "0.3", "5", "2.5", "0.7", "12"])
@pytest.mark.parametrize("sample", ["0.1", "1/60", "0.07", "0.3", "20"])
@pytest.mark.parametrize("h", ["0.01", "0.003", "0.05", "1"])
def test_counts_are_those_of_exact_numbers(duration, sample, h):
    exact = [Fraction(x) for x in (duration, sample, h)]
    plan = Plan(0.0, *map(float, exact))
    D, s, step = exact
    assert plan.count == D // s + 1 and plan.whole == D // step
    assert plan.rest == pytest.approx(float(D % step), abs=1e-12) and plan.steps == -(-D // step)
    assert plan.beyond == (D % s != 0)
    times = plan.times(0, plan.count + plan.beyond)
    ends = [k * s for k in range(plan.count)] + [D] * plan.beyond
    np.testing.assert_allclose(times, np.array(ends, float), rtol=1e-15)
    for k in range(min(plan.count, 100)):
        assert plan.step_of(k * plan.sample) == min(k * s // step, plan.whole)
