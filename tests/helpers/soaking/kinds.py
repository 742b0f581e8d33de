"""All sorts of input by their names; what one needs is imported when it is asked for."""

import importlib

from helpers.soaking.outcomes import Kind

#: The module in which each kind is.
KINDS = {
    **dict.fromkeys(("mjcf", "urdf"), "texts"),
    **dict.fromkeys(("netcdf", "zarr", "npz", "sweep", "policy"), "files"),
    **dict.fromkeys(("message", "session", "upload"), "messages"),
    **dict.fromkeys(("call", "attribute"), "calls"),
    "scene": "scenes",
    "beside": "beside",
    "kill": "kills",
}
PLANTED = {f"planted-{name}": "planted" for name in ("accept", "refuse", "raw", "crash", "hang")}


def kind_of(name: str) -> Kind:
    """A kind by its name, planted ones too; KeyError where there is none."""
    module = importlib.import_module(f"helpers.soaking.{(KINDS | PLANTED)[name]}")
    return {kind.name: kind for kind in module.KINDS}[name]
