"""Contact laws by their labels in tables of comparisons."""

import dataclasses
from collections.abc import Hashable
from typing import Any

from saltus.arguments import several
from saltus.errors import OptionError
from saltus.simulate.laws.contact import find_contact_law


def law_labels(contacts: Any) -> dict[str, Any]:
    """Contact laws by label: their names, with the parameters that differ where several share a name."""
    given = [contacts] if isinstance(contacts, str) or hasattr(contacts, "name") else several("contacts", contacts)
    laws = [_law(contact) for contact in given]
    laws = [law for k, law in enumerate(laws) if law not in laws[:k]]
    if not laws:
        raise OptionError("compare: no contact laws given")
    names = [str(getattr(law, "name", law)) for law in laws]
    labels: dict[str, Any] = {}
    for law, name in zip(laws, names, strict=True):
        label = name if names.count(name) == 1 else _told_apart(law, name)
        if label in labels:
            raise OptionError(f"compare: two contact laws have the name {label!r}")
        labels[label] = law
    return labels


def _law(contact: Any) -> Any:
    """The law of a name; an unknown name is passed on, for the simulation to refuse."""
    try:
        return find_contact_law(contact)
    except OptionError:
        if not isinstance(contact, Hashable):
            raise
        return contact


def _told_apart(law: Any, name: str) -> str:
    """A law's name with the parameters that are not at their defaults."""
    if not dataclasses.is_dataclass(law):
        return repr(law)
    usual = type(law)()
    changed = [f.name for f in dataclasses.fields(law) if getattr(law, f.name) != getattr(usual, f.name)]
    return f"{name}({', '.join(f'{field}={getattr(law, field)!r}' for field in changed)})" if changed else name
