"""Contacts found by our kernels and by MuJoCo, side by side."""

from dataclasses import dataclass

import mujoco
import numpy as np

from saltus.contact.collide import collide, collider_frames
from saltus.contact.counts import NCON, NLOST
from saltus.dynamics.smooth import position_stage
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.structs import Struct

_FIND = Entry(
    "detect_contacts",
    "",
    "position_stage(m, d, 1)\ncollider_frames(m, d)\ncollide(m, d)",
    position_stage=position_stage,
    collider_frames=collider_frames,
    collide=collide,
)
EPSILON = {kind: np.finfo("f4" if kind.endswith("32") else "f8").eps for kind in ("float64", "lane64", "lane32")}
# an eighth-order central difference: of the values at k steps ahead and behind, divided by the step
WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])


@dataclass
class Contact:
    """One contact: numbers of the geoms, distance, position, frame [3, 3] with the normal in the first row.

    With tangents, the arrays have them as a last axis.
    """

    geoms: tuple[int, int]
    dist: float | np.ndarray
    pos: np.ndarray
    frame: np.ndarray

    @property
    def numbers(self):
        """dist, pos and frame in one array."""
        return np.concatenate([np.reshape(x, (-1, *np.shape(self.dist))) for x in (self.dist, self.pos, self.frame)])


def pairs_model(pairs, world=""):
    """MJCF of pairs of geoms that meet no others: `pairs` maps a name to the attributes of (first, second, pair).

    Each geom has a free body of its own, but for planes, which are in the world. The order of the free bodies is that
    of the pairs.
    """
    bodies, meet = "", ""
    for name, (first, second, pair) in pairs.items():
        for side, geom in enumerate((first, second), 1):
            text = f'<geom name="{name}{side}" {geom} contype="0" conaffinity="0"/>'
            bodies += text if 'type="plane"' in geom else f"<body><freejoint/>{text}</body>"
        meet += f'<pair geom1="{name}1" geom2="{name}2" {pair}/>'
    return f"<mujoco>{world}<worldbody>{bodies}</worldbody><contact>{meet}</contact></mujoco>"


def random_poses(rng, n, bodies, spread):
    """Positions [n, 7 bodies] of free bodies: places uniform within `spread` [3] (m) of the origin, any rotation."""
    poses = rng.normal(size=(n, bodies, 7))
    poses[:, :, :3] = rng.uniform(-1, 1, (n, bodies, 3)) * spread
    poses[:, :, 3:] /= np.linalg.norm(poses[:, :, 3:], axis=2, keepdims=True)
    return poses.reshape(n, -1)


def ours(model, qpos, kind="float64"):
    """Contacts [n states][...] at positions qpos [n, nq], one state a lane where the kind has lanes.

    A contact of a lane whose distance is beyond the pair's margin and gap does not count.
    """
    m, data = _structs(model, kind)
    width = data.qpos.shape[1] if kind.startswith("lane") else 1
    found = []
    for start in range(0, len(qpos), width):
        group = qpos[start : start + width]
        full = np.concatenate([group, np.repeat(group[-1:], width - len(group), axis=0)])
        data.qpos[...] = full.T if kind.startswith("lane") else full[0]
        _FIND(m, data)
        assert data.count[NLOST] == 0
        for lane in range(len(group)):
            contacts = _read(m, data, (lambda x, lane=lane: x[..., lane]) if width > 1 else lambda x: x)
            found.append([c for k, c in contacts if c.dist <= m.law_reach[m.collision_law[k]]])
    return found


def ours_with_tangents(model, qpos, dqpos):
    """Contacts [n states][...] by duals at qpos [n, nq] with tangents dqpos [n, nq, 8], and those of their tangents."""
    m, data = _structs(model, "dual")
    found = []
    for q, dq in zip(qpos, dqpos, strict=True):
        data.qpos[:, 0, 0], data.qpos[:, 1, :] = q, dq
        _FIND(m, data)
        values, tangents = _read(m, data, lambda x: x[..., 0, 0]), _read(m, data, lambda x: x[..., 1, :])
        found.append(([c for _, c in values], [c for _, c in tangents]))
    return found


