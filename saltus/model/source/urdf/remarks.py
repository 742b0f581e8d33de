"""Remarks on a URDF file: what is not read, and what does not act as a reader of the file might think."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from saltus.errors import SaltusWarning

SHOWN = 3  # number of names that are shown


class Remark(NamedTuple):
    """A remark: its subject, the names of joints, links or elements, the consequences; read: whether it is read."""

    kind: str
    names: tuple[str, ...]
    meaning: str
    read: bool = True

    @property
    def which(self) -> str:
        """The first few names, and the number of further ones."""
        names = ", ".join(repr(name) for name in self.names[:SHOWN] if name)
        more = f" and {len(self.names) - SHOWN} more" if len(self.names) > SHOWN else ""
        return names + more

    def __str__(self) -> str:
        return f"{self.kind} ({self.which}): {self.meaning}" if self.which else f"{self.kind}: {self.meaning}"


class UrdfWarning(SaltusWarning):
    """A warning with all remarks on a URDF file. It can be made of its text alone, as other programs make it anew."""

    remarks: tuple[Remark, ...] = ()

    @classmethod
    def of(cls, remarks: Iterable[Remark]) -> UrdfWarning:
        """The warning of these remarks."""
        found = tuple(remarks)
        unread = "; ".join(str(remark) for remark in found if not remark.read)
        others = "; ".join(str(remark) for remark in found if remark.read)
        parts = [f"elements of this URDF file are not simulated: {unread}"] if unread else []
        parts += [f"{'also' if unread else 'in this URDF file'}: {others}"] if others else []
        made = cls(". ".join(parts))
        made.remarks = found
        return made


def grouped(found: Iterable[tuple[str, str, str]], *, read: bool = True) -> list[Remark]:
    """Remarks from (kind, name, meaning) of single elements, one for each kind, in alphabetical order."""
    names: dict[str, list[str]] = {}
    meanings: dict[str, str] = {}
    for kind, name, meaning in found:
        names.setdefault(kind, []).append(name)
        meanings[kind] = meaning
    return [Remark(kind, tuple(dict.fromkeys(names[kind])), meanings[kind], read) for kind in sorted(names)]
