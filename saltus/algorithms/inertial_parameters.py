"""Inertial parameters of the bodies of a model, about the origins of their frames."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.model.tree.body_inertia import PARAMETERS, inertial


class InertialParameters(NamedTuple):
    """Parameters of bodies: names [10 nbody], as "Ixx[hand]", and values [10 nbody] (kg, kg m, kg m²)."""

    names: tuple[str, ...]
    values: NDArray[np.float64]


def inertial_parameters(model: Model) -> InertialParameters:
    """Ten inertial parameters of each body, in which generalised forces are linear.

    For each body, first the world: m (kg); mx, my, mz, the mass times the centre of mass (kg m); Ixx, Ixy, Iyy, Ixz,
    Iyz, Izz (kg m²), the inertia about the origin of the body's frame and in its axes. They multiply
    `saltus.regressor`. The world's are those that the model file gives it, which move nothing.

    Raises:
        OptionError: model is not what `saltus.load` gives.
    """
    if not isinstance(model, Model):
        raise OptionError(f"inertial_parameters takes a model as saltus.load gives it, got {type(model).__name__}")
    m = model.mj_model
    values = np.array([inertial(m, b) for b in range(m.nbody)])
    names = tuple(f"{parameter}[{body}]" for body in model.names("body") for parameter in PARAMETERS)
    return InertialParameters(names, values.reshape(-1))
