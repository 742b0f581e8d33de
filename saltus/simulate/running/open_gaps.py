"""Gaps that a run and all its repetitions leave open alike under hard contact, and their effect on positions.

A gap g counts as closed where the exact motion would close it in a time t with g = a t² / 2, an impact at its end. In
that time friction takes μ a t from the tangential velocity, or gives it back with the impact: positions along the
surface differ by μ g, those of a ball, whose slip changes 7/2 times as fast, by 7/2 μ g, and angles by that over its
radius. Where time stepping keeps a gap open, forces act with a lever that is longer by part of it, and angles drift by
its ratio to the radius.
"""

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from saltus.model.contact.thickness import geom_pairs, thicknesses
from saltus.record.table.error_bound import SAFETY
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.contact import Hard

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable

BALL = 3.5  # effect of a tangential impulse on the slip of a ball, relative to that of a point mass
STICKY = 10.0  # friction coefficient above which nothing slips
THINNEST = 1e-6  # m; half the extent of a body that turns, below which bounds would say nothing
LOOKED_AT = 16  # number of samples in which gaps are measured


def left_open(engine: Engine, run: "TrajectoryTable") -> float:
    """Difference of positions from the exact motion (rad, m) that the run and its repetitions share, at most."""
    law = engine.law
    if not isinstance(law, Hard):
        return 0.0
    if engine.locates_events:
        bounces = law.bounce_height if np.isin("zeno", run.events["kind"]) else 0.0
        return (law.gap_tolerance + bounces) * motion_of_gaps(engine, law)
    gap = hovering(engine, run)
    size = float(np.max(np.abs(run.qpos), initial=1.0))
    return SAFETY * gap * size * motion_of_gaps(engine, law) if gap > 0.0 else 0.0


def motion_of_gaps(engine: Engine, law: Hard) -> float:
    """Largest motion of a coordinate (rad, m) that belongs to a gap of 1 m, at least 1, for motions of unit size."""
    m = engine.model.mj_model
    geoms = np.unique(geom_pairs(m, engine.m))
    geoms = geoms[m.body_weldid[m.geom_bodyid[geoms]] > 0]
    if not len(geoms):
        return 1.0
    given = law.coefficients(engine.model).friction
    friction = float(np.max(np.where(np.isnan(given), m.geom_friction[:, 0].max(), given), initial=0.0))
    friction = min(friction, STICKY)
    if np.all(m.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE.value):
        return max(1.0, friction)
    lever = max(0.5 * float(thicknesses(m)[geoms].min()), THINNEST)
    return max(1.0, BALL * friction) * max(1.0, 1.0 / lever)


def hovering(engine: Engine, run: "TrajectoryTable") -> float:
    """The largest gap (m) that time stepping may keep open: one that gravity alone would close within a step.

    Contacts act on velocities if the gap would be closed at the end of a step; a body at rest at a smaller gap stays
    at rest.
    """
    m = engine.model.mujoco
    reach = float(np.linalg.norm(m.opt.gravity)) * engine.timestep**2
    if not m.ngeom or reach <= 0.0:
        return 0.0
    m.geom_margin[:] += reach
    m.pair_margin[:] += reach
    d, largest = mujoco.MjData(m), 0.0
    for k in np.unique(np.linspace(0, len(run) - 1, LOOKED_AT).astype(int)):
        d.qpos[:] = run.qpos[k]
        if m.nmocap:
            d.mocap_pos[:], d.mocap_quat[:] = run.mocap_pos[k], run.mocap_quat[k]
        mujoco.mj_kinematics(m, d)
        mujoco.mj_collision(m, d)
        gaps = d.contact.dist[: d.ncon]
        largest = max(largest, float(np.max(gaps[gaps < reach], initial=0.0)))
    return largest