def _structs(model, kind):
    m = model.struct("float32" if kind.endswith("32") else "float64")
    return m, Struct(DATA, data_sizes(model.sizes()), kind)


def _read(m, data, pick):
    """All contacts in the list, each with the number of its pair."""
    contacts = []
    for k in range(data.count[NCON]):
        c = data.contact_collision[k]
        geoms = int(m.collision_geom1[c]), int(m.collision_geom2[c])
        dist, pos, frame = (np.array(pick(x[k])) for x in (data.contact_dist, data.contact_pos, data.contact_frame))
        contacts.append((c, Contact(geoms, dist, pos, frame.reshape(3, 3, *frame.shape[1:]))))
    return contacts


def mujocos(model, qpos):
    """Contacts by MuJoCo's collision functions."""
    m = model.mujoco
    d = mujoco.MjData(m)
    found = []
    for q in qpos:
        d.qpos[:] = q
        mujoco.mj_fwdPosition(m, d)
        found.append(
            [Contact(tuple(map(int, c.geom)), c.dist, c.pos.copy(), c.frame.reshape(3, 3).copy()) for c in d.contact]
        )
    return found


def of_pair(model, name, found):
    """Contacts [n states][...] of one pair of `pairs_model` among those of all."""
    geoms = {model.mujoco.geom(f"{name}{side}").id for side in (1, 2)}
    return [[c for c in contacts if set(c.geoms) == geoms] for contacts in found]


def assert_same(found, expected, tolerance):
    """Assert that two lists [n states][...] hold the same contacts in the same order; return their number.

    `tolerance(state, contact)`: that of an expected contact's numbers.
    """
    count = 0
    for state, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        assert [c.geoms for c in mine] == [c.geoms for c in theirs], f"state {state}"
        for a, b in zip(mine, theirs, strict=True):
            error = f"state {state}, {b}"
            np.testing.assert_allclose(a.numbers, b.numbers, rtol=0, atol=tolerance(state, b), err_msg=error)
            count += 1
    return count


def same_bits(found, expected):
    """Whether two lists [n states][...] hold the same contacts, bit by bit."""
    numbers = [[[(c.geoms, c.numbers.tobytes()) for c in contacts] for contacts in side] for side in (found, expected)]
    return numbers[0] == numbers[1]


def differences(model, q, dq, step):
    """Derivatives along dq [nq, 8] of the contacts of the float kernel at q: [contacts, 13, 8].

    None where the number of contacts changes on the way.
    """
    ahead = np.concatenate([q + k * step * dq.T for k in range(1, 5)])
    behind = np.concatenate([q - k * step * dq.T for k in range(1, 5)])
    found = ours(model, np.concatenate([ahead, behind]))
    if len({tuple(c.geoms for c in contacts) for contacts in found}) > 1:
        return None
    values = np.array([[c.numbers for c in contacts] for contacts in found]).reshape(2, 4, 8, -1, 13)
    return np.einsum("k,kdci->cid", WEIGHTS, values[0] - values[1]) / step


def assert_tangents(model, qpos, rng, step, tolerance):
    """Assert that tangents are the float kernel's derivatives by central differences; return the number of contacts.

    A contact near a kink, where differences with two steps disagree by more than the tolerance, does not count, nor
    does a state near one with fewer or more contacts.
    """
    dqpos = rng.normal(size=(*qpos.shape, 8))
    compared = 0
    for q, dq, (_, tangents) in zip(qpos, dqpos, ours_with_tangents(model, qpos, dqpos), strict=True):
        wide, narrow = differences(model, q, dq, 2 * step), differences(model, q, dq, step)
        if wide is None or narrow is None:
            continue
        for mine, a, b in zip(tangents, wide, narrow, strict=True):
            if np.abs(a - b).max() < tolerance:
                np.testing.assert_allclose(mine.numbers, b, rtol=0, atol=tolerance, err_msg=str(mine.geoms))
                compared += 1
    return compared
