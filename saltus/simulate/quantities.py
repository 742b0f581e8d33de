"""Quantities of a simulation's present state beyond the fields of its data: sensors, energy, inertia, derivatives.

The class that uses them must have an `engine`, and a `_turn` for `in_turn`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import flag, words
from saltus.simulate import stepping
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.sensing import sensor_place, sensordata
from saltus.simulate.engine.threads.turn import Turn, in_turn

if TYPE_CHECKING:
    from saltus.simulate.derivatives.linearize import Linearization
    from saltus.simulate.derivatives.linearize_contacts import ContactLinearization
    from saltus.simulate.derivatives.linearize_inverse import InverseLinearization
    from saltus.simulate.derivatives.linearize_sensors import SensorLinearization
    from saltus.simulate.derivatives.second_derivatives import SecondDerivatives


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

    @in_turn
    def inverse(self, qacc: ArrayLike, *, discrete: bool = False) -> NDArray[np.float64]:
        """Sum of actuator and applied forces [nv] (N, N m) under which the present state accelerates by qacc [nv].

        Inverse dynamics with constraints and contacts, as `mj_inverse`: M qacc + bias - passive forces - constraint
        forces, which under the soft law are a function of qacc (rad/s², m/s²). With `discrete`, qacc is the change of
        velocity over a step, divided by the step, for the integrators `euler` and `discrete`.

        Raises:
            OptionError: hard contact, prescribed motions; an integrator or shape of qacc that does not go with it.
        """
        from saltus.simulate.analysis.inverse_forces import inverse

        divergence.check_given(self.engine)
        return inverse(self.engine, qacc, flag("discrete", discrete))

    @in_turn
    def linearize_inverse(self, qacc: ArrayLike | None = None, *, discrete: bool = False) -> InverseLinearization:
        """Exact derivatives [nv, nv] of `inverse` by positions, velocities and accelerations, at the present state.

        At accelerations qacc [nv] (rad/s², m/s²); None: those of the present state, `data.qacc`. By dual numbers,
        constraints and soft contacts included, with their present set of contacts and zones of friction. The result
        unpacks as `dqfrc_dqpos, dqfrc_dqvel, dqfrc_dqacc`; the last is the inertia matrix with armature where no
        constraint acts. `discrete`: as of `inverse`.

        Raises:
            OptionError: what `inverse` does not support, bodies that sleep, contacts with searched normals.
        """
        from saltus.simulate.derivatives.linearize_inverse import linearize_inverse

        divergence.check_given(self.engine)
        if qacc is None:
            stepping.refresh(self.engine, "qacc")
            qacc = self.engine.d.views["qacc"].copy()
        return linearize_inverse(self.engine, qacc, flag("discrete", discrete))

    @in_turn
    def second_derivatives(self) -> SecondDerivatives:
        """Exact first and second derivatives of the accelerations `data.qacc` [nv] at the present state.

        By positions, velocities, states of actuators, controls, and forces that are added: `result.by("qpos", "qvel")`
        [nv, nv, nv] is ∂²a/∂q∂v. In the tangent space: of a(q ⊕ dq, v + dv, ...) at zero, where ⊕ is the exponential at
        the state along the axes of qvel (`mj_integratePos`), v keeps its numbers, and dq is one vector for all joints.
        So they are symmetric. On free and ball joints they are not the first derivatives at a displaced state
        differentiated once more, whose axes have turned: those differ by half of the first derivatives along the
        cross product of the two axes.

        Kernels run as plain Python on numbers with all their derivatives: nothing is compiled.

        Raises:
            OptionError: a constraint acts here, or something in the model has no second derivatives.
            EventError: a force has a kink here, such as a damper of the square of its speed at rest.
        """
        from saltus.simulate.derivatives.second_derivatives import second_derivatives

        divergence.check_given(self.engine)
        stepping.refresh(self.engine, "qacc")
        return second_derivatives(self.engine, self.engine.d.views["qacc"].copy())

    @in_turn
    def second_derivatives_inverse(self, qacc: ArrayLike | None = None) -> SecondDerivatives:
        """Exact first and second derivatives of the forces `inverse(qacc)` [nv] at the present state.

        By positions, velocities and accelerations: `result.by("qpos", "qacc")` [nv, nv, nv] is the derivative of the
        inertia matrix. At accelerations qacc [nv] (rad/s², m/s²); None: those of the present state. Directions and
        errors are those of `second_derivatives`.
        """
        from saltus.simulate.analysis.inverse_forces import given_accelerations
        from saltus.simulate.derivatives.second_derivatives import second_derivatives_inverse

        divergence.check_given(self.engine)
        stepping.refresh(self.engine, "qacc")
        chosen = self.engine.d.views["qacc"].copy() if qacc is None else qacc
        given = given_accelerations("second_derivatives_inverse", self.engine, chosen)
        return second_derivatives_inverse(self.engine, given)

    @overload
    def linearize(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    @overload
    def linearize(self, parameters: Sequence[str] | str) -> Linearization: ...

    @in_turn
    def linearize(
        self, parameters: Sequence[str] | str | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | Linearization:
        """Exact derivatives A [2 nv + na, 2 nv + na], B [2 nv + na, nu] of one step at the present state.

        In the tangent space, (dq, dv, dw)' = A (dq, dv, dw) + B du with w the states of actuators, and of a controller,
        as `mjd_transitionFD` defines them; by dual numbers. Through located events of hard contact they are those of
        the motion, with the events' own times (saltation); a state in contact counts as staying in it. EventError where
        a contact grazes, or events are too dense to be located.

        `parameters`: names of numbers of the model, "body_mass[link]", "opt.gravity[2]", or of whole fields,
        "dof_damping", a column for each number; with `saltus.PID` "PID.kp[actuator]", with any controller
        "control_prm[3]", under hard contact "Hard.restitution". Then the result also has P [2 nv + na, k], the
        derivatives by them, with all else held, constants that MuJoCo derives from the model recomputed; it unpacks as
        A, B, P and has the columns' `names`. Fields are those that may vary in a `Batch`. OptionError names a parameter
        without derivatives, and why.
        """
        from saltus.simulate.derivatives.linearize import linearize

        divergence.check_given(self.engine)
        return linearize(self.engine, None if parameters is None else words("parameters", parameters))

    @overload
    def linearize_sensors(
        self, sensors: Sequence[str] | str | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    @overload
    def linearize_sensors(
        self, sensors: Sequence[str] | str | None = None, *, parameters: Sequence[str] | str
    ) -> SensorLinearization: ...

    @in_turn
    def linearize_sensors(
        self, sensors: Sequence[str] | str | None = None, *, parameters: Sequence[str] | str | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | SensorLinearization:
        """Exact derivatives C [r, 2 nv + na], D [r, nu] of sensor readings at the present state, as `sensordata`.

        dy = C (dq, dv, dw) + D du, in the tangent space of `linearize`, with y [r] the readings of the sensors named,
        one after the other; None: of all, in the order of the file. With A, B of `linearize`, the system in discrete
        time is (dq, dv, dw)' = A (dq, dv, dw) + B du, dy = C (dq, dv, dw) + D du: readings are those before the step,
        as MuJoCo's `mjd_transitionFD` has them. By dual numbers, accelerations and contact forces included, with the
        present set of contacts and zones of friction; a quaternion has its four numbers, and a reading at its cutoff
        has zeros. The position of a site, `framepos`, has its Jacobian.

        `parameters`: as of `linearize`; then the result also has P [r, k], `names` of the parameters and `readings`,
        the names of the rows, and unpacks as C, D, P.

        Raises:
            OptionError: a sensor's readings have no derivatives (delays, intervals, searched nearest points, sensors of
                users), contacts have searched normals and a sensor reads forces, time stepping, noslip, bodies that
                sleep, prescribed motions; a parameter has none.
            EventError: a reading has a kink at this state.
        """
        from saltus.simulate.derivatives.linearize_sensors import linearize_sensors

        divergence.check_given(self.engine)
        chosen = None if sensors is None else words("sensors", sensors)
        return linearize_sensors(self.engine, chosen, None if parameters is None else words("parameters", parameters))

    @overload
    def linearize_data(self, fields: Sequence[str] | str) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    @overload
    def linearize_data(
        self, fields: Sequence[str] | str, *, parameters: Sequence[str] | str
    ) -> SensorLinearization: ...

    @in_turn
    def linearize_data(
        self, fields: Sequence[str] | str, *, parameters: Sequence[str] | str | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | SensorLinearization:
        """Exact derivatives C [r, 2 nv + na], D [r, nu] of fields of `data` at the present state.

        `fields`: names as of `record` of `run`, "qacc", "xpos[hand]", "qfrc_constraint[knee]", "energy",
        "cfrc_int[foot]", and "efc_force", the forces of the present constraint rows [nefc]: with elliptic cones those
        of contacts in their frames. Numbers of a field are in the order of its memory, one field after the other.
        `parameters`: as of `linearize_sensors`.

        Raises:
            As `linearize_sensors`; OptionError for a field without derivatives.
        """
        from saltus.simulate.derivatives.linearize_sensors import linearize_data

        divergence.check_given(self.engine)
        chosen = words("fields", fields)
        return linearize_data(self.engine, chosen, None if parameters is None else words("parameters", parameters))

    @in_turn
    def linearize_contacts(self, *, parameters: Sequence[str] | str = ()) -> ContactLinearization:
        """Exact derivatives of the contact forces [ncon, 6] at the present state, by state, controls and parameters.

        Forces (N) and torques (N m) on the second geom of each of `data.contact`, in its order, along its frame: normal
        and two tangents, as `mj_contactForce` gives them; `result.force` are their values. The result unpacks as
        C [ncon, 6, 2 nv + na], D [ncon, 6, nu], P [ncon, 6, k]: df = C (dq, dv, dw) + D du + P dp, in the tangent space
        of `linearize`. The frame turns along with the contact: derivatives are those of the six numbers in it. By dual
        numbers through the constraint solver, the hard contact law's forces, or a user-defined law, with the present
        set of contacts and zones of friction.

        `parameters`: as of `linearize`.

        Raises:
            OptionError: contacts have searched normals, time stepping, noslip, bodies that sleep, prescribed motions; a
                parameter has none.
            EventError: a force has a kink at this state.
        """
        from saltus.simulate.derivatives.linearize_contacts import linearize_contacts

        divergence.check_given(self.engine)
        return linearize_contacts(self.engine, words("parameters", parameters))
