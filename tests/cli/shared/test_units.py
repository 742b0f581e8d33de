"""Numbers with units. Reference: the definitions of the units (BIPM, The International System of Units (2019))."""

import math

import pytest
import typer

from saltus.cli.shared.units import number_of, seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("90deg", math.pi / 2),
        ("-180 °", -math.pi),
        ("60rpm", 2.0 * math.pi),
        ("10ms", 0.01),
        ("1.5min", 90.0),
        ("2e3us", 2e-3),
        ("30cm", 0.3),
        (".5kN", 500.0),
        ("25%", 0.25),
        ("1e-3", 1e-3),
        ("inf", math.inf),
    ],
)
def test_units(text, value):
    assert number_of(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["", "deg", "10 parsecs", "1.2.3s", "5g"])
def test_other_text(text):
    with pytest.raises(ValueError, match="convert"):
        number_of(text)


def test_options_that_are_times():
    assert (seconds("20ms"), seconds(0.5)) == (0.02, 0.5)
    for text in ("90deg", "soon"):
        with pytest.raises(typer.BadParameter, match="is not a time; write seconds"):
            seconds(text)


def test_commands_take_units(saltus_command):
    code, out, _ = saltus_command(
        "run", "pendulum", "--duration", "100ms", "--set", "qpos[theta]=90deg", "--no-certify"
    )
    assert code == 0 and "0.1 s" in out
    code, _, errors = saltus_command("run", "pendulum", "--duration", "10 parsecs")
    assert code == 2 and "is not a time" in " ".join(errors.split())
