"""Features of models that hard contact refuses or leaves out."""

from typing import TYPE_CHECKING

import numpy as np

from saltus.errors import OptionError, warn
from saltus.model.compile.constraints.hard import of_fields
from saltus.model.enums import BOX, MESH
from saltus.model.sensor_enums import ON_TAXELS

if TYPE_CHECKING:
    from saltus.model.model import Model


def check_hard_contact(model: "Model", *, event: bool) -> None:
    """Raise OptionError for a feature of a model that hard contact does not support; warn of ignored friction.

    `event`: events are located in time, rather than stepped over.
    """
    features = model.struct().layout.features
    if features & {"flexcontact", "flexequality"}:
        raise OptionError(
            f"contact='hard': {model.name!r} has deformable bodies with contacts or edge-length constraints, "
            "which require the soft law"
        )
    _refuse_tactile(model)
    if event:
        if "adhere" in features:
            raise OptionError(
                f"contact='hard': {model.name!r} has adhesion, which located events do not support; "
                "use time stepping with integrator='moreau_jean'"
            )
        _refuse_hollow_meshes(model)
        _warn_of_ignored_friction(model)


def _refuse_hollow_meshes(model: "Model") -> None:
    """Raise OptionError for the first mesh on a height field that has no convex hull here."""
    base, names = model.struct(listed="hard contact"), model.names("geom")
    for k in np.flatnonzero(of_fields(base)):
        first, second = (int(base.views[f"collision_geom{i}"][k]) for i in (1, 2))
        if model.geom_type[second] > BOX and (model.geom_type[second] != MESH or base.views["geom_hull"][second] < 0):
            what = "has a distance field" if model.geom_type[second] != MESH else "is a mesh without a convex hull"
            raise OptionError(
                f"contact='hard': geom {names[second]!r} {what}, so its gap to the height field {names[first]!r} "
                "cannot be computed before they touch; use time stepping with integrator='moreau_jean'"
            )


def _refuse_tactile(model: "Model") -> None:
    """Raise OptionError for the first tactile sensor of a model, because it reads depths."""
    tactile = np.flatnonzero(model.struct().views["sensor_family"] == ON_TAXELS)
    if len(tactile):
        raise OptionError(
            f"contact='hard': the tactile sensor {model.names('sensor')[tactile[0]]!r} reads penetration depths, "
            'which are zero under hard contact; use contact="soft", or load the model with '
            "ignore=['tactile'] and read forces by touch and contact sensors"
        )


def _warn_of_ignored_friction(model: "Model") -> None:
    """Warn of friction in the model that the located hard law lacks, naming the first pair of geoms."""
    base, names = model.struct(listed="hard contact"), model.names("geom")
    law, friction = base.views["collision_law"], base.views["law_friction"]
    pair = lambda k: " and ".join(names[base.views[f"collision_geom{i}"][k]] for i in (1, 2))  # noqa: E731
    turning = np.flatnonzero(base.views["law_dim"][law] > 3)
    if turning.size:
        more = f", and in {turning.size - 1} more pairs" if turning.size > 1 else ""
        text = f"contact='hard': torsional and rolling friction between {pair(turning[0])}{more} is ignored"
        warn(text)
    uneven = np.flatnonzero(friction[law, 0] != friction[law, 1])
    if uneven.size:
        text = f"contact='hard': the friction between {pair(uneven[0])} is that of the first tangent in all directions"
        warn(text)
