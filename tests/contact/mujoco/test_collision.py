"""Contacts by MuJoCo's functions: what they find, for each lane, whoever its neighbours are and on any thread.

Law: the same function at the same poses gives the same numbers. MuJoCo 4.0's own driver (mj_collision) is run at the
poses that our kernels found, so that its contacts are ours to the bit; in float32 they are rounded once, to the bit as
well. The contact frame is computed from the normal, which is a unit vector to the roundings of a rotation or two: some
ten ulps.

Beside it mj_forward, from positions on: poses differ by roundings, and the iterations of convex functions end anywhere
within ccd_tolerance (m).

Derivatives: central differences of MuJoCo's distances and positions with steps of 1e-5, good to 1e-7 where distances
are found to 1e-12 m; normals, and with them the tangents of dist, are then good to the square root, 1e-6, times a few.
"""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import mujoco
import numpy as np
import pytest
from helpers.cases import WIDTH

import saltus
from saltus.contact.collide import collide, collider_frames
from saltus.contact.counts import NCON, NLOST
from saltus.contact.mujoco import collision
from saltus.dynamics.smooth import position_stage
from saltus.errors import ModelError
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.structs import Struct

KINDS = ("float64", "lane64", "lane32")
DERIVATIVE, STEP = 1e-5, 1e-5
REACH = 2.0**-5  # m, margin and gap of a pair; a number of float32 too

_FIND = Entry(
    "find_foreign",
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

    def bits(self):
        return np.concatenate([[self.dist], self.pos, self.frame]).tobytes()


FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3, *[ctypes.c_int] * 2, ctypes.c_double)


class Finder:
    """A model of one pair, and a Data of its own in which our kernels find contacts."""

    def __init__(self, model, kind="float64"):
        self.model, self.kind = model, kind
        self.m = model.struct("float32" if kind.endswith("32") else "float64")
        self.data = Struct(DATA, data_sizes(model.sizes()), kind)
        self.attached = collision.attach(model, self.data)
        self.width = WIDTH.get(kind, 1)
        self.seen: dict = {}

    def __call__(self, qpos):
        """Contacts of each state of qpos [n, nq], and what `watch` has seen of it."""
        found = []
        for start in range(0, len(qpos), self.width):
            group = qpos[start : start + self.width]
            full = np.concatenate([group, np.repeat(group[-1:], self.width - len(group), axis=0)])
            self.data.qpos[...] = full.T if self.width > 1 else full[0]
            self.seen.clear()
            _FIND(self.m, self.data)
            found += [(self._read(lane), self.seen.get(lane)) for lane in range(len(group))]
        return found

    def _read(self, lane):
        d = self.data
        pick = (lambda x: x[..., lane].copy()) if self.width > 1 else (lambda x: x.copy())
        contacts = []
        for k in range(d.count[NCON]):
            dist = pick(d.contact_dist[k : k + 1])[0]
            if dist <= self.m.law_reach[self.m.collision_law[d.contact_collision[k]]]:
                contacts.append(Contact(dist, pick(d.contact_pos[k]), pick(d.contact_frame[k])))
        return contacts

    def stand_in(self, function):
        """Have `function` called in place of MuJoCo's; returns MuJoCo's."""
        place = self.m.collision_kind[0] // 10 * collision.TYPES + self.m.collision_kind[0] % 10
        table = self.attached.functions.copy()
        real = FUNCTION(int(table[place]))
        self._kept = FUNCTION(function), table
        table[place] = ctypes.cast(self._kept[0], ctypes.c_void_p).value
        self.data.ints[DATA.slot["foreign_functions"]] = table.ctypes.data
        return real

    def watch(self):
        """Note the poses that MuJoCo's function gets for each lane."""

        def watched(m, d, contacts, g1, g2, margin):
            buffer, scratch = self.attached.contacts, self.attached.data
            lane = (contacts - buffer.ctypes.data) // buffer[0].nbytes
            self.seen[lane] = [x.copy() for x in (scratch.geom_xpos, scratch.geom_xmat, scratch.geom_xquat)]
            return real(m, d, contacts, g1, g2, margin)

        real = self.stand_in(watched)


