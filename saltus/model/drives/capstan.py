"""Capstans: tendons that rub on the geoms around which they go."""

from __future__ import annotations

import math
from xml.etree import ElementTree

from saltus.arguments import number, text_of
from saltus.errors import OptionError
from saltus.model.compile.drives.capstans import TITLE, capstan_friction, why_no_capstan
from saltus.model.drives.custom import custom_tuple
from saltus.model.drives.parts import NO_FRICTION
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.model.xml_overrides import rewritten


def capstan(model: ModelSource, tendon: str, friction: float) -> Model:
    """A copy of a model in which a tendon rubs on the sphere or cylinder around which it goes.

        model = saltus.capstan("hoist.xml", "rope", friction=0.3)

    The tensions T₁ and T₂ on both sides differ by at most the factor exp(μ φ), with φ the angle of wrap (Euler and
    Eytelwein): their mean is the tension of the tendon's spring, damper and actuators, and the difference is dry
    friction, which holds the tendon on the geom up to that factor and opposes its slip beyond. A geom that turns gets
    the torque of the difference. The coefficient is written into the model's text as a `<custom>` tuple, which MuJoCo
    ignores (see `saltus.model.compile.drives.capstans`), and `frictionloss` of the tendon, 1e-9 N if it has none, is
    then a part of that friction without tension.

    Args:
        model: source of MJCF, as for `saltus.load`; a Model keeps its changes, muscles and ignored features.
        tendon: name of a spatial tendon around geoms of one body.
        friction: coefficient μ, at least 0.

    Raises:
        OptionError: no such tendon, one that is not around geoms of one body, has limits, armature, equalities or
            <pulley> branches, a negative coefficient, or a model without MJCF text.
    """
    mu = number("friction", friction)
    if not 0.0 <= mu < math.inf:
        raise OptionError(f"friction must be at least 0, not {friction!r}")
    before = model if isinstance(model, Model) else load(model)
    t, given = before.id("tendon", text_of("tendon", tendon)), f"capstan of tendon {tendon!r}"
    there = t in capstan_friction(before.mj_model)

    def change(root: ElementTree.Element) -> None:
        for element in (e for section in root.iter("tendon") for e in section.iter("spatial")):
            if element.get("name") == tendon and not before.tendon_frictionloss[t] > 0.0:
                element.set("frictionloss", repr(NO_FRICTION))
        if not there:
            ElementTree.SubElement(custom_tuple(root, TITLE), "element", objtype="tendon", objname=tendon)
        for found in (e for group in root.iter("tuple") if (group.get("name") or "").endswith(TITLE) for e in group):
            if found.get("objname") == tendon:
                found.set("prm", repr(mu))

    why = why_no_capstan(before.mj_model, t)
    if why and "frictionloss" not in why:
        raise OptionError(f"{given}: {why}")
    return rewritten(before, change, given)
