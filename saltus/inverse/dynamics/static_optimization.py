"""Static optimisation: which muscles or motors exert given joint forces."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.inverse.dynamics.actuator_forces import AffineActuators, Sample
from saltus.inverse.dynamics.recorded_forces import RecordedForces

Array = NDArray[np.float64]
FIRM = 1e5  # weight of joint forces over efforts, in units of the largest force an effort of 1 exerts


@dataclass(frozen=True, eq=False)
class ActuatorShare:
    """Efforts and forces of actuators under which joint forces are as wanted, and what they cannot exert.

    time [n] (s). efforts [n, nu]: activations of muscles and other actuators with a state, controls of the others.
    forces [n, nu] (N, N m): of the actuators. unmet [n, nv] (N, N m): joint forces wanted less those exerted; on free
    joints the residual of the motion is not asked for, and is zero here. names: of the actuators. dofs: of the degrees
    of freedom.
    """

    time: Array
    efforts: Array
    forces: Array
    unmet: Array
    names: tuple[str, ...]
    dofs: tuple[str, ...] = field(repr=False)
    size: Array = field(repr=False)  # [nv] largest joint forces wanted

    @property
    def failed(self) -> str:
        """The joints whose forces cannot be met to 0.1 %, how far they are off and when; "" if all are met."""
        found = []
        for i, name in enumerate(self.dofs):
            k = int(np.argmax(abs(self.unmet[:, i])))
            if abs(self.unmet[k, i]) > 1e-3 * self.size[i]:
                found.append(f"{name}: {self.unmet[k, i]:+.4g} not met at {self.time[k]:.4g} s")
        return "; ".join(found)

    def __repr__(self) -> str:
        lines = [f"{n}: {low:.4g} to {high:.4g}" for n, low, high in zip(self.names, *self._ranges(), strict=True)]
        return "\n".join(lines + ([self.failed] if self.failed else []))

    def _ranges(self) -> tuple[Array, Array]:
        return self.efforts.min(axis=0, initial=np.inf), self.efforts.max(axis=0, initial=-np.inf)


def static_optimization(forces: RecordedForces) -> ActuatorShare:
    """Efforts of the actuators that exert the joint forces of a recorded motion, of which Σ u² is least.

    Instant by instant and within the ranges of efforts and forces (Crowninshield and Brand, A physiologically based
    criterion of muscle force prediction in locomotion, J. Biomechanics 14, 1981; with squares of activations Anderson
    and Pandy, Static and dynamic optimization solutions for gait are practically equivalent, J. Biomechanics 34, 2001).
    Efforts with a range count as parts of its larger end. A muscle's effort is its activation, whose force is that of
    its length and velocity; how fast activations can rise is not looked at. Where the ranges do not allow all joint
    forces, the squares of what is missing are least.

    Args:
        forces: what `saltus.inverse_dynamics` gives.

    Raises:
        OptionError: the model has no actuators, or one whose force is not a linear function of one effort: muscles with
            elastic tendons, several controls or outputs, adhesion, delays, motors with states of their own.
    """
    if not isinstance(forces, RecordedForces):
        raise OptionError(f"forces must be what saltus.inverse_dynamics gives, got a {type(forces).__name__}")
    actuators = AffineActuators(forces.model)
    n, nu = len(forces.time), len(actuators.names)
    asked = np.ones(forces.model.nv, bool)
    asked[forces.free_dofs()] = False
    efforts, exerted, unmet = np.zeros((n, nu)), np.zeros((n, nu)), np.zeros_like(forces.forces)
    low, high = actuators.joint_range.T
    for k, wanted in enumerate(forces.forces):
        sample = actuators.at(forces, k)
        target = np.clip(wanted, low, high) - sample.rest
        efforts[k], exerted[k] = _least(actuators, sample, target, asked)
        unmet[k, asked] = (wanted - np.clip(sample.arms.T @ exerted[k] + sample.rest, low, high))[asked]
    return ActuatorShare(
        time=forces.time,
        efforts=efforts,
        forces=exerted,
        unmet=unmet,
        names=actuators.names,
        dofs=forces.names,
        size=abs(forces.forces).max(axis=0, initial=0.0),
    )


def _least(actuators: AffineActuators, sample: Sample, target: Array, asked: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Efforts and forces [nu] with least Σ u² among those that come nearest to the joint forces [nv]."""
    from scipy.optimize import lsq_linear

    least, greatest, gain, bias = _within_forces(actuators, sample)
    efforts = np.clip(np.zeros_like(bias), least, greatest)
    free = greatest - least > 1e-12
    unit = np.maximum(abs(actuators.least), abs(actuators.greatest))
    unit = np.where(np.isfinite(unit) & (unit > 0), unit, 1.0)
    rows = (sample.arms.T * gain)[asked]
    left = (target - sample.arms.T @ bias)[asked] - rows[:, ~free] @ efforts[~free]
    rows = rows[:, free] * unit[free]
    if free.any() and rows.size and (size := abs(rows).max()) > 0:
        firm = FIRM / size
        matrix = np.vstack([firm * rows, np.eye(rows.shape[1])])
        right = np.concatenate([firm * left, np.zeros(rows.shape[1])])
        bounds = least[free] / unit[free], greatest[free] / unit[free]
        found = lsq_linear(matrix, right, bounds, method="bvls", tol=1e-14)
        efforts[free] = np.clip(found.x, *bounds) * unit[free]
    return efforts, gain * efforts + bias


def _within_forces(actuators: AffineActuators, sample: Sample) -> tuple[Array, Array, Array, Array]:
    """Least and greatest efforts [nu] that keep forces in their ranges, with gains and biases [nu].

    An actuator whose effort changes nothing, or that is beyond a range of forces with any effort, exerts a constant
    force: its gain becomes 0, its bias that force, and its effort the one nearest to the range.
    """
    gain, bias, low, high = sample.gain, sample.bias, actuators.least_force, actuators.greatest_force
    least, greatest = actuators.least.copy(), actuators.greatest.copy()
    acts = gain != 0
    slope = np.where(acts, gain, 1.0)
    ends = np.sort([(low - bias) / slope, (high - bias) / slope], axis=0)
    lower, upper = np.maximum(least, ends[0]), np.minimum(greatest, ends[1])
    beyond = acts & (lower > upper)
    nearest = np.clip(np.where(ends[0] > greatest, greatest, least), least, greatest)
    stuck = beyond | ~acts
    idle = np.clip(0.0, least, greatest)
    least = np.where(beyond, nearest, np.where(acts, lower, idle))
    greatest = np.where(beyond, nearest, np.where(acts, upper, idle))
    fixed = np.clip(bias + gain * np.where(beyond, nearest, 0.0), low, high)
    return least, greatest, np.where(stuck, 0.0, gain), np.where(stuck, fixed, bias)
