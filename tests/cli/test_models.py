"""The list of bundled models. Reference: `saltus.models`, and the comments of their files."""

from PIL import Image

import saltus


def test_every_model_has_a_sentence(saltus_command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, out, err = saltus_command("models")
    lines = out.splitlines()
    assert code == 0 and err == "" and [line.split()[0] for line in lines] == [*saltus.models(), "n_link:N"]
    assert all(len(line.split()) > 5 and line.endswith(".") for line in lines)
    assert any("The motorised pendulum: one degree of freedom" in line for line in lines)


def test_pictures(saltus_command, monkeypatch, tmp_path):
    """A picture of each, in which something is drawn; a folder that cannot be made is an error."""
    from saltus.model.source import bundled_names

    monkeypatch.setattr(bundled_names, "models", lambda: ["pendulum", "cart_pole"])
    code, out, _ = saltus_command("models", "--pictures", tmp_path / "shown")
    assert code == 0 and "2 pictures" in out
    for name in ("pendulum", "cart_pole"):
        with Image.open(tmp_path / "shown" / f"{name}.png") as picture:
            assert len(picture.convert("RGB").getcolors(1 << 24)) > 50
    (tmp_path / "file").write_text("")
    code, _, err = saltus_command("models", "--pictures", tmp_path / "file")
    assert code == 1 and "error: cannot write pictures" in err
