"""The bundled models by name; without MuJoCo, so that shells can complete names quickly."""

from importlib import resources

BUNDLED = resources.files("saltus.model.source") / "bundled"


def models() -> list[str]:
    """Names of the bundled models, for `load`."""
    return sorted(p.name[:-4] for p in BUNDLED.iterdir() if p.name.endswith(".xml"))
