"""One layout for all models under located hard contact, so that one compilation serves them all."""

from saltus.model.compile.constraints import hard
from saltus.model.layout import model_layout


def share_layout(monkeypatch, *features):
    """Give models under located hard contact these features, too; they cost time and change nothing."""

    def layout(own):
        return model_layout(own | {"constraint", "contact", "box", *features} if "event" in own else own)

    monkeypatch.setattr(hard, "model_layout", layout)
