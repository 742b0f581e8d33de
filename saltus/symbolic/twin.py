"""The derived equations beside the engine at random states: two ways to compute equal numbers, each testing the other.

The engine computes M and bias by recursion over bodies (composite rigid bodies, Newton-Euler), the equations by
derivatives of energies. They share the model and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import symengine

from saltus.errors import OptionError
from saltus.model.features import check
from saltus.model.model import Model
from saltus.simulate.simulation import Simulation
from saltus.symbolic.derivation.mechanism import INEQUALITIES
from saltus.symbolic.derived import DerivedEquations
from saltus.symbolic.export.python_code import function
from saltus.symbolic.export.routine import Routine

TOLERANCE = 1e-10
ROUNDINGS = 100  # tolerance of accelerations, in units of eps cond(M)
SMALLEST = 1e-12  # share of the largest inertia: least value taken for an entry of M's diagonal where it scales
QUANTITIES = ("M", "bias", "passive", "actuation", "accelerations")


@dataclass(frozen=True)
class Difference:
    """The largest relative difference of a `quantity`: `largest`, in state number `state` at `entry`, named by dofs.

    `rounding`: bound of the difference by rounding alone: eps cond(M) times a safety for accelerations.
    """

    quantity: str
    largest: float
    state: int
    entry: str
    rounding: float


@dataclass(frozen=True)
class Twin:
    """Largest differences between equations and engine, in joint coordinates.

    Differences are relative to the quantity's largest entry at the state, with each degree of freedom in units that
    make M's diagonal 1: M_ij / √(M_ii M_jj), Q_i / √M_ii, a_i √M_ii. So entries of slides and hinges compare. Where
    forces may cancel, it is no less than what cancels: √(2 T) ω for the bias, with ω the fastest turning of a joint,
    and spring or damper for passive forces.
    `condition` is the largest condition number of M in these units.
    """

    model: str
    orientation: str
    states: int
    differences: tuple[Difference, ...]
    condition: float
    left_out: tuple[str, ...]

    def agrees(self, tolerance: float = TOLERANCE) -> bool:
        """Whether no difference is beyond the tolerance, or beyond rounding where that is more."""
        return all(d.largest <= max(tolerance, d.rounding) for d in self.differences)

    def __getitem__(self, quantity: str) -> Difference:
        """The difference of a quantity."""
        for difference in self.differences:
            if difference.quantity == quantity:
                return difference
        raise KeyError(f"no quantity {quantity!r}; there are: {', '.join(QUANTITIES)}")

    def rows(self, tolerance: float = TOLERANCE) -> list[tuple[str, str, str, str]]:
        """Quantity, difference, where it is, and a verdict, as text."""
        out = []
        for d in self.differences:
            verdict = "agrees" if d.largest <= max(tolerance, d.rounding) else "DISAGREES"
            out.append(
                (
                    d.quantity,
                    f"{d.largest:.1e}" if d.largest else "0",
                    f"{d.entry}, state {d.state}" if d.entry else "",
                    verdict,
                )
            )
        return out

    def __str__(self) -> str:
        rows = [("quantity", "largest difference", "where", ""), *self.rows()]
        widths = [max(len(row[k]) for row in rows) + 2 for k in range(3)]
        head = f"{self.model}, {self.orientation} coordinates, {self.states} random states, relative differences:"
        table = ["".join(f"{text:{w}}" for text, w in zip(row[:3], widths, strict=True)) + row[3] for row in rows]
        return "\n".join([head, *(line.rstrip() for line in table)])


def compare_with_engine(equations: DerivedEquations, states: int = 20, seed: int = 0) -> Twin:
    """Compare M, bias, passive and actuation forces, and free accelerations with the engine's, at random states.

    States have joints within their limits, random velocities, controls, and forces on joints; contacts, limits and dry
    friction, which equations leave out, are left out of the engine too, and forces from outside out of both.

    Raises:
        OptionError: there is no state to compare at.
    """
    if states < 1:
        raise OptionError(f"states must be at least 1, not {states}")
    sim = Simulation(_without_inequalities(equations.model))
    joints = InJoints(equations)
    worst = {name: Difference(name, 0.0, 0, "", 0.0) for name in QUANTITIES}
    condition = 1.0
    rng = np.random.default_rng(seed)
    for k, state in enumerate(random_states(equations, states, rng)):
        here, conditioned = _differences(sim, joints, state, rng)
        condition = max(condition, conditioned)
        for name, difference in here.items():
            at = np.unravel_index(np.argmax(difference), difference.shape)
            if difference[at] > worst[name].largest:
                entry = ", ".join(equations.model.dof_names()[i] for i in at)
                worst[name] = Difference(name, float(difference[at]), k, entry, 0.0)
    rounding = ROUNDINGS * np.finfo(float).eps * condition
    a = worst["accelerations"]
    worst["accelerations"] = Difference(a.quantity, a.largest, a.state, a.entry, rounding)
    name, which = equations.model.name, equations.orientation
    return Twin(name, which, states, tuple(worst.values()), condition, equations.left_out)


def random_states(equations: DerivedEquations, count: int, rng: np.random.Generator) -> Iterator[dict[str, np.ndarray]]:
    """`count` random states with controls: qpos, qvel, act, ctrl. Hinges turn at most half around, within limits."""
    mechanism, model = equations.mechanism, equations.model
    for _ in range(count):
        qpos = rng.normal(size=model.nq)
        for joint in mechanism.joints:
            at = joint.qposadr
            if joint.kind in ("free", "ball"):
                part = slice(at + joint.nq - 4, at + joint.nq)
                qpos[part] /= np.linalg.norm(qpos[part])
                continue
            reach = math.pi if joint.kind == "hinge" else 1.0
            low, high = float(joint.ref) - reach, float(joint.ref) + reach
            limits = mechanism.joint_ranges.get(joint.name, (low, high))
            inside = max(low, limits[0]), min(high, limits[1])
            qpos[at] = rng.uniform(*(inside if inside[0] < inside[1] else limits))
        ctrl = rng.normal(size=model.nu)
        for motor in mechanism.motors:
            if motor.limits is not None:
                ctrl[motor.place] = rng.uniform(*motor.limits)
        yield {"qpos": qpos, "qvel": rng.normal(size=model.nv), "act": rng.uniform(size=model.na), "ctrl": ctrl}


class InJoints:
    """The equations' numbers at a state of the joints (qpos, qvel), mapped to joint coordinates.

    With J a = γ the constraints, if any, and qvel = P v: v = G qvel and dv/dt = G qacc + g, where [J; P] G = [0; 1] and
    [J; P] g = [γ; -dP/dt v]. Then M' = Gᵀ M G, bias' = Gᵀ (bias + M g), Q' = Gᵀ Q. For relative coordinates G is 1, for
    absolute ones the matrix of sums S.
    """

    def __init__(self, equations: DerivedEquations):
        self.equations = equations
        c, d = equations.choice.own, equations.derivation
        rates = [symengine.sympify(rate) for rate in c.joint_rate]
        results = {
            "M": d.M,
            "bias": d.bias,
            "passive": d.forces["passive"],
            "actuation": d.forces["actuation"],
            "P": [[rate.diff(v) for v in c.v] for rate in rates],
            "turning": [c.rate(rate) for rate in rates],  # dP/dt v
        }
        if d.jacobian:
            results |= {"J": d.jacobian, "gamma": d.gamma}
        self._names = [*results]
        inputs = [motor.input for motor in equations.mechanism.motors]
        parameters = equations.mechanism.parameters
        arguments = {"q": c.q, "v": c.v, "u": inputs, "parameters": [*parameters]}
        self._function = function(Routine("twin", arguments, results, symmetric=["M"]))
        self._parameters = [*parameters.values()]

    def own(self, q: np.ndarray, v: np.ndarray, inputs: np.ndarray) -> dict[str, np.ndarray]:
        """M, bias, passive, actuation, P, dP/dt v ("turning"), J and gamma in the equations' own coordinates."""
        found = dict(zip(self._names, self._function(q, v, inputs, self._parameters), strict=True))
        return {"J": np.zeros((0, len(v))), "gamma": np.zeros(0), **found}

    def __call__(
        self, qpos: np.ndarray, qvel: np.ndarray, inputs: np.ndarray, forces: np.ndarray
    ) -> dict[str, np.ndarray]:
        """M [nv, nv], bias, passive, actuation, accelerations [nv], with `forces` on the joints besides."""
        at = self.own(*self.equations.from_joint(qpos, qvel), inputs)
        J, P, M = at["J"], at["P"], at["M"]
        nc, nv = len(J), len(P)
        stacked = np.vstack([J, P])
        G = np.linalg.solve(stacked, np.vstack([np.zeros((nc, nv)), np.eye(nv)]))
        g = np.linalg.solve(stacked, np.concatenate([at["gamma"], -at["turning"]]))
        whole = np.block([[M, -J.T], [J, np.zeros((nc, nc))]])
        right = at["passive"] + at["actuation"] + P.T @ forces - at["bias"]
        try:
            a = np.linalg.solve(whole, np.concatenate([right, at["gamma"]]))[: len(M)]
            accelerations = P @ a + at["turning"]
        except np.linalg.LinAlgError:  # M is singular
            accelerations = np.full(nv, np.inf)
        return {
            "M": G.T @ M @ G,
            "bias": G.T @ (at["bias"] + M @ g),
            "passive": G.T @ at["passive"],
            "actuation": G.T @ at["actuation"],
            "accelerations": accelerations,
        }


