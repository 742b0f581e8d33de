"""What contact laws are called in tables: by their names, with what sets them apart where several share one."""

import pytest

import saltus
from saltus.errors import OptionError
from saltus.study.comparing.laws import law_labels


class Named:
    """A law by a name of its own."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


def test_what_contact_laws_are_called():
    labels = law_labels(["soft", saltus.Hard(restitution=0.5), saltus.Hard(0.8, friction=0.3), "hard"])
    assert list(labels) == ["soft", "hard(restitution=0.5)", "hard(restitution=0.8, friction=0.3)", "hard"]
    assert list(law_labels(saltus.Soft())) == list(law_labels("soft")) == ["soft"]
    hard = saltus.Hard(pairs={("ball", "floor"): 0.8})
    assert list(law_labels([hard, hard, saltus.Hard(pairs={("ball", "floor"): 0.8})])) == ["hard"]
    with pytest.raises(OptionError, match="no contact laws"):
        law_labels([])
    assert list(law_labels(["hard", saltus.Hard(), "sticky"])) == ["hard", "sticky"]
    with pytest.raises(OptionError, match="two contact laws have the name 'soft'"):
        law_labels([Named("soft"), Named("soft")])
