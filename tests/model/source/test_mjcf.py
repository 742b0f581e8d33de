"""Every attribute of MuJoCo's schema has its place in the table, and the page of the documentation says the same."""

from pathlib import Path

from saltus.model.source import mjcf
from saltus.model.source.mjcf_table import TABLE

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "reference" / "mjcf.md"


def test_every_attribute_has_its_place():
    """None is missing, none is there twice, and none is left of another version of MuJoCo."""
    gaps = mjcf.attributes()[1]
    assert not gaps, f"give these a place in saltus.model.source.mjcf_table.TABLE: {gaps}"
    known = mjcf.schema()
    for row in TABLE:
        elements = row.elements.split()
        assert not [e for e in elements if e not in known]
        assert not [a for a in row.attributes.split() if not any(a in known[e] for e in elements)], row


def test_an_attribute_without_a_place_is_a_gap(monkeypatch):
    known = mjcf.schema()
    monkeypatch.setattr(mjcf, "schema", lambda: known | {"option": [*known["option"], "viscoplasticity"]})
    assert mjcf.attributes()[1] == ["option viscoplasticity"]


def test_document_is_up_to_date():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == mjcf.document(), "write it anew: python -m saltus.model.source.mjcf > docs/reference/mjcf.md"
