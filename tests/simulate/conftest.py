"""What tests of hard contact share."""

import pytest

from saltus.model.compile import hard
from saltus.model.layout import model_layout


@pytest.fixture
def one_hard_layout(monkeypatch):
    """All models under located hard contact need the same kernels, which are compiled once."""

    def layout(features):
        return model_layout(features | {"constraint", "contact", "box"} if "event" in features else features)

    monkeypatch.setattr(hard, "model_layout", layout)
