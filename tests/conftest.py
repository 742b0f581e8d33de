"""What tests of several folders share as fixtures."""

import pytest


@pytest.fixture
def saltus_command(capsys, monkeypatch):
    """Run a command line in this process, as wide as without a terminal: exit code, stdout, stderr."""
    from saltus.cli import main

    monkeypatch.delenv("COLUMNS", raising=False)

    def command(*arguments):
        with pytest.raises(SystemExit) as exit_:
            main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return exit_.value.code or 0, captured.out, captured.err

    return command
