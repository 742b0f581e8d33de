"""Quantities of a simulation's present state beyond the fields of its data: sensors, energy, inertia, derivatives.

The class that uses them must have an `engine`, and a `_turn` for `in_turn`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import words
from saltus.simulate import stepping
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.sensing import sensor_place, sensordata
from saltus.simulate.engine.threads.turn import Turn, in_turn

if TYPE_CHECKING:
    from saltus.simulate.analysis.linearize import Linearization


class Quantities:
    """Quantities of the present state of the simulation that an engine holds."""

    engine: Engine
    _turn: Turn

    @property
    @in_turn
    def sensordata(self) -> NDArray[np.float64]:
        """Readings of all sensors [nsensordata] at the present state, in the order of the file; SI units, no noise."""
        stepping.refresh(self.engine, "sensordata")
        return sensordata(self.engine.model, self.engine.law_timestep, self.engine.laws, self.engine.d)

    @in_turn
    def sensor(self, name: str) -> NDArray[np.float64]:
        """Reading of a sensor at the present state; OptionError lists the sensors if the name is unknown."""
        return self.sensordata[sensor_place(self.engine.model, name)]

    @in_turn
    def energy(self) -> NDArray[np.float64]:
        """(potential, kinetic) energy in J at the present state.

        The potential is that of weights, of springs and of deformable bodies, stretch and bending included (which
        MuJoCo's own energy leaves out).
        """
        return stepping.energy(self.engine)

    @in_turn
    def full_M(self) -> NDArray[np.float64]:
        """The joint-space inertia matrix [nv, nv] (kg, kg m, kg m²) at the present state."""
        stepping.refresh(self.engine, "M")
        return self.engine.inertia()

    @in_turn
    def jacobian(
        self, body: str | int, point: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Translation and rotation Jacobians [3, nv] of a body's point (m, world axes; None: centre of mass)."""
        from saltus.simulate.analysis.jacobian import jacobian

        stepping.refresh(self.engine, "cdof")
        return jacobian(self.engine, body, point)

    @overload
    def linearize(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    @overload
    def linearize(self, parameters: Sequence[str] | str) -> "Linearization": ...

    @in_turn
    def linearize(
        self, parameters: Sequence[str] | str | None = None
    ) -> "tuple[NDArray[np.float64], NDArray[np.float64]] | Linearization":
        """Exact derivatives A [2 nv + na, 2 nv + na], B [2 nv + na, nu] of one step at the present state.

        In the tangent space, (dq, dv, dw)' = A (dq, dv, dw) + B du with w the states of actuators, and of a controller,
        as `mjd_transitionFD` defines them; by dual numbers. Through located events of hard contact they are those of
        the motion, with the events' own times (saltation); a state in contact counts as staying in it. EventError where
        a contact grazes, or events are too dense to be located.

        `parameters`: names of numbers of the model, "body_mass[link]", "opt.gravity[2]", or of whole fields,
        "dof_damping", a column for each number; with `saltus.PID` "PID.kp[actuator]", with any controller
        "control_prm[3]". Then the result also has P [2 nv + na, k], the derivatives by them, with all else held,
        constants that MuJoCo derives from the model recomputed; it unpacks as A, B, P and has the columns' `names`.
        Fields are those that may vary in a `Batch`. OptionError names a parameter without derivatives, and why.
        """
        from saltus.simulate.analysis.linearize import linearize

        divergence.check_given(self.engine)
        return linearize(self.engine, None if parameters is None else words("parameters", parameters))