def mujocos(m, qpos, poses=None):
    """Contacts by mj_forward, or at poses of the geoms by mj_collision."""
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_forward(m, d)
    if poses is not None:
        d.geom_xpos[:], d.geom_xmat[:], d.geom_xquat[:] = poses
        mujoco.mj_collision(m, d)
    return [Contact(c.dist, c.pos.copy(), c.frame.copy()) for c in d.contact]


# ---------------------------------------------------------------- models: one geom that stands, one that floats

ASSETS = """
<mesh name="dice" vertex="
  -.3 -.2 -.25  .3 -.2 -.25  .3 .2 -.25  -.3 .2 -.25  -.2 -.15 .25  .2 -.15 .25  .2 .15 .25  -.2 .15 .25"/>
<mesh name="ball" builtin="sphere" params="2" scale=".3 .4 .35"/>
<hfield name="hills" nrow="5" ncol="6" size=".8 .7 .3 .1" elevation="
  0 .2 .4 .1 0 .1  .3 .9 .2 .5 .1 0  .1 .4 1 .3 .6 .2  0 .3 .2 .8 .1 .4  .2 0 .5 .1 .3 0"/>
"""
PLANE, HILLS, DICE, BALL = 'type="plane" size="2 2 1"', 'type="hfield" hfield="hills"', 'mesh="dice"', 'mesh="ball"'
PAIRS = {
    "plane-mesh": (PLANE, f'type="mesh" {DICE}'),
    "plane-round mesh": (PLANE, f'type="mesh" {BALL}'),
    "mesh-mesh": (f'type="mesh" {DICE}', f'type="mesh" {BALL}'),
    "sphere-mesh": ('type="sphere" size=".3"', f'type="mesh" {DICE}'),
    "box-mesh": ('type="box" size=".3 .2 .25"', f'type="mesh" {DICE}'),
    "hfield-sphere": (HILLS, 'type="sphere" size=".2"'),
    "hfield-capsule": (HILLS, 'type="capsule" size=".15 .2"'),
    "hfield-box": (HILLS, 'type="box" size=".2 .3 .1"'),
    "hfield-mesh": (HILLS, f'type="mesh" {DICE}'),
    "cylinder-box": ('type="cylinder" size=".3 .3"', 'type="box" size=".3 .2 .25"'),
    "cylinder-cylinder": ('type="cylinder" size=".4 .2"', 'type="cylinder" size=".2 .4"'),
    "capsule-cylinder": ('type="capsule" size=".2 .3"', 'type="cylinder" size=".3 .3"'),
    "cylinder-sdf": ('type="cylinder" size=".3 .3"', f'type="sdf" {BALL}'),
}


def model_of(first, second, extra=""):
    """The first geom on a hinge, so that it moves too, if it may; the second floats."""
    hinge = "" if first in (PLANE, HILLS) else '<joint axis="1 2 3"/>'
    return saltus.load(
        mujoco.MjModel.from_xml_string(f"""
<mujoco>{extra}<default><geom margin="{REACH / 4}" gap="{REACH / 4}"/></default><asset>{ASSETS}</asset><worldbody>
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


@pytest.fixture(scope="module", params=PAIRS)
def model(request):
    return model_of(*PAIRS[request.param])


# ---------------------------------------------------------------- what is found


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_contacts_at_the_same_poses(model, kind):
    """A function gives the same bits here as under MuJoCo's driver; where it is not called there are no contacts."""
    qpos = states(model, 40)
    real = np.float32 if kind == "lane32" else np.float64
    find, total = Finder(model, kind), 0
    find.watch()
    for q, (ours, poses) in zip(qpos, find(qpos), strict=True):
        theirs = mujocos(model.mj_model, q, poses)
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert a.dist == real(b.dist)
            assert np.array_equal(a.pos, b.pos.astype(real))
            assert a.frame == pytest.approx(b.frame, abs=64 * float(np.finfo(real).eps))
        total += len(ours)
    assert total >= 10


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if "sdf" not in pair])
def test_contacts_of_mj_forward(pair):
    """From positions on: as many contacts, as deep, within the tolerance of the convex functions.

    Not for signed distance fields: their normals are differences over 1e-8 m, so that roundings grow without a bound
    that is known.
    """
    model = model_of(*PAIRS[pair])
    qpos = states(model, 40)
    for q, (ours, _) in zip(qpos, Finder(model)(qpos), strict=True):
        # contacts of a pair may change places
        ours, theirs = (sorted(c.dist for c in contacts) for contacts in (ours, mujocos(model.mj_model, q)))
        assert ours == pytest.approx(theirs, abs=model.opt.ccd_tolerance)


