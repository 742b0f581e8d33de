"""Contacts of deformable bodies found by our kernels and by MuJoCo, at the same places of geoms and vertices."""

import collections
from dataclasses import dataclass
from types import SimpleNamespace

import mujoco
import numpy as np

from saltus.contact.collide_flex import collide_flex
from saltus.contact.counts import NCON, NLOST
from saltus.contact.flex.broad_phase import flex_boxes
from saltus.contact.mujoco.flex_collision import FlexForeign
from saltus.model.flex.contacts import WORDS, FlexPair, elements, flex_law, flex_pairs, order_of, runs
from saltus.model.flex.mujoco_contacts import foreign_sizes, is_foreign, mujoco_feature_keys, skins
from saltus.model.layout import DATA, model_layout
from saltus.number.kernels import Entry
from saltus.number.structs import Struct

ROOM = 4096  # contacts
FEATURES = frozenset({"contact", "flexcontact", *WORDS.values()})
PLACES = ("geom_xpos", "geom_xmat", "flexvert_xpos", "xpos", "xmat")
_FIND = Entry(
    "find_flex_contacts",
    "",
    """
d.count[6] = 0
flex_boxes(m, d)
n = 0
for c in range(m.ncollision):
    n = collide_flex(m, d, n, c, m.law_reach[m.collision_law[c]])
d.count[0] = n
""",
    flex_boxes=flex_boxes,
    collide_flex=collide_flex,
)
FIELDS = "geom_bodyid geom_type geom_size geom_rbound"


@dataclass
class Contact:
    """One contact. `what`: both geoms, both deformable bodies, an element of each, a vertex of the second; -1 for none.

    With tangents, the arrays have them as a last axis.
    """

    what: tuple[int, ...]
    dist: float | np.ndarray
    pos: np.ndarray
    frame: np.ndarray  # [9]

    @property
    def numbers(self):
        """dist, pos and frame in one array."""
        return np.concatenate([np.asarray(self.dist)[None], self.pos, self.frame])


# ---------------------------------------------------------------- models and states


def with_geoms(m, geoms, edit=lambda spec: None):
    """A model with free bodies added to an MjSpec: each of `geoms` is the type, the size and other attributes."""
    for kind, size, other in geoms:
        body = m.worldbody.add_body()
        body.add_freejoint()
        body.add_geom(type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}"), size=[*size, 0, 0][:3], **other)
    edit(m)
    return m.compile()


def random_states(m, rng, n, deformation):
    """mjDatas [n] with all places computed: free bodies anywhere near what is deformable, vertices displaced (m)."""
    found = []
    rest = mujoco.MjData(m)
    mujoco.mj_kinematics(m, rest)
    mujoco.mj_flex(m, rest)
    low, high = rest.flexvert_xpos.min(0), rest.flexvert_xpos.max(0)
    for _ in range(n):
        d = mujoco.MjData(m)
        for kind, a in zip(m.jnt_type, m.jnt_qposadr, strict=True):
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                d.qpos[a : a + 3] = rng.uniform(low - 0.05, high + 0.05)
                quat = rng.normal(size=4)
                d.qpos[a + 3 : a + 7] = quat / np.linalg.norm(quat)
            else:
                d.qpos[a] += deformation * rng.normal()
        mujoco.mj_fwdPosition(m, d)
        found.append(d)
    return found


# ---------------------------------------------------------------- ours


