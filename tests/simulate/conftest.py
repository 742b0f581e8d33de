"""What tests of hard contact share."""

import pytest

from saltus.model.compile import hard


@pytest.fixture
def one_hard_layout(monkeypatch):
    """All models under located hard contact need the same kernels, which are compiled once."""
    monkeypatch.setattr(hard, "EVENT_WORDS", hard.EVENT_WORDS | {"constraint", "contact", "box"})