@pytest.mark.parametrize("kind", ["lane64", "lane32"])
def test_neighbours_do_not_matter(model, kind):
    """A lane's contacts are the same bits in any place, beside any neighbours, even those that are not numbers."""
    qpos = states(model, 30)
    find = Finder(model, kind)
    rng = np.random.default_rng(1)
    alone = [[c.bits() for c in find(q[None])[0][0]] for q in qpos]
    for _ in range(3):
        order = rng.permutation(len(qpos))
        for i, (contacts, _) in zip(order, find(qpos[order]), strict=True):
            assert [c.bits() for c in contacts] == alone[i]
    broken = np.where(np.arange(find.width)[:, None] % 2 == 0, qpos[: find.width], np.nan)
    for i, (contacts, _) in enumerate(find(broken)):
        assert [c.bits() for c in contacts] == (alone[i] if i % 2 == 0 else [])


@pytest.mark.slow
def test_two_threads(model):
    """Two Datas at work at once find what one finds, and MuJoCo's stack is as empty afterwards as it was before."""
    qpos = states(model, 400)
    finders = [Finder(model, "lane64") for _ in range(2)]
    bits = lambda found: [[c.bits() for c in contacts] for contacts, _ in found]  # noqa: E731
    wanted = bits(finders[0](qpos))
    used = finders[0].attached.data.maxuse_stack
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda find: [bits(find(qpos)) for _ in range(3)], finders):
            assert found == [wanted] * 3
    assert [f.attached.data.pstack for f in finders] == [0, 0]
    assert [f.attached.data.maxuse_stack for f in finders] == [used, used]


# ---------------------------------------------------------------- how functions are called


def test_contacts_of_lanes_side_by_side():
    """Slot k holds each lane's contact k; a function gets the pair and reach; its address is not compiled in."""
    model = model_of(*PAIRS["mesh-mesh"])
    find = Finder(model, "lane64")
    calls = []

    def function(m, d, contacts, g1, g2, margin):
        height = find.attached.data.geom_xpos[g2, 2]
        calls.append((m, d, g1, g2, margin))
        count = round(10 * height)
        for k in range(count):
            contact = (ctypes.c_double * 10).from_address(contacts + 80 * k)
            contact[:] = [-height - k, k, 2 * height, 3, 0, 0, 1, 0, 1, 0]
        return count

    find.stand_in(function)
    qpos = np.zeros((find.width, model.nq))
    qpos[:, 4] = 1.0
    qpos[:, 3] = 0.1 * (np.arange(find.width) % 4)
    for lane, (contacts, _) in enumerate(find(qpos)):
        height = qpos[lane, 3]
        assert [c.dist for c in contacts] == [-height - k for k in range(lane % 4)]
        assert [list(c.pos) for c in contacts] == [[k, 2 * height, 3] for k in range(lane % 4)]
        assert all(list(c.frame) == [0, 0, 1, 0, 1, 0, -1, 0, 0] for c in contacts)
    assert find.data.count[NCON] == 3
    assert calls == [(model.mj_model._address, find.attached.data._address, 0, 1, REACH)] * find.width
    qpos[1:, 1] = 5.0  # whoever is far away does not need a call
    calls.clear()
    find(qpos)
    assert len(calls) == 1


