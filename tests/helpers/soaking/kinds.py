"""All sorts of input by their names."""

from helpers.soaking import calls, files, messages, planted, scenes, texts
from helpers.soaking.outcomes import Kind

KINDS: dict[str, Kind] = {
    kind.name: kind for kinds in (texts.KINDS, files.KINDS, messages.KINDS, calls.KINDS, scenes.KINDS) for kind in kinds
}
PLANTED: dict[str, Kind] = {kind.name: kind for kind in planted.KINDS}


def kind_of(name: str) -> Kind:
    """A kind by its name, planted ones too; KeyError where there is none."""
    return (KINDS | PLANTED)[name]
