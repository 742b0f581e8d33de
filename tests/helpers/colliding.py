"""Models of one pair of geoms, their contacts by our kernels on any kind of number, and by MuJoCo."""

from dataclasses import dataclass

import mujoco
import numpy as np

import saltus
from helpers.cases import WIDTH
from saltus.contact.collide import collide, collider_frames
from saltus.contact.counts import NCON
from saltus.contact.mujoco import collision
from saltus.dynamics.smooth import position_stage
from saltus.model.enums import CAPSULE, CYLINDER, ELLIPSOID, MESH, SPHERE
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.structs import Struct

REACH = 2.0**-5  # m, margin and gap of a pair; a number of float32 too

FIND = Entry(
    "find_contacts",
    "",
    "d.count[6] = 0\nposition_stage(m, d, 1)\ncollider_frames(m, d)\ncollide(m, d)",
    position_stage=position_stage,
    collider_frames=collider_frames,
    collide=collide,
)


@dataclass
class Contact:
    dist: float
    pos: np.ndarray
    frame: np.ndarray  # [9]

    @property
    def normal(self):
        return self.frame[:3]

    def bits(self):
        return np.concatenate([[self.dist], self.pos, self.frame]).tobytes()


class Finder:
    """A model of one pair, and a Data of its own in which our kernels find contacts."""

    def __init__(self, model, kind="float64"):
        self.model, self.kind = model, kind
        self.m = model.struct("float32" if kind.endswith("32") else "float64")
        self.data = Struct(DATA, data_sizes(model.sizes()), kind)
        self.attached = collision.attach(model, self.data)
        self.width = WIDTH.get(kind, 1)

    def __call__(self, qpos):
        """Contacts of each state of qpos [n, nq]."""
        return [contacts for group in self.groups(qpos) for contacts in group]

    def groups(self, qpos):
        """States, as many at a time as there are lanes."""
        for start in range(0, len(qpos), self.width):
            group = qpos[start : start + self.width]
            full = np.concatenate([group, np.repeat(group[-1:], self.width - len(group), axis=0)])
            self.data.qpos[...] = full.T if self.width > 1 else full[0]
            FIND(self.m, self.data)
            yield [self._read(lane) for lane in range(len(group))]

    def _read(self, lane):
        d = self.data
        pick = (lambda x: x[..., lane].copy()) if self.width > 1 else (lambda x: x.copy())
        contacts = []
        for k in range(d.count[NCON]):
            dist = pick(d.contact_dist[k : k + 1])[0]
            if dist <= self.m.law_reach[self.m.collision_law[d.contact_collision[k]]]:
                contacts.append(Contact(dist, pick(d.contact_pos[k]), pick(d.contact_frame[k])))
        return contacts


def mujocos(m, qpos, poses=None):
    """Contacts by mj_forward, or at poses of the geoms by mj_collision."""
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_forward(m, d)
    if poses is not None:
        d.geom_xpos[:], d.geom_xmat[:], d.geom_xquat[:] = poses
        mujoco.mj_collision(m, d)
    return [Contact(c.dist, c.pos.copy(), c.frame.copy()) for c in d.contact]


def support(d, g, u):
    """Reach (m) of geom g in the directions u [n, 3]."""
    m, size, kind = d.model, d.model.geom_size[g], d.model.geom_type[g]
    local = u @ d.geom_xmat[g].reshape(3, 3)
    if kind == MESH:
        first = m.mesh_vertadr[m.geom_dataid[g]]
        vertices = m.mesh_vert[first : first + m.mesh_vertnum[m.geom_dataid[g]]].astype(float)
        reach = (local @ vertices.T).max(axis=1)
    elif kind == SPHERE:
        reach = size[0] + 0.0 * local[:, 0]
    elif kind == CAPSULE:
        reach = size[0] + size[1] * abs(local[:, 2])
    elif kind == ELLIPSOID:
        reach = np.linalg.norm(size * local, axis=1)
    elif kind == CYLINDER:
        reach = size[0] * np.hypot(local[:, 0], local[:, 1]) + size[1] * abs(local[:, 2])
    else:
        reach = abs(local) @ size
    return u @ d.geom_xpos[g] + reach


def separation(d, u, first=0, second=1):
    """Distance (m) of geoms along unit vectors u [n, 3]: least u·x of the second, less the largest of the first.

    The largest of these is their distance, if they are convex (separating hyperplanes); below 0 where they overlap.
    """
    return -support(d, second, -u) - support(d, first, u)


# ---------------------------------------------------------------- models: one geom that stands, one that floats


