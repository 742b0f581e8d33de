"""The laws of contact that a simulation can follow."""

from dataclasses import dataclass
from typing import Any

from saltus.errors import OptionError


@dataclass(frozen=True)
class Soft:
    """MuJoCo's soft law, with the parameters that the model holds: `contact="soft"`.

    `saltus.contact_law` says what the parameters mean.
    """

    name = "soft"


def find_contact_law(contact: Any) -> Soft:
    """The law of a name or a law itself; None is the soft one."""
    if contact is None or contact == "soft":
        return Soft()
    if isinstance(contact, Soft):
        return contact
    if contact == "hard":
        raise OptionError("contact='hard' is not available yet")
    raise OptionError.unknown("contact law", contact, ["soft", "hard"])
