"""Trials of certificates, a sample of their campaign: the bound holds the true error, or the certificate says so.

Truths are from outside (see `helpers.certificate_trials`): closed forms of balls and blocks, MuJoCo's accelerations
under SciPy's DOP853 at 1e-12, and where bodies tumble under hard contact another integrator in far finer steps.
Tolerance: none but the truth's own uncertainty. `python -m helpers.certificates` plays more of them.
"""

import pytest
from helpers import certificates
from helpers.certificate_trials import trial

SLOW = pytest.mark.slow
#: By number: family and integrator, as `trial` draws them.
TRIALS = {
    7: "double pendulum, rk4",
    290: "double pendulum, dopri5",
    291: "double pendulum, velocity_verlet",
    17: "ball chain, dopri5",
    65: "ball chain, implicit_midpoint",  # a sample inside the first step
}
SLOW_TRIALS = {
    9: "hard ball, rk4",
    34: "hard box, dopri5",
    72: "soft limits, dopri5",  # a repetition diverges
    103: "slider, moreau_jean",  # touches from the start
    153: "compliant ball, dopri5",  # a force sets in where the run begins
    213: "driven, rk4",
    190: "hard ball, moreau_jean",
    188: "hard ball, moreau_jean",
    70: "soft ball, rk4",
}


@pytest.mark.filterwarnings("ignore::saltus.SaltusWarning")
@pytest.mark.parametrize("seed", [*TRIALS, *(pytest.param(seed, marks=SLOW) for seed in SLOW_TRIALS)])
def test_a_bound_holds_or_is_not_given(seed):
    made = trial(seed)
    assert f"{made.family}, {made.integrator}" == {**TRIALS, **SLOW_TRIALS}[seed]
    verdict = certificates.judge(made)
    assert verdict.outcome in (certificates.HELD, certificates.UNBOUNDED), verdict
    # nothing is vouched for only where differences do not shrink
    assert verdict.outcome == certificates.HELD or "do not shrink" in verdict.words


def test_the_summary_counts():
    found = certificates.Verdict(certificates.BROKEN, error=2.0, estimate=1.0, bound=1.5, seconds=3.0, plain=1.0)
    held = certificates.Verdict(certificates.HELD, error=1.0, estimate=1.0, bound=3.0, seconds=3.0, plain=1.0)
    assert found.silent and not found.within_estimate and held.within_estimate
    text = certificates.summary([found, held])
    assert "of 2 bounds 1 hold, 1 are broken in silence" in text and "0.500" in text
