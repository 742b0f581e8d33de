"""Paths of tendons in space: straight between sites, along the surfaces of geoms that they wrap around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.enums import SPHERE, WRAP_CYLINDER, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE, WRAP_SPHERE

ARC = 7  # points inserted between those where a tendon meets and leaves a geom
PULLEY, SITE = -2, -1  # MuJoCo's special values in wrap_obj; other values are geoms
_GEOMS = (WRAP_SPHERE, WRAP_CYLINDER)


class TendonPath(NamedTuple):
    """A tendon's path up to a pulley. tendon: its index in the model; points: largest number of points."""

    tendon: int
    name: str
    points: int


def tendon_paths(m: mujoco.MjModel, groups: Sequence[int]) -> list[TendonPath]:
    """Paths of the tendons of some groups, in the order of `path_points`."""
    found = []
    for i in range(m.ntendon):
        kinds = m.wrap_type[m.tendon_adr[i] : m.tendon_adr[i] + m.tendon_num[i]]
        if m.tendon_group[i] not in groups or WRAP_JOINT in kinds:
            continue
        name = m.tendon(i).name or f"#{i}"
        pulleys = np.flatnonzero(kinds == WRAP_PULLEY)
        for branch in np.split(kinds, pulleys):
            sites, geoms = (int(np.isin(branch, kind).sum()) for kind in (WRAP_SITE, _GEOMS))
            if sites > 1:
                found.append(TendonPath(i, name, sites + geoms * (ARC + 2)))
    return found


def elements(m: mujoco.MjModel, groups: Sequence[int]) -> list[tuple[int, int, int]]:
    """For each path of `tendon_paths`: tendon, index of its first segment between sites, number of segments."""
    found = []
    for tendon in dict.fromkeys(path.tendon for path in tendon_paths(m, groups)):
        kinds = m.wrap_type[m.tendon_adr[tendon] : m.tendon_adr[tendon] + m.tendon_num[tendon]]
        first = 0
        for branch in np.split(kinds, np.flatnonzero(kinds == WRAP_PULLEY)):
            count = max(int((branch == WRAP_SITE).sum()) - 1, 0)
            if count:
                found.append((tendon, first, count))
            first += count
    return found


def path_points(m: mujoco.MjModel, d: mujoco.MjData, paths: list[TendonPath]) -> list[NDArray[np.float64]]:
    """Points [n, 3] (m) of each path; call after mj_tendon."""
    if not paths:
        return []
    marks, points = np.asarray(d.wrap_obj).ravel(), np.asarray(d.wrap_xpos).reshape(-1, 3)
    found = []
    for tendon in dict.fromkeys(path.tendon for path in paths):
        part = slice(d.ten_wrapadr[tendon], d.ten_wrapadr[tendon] + d.ten_wrapnum[tendon])
        along, where = marks[part], points[part]
        for run in np.split(np.arange(len(along)), np.flatnonzero(along == PULLEY)):
            run = run[along[run] != PULLEY]
            if len(run) > 1:
                found.append(_with_arcs(m, d, along[run], where[run]))
    return found


def _with_arcs(m, d, marks, points):
    """Insert the points of arcs into the points of a path."""
    before = np.flatnonzero((marks[1:] == marks[:-1]) & (marks[1:] >= 0))
    before = before[before > 0]
    if not len(before):
        return points.copy()
    geoms = marks[before]
    centre, frame = d.geom_xpos[geoms], d.geom_xmat[geoms].reshape(-1, 3, 3)
    coming, meets, leaves = (np.einsum("kji,kj->ki", frame, points[before + shift] - centre) for shift in (-1, 0, 1))
    spherical = m.geom_type[geoms] == SPHERE
    arcs = _arcs(coming, meets, leaves, spherical)
    arcs = np.einsum("kij,kaj->kai", frame, arcs) + centre[:, None]
    return np.insert(points, np.repeat(before + 1, ARC), arcs.reshape(-1, 3), axis=0)


def _arcs(coming, meets, leaves, spherical):
    """Points [k, ARC, 3] on the geodesics between the points where tendons meet and leave geoms, in geoms' frames.

    The incoming tendon is tangent to the geom, which determines the direction of the turn. About a cylinder, the angle
    is measured in the plane normal to its axis, z, and the path rises in proportion to the angle.
    """
    flat = np.where(spherical[:, None], 1.0, [1.0, 1.0, 0.0])
    start, end = meets * flat, leaves * flat
    radius = np.linalg.norm(start, axis=1, keepdims=True) + mujoco.mjMINVAL
    first = start / radius
    tangent = (meets - coming) * flat
    tangent -= first * (tangent * first).sum(axis=1, keepdims=True)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + mujoco.mjMINVAL
    angle = np.arctan2((end * tangent).sum(axis=1), (end * first).sum(axis=1))
    still = np.linalg.norm(end - start, axis=1) < 1e-6 * radius[:, 0]
    angle = np.where(still, 0.0, np.where(angle < 0, angle + 2 * np.pi, angle))
    share = np.arange(1, ARC + 1) / (ARC + 1)
    turn = angle[:, None, None] * share[None, :, None]
    around = radius[:, None] * (np.cos(turn) * first[:, None] + np.sin(turn) * tangent[:, None])
    rise = np.where(spherical, 0.0, 1.0)[:, None] * (meets[:, 2:] + (leaves - meets)[:, 2:] * share)
    around[:, :, 2] += rise
    return around
