"""One layout for all models under located hard contact, so that one compilation serves them all."""

from saltus.model.compile.constraints import hard
from saltus.model.layout import model_layout

#: Features of most scenes: compiled once, these kernels serve all that have no others.
COMMON = frozenset({"constraint", "contact", "box", "boxes", "cylinder"})


def share_layout(monkeypatch, *features):
    """Give models under located hard contact these features and the common ones; they cost time and change nothing.

    Not "seams" and "thin": their kernels read and write tables that models without flush or thin geoms lack.
    """

    def layout(own):
        return model_layout(own | COMMON | {*features} if "event" in own else own)

    monkeypatch.setattr(hard, "model_layout", layout)
