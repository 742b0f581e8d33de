"""`saltus derive`: what it prints and writes, and how it refuses."""

import json

import pytest

import saltus


def test_the_lectures_equations(saltus_command):
    code, out, err = saltus_command(
        "derive", "double_pendulum", "--orientation", "absolute", "--parameters", "textbook"
    )
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    assert "equation 1 (m₁ + m₂) l₁² α̈₁ + m₂ l₁ l₂ α̈₂ cos(α₁ - α₂) + m₂ l₁ l₂ α̇₂² sin(α₁ - α₂)" in text
    assert "+ (m₁ + m₂) g l₁ sin α₁ = τ₁ - τ₂ equation 2" in text
    assert "l₁ = 2, m₁ = 2, m₂ = 2, l₂ = 2, g = 9.81" in text
    assert "operations" in out and "derived in" in out


def test_numbers_and_constraints(saltus_command):
    code, out, _ = saltus_command("derive", "pendulum")
    assert code == 0 and "8 θ̈ + 39.24 sin θ = τ" in out
    _, out, _ = saltus_command("derive", "pendulum", "--orientation", "maximal")
    assert "constraint 1  x_pendulum - 2 sin θ_pendulum = 0" in out


def test_letters_one_by_one_and_from_a_file(saltus_command, tmp_path):
    _, out, _ = saltus_command("derive", "pendulum", "--let", "body_mass[pendulum]=m", "--let", "opt.gravity[2]=-g")
    assert "4 m θ̈ + 2 m g sin θ = τ" in out
    file = tmp_path / "letters.json"
    file.write_text(json.dumps({"body_ipos[pendulum][2]": "-l"}))
    _, out, _ = saltus_command("derive", "pendulum", "--parameters", file, "--let", "body_mass[pendulum]=M")
    assert "M l² θ̈ + 9.81 M l sin θ = τ" in out


@pytest.mark.slow
def test_all_files(saltus_command, tmp_path):
    names = {"--html": "p.html", "--latex": "p.tex", "--python": "p.py", "--c": "p.c"}
    options = [x for option, name in names.items() for x in (option, tmp_path / name)]
    code, out, _ = saltus_command("derive", "pendulum", "--duration", "0.5", *options)
    assert code == 0
    assert {path.name for path in tmp_path.iterdir()} == {*names.values(), "p.h"}
    for name in names.values():
        assert f"wrote {tmp_path / name}" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--html", "p.pdf"), "error: the suffix of --html must be .html or .htm, got 'p.pdf'"),
        (("--c", "nowhere/p.c"), "nowhere' does not exist"),
        (("--orientation", "upright"), "error: unknown orientation 'upright'"),
        (("--parameters", "letters"), "error: unknown parameters 'letters'"),
        (("--parameters", "none.json"), "error: parameters: 'none.json' cannot be read"),
        (("--let", "m"), "error: --let must be like \"body_mass[bob]=m\", got 'm'"),
        (("--let", "body_mass[nobody]=m"), "'body_mass[nobody]' is no number in these equations"),
        (("--html", "p.html", "--duration", "-1"), "error: duration must be positive"),
    ],
)
def test_refusals(saltus_command, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    code, _, err = saltus_command("derive", "pendulum", *arguments)
    assert code == 1 and complaint in err
    assert list(tmp_path.iterdir()) == []


def test_letters_for_all_and_letters_one_by_one(saltus_command):
    code, _, err = saltus_command("derive", "top", "--parameters", "symbols", "--let", "body_mass[top]=m")
    assert code == 1 and "cannot be combined with --parameters symbols" in err
    # of a bundled model that books have letters for, one of them can be another
    _, out, _ = saltus_command("derive", "pendulum", "--parameters", "textbook", "--let", "body_mass[pendulum]=M")
    assert "M l² θ̈ + M g l sin θ = τ" in out


@pytest.mark.parametrize("word", ["symbols", "textbook"])
def test_letters_are_those_of_python(saltus_command, tmp_path, word):
    """The code that the command writes names the letters of `derive`."""
    path = tmp_path / "pendulum.py"
    code, _, _ = saltus_command("derive", "pendulum", "--parameters", word, "--python", str(path))
    assert code == 0
    assert path.read_text() == saltus.derive("pendulum", parameters=word).python()


def test_models_without_textbook_letters(saltus_command):
    with pytest.raises(saltus.OptionError, match="no textbook letters for 'top'; there are for pendulum"):
        saltus.derive("top", parameters="textbook")
    code, _, err = saltus_command("derive", "top", "--parameters", "textbook")
    assert code == 1 and "no textbook letters for 'top'" in err


def test_the_help_shows_keys_as_they_are(saltus_command):
    """With the element's name in its brackets, without which a key is refused."""
    _, out, _ = saltus_command("derive", "--help")
    shown = "".join(out.replace("│", " ").split())
    assert '"body_mass[bob]=m"' in shown and '{"body_mass[bob]":"m"}' in shown


def test_simplification_stops_in_time(saltus_command):
    """In a millisecond no process starts; the equations are there all the same."""
    code, out, err = saltus_command("derive", "double_pendulum", "--simplify", "0.001")
    assert code == 0 and "equation 2" in out
    assert "simplified 0 of 5 expressions of double_pendulum in 0.001 s; the rest stays" in " ".join(err.split())
    code, _, err = saltus_command("derive", "pendulum", "--simplify", "0")
    assert code == 1 and "the limit of simplification must be positive" in err


def test_what_is_left_out_is_said_once(saltus_command):
    code, out, err = saltus_command("derive", "bouncing_ball")
    assert code == 0 and "left out" in out and "contacts" in out
    assert err == ""


def test_what_cannot_be_derived_is_named(saltus_command, tmp_path):
    file = tmp_path / "loop.xml"
    file.write_text(
        """<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom size="1"/></body></worldbody>
        <equality><connect name="closed" body1="a" anchor="0 0 1"/></equality></mujoco>"""
    )
    code, _, err = saltus_command("derive", file)
    assert code == 1 and "closed" in err
