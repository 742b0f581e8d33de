"""What tests of hard contact share."""

import pytest
from helpers.hard_layout import share_layout


@pytest.fixture
def one_hard_layout(monkeypatch):
    """All models under located hard contact need the same kernels, which are compiled once."""
    share_layout(monkeypatch)
