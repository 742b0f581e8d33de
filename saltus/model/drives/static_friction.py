"""Static friction of geoms: a coefficient up to which their contacts stick, above that of sliding."""

from __future__ import annotations

import math
from xml.etree import ElementTree

from saltus.arguments import number, text_of
from saltus.errors import OptionError
from saltus.model.contact.static_friction import TITLE
from saltus.model.drives.custom import custom_tuple
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.model.xml_overrides import rewritten


def static_friction(model: ModelSource, geom: str, friction: float) -> Model:
    """A copy of a model in which contacts of a geom stick up to a coefficient above that of sliding.

        model = saltus.static_friction("slope.xml", "block", 0.8)      # slides with geom_friction[0], such as 0.5

    A contact that sticks breaks away where the friction that holds it exceeds μ_s f_N, and slides with MuJoCo's
    `friction` until it stops; it then sticks again if the force needed is within μ_s f_N. Both times are located.
    Impulses of impacts have the coefficient of sliding; torsional and rolling friction have one each. Two geoms
    are mixed as MuJoCo mixes friction: the number of the higher priority, or the larger one, where a geom without
    static friction has that of sliding. The coefficient is written into the model's text as a `<custom>` tuple, which
    MuJoCo ignores (see `saltus.model.contact.static_friction`, also for numbers of `<pair>` elements). It acts under
    `contact="hard"`; the other laws, under which bodies creep at rest, ignore it with a warning.

    Args:
        model: source of MJCF, as for `saltus.load`; a Model keeps its changes, muscles and ignored features.
        geom: the geom's name.
        friction: coefficient μ_s, at least that of sliding.

    Raises:
        OptionError: no such geom, a coefficient below that of sliding, or a model without MJCF text.
    """
    mu = number("friction", friction)
    before = model if isinstance(model, Model) else load(model)
    sliding = float(before.geom_friction[before.id("geom", text_of("geom", geom)), 0])
    if not sliding <= mu < math.inf:
        raise OptionError(f"friction must be at least that of sliding, {sliding:g}, not {friction!r}")

    def change(root: ElementTree.Element) -> None:
        for found in (e for group in root.iter("tuple") if (group.get("name") or "").endswith(TITLE) for e in group):
            if (found.get("objtype"), found.get("objname")) == ("geom", geom):
                found.set("prm", repr(mu))
                return
        ElementTree.SubElement(custom_tuple(root, TITLE), "element", objtype="geom", objname=geom, prm=repr(mu))

    return rewritten(before, change, f"static_friction of geom {geom!r}")
