"""Contacts of deformable bodies from MuJoCo: with geoms that have no kernel, with each other, and self-collision.

MuJoCo does not export its collision functions for elements, only mj_collision, which finds all contacts of a model. It
is therefore called on a copy of the model whose masks select these pairs, with the current positions of vertices and
geoms, and only if some pair is near enough to touch. It processes one simulation at a time: the contacts of lanes are
then matched by their elements, and sorted by these. For numbers without lanes those of a pair are in MuJoCo's order.

Kernels call a Python function by its address, which is valid in one process only; it is therefore an integer in a Data
and no part of compiled code (see `saltus.contact.mujoco.collision.attach`). The call holds the GIL except while MuJoCo
works. An error in MuJoCo is an exception in that function, and the contacts are counted as lost.
"""

import _thread
import copy
import ctypes
import threading

import mujoco
import numpy as np
from numba.extending import overload

from saltus.contact.contact_tangents import fixed_to, with_tangents
from saltus.contact.counts import NLOST
from saltus.contact.flex.broad_phase import element_point
from saltus.contact.flex.contact_elements import add_flex_contact
from saltus.contact.rows.flex_contacts import element_weights
from saltus.number.components import chain, frozen, lane_count, lane_get, lane_set, value_of
from saltus.number.features import looks_at
from saltus.number.intrinsics.calls import c_function
from saltus.number.kernels import kernel, only_with
from saltus.number.kinds import dual
from saltus.spatial.vectors import add3, add_scaled3, dot3, scale3, sub3

MASKS = 31  # number of usable bits of a mask
FAR = -1e10  # m: margin of pairs that the copy leaves out
AGAIN = 0.05  # s: delay before an interrupt during a call is raised again
FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


# ---------------------------------------------------------------- in Python: set-up for a Data