def _without_inequalities(model: Model) -> Model:
    """The model without the features that the equations leave out."""
    m = model.mujoco
    m.jnt_actfrclimited[:] = 0
    ignored = check(m, model.left_out | set(INEQUALITIES))
    laws = {"muscles": model.muscles, "changes": model.changes}
    return Model(m, name=model.name, xml=model.xml, ignored=ignored, initial_key=model.initial_key, **laws)


def _differences(
    sim: Simulation, joints: InJoints, state: dict[str, np.ndarray], rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], float]:
    """Relative differences of each entry, and the condition number of M."""
    for name, value in state.items():
        getattr(sim, name)[:] = value
    M = sim.full_M()
    sim.qfrc_applied[:] = 10 * M @ rng.normal(size=len(M))  # accelerations like those by weight
    data, motors = sim.data, joints.equations.mechanism.motors
    inputs = np.array([sim.ctrl[m.place] if m.gain is not None else data.actuator_force[m.place] for m in motors])
    twin = joints(state["qpos"], state["qvel"], inputs, sim.qfrc_applied.copy())
    diagonal = np.diag(M)
    unit = np.sqrt(np.maximum(diagonal, SMALLEST * diagonal.max()))
    out = {"M": np.abs(twin["M"] - M) / np.outer(unit, unit)}
    least = {
        "bias": math.sqrt(sim.qvel @ M @ sim.qvel) * _fastest_turning(joints.equations, sim.qvel),
        "passive": float(np.abs([data.qfrc_spring / unit, data.qfrc_damper / unit]).max()),
    }
    engine = {
        "bias": data.qfrc_bias,
        "passive": data.qfrc_passive,
        "actuation": data.qfrc_actuator,
        "accelerations": data.qacc_smooth,
    }
    for name, value in engine.items():
        scale = unit if name == "accelerations" else 1 / unit
        out[name] = _relative(twin[name] * scale, value * scale, least.get(name, 0.0))
    return out, float(np.linalg.cond(M / np.outer(unit, unit)))


def _relative(a: np.ndarray, b: np.ndarray, least: float) -> np.ndarray:
    """|a - b| relative to b's largest entry; infinite where a is no number."""
    size = max(float(np.abs(b).max(initial=0.0)), least)
    difference = np.abs(a - b)
    return np.where(np.isfinite(a), difference / size if size else np.where(difference > 0, np.inf, 0.0), np.inf)


def _fastest_turning(equations: DerivedEquations, qvel: np.ndarray) -> float:
    """The largest rate of a joint's turning (rad/s)."""
    turning = [j for j in equations.mechanism.joints if j.kind != "slide"]
    rates = [qvel[j.dofadr + max(j.nv - 3, 0) : j.dofadr + j.nv] for j in turning]
    return max((float(np.abs(rate).max()) for rate in rates), default=0.0)
