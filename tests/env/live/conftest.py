"""Sessions that a test drives by hand take all their steps, however busy the machine is."""

import pytest


@pytest.fixture(autouse=True)
def time_enough(monkeypatch):
    monkeypatch.setattr("saltus.lab.motion.BUDGET", 60.0)