class FlexForeign:
    """Copy of a model and its mjData for one Data, and the callback of kernels, whose address is `address`."""

    def __init__(self, mj_model: mujoco.MjModel, table, struct):
        """`table`: the kernels' Model; `struct`: the Data."""
        pairs = np.stack([table.collision_geom1, table.collision_flex1, table.collision_flex2], 1)
        ours = (pairs[:, 2] >= 0) & (table.collision_foreign != 0)
        self._vertices = table.nflexvert  # vertices and nodes
        self.model = _copy_of(mj_model, pairs[ours])
        self.data = _data_of(self.model)
        self._struct = struct
        # number of a pair, indexed by geom, first and second flex; index -1 (none) is the last place
        self._pair = np.full((mj_model.ngeom + 1, mj_model.nflex + 1, mj_model.nflex), -1)
        self._pair[tuple(pairs[ours].T)] = np.flatnonzero(ours)
        self._geoms = np.unique(pairs[ours & (pairs[:, 0] >= 0), 0])
        self._bodies = np.unique(mj_model.geom_bodyid[self._geoms])
        self._turns = [_matrix(q).reshape(3, 3) for q in mj_model.body_iquat[self._bodies]]
        self._nodes = np.unique(mj_model.flex_nodebodyid).astype(int)
        self._function = FUNCTION(self._call)
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value

    def _call(self, lane: int) -> int:
        """Find the contacts of a lane and write them to the Data; returns their number."""
        try:
            return self._find(lane)
        except KeyboardInterrupt:  # the interrupt is meant for the caller of the kernel
            timer = threading.Timer(AGAIN, _thread.interrupt_main)
            timer.daemon = True
            timer.start()
            return self._call(lane)
        except Exception:  # MuJoCo's errors and any other: kernels cannot handle exceptions
            self.data = _data_of(self.model)
            return self._lost(1)

    def _lost(self, number: int) -> int:
        self._struct.count[NLOST] += number
        return 0

    def _find(self, lane: int) -> int:
        self._place(lane)
        mujoco.mj_flex(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        full = self.data.warning[mujoco.mjtWarning.mjWARN_CONTACTFULL]
        if full.number:
            full.number = 0
            self._lost(1)
        return self._keep(lane) if self.data.ncon else 0

    def _place(self, lane: int) -> None:
        """Write the poses of a lane to the copy."""
        m, d = self.model, self.data
        m.flex_vert[:] = self._lane("flexvert_xpos", lane)[: m.nflexvert]
        places, turns = self._lane("xpos", lane), self._lane("xmat", lane)
        d.xpos[self._nodes], d.xmat[self._nodes] = places[self._nodes], turns[self._nodes]
        d.geom_xpos[self._geoms] = self._lane("geom_xpos", lane)[self._geoms]
        d.geom_xmat[self._geoms] = self._lane("geom_xmat", lane)[self._geoms]
        for b, turn in zip(self._bodies, self._turns, strict=True):
            mat = turns[b].reshape(3, 3).astype(float)
            d.xipos[b], d.ximat[b] = places[b] + mat @ m.body_ipos[b], (mat @ turn).ravel()
        for g in self._geoms:
            if m.geom_type[g] == mujoco.mjtGeom.mjGEOM_SDF:
                mujoco.mju_mat2Quat(d.geom_xquat[g], d.geom_xmat[g])

    def _lane(self, name: str, lane: int) -> np.ndarray:
        view, kind = self._struct.views[name], self._struct.kind
        return view[..., lane] if kind.startswith("lane") else view[..., 0, 0] if kind == "dual" else view

    def _keep(self, lane: int) -> int:
        """Write the contacts that were found to the Data; returns the number that fits."""
        m, found, struct = self.model, self.data.contact, self._struct
        geom, flex, elem = found.geom, found.flex, found.elem
        adr = np.append(m.flex_elemadr, 0)
        first, second = (np.where(elem[:, s] >= 0, elem[:, s] + adr[flex[:, s]], -1).astype(np.int64) for s in (0, 1))
        vert = np.where(found.vert[:, 1] >= 0, found.vert[:, 1] + m.flex_vertadr[flex[:, 1]], -1)
        pair = self._pair[geom[:, 0], flex[:, 0], flex[:, 1]]
        key = ((first + 1) * (m.nflexelem + 1) + second + 1) * (self._vertices + 1) + vert + 1
        order = np.flatnonzero(pair >= 0)
        keys = (key[order], pair[order]) if struct.kind.startswith("lane") else (pair[order],)
        order = order[np.lexsort(keys)]
        room = len(struct.flexforeign_pair)
        self._lost(max(0, len(order) - room))
        order = order[:room]
        numbers = np.hstack([found.dist[:, None], found.pos, found.frame])[order]
        struct.flexforeign_pair[: len(order), lane] = pair[order]
        struct.flexforeign_key[: len(order), lane] = key[order]
        self._lane("flexforeign_number", lane)[: len(order)] = numbers
        return len(order)


def _copy_of(mj_model, pairs) -> mujoco.MjModel:
    """A copy whose vertices are at `flex_vert`, and whose masks select these pairs, no others if bits suffice."""
    m = copy.copy(mj_model)
    if m.nflex > MASKS:
        _leave_out_geoms(m, pairs)
    else:
        _select(m, pairs)
    m.pair_margin[:] = FAR
    m.opt.enableflags &= ~mujoco.mjtEnableBit.mjENBL_SLEEP.value
    for name in ("edgestiffness", "edgedamping", "damping", "edgeequality", "centered"):
        getattr(m, f"flex_{name}")[:] = 0
    return m


def _select(m, pairs) -> None:
    """Masks of these pairs, with a bit for each deformable body."""
    for kind in ("geom", "flex", "body"):
        getattr(m, f"{kind}_contype")[:] = 0
        getattr(m, f"{kind}_conaffinity")[:] = 0
    for geom, first, second in pairs:
        if geom >= 0:
            m.geom_conaffinity[geom] |= 1 << second
            m.body_conaffinity[m.geom_bodyid[geom]] |= 1 << second
        else:
            m.flex_conaffinity[first] |= 1 << second
        m.flex_contype[second] |= 1 << second


def _leave_out_geoms(m, pairs) -> None:
    """The model's masks, but for geoms that are in none of these pairs; contacts of other pairs are left out later."""
    used = np.unique(pairs[pairs[:, 0] >= 0, 0])
    for kind, kept in ("geom", used), ("body", m.geom_bodyid[used]):
        others = np.setdiff1d(np.arange(getattr(m, f"n{kind}")), kept)
        getattr(m, f"{kind}_contype")[others] = 0
        getattr(m, f"{kind}_conaffinity")[others] = 0


def _data_of(m) -> mujoco.MjData:
    """An mjData with all bodies at the origin, so that vertices are at the positions in the model."""
    d = mujoco.MjData(m)
    d.xmat[:] = np.eye(3).ravel()
    return d


def _matrix(quat) -> np.ndarray:
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, quat)
    return out


# ---------------------------------------------------------------- in kernels


_collide_lane = c_function("long", "long")  # a lane; the number of its contacts


@only_with("flexforeign", otherwise="True")
@kernel
def all_called(m, d):
    """Whether MuJoCo has been called in all lanes, so that no pair has to be tested for being near."""
    called = True
    for i in range(lane_count(d.time)):
        called = called and d.flexforeign_count[i] >= 0
    return called


@only_with("flexforeign", otherwise="n")
@kernel
def foreign_flex(m, d, n, c, reach, near):
    """Contacts of pair c from number n on, in lanes where `near` is 1; returns the new number of contacts.

    In duals dist (m) and pos (m) have the tangents of two points, one on each object, fixed to the geom or to the
    corners of the element; the normal has none (see `saltus.contact.mujoco.collision.foreign`). A Data without `attach`
    counts the pair as lost.
    """
    if d.flexforeign_call == 0:
        d.count[NLOST] = d.count[NLOST] + 1
        return n
    # each lane: call MuJoCo once for all pairs, then go to the first contact of this pair
    for i in range(lane_count(d.time)):
        d.flexforeign_place[i] = 0
        if lane_get(value_of(near), i) > 0.5:
            if d.flexforeign_count[i] < 0:
                d.flexforeign_count[i] = _collide_lane(d.flexforeign_call, (i,))
            d.flexforeign_place[i] = first_of_pair(d, i, c)
        else:
            d.flexforeign_place[i] = d.flexforeign_count[i]
    # merge the lists of the lanes by ascending keys
    key = least_key(d, c)
    while key >= 0:
        n = add_from_lanes(m, d, n, c, reach, key)
        key = least_key(d, c)
    return n


