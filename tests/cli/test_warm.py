"""The command that compiles ahead: once, and not for names that there are not."""


def test_warm_compiles_once(saltus_command, monkeypatch):
    code, out, _ = saltus_command("warm", "spring", "--no-batch")
    assert code == 0 and "ready: rk4 for runs" in out
    code, out, err = saltus_command("warm", "spring", "--no-batch")
    assert code == 0 and "compiled" not in out and err == ""


def test_warm_with_a_bad_name(saltus_command):
    code, _, err = saltus_command("warm", "--integrators", "rk44")
    assert code == 1 and "did you mean 'rk4'?" in err
