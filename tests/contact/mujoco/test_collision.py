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

import mujoco
import numpy as np
import pytest
from helpers.colliding import FIND, GEOMS, HILLS, PLANE, REACH, Finder, model_of, mujocos, states

import saltus
from saltus.contact.counts import NCON, NLOST
from saltus.contact.mujoco import collision
from saltus.errors import ModelError
from saltus.model.layout import DATA, data_sizes
from saltus.number.structs import Struct

KINDS = ("float64", "lane64", "lane32")
DERIVATIVE, STEP = 1e-5, 1e-5

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3, *[ctypes.c_int] * 2, ctypes.c_double)


class Watched(Finder):
    """A finder that has seen what MuJoCo's function got, if `watch` told it to look."""

    def stand_in(self, function):
        """Have `function` called in place of MuJoCo's; returns MuJoCo's."""
        place = self.m.collision_kind[0]
        table = self.attached.functions.copy()
        real = FUNCTION(int(table[place]))
        self._kept = FUNCTION(function), table
        table[place] = ctypes.cast(self._kept[0], ctypes.c_void_p).value
        self.data.ints[DATA.slot["foreign_functions"]] = table.ctypes.data
        return real

    def watch(self, qpos):
        """Contacts of each state, and the poses that MuJoCo's function gets for its lane, None if it is not called."""
        seen = {}

        def watched(m, d, contacts, g1, g2, margin):
            buffer, scratch = self.attached.contacts, self.attached.data
            lane = (contacts - buffer.ctypes.data) // buffer[0].nbytes
            seen[lane] = [x.copy() for x in (scratch.geom_xpos, scratch.geom_xmat, scratch.geom_xquat)]
            return real(m, d, contacts, g1, g2, margin)

        real = self.stand_in(watched)
        for group in self.groups(qpos):
            yield from ((contacts, seen.get(lane)) for lane, contacts in enumerate(group))
            seen.clear()


# height fields, a mesh whose face has 200 corners, a signed distance field
PAIRS = {
    "hfield-box": (HILLS, 'type="box" size=".2 .3 .1"'),
    "hfield-mesh": (HILLS, GEOMS["dice"]),
    "plane-coin": (PLANE, GEOMS["coin"]),
    "sphere-coin": (GEOMS["sphere"], GEOMS["coin"]),
    "box-coin": (GEOMS["box"], GEOMS["coin"]),
    "cylinder-coin": (GEOMS["cylinder"], GEOMS["coin"]),
    "cylinder-sdf": ('type="cylinder" size=".3 .3"', 'type="sdf" mesh="ball"'),
}
PLANES = PAIRS["plane-coin"]


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
    total = 0
    for q, (ours, poses) in zip(qpos, Watched(model, kind).watch(qpos), strict=True):
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
    for q, ours in zip(qpos, Finder(model)(qpos), strict=True):
        # contacts of a pair may change places
        ours, theirs = (sorted(c.dist for c in contacts) for contacts in (ours, mujocos(model.mj_model, q)))
        assert ours == pytest.approx(theirs, abs=model.opt.ccd_tolerance)


@pytest.mark.parametrize("kind", ["lane64", "lane32"])
def test_neighbours_do_not_matter(model, kind):
    """A lane's contacts are the same bits in any place, beside any neighbours, even those that are not numbers."""
    qpos = states(model, 30)
    find = Finder(model, kind)
    rng = np.random.default_rng(1)
    alone = [[c.bits() for c in find(q[None])[0]] for q in qpos]
    for _ in range(3):
        order = rng.permutation(len(qpos))
        for i, contacts in zip(order, find(qpos[order]), strict=True):
            assert [c.bits() for c in contacts] == alone[i]
    broken = np.where(np.arange(find.width)[:, None] % 2 == 0, qpos[: find.width], np.nan)
    for i, contacts in enumerate(find(broken)):
        assert [c.bits() for c in contacts] == (alone[i] if i % 2 == 0 else [])


@pytest.mark.slow
def test_two_threads(model):
    """Two Datas at work at once find what one finds, and MuJoCo's stack is as empty afterwards as it was before."""
    qpos = states(model, 400)
    finders = [Finder(model, "lane64") for _ in range(2)]
    bits = lambda found: [[c.bits() for c in contacts] for contacts in found]  # noqa: E731
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
    model = model_of(*PAIRS["box-coin"])
    find = Watched(model, "lane64")
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
    for lane, contacts in enumerate(find(qpos)):
        height = qpos[lane, 3]
        assert [c.dist for c in contacts] == pytest.approx([-height - k for k in range(lane % 4)], abs=1e-15)
        assert [list(c.pos) for c in contacts] == [pytest.approx([k, 2 * height, 3]) for k in range(lane % 4)]
        assert all(list(c.frame) == [0, 0, 1, 0, 1, 0, -1, 0, 0] for c in contacts)
    assert find.data.count[NCON] == 3
    assert calls == [(model.mj_model._address, find.attached.data._address, 0, 1, REACH)] * find.width
    qpos[1:, 1] = 5.0  # whoever is far away does not need a call
    calls.clear()
    find(qpos)
    assert len(calls) == 1


def test_a_data_that_nothing_is_attached_to():
    """Pairs are counted as lost, not overlooked."""
    find = Finder(model_of(*PLANES))
    for name in find.attached.addresses():
        find.data.ints[DATA.slot[name]] = 0
    find(np.array([[0, 0, 0, 1, 0, 0, 0.0]]))
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
    model = model_of(*PAIRS["box-coin"], extra='<size memory="10K"/>')
    with pytest.raises(mujoco.FatalError, match="stack overflow"):
        mujocos(model.mj_model, [0, 0, 0, 0.1, 1, 0, 0, 0])
    with pytest.raises(ModelError, match="size memory"):
        collision.attach(model, Struct(DATA, data_sizes(model.sizes())))
    enough = foreign_memory(model)
    model = model_of(*PAIRS["box-coin"], extra=f'<size memory="{enough}"/>')
    find = Finder(model)
    assert find(np.array([[0, 0, 0, 0.1, 1, 0, 0, 0.0]]))[0]


def foreign_memory(model):
    """The memory that attach asks for."""
    try:
        collision.attach(model, Struct(DATA, data_sizes(model.sizes())))
    except ModelError as error:
        return int(str(error).split('memory="')[1].split('"')[0])


# ---------------------------------------------------------------- derivatives

EXACT = '<option ccd_tolerance="1e-12" ccd_iterations="200"><flag multiccd="disable"/></option>'


def test_tangents():
    """d(dist)/dq of nearest points, against central differences."""
    model = model_of(*PAIRS["sphere-coin"], extra=EXACT)
    find = Finder(model, "dual")
    d, nq, compared = find.data, model.nq, 0
    for q in states(model, 16, seed=3, apart=0.7):
        d.qpos[:, 0, 0], d.qpos[:, 1, :] = q, np.eye(8)[:nq]
        FIND(find.m, d)
        at = mujocos(model.mj_model, q)
        assert list(d.contact_dist[: len(at), 0, 0]) == pytest.approx([c.dist for c in at], abs=1e-11)
        sides = [[mujocos(model.mj_model, q + s * STEP * e) for s in (-1, 1)] for e in np.eye(nq)]
        if any(len(side) != len(at) for both in sides for side in both):
            continue  # some contact begins or ends here
        for k in range(len(at)):
            slope = np.array([b[k].dist - a[k].dist for a, b in sides]) / (2 * STEP)
            assert d.contact_dist[k, 1, :nq] == pytest.approx(slope, abs=DERIVATIVE)
            compared += 1
    assert compared >= 5
