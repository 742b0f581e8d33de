"""The command that shows what a contact law does. Reference: the same function in Python."""

import pytest

import saltus


@pytest.mark.slow
def test_contact_law(saltus_command, tmp_path):
    figure = tmp_path / "law.png"
    code, out, _ = saltus_command("contact-law", "--solref", "0.01,1", "--solimp", "0.8", "--mass", 3, "--plot", figure)
    assert code == 0 and figure.read_bytes().startswith(b"\x89PNG")
    assert out.startswith(str(saltus.contact_law((0.01, 1.0), (0.8,), 3.0)))
    assert saltus_command("contact-law", "--mass", 0)[0] == 1
    assert "--solref" in saltus_command("contact-law", "--solref", "a")[2]
