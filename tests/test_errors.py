"""Every error names what a user needs to act: where, what and how far off."""

import pickle

import pytest

import saltus
from saltus.errors import (
    DivergenceError,
    EventError,
    ModelError,
    OptionError,
    RecordError,
    SaltusError,
    SaltusWarning,
)


@pytest.mark.parametrize("kind", [ModelError, OptionError, DivergenceError, EventError, RecordError])
def test_every_error_is_a_saltus_error(kind):
    assert issubclass(kind, SaltusError)


def test_bad_arguments_are_value_errors():
    assert issubclass(OptionError, ValueError)
    with pytest.raises(ValueError, match="unknown integrator 'rk5'"):
        saltus.Simulation("pendulum", "rk5")


def test_warning_is_a_user_warning():
    assert issubclass(SaltusWarning, UserWarning)
    assert not issubclass(SaltusWarning, SaltusError)


def test_model_error_names_place_and_element():
    error = ModelError("is not simulated yet", file="arm.xml", line=12, element="equality", name="grip")
    assert str(error) == "arm.xml, line 12: equality 'grip': is not simulated yet"
    assert (error.file, error.line, error.element, error.name) == ("arm.xml", 12, "equality", "grip")


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({}, "bad"),
        ({"file": "a.xml"}, "a.xml: bad"),
        ({"line": 3}, "line 3: bad"),
        ({"element": "joint"}, "joint: bad"),
        ({"name": "elbow"}, "'elbow': bad"),
    ],
)
def test_model_error_says_only_what_it_knows(place, text):
    assert str(ModelError("bad", **place)) == text


def test_unknown_option_proposes_the_closest():
    error = OptionError.unknown("integrator", "rk5", ["rk4", "euler"])
    assert str(error) == "unknown integrator 'rk5'; did you mean 'rk4'? (known: euler, rk4)"
    assert "did you mean" not in str(OptionError.unknown("integrator", "zzz", ["rk4", "euler"]))


def test_divergence_error_tells_the_whole_story():
    error = DivergenceError(
        1.23,
        dof="elbow",
        dof_index=3,
        term="passive",
        term_value=1.2e12,
        timestep=0.05,
        stable_timestep=0.02,
        stable_of="the damper of 'elbow'",
        trajectory="recording",
    )
    assert str(error) == (
        "diverged at t = 1.23 s: joint 'elbow' (dof 3) acceleration is not finite; "
        "largest term: passive (1.2e+12 N·m); "
        "timestep 0.05 s exceeds the stability limit 0.02 s of the damper of 'elbow'"
    )
    assert (error.time, error.dof, error.dof_index, error.term) == (1.23, "elbow", 3, "passive")
    assert (error.timestep, error.stable_timestep, error.trajectory) == (0.05, 0.02, "recording")


def test_divergence_error_does_not_blame_a_stable_step():
    text = str(DivergenceError(2.0, dof="x", timestep=0.01, stable_timestep=0.02))
    assert "timestep 0.01 s is within the stability limit 0.02 s, but that limit ignores contacts" in text
    assert "try a smaller one" in text
    assert "exceeds" not in text


def test_divergence_error_with_little_known():
    assert str(DivergenceError(0.5, what="the state is not finite")) == "diverged at t = 0.5 s: the state is not finite"
    assert "largest term: bias (nan N)" in str(
        DivergenceError(0.5, term="bias", term_value=float("nan"), term_unit="N")
    )
    assert "try a smaller one" in str(DivergenceError(0.5, timestep=0.1))


def test_event_error_names_event_and_time():
    assert (
        str(EventError("no sign change", time=0.25, event="impact")) == "event 'impact' at t = 0.25 s: no sign change"
    )
    assert str(EventError("no sign change")) == "no sign change"


def test_record_error_names_path_and_reason(tmp_path):
    error = RecordError(tmp_path / "run.nc", "no space left on device")
    assert error.path == str(tmp_path / "run.nc")
    assert error.reason == "no space left on device"
    assert str(error) == f"cannot write recording '{error.path}': no space left on device"
    assert str(RecordError("a", "b", action="read", what="figure")) == "cannot read figure 'a': b"


@pytest.mark.parametrize(
    "error",
    [
        ModelError("bad", file="a.xml", line=3, element="joint", name="elbow"),
        DivergenceError(1.0, dof="elbow", term="passive", timestep=0.1, trajectory=[1, 2]),
        RecordError("a.nc", "is a directory"),
        EventError("no sign change", time=1.0),
        OptionError("bad"),
    ],
)
def test_errors_travel_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