class Finder:
    """The kernels' view of an MjModel's geoms and deformable bodies, and a Data in which they find contacts.

    `pairs`: rows of a geom and a deformable body, all that may touch by default.
    """

    def __init__(self, m: mujoco.MjModel, kind="float64", pairs=None):
        self.mj, self.kind = m, kind
        if pairs is None:
            pairs = sorted(flex_pairs(m), key=lambda pair: order_of(m, pair))
        else:
            pairs = [FlexPair(g, -1, f) for g, f in pairs]
        sizes = collections.defaultdict(int, ngeom=m.ngeom, nbody=m.nbody, nflex=m.nflex, nflexvert=m.nflexvert)
        sizes |= dict(nflexelem=m.nflexelem, nflexrun=runs(m, m.nflex))
        sizes |= dict(ncollision=len(pairs), nlaw=len(pairs), nconmax=ROOM, nflexcon=ROOM)
        sizes |= foreign_sizes(m, pairs, ROOM)
        self.m = Struct(
            model_layout(FEATURES | mujoco_feature_keys(m, pairs)),
            sizes,
            "float32" if kind.endswith("32") else "float64",
        )
        self.d = Struct(DATA, sizes, kind)
        self.width = self.d.time.shape[-1] if kind.startswith("lane") else 1
        for name in FIELDS.split():
            self.m.fill(name, getattr(m, name))
        self.m.fill("flexvert_bodyid", m.flex_vertbodyid)
        for name, values in elements(m, range(m.nflex)).items():
            self.m.fill(name, values)
        self.m.fill("flex_skin", skins(m))
        for c, pair in enumerate(pairs):
            self.m.collision_geom1[c], self.m.collision_geom2[c] = pair.geom, -1
            self.m.collision_flex1[c], self.m.collision_flex2[c] = pair.flex1, pair.flex2
            self.m.collision_foreign[c] = is_foreign(m, pair)
            self.m.collision_law[c] = c
            self.m.law_reach[c] = flex_law(m, pair, 0.0).reach
        self.foreign = FlexForeign(m, self.m, self.d) if "flexforeign" in self.m.layout.features else None
        if self.foreign is not None:
            self.d.ints[DATA.slot["flexforeign_call"]] = self.foreign.address

    def __call__(self, states):
        """Contacts of each state [n states][...], one a lane where the kind has lanes.

        A state has geom_xpos, geom_xmat and flexvert_xpos, as mjData does. A contact of a lane whose distance is beyond
        the pair's margin and gap does not count.
        """
        width, found = self.width, []
        for start in range(0, len(states), width):
            group = states[start : start + width]
            self.place(group)
            self.find()
            assert self.d.count[NLOST] == 0
            picks = [lambda x, lane=lane: x[..., lane].copy() for lane in range(len(group))]
            found += [self._read(pick) for pick in (picks if width > 1 else [lambda x: np.array(x)])]
        return found

    def place(self, group):
        """The state of each lane; the last one's in those that are left."""
        for name in PLACES:
            view = self.d.views[name]
            if self.width > 1:
                for lane in range(self.width):
                    view[..., lane] = getattr(group[min(lane, len(group) - 1)], name)
            else:
                view[...] = getattr(group[0], name)

    def find(self):
        """Let the kernels find contacts."""
        _FIND(self.m, self.d)

    def with_tangents(self, state, change):
        """Contacts by duals at a state and those of their tangents; `change` [..., 8]: tangents of some of PLACES."""
        for name in PLACES:
            view = self.d.views[name]
            view[...] = 0.0
            view[..., 0, 0] = getattr(state, name)
            if name in change:
                view[..., 1, :] = change[name]
        self.find()
        values = self._read(lambda x: x[..., 0, 0].copy())
        return values, self._read(lambda x: x[..., 1, :].copy(), len(values))

    def _read(self, pick, count=None):
        contacts = []
        for k in range(self.d.count[NCON]):
            c = self.d.contact_collision[k]
            dist, pos, frame = (pick(x[k]) for x in (self.d.contact_dist, self.d.contact_pos, self.d.contact_frame))
            if count is not None or dist <= self.m.law_reach[c]:
                contacts.append(Contact(self._what(c, k), dist, pos, frame))
        return contacts

    def _what(self, c, k):
        """Elements of the first and second object and the vertex are numbered within their deformable bodies."""
        names = ("collision_geom1", "collision_geom2", "collision_flex1", "collision_flex2")
        whose = tuple(int(self.m.views[name][c]) for name in names)
        elements = zip(self.d.contact_elem[k], whose[2:], strict=True)
        inside = [int(e) - int(self.mj.flex_elemadr[f]) if e >= 0 else -1 for e, f in elements]
        vertex = int(self.d.contact_vert[k])
        return *whose, *inside, vertex - int(self.mj.flex_vertadr[whose[3]]) if vertex >= 0 else -1


