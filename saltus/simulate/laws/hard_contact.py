"""Features of models that hard contact refuses or leaves out."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError, warn
from saltus.model.compile.constraints.hard import declares_static_friction, of_fields
from saltus.model.contact.collisions import LEAST_FRICTION
from saltus.model.enums import BOX, MESH
from saltus.model.sensor_enums import ON_TAXELS

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.number.structs import Struct


def check_hard_contact(model: "Model", *, event: bool) -> None:
    """Raise OptionError for a feature of a model that hard contact does not support; warn of uneven friction.

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
        _warn_of_uneven_friction(model)


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


def check_turning_friction(model: "Model", friction: NDArray[np.float64]) -> None:
    """Raise OptionError for the first pair of geoms with torsional or rolling friction that does not slide with any.

    `friction` [ncollision]: coefficients of sliding that replace the model's; nan keeps that.
    """
    base = model.struct(listed="hard contact")
    law = base.views["collision_law"]
    own, dim = base.views["law_friction"][law], base.views["law_dim"][law]
    turning = ((dim > 3) & (own[:, 2] > LEAST_FRICTION)) | ((dim > 4) & (own[:, 3] > LEAST_FRICTION))
    lacking = np.flatnonzero(turning & np.isnan(friction) & (own[:, 0] <= LEAST_FRICTION))
    if lacking.size:
        raise OptionError(
            f"contact='hard': the contact of {_pair(model, base, int(lacking[0]))} has torsional or rolling friction, "
            "but a coefficient of sliding friction of 0; give it a positive one, or condim=1"
        )


def check_static_friction(model: "Model", friction: NDArray[np.float64]) -> None:
    """Raise OptionError for the first pair of geoms whose static friction is below that of sliding, or without it.

    `friction` [..., ncollision]: coefficients of sliding that replace the model's; nan keeps that.
    """
    base = model.struct(listed="hard contact")
    if not declares_static_friction(base):
        return
    law = base.views["collision_law"]
    own, static = base.views["law_friction"][law, 0], base.views["law_static"][law]
    sliding = np.where(np.isnan(friction), own, friction)
    sliding = np.where(sliding <= LEAST_FRICTION, 0.0, sliding)
    for bad, why in (
        (sliding > static, "less than its friction in motion, {:g}; give it at least that"),
        ((sliding == 0.0) & (static > LEAST_FRICTION), "but no friction in motion; give it a positive one"),
    ):
        *_, k = np.nonzero(np.atleast_2d(bad & (base.views["law_dim"][law] > 1)))
        if k.size:
            at, kinetic = int(k[0]), float(np.max(np.atleast_2d(sliding)[:, k[0]]))
            raise OptionError(
                f"contact='hard': the contact of {_pair(model, base, at)} has static friction {static[at]:g}, "
                + why.format(kinetic)
            )


def _pair(model: "Model", base: "Struct", k: int) -> str:
    """Names of the geoms of pair k."""
    names = model.names("geom")
    return " and ".join(repr(names[base.views[f"collision_geom{i}"][k]]) for i in (1, 2))


def _warn_of_uneven_friction(model: "Model") -> None:
    """Warn of friction that differs along the tangents, which the located hard law lacks, naming the first pair."""
    base = model.struct(listed="hard contact")
    law, friction, dim = base.views["collision_law"], base.views["law_friction"], base.views["law_dim"]
    rolls = (dim[law] > 4) & (friction[law, 3] != friction[law, 4])
    uneven = np.flatnonzero((friction[law, 0] != friction[law, 1]) | rolls)
    if uneven.size:
        pair = _pair(model, base, int(uneven[0])).replace("'", "")
        warn(f"contact='hard': the friction between {pair} is that of the first tangent in all directions")