@kernel
def first_of_pair(d, i, c):
    """Place of lane i's first contact of pair c, or the end of its contacts, which are in order of their pairs."""
    low, high = 0, d.flexforeign_count[i]
    while low < high:
        middle = (low + high) // 2
        if d.flexforeign_pair[middle, i] < c:
            low = middle + 1
        else:
            high = middle
    return next_of_pair(d, i, low, c)


@kernel(inline=True)
def next_of_pair(d, i, place, c):
    """`place` if there is a contact of pair c in lane i, or the end of its contacts."""
    if place < d.flexforeign_count[i] and d.flexforeign_pair[place, i] == c:
        return place
    return d.flexforeign_count[i]


@kernel
def least_key(d, c):
    """Key of the next contact: the least over all lanes; -1 at the end."""
    least = -1
    for i in range(lane_count(d.time)):
        place = d.flexforeign_place[i]
        if place < d.flexforeign_count[i]:
            key = d.flexforeign_key[place, i]
            if least < 0 or key < least:
                least = key
    return least


@kernel
def add_from_lanes(m, d, n, c, reach, key):
    """Append the contact with this key for the lanes that have it; out of reach in the others."""
    zero = 0.0 * d.time
    # lanes without this contact: out of reach, normal x
    dist = zero + (reach + 1.0)
    x = y = z = ny = nz = zero
    nx = zero + 1.0
    # gather distance, position and normal; advance the lanes that have the contact
    for i in range(lane_count(d.time)):
        p = d.flexforeign_place[i]
        if p < d.flexforeign_count[i] and d.flexforeign_key[p, i] == key:
            dist = lane_set(dist, i, lane_get(d.flexforeign_number[p, 0], i))
            x = lane_set(x, i, lane_get(d.flexforeign_number[p, 1], i))
            y = lane_set(y, i, lane_get(d.flexforeign_number[p, 2], i))
            z = lane_set(z, i, lane_get(d.flexforeign_number[p, 3], i))
            nx = lane_set(nx, i, lane_get(d.flexforeign_number[p, 4], i))
            ny = lane_set(ny, i, lane_get(d.flexforeign_number[p, 5], i))
            nz = lane_set(nz, i, lane_get(d.flexforeign_number[p, 6], i))
            d.flexforeign_place[i] = next_of_pair(d, i, p + 1, c)
    # decode the key: elements and vertex, each plus one
    vert = key % (m.nflexvert + 1) - 1
    elements = key // (m.nflexvert + 1)
    elem1, elem2 = elements // (m.nflexelem + 1) - 1, elements % (m.nflexelem + 1) - 1
    dist, pos = carried(m, d, c, elem1, elem2, vert, dist, (x, y, z), (nx, ny, nz))
    return add_flex_contact(m, d, n, c, reach, dist, pos, (nx, ny, nz), (elem1, elem2, vert))


@looks_at()
def carried(m, d, c, elem1, elem2, vert, dist, pos, normal):
    """dist and pos with the tangents due to the motion of the objects; unchanged if not duals."""
    return dist, pos


@overload(carried)
def _carried(m, d, c, elem1, elem2, vert, dist, pos, normal):
    if dist == dual:
        return lambda m, d, c, elem1, elem2, vert, dist, pos, normal: carried_dual(
            m, d, c, elem1, elem2, vert, dist, pos, normal
        )
    return lambda m, d, c, elem1, elem2, vert, dist, pos, normal: (dist, pos)


@kernel
def carried_dual(m, d, c, elem1, elem2, vert, dist, pos, normal):
    """dist = n · (p₂ - p₁) and pos = (p₁ + p₂)/2; the nearest points p₁, p₂ are fixed to geom, element or vertex."""
    p1, p2 = add_scaled3(pos, -0.5 * dist, normal), add_scaled3(pos, 0.5 * dist, normal)
    g = m.collision_geom1[c]
    if vert >= 0:  # on a plane: the point below the vertex
        p2 = with_tangents(p2, d.flexvert_xpos[vert])
        p1 = add_scaled3(p2, -dot3(normal, sub3(p2, d.geom_xpos[g])), normal)
    else:
        p2 = fixed_to_element(m, d, elem2, p2)
        p1 = fixed_to_element(m, d, elem1, p1) if g < 0 else fixed_to(d, g, p1)
    moved = dot3(normal, sub3(p2, p1))
    middle = scale3(0.5, add3(p1, p2))
    return chain(value_of(dist), 1.0, moved), with_tangents(pos, middle)


@kernel
def fixed_to_element(m, d, e, point):
    """A point (m) with the tangents of the nearest point of an element, whose barycentric coordinates stay fixed."""
    w = element_weights(m, d, e, point)
    fixed = frozen(w[0]), frozen(w[1]), frozen(w[2]), frozen(w[3])
    return with_tangents(point, element_point(m, d, e, fixed))
