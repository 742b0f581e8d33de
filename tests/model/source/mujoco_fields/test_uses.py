"""Every field of the installed MuJoCo's model has its row, and rows name fields that exist and are read as they say.

References: MuJoCo's own classes, and the source of Saltus.
"""

import pytest

from saltus.model.source.mujoco_fields import uses
from saltus.model.source.mujoco_fields.table import DERIVED, DRAWN, PASSED, READ, REFUSED, TABLE, UNUSED

# in rooms of motion: words of other things, and options that are handed to MuJoCo's functions
OTHER_THINGS = {"names", "signature", "ccd_iterations"}
WRITER = "model/contact/bounds.py"  # derives boxes anew, as MuJoCo's compiler does


def test_every_field_has_its_row():
    assert uses.fields()[1] == []


def test_a_new_field_is_a_fault(monkeypatch):
    found = uses.existing
    monkeypatch.setattr(uses, "existing", lambda owner: [*found(owner), f"{owner}_viscoplasticity"])
    assert uses.fields()[1] == [f"{owner}.{owner}_viscoplasticity: no row" for owner in uses.OWNERS]


def test_a_field_that_is_gone_is_a_fault(monkeypatch):
    found = uses.existing
    monkeypatch.setattr(uses, "existing", lambda owner: [name for name in found(owner) if name != "body_mass"])
    (fault,) = uses.fields()[1]
    assert fault.startswith("MjModel.body_mass: MuJoCo") and fault.endswith("has no such field")


@pytest.mark.parametrize("owner", uses.OWNERS)
def test_readers(owner):
    """What is read has a reader in the rooms of motion; what is not read is named in no file of them."""
    found = [field for field in uses.fields()[0] if field.owner == owner]
    unread = [
        f.name for f in found if f.row.treatment == READ and not set(uses.readers(owner, f.name)) & set(uses.MOTION)
    ]
    assert not unread, f"no file reads these: {unread}"
    for field in found:
        if field.row.treatment in (DERIVED, DRAWN, PASSED, UNUSED) and field.name not in OTHER_THINGS:
            named = set(uses.named_in(owner, field.name)) - {WRITER}
            files = [file for file in named if file.split("/")[0] in uses.MOTION]
            assert not files, f"{field.name} is said to be {field.row.treatment}: {files}"


def test_readers_of_names_that_are_built():
    """`getattr(m, f"{kind}_{name}")` reads geom_solmix; docstrings read nothing."""
    assert "model" in uses.readers("MjModel", "geom_solmix")
    assert "dynamics" in uses.readers("MjModel", "body_gravcomp")
    assert uses.readers("MjOption", "sdf_iterations") == []


def test_every_row_says_why():
    """Where a field is not read, the row has the reason; what is refused, the word that leaves it out."""
    assert not [row for row in TABLE if row.treatment != READ and not row.why]
    assert not [row for row in TABLE if row.treatment == REFUSED and not row.kind]