def test_a_data_that_nothing_is_attached_to():
    """Pairs are counted as lost, not overlooked."""
    find = Finder(model_of(*PAIRS["cylinder-cylinder"]))
    for name in find.attached.addresses():
        find.data.ints[DATA.slot[name]] = 0
    find(np.array([[0, 0, 0, 0, 1, 0, 0, 0.0]]))
    assert find.data.count[NCON] == 0
    assert find.data.count[NLOST] == 1


def test_no_scratch_without_need():
    """A model whose pairs have kernels of our own gets no mjData."""
    geoms = "<geom type='plane' size='1 1 1'/><body><freejoint/><geom size='.1'/></body>"
    model = saltus.load(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    data = Struct(DATA, data_sizes(model.sizes()))
    assert collision.attach(model, data) is None
    assert data.foreign_model == 0


def test_what_would_end_the_process_is_refused():
    """Too little memory for the convex functions' stack: MuJoCo's driver raises an error, and so does attach."""
    model = model_of(*PAIRS["cylinder-box"], extra='<size memory="10K"/>')
    with pytest.raises(mujoco.FatalError, match="stack overflow"):
        mujocos(model.mj_model, [0, 0, 0, 0.1, 1, 0, 0, 0])
    with pytest.raises(ModelError, match="size memory"):
        collision.attach(model, Struct(DATA, data_sizes(model.sizes())))
    enough = foreign_memory(model)
    model = model_of(*PAIRS["cylinder-box"], extra=f'<size memory="{enough}"/>')
    find = Finder(model)
    assert find(np.array([[0, 0, 0, 0.1, 1, 0, 0, 0.0]]))[0][0]


def foreign_memory(model):
    """The memory that attach asks for."""
    try:
        collision.attach(model, Struct(DATA, data_sizes(model.sizes())))
    except ModelError as error:
        return int(str(error).split('memory="')[1].split('"')[0])


# ---------------------------------------------------------------- derivatives

EXACT = '<option ccd_tolerance="1e-12" ccd_iterations="200"><flag multiccd="disable"/></option>'


@pytest.mark.parametrize("pair", ["plane-mesh", "hfield-sphere", "sphere-mesh", "box-mesh", "cylinder-cylinder"])
def test_tangents(pair):
    """d(dist)/dq of nearest points, and d(pos)/dq, d(normal)/dq of corners on planes, against central differences."""
    model = model_of(*PAIRS[pair], extra=EXACT)
    find = Finder(model, "dual")
    d, nq, compared = find.data, model.nq, 0
    for q in states(model, 16, seed=3, apart=0.7):
        d.qpos[:, 0, 0], d.qpos[:, 1, :] = q, np.eye(8)[:nq]
        _FIND(find.m, d)
        at = mujocos(model.mj_model, q)
        assert list(d.contact_dist[: len(at), 0, 0]) == pytest.approx([c.dist for c in at], abs=1e-11)
        sides = [[mujocos(model.mj_model, q + s * STEP * e) for s in (-1, 1)] for e in np.eye(nq)]
        if any(len(side) != len(at) for both in sides for side in both):
            continue  # some contact begins or ends here
        for k in range(len(at)):
            slope = np.array(
                [[*(b[k].pos - a[k].pos), *(b[k].frame - a[k].frame)[:3], b[k].dist - a[k].dist] for a, b in sides]
            ) / (2 * STEP)
            assert d.contact_dist[k, 1, :nq] == pytest.approx(slope[:, 6], abs=DERIVATIVE)
            if pair == "plane-mesh":
                assert d.contact_pos[k, :, 1, :nq].T == pytest.approx(slope[:, :3], abs=DERIVATIVE)
                assert d.contact_frame[k, :3, 1, :nq].T == pytest.approx(slope[:, 3:6], abs=DERIVATIVE)
            compared += 1
    assert compared >= 5