# ---------------------------------------------------------------- MuJoCo's, and comparison


def mujocos(states):
    """Contacts of deformable bodies in mjDatas [n states][...]."""
    found = []
    for d in states:
        listed = [(c, (*c.geom, *c.flex, *c.elem, c.vert[1])) for c in d.contact if max(c.flex) >= 0]
        found.append([Contact(tuple(map(int, what)), c.dist, c.pos.copy(), c.frame.copy()) for c, what in listed])
    return found


def assert_same(found, expected, tolerance):
    """Assert that two lists [n states][...] hold the same contacts in the same order; return their number."""
    count = 0
    for state, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        assert [c.what for c in mine] == [c.what for c in theirs], f"state {state}"
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a.numbers, b.numbers, rtol=0, atol=tolerance, err_msg=f"state {state}, {b}")
        count += len(mine)
    return count


def same_bits(found, expected):
    """Whether two lists [n states][...] hold the same contacts, bit by bit."""
    numbers = [[[(c.what, c.numbers.tobytes()) for c in contacts] for contacts in side] for side in (found, expected)]
    return numbers[0] == numbers[1]


def assert_tangents(m, states, rng, step, tolerance):
    """Assert that tangents are the float kernel's derivatives by central differences; return the number of contacts.

    Contacts near a kink, where differences with two steps disagree by more than the tolerance, do not count, nor do
    states near one with fewer or more contacts.
    """
    duals, floats, compared = Finder(m, "dual"), Finder(m), 0
    for state in states:
        change = {"geom_xmat": _spins(state.geom_xmat, rng.normal(size=(m.ngeom, 3, 8)))}
        change["geom_xpos"] = rng.normal(size=(m.ngeom, 3, 8))
        change["flexvert_xpos"] = rng.normal(size=(m.nflexvert, 3, 8))
        _, tangents = duals.with_tangents(state, change)
        assert all(np.isfinite(c.numbers).all() for c in tangents)
        wide, narrow = _differences(floats, state, change, 2 * step), _differences(floats, state, change, step)
        if wide is None or narrow is None or len(narrow) != len(tangents):
            continue
        for mine, a, b in zip(tangents, wide, narrow, strict=True):
            if np.abs(a - b).max() < tolerance:
                np.testing.assert_allclose(mine.numbers, b, rtol=0, atol=tolerance, err_msg=str(mine.what))
                compared += 1
    return compared


def _spins(mats, speeds):
    """Rates of change [n, 9, 8] of rotation matrices [n, 9] that turn with angular velocities [n, 3, 8]."""
    turned = [np.cross(speeds[:, :, k, None], mats.reshape(-1, 3, 3), axis=1) for k in range(8)]
    return np.stack([x.reshape(-1, 9) for x in turned], -1)


def _differences(finder, state, change, step):
    """Derivatives along 8 directions by central differences of fourth order: [contacts, 13, 8].

    None where the list changes on the way.
    """
    moved = []
    for k in range(8):
        for shift in (1, -1, 2, -2):
            places = {p: getattr(state, p) for p in PLACES}
            places |= {p: places[p] + shift * step * change[p][..., k] for p in change}
            moved.append(SimpleNamespace(**places))
    found = finder(moved)
    if len({tuple(c.what for c in contacts) for contacts in found}) > 1:
        return None
    values = np.array([[c.numbers for c in contacts] for contacts in found]).reshape(8, 4, -1, 13)
    return np.einsum("s,dsci->cid", np.array([8, -8, -1, 1]) / (12 * step), values)