def _prism(n, radius, half):
    angle = 2.0 * np.pi * np.arange(n) / n
    corners = [(radius * np.cos(a), radius * np.sin(a), z) for z in (-half, half) for a in angle]
    return " ".join(f"{x:.6f}" for corner in corners for x in corner)


def _cloud(n):
    way = np.random.default_rng(1).normal(size=(n, 3))
    points = way / np.linalg.norm(way, axis=1)[:, None] * [0.3, 0.2, 0.4]
    return " ".join(f"{x:.6f}" for x in points.ravel())


ASSETS = f"""
<mesh name="dice" vertex="
  -.3 -.2 -.25  .3 -.2 -.25  .3 .2 -.25  -.3 .2 -.25  -.2 -.15 .25  .2 -.15 .25  .2 .15 .25  -.2 .15 .25"/>
<mesh name="ball" builtin="sphere" params="2" scale=".3 .4 .35"/>
<mesh name="prism" vertex="{_prism(16, 0.2, 0.3)}"/>
<mesh name="coin" vertex="{_prism(200, 0.2, 0.1)}"/>
<mesh name="cloud" vertex="{_cloud(200)}"/>
<hfield name="hills" nrow="5" ncol="6" size=".8 .7 .3 .1" elevation="
  0 .2 .4 .1 0 .1  .3 .9 .2 .5 .1 0  .1 .4 1 .3 .6 .2  0 .3 .2 .8 .1 .4  .2 0 .5 .1 .3 0"/>
"""
PLANE, HILLS = 'type="plane" size="2 2 1"', 'type="hfield" hfield="hills"'
GEOMS = {
    "plane": PLANE,
    "sphere": 'type="sphere" size=".25"',
    "capsule": 'type="capsule" size=".15 .25"',
    "ellipsoid": 'type="ellipsoid" size=".3 .2 .25"',
    "cylinder": 'type="cylinder" size=".2 .3"',
    "box": 'type="box" size=".3 .2 .25"',
    **{name: f'type="mesh" mesh="{name}"' for name in ("dice", "ball", "prism", "coin", "cloud")},
}


def model_of(first, second, extra="", reach=REACH):
    """The first geom on a hinge, so that it moves too, if it may; the second floats."""
    hinge = "" if first in (PLANE, HILLS) else '<joint axis="1 2 3"/>'
    return saltus.load(
        mujoco.MjModel.from_xml_string(f"""
<mujoco>{extra}<default><geom margin="{reach / 4}" gap="{reach / 4}"/></default><asset>{ASSETS}</asset><worldbody>
  <body euler="10 20 30">{hinge}<geom {first} mass="1"/></body>
  <body pos="0 0 .5"><freejoint/><geom {second} mass="1"/></body>
</worldbody></mujoco>""")
    )


def states(model, n, seed=0, apart=0.9):
    """Positions [n, nq]: the second geom up to `apart` (m) away from the first, the last quarter of them far away."""
    rng = np.random.default_rng(seed)
    qpos = np.zeros((n, model.nq))
    qpos[:, :-7] = rng.uniform(-0.3, 0.3, (n, model.nq - 7))
    way = rng.normal(size=(n, 3))
    way[:, 2] = abs(way[:, 2])
    distance = rng.uniform(0.1, apart, n)
    distance[-n // 4 :] += 3.0
    qpos[:, -7:-4] = distance[:, None] * way / np.linalg.norm(way, axis=1)[:, None]
    quat = rng.normal(size=(n, 4))
    qpos[:, -4:] = quat / np.linalg.norm(quat, axis=1)[:, None]
    return qpos[rng.permutation(n)]


def assert_neighbours_do_not_matter(model, kind, least, shuffles=3):
    """A lane's contacts are the same bits in any place, beside any neighbours, even those that are not numbers.

    `least`: contacts that there must be more of in all.
    """
    qpos = states(model, 30, apart=0.6)
    find, rng = Finder(model, kind), np.random.default_rng(1)
    alone = [[c.bits() for c in find(q[None])[0]] for q in qpos]
    assert sum(map(len, alone)) > least
    for _ in range(shuffles):
        order = rng.permutation(len(qpos))
        for i, contacts in zip(order, find(qpos[order]), strict=True):
            assert [c.bits() for c in contacts] == alone[i]
    broken = np.where(np.arange(find.width)[:, None] % 2 == 0, qpos[: find.width], np.nan)
    for i, contacts in enumerate(find(broken)):
        assert [c.bits() for c in contacts] == (alone[i] if i % 2 == 0 else [])
