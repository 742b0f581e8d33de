"""Forces of a recorded motion."""

from __future__ import annotations

import numpy as np

from saltus.arguments import flag, number
from saltus.errors import OptionError
from saltus.inverse.dynamics.differentiation import differentiated
from saltus.inverse.dynamics.recorded_forces import RecordedForces
from saltus.inverse.dynamics.recording import RecordedPositions, recording_of
from saltus.inverse.dynamics.sample_forces import forces_of, refuse_moving_carriers
from saltus.inverse.dynamics.unconstrained import always_awake, constraint_kinds, unconstrained
from saltus.inverse.dynamics.wrenches import Wrenches, generalised
from saltus.model.load import ModelSource, load


def inverse_dynamics(
    model: ModelSource,
    trajectory: RecordedPositions,
    *,
    cutoff: float | None = None,
    wrenches: Wrenches | None = None,
    constraints: bool = False,
) -> RecordedForces:
    """Generalised forces under which a model moves as recorded: M a + c - passive forces - Σ Jᵀ wrenches.

    Velocities and accelerations are derivatives of quintic splines through the positions, of quaternions on their
    manifold; recorded velocities are not used. Springs, dampers, the medium and gravity compensation act as in the
    model. An error ε of positions is one of about ε/h² of accelerations at intervals h, which is what `cutoff` is for.

    Args:
        model: as `saltus.load` takes it.
        trajectory: a `saltus.Trajectory`, or a mapping with time [n] (s), qpos [n, nq] and, where the model has mocap
            bodies, mocap_pos [n, nmocap, 3] and mocap_quat [n, nmocap, 4].
        cutoff: Hz, of a filter without delay before the splines (Butterworth's of second order, forwards and
            backwards); None: positions are exact. It needs equal intervals.
        wrenches: measured external forces by body: rows [n, 6] of force (N) and moment (N m) about the body's centre of
            mass, or [n, 9] about a point that follows (m), in world axes at the times of the trajectory.
        constraints: whether contacts, limits, dry friction and equalities exert what the soft laws of the model say for
            this motion; if not, their forces are part of the result. Soft contacts need positions to within the depth
            of contact, some µm.

    Returns:
        Forces at the times of the trajectory, and what no actuator can exert on free joints (`residual`).

    Raises:
        OptionError: a recording is wrong or jumps, a body is unknown; the model has equalities and `constraints` is
            false; a mocap body moves that carries joints.
    """
    found = load(model)
    recording = recording_of(found, trajectory)
    limit = None if cutoff is None else number("cutoff", cutoff)
    if limit is not None and not (limit > 0 and np.isfinite(limit)):
        raise OptionError(f"inverse_dynamics: cutoff must be a positive number of Hz, got {cutoff!r}")
    acting = flag("constraints", constraints)
    kinds = constraint_kinds(found)
    if not acting and "equality" in kinds:
        raise OptionError(
            "inverse_dynamics: the model has equality constraints, and motion alone does not tell their forces; with "
            "constraints=True they are those of the soft law, or disable them in the model and give them as wrenches"
        )
    refuse_moving_carriers(found, recording)
    motion = differentiated(found, recording, limit)
    forces = forces_of(always_awake(found) if acting else unconstrained(found), motion, recording)
    if wrenches is not None:
        forces -= generalised(found, motion.qpos, wrenches)
    return RecordedForces(
        *motion,
        forces=forces,
        names=tuple(found.dof_names()),
        left_out=() if acting else tuple(kinds),
        model=found,
        mocap_pos=recording.mocap_pos,
        mocap_quat=recording.mocap_quat,
    )
