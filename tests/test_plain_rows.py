"""Constraint rows, their forces and what moves them, by themselves in plain Python.

Laws: dense Jacobians; edges of pyramids as a matrix; the conditions of optimality of a force in a cone; differences of
forces; splines of SciPy; powers, as Jᵀ f is what does the work of f. Tolerances: rounding, and 1e-6 for differences.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import plain_worlds
from helpers.plain_python import fields, plain, plain_python
from helpers.selves.exact import Area
from helpers.stand_ins import floats, layout, rotation
from scipy.interpolate import PPoly

import saltus
from saltus.contact import contact_list, lane_turns, seams
from saltus.contact.convex.search import hull, penetration, support
from saltus.contact.convex.search.pair_area import (
    DIST,
    HULL1,
    KIND1,
    KIND2,
    LAST1,
    LAST2,
    NORMAL,
    PAIR_NUMBERS,
    POINT,
    ROT,
    SHIFT,
    SIZE1,
    SIZE2,
    VERTEX_NUMBERS,
    W,
    find_vertex,
)
from saltus.contact.counts import NBLOCK, NCON, NEDGE, NEQUALITY, NFLEXDOF, NROW
from saltus.contact.flex import contact_elements, contact_reduction
from saltus.contact.rows import (
    acting,
    adhesive_contacts,
    blocks,
    contacts,
    cost,
    coupling,
    flex_contacts,
    found_contacts,
    movers,
    soft_law,
)
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, PYRAMID, UNILATERAL
from saltus.model.enums import BOX, CAPSULE, ELLIPSOID, SPHERE
from saltus.model.event_enums import LEFT
from saltus.number.intrinsics.blocks import AT_ONCE

NAN = np.float64(np.nan)


# ---------------------------------------------------------------- forces and curvatures


def one_block(rng, kind, dim, residual=None):
    """A block of rows at row 2, law 1, with random weights and residuals."""
    friction, mu = rng.uniform(0.2, 1.5, (2, 5)), rng.uniform(0.3, 1.2)
    m = SimpleNamespace(layout=layout(), law_friction=friction, law_mu=np.array([NAN, mu]))
    d = SimpleNamespace(time=np.float64(0.0), block_kind=[9, kind], block_dim=[9, dim], block_row=[0, 2])
    d.block_law, d.row_D = [0, 1], np.full(9, NAN)
    d.row_D[2] = rng.uniform(0.5, 3.0)
    if kind == CONE:  # the weights of a cone that is circular once scaled
        d.row_D[3 : 2 + dim] = d.row_D[2] * (friction[1, : dim - 1] / mu) ** 2
    elif kind == EQUALITY:
        d.row_D[3 : 2 + dim] = rng.uniform(0.5, 3.0, dim - 1)
    d.row_residual, d.row_force, d.row_loss = np.full(9, NAN), np.full(9, NAN), np.full(9, 0.7)
    d.row_residual[2 : 2 + dim] = rng.normal(size=dim) if residual is None else residual
    d.row_upper, d.row_lower, d.block_weight = np.full(9, NAN), np.full(9, NAN), np.full(36, NAN)
    return m, d


def edges(friction, dim):
    """Edges [2 (dim - 1), dim] of a pyramid, u₀ ± μ_k u_k."""
    rows = []
    for k in range(1, dim):
        for sign in (1.0, -1.0):
            row = np.zeros(dim)
            row[0], row[k] = 1.0, sign * friction[k - 1]
            rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("dim", [3, 4, 6])
def test_pyramids(dim):
    rng = np.random.default_rng(dim)
    for _ in range(12):
        m, d = one_block(rng, PYRAMID, dim)
        e, u, weight = edges(m.law_friction[1], dim), d.row_residual[2 : 2 + dim], d.row_D[2]
        plain(cost.block_force)(m, d, 1)
        np.testing.assert_allclose(d.row_force[2 : 2 + dim], -weight * e.T @ np.minimum(e @ u, 0.0), atol=1e-14)
        plain(cost.block_weight)(m, d, 1)
        wanted = weight * e.T @ np.diag(1.0 * (e @ u < 0.0)) @ e
        np.testing.assert_allclose(d.block_weight[: dim * dim].reshape(dim, dim), wanted, atol=1e-14)
        active = weight * (e @ u < 0.0).reshape(-1, 2)
        np.testing.assert_array_equal(d.row_upper[3 : 2 + dim], active[:, 0])
        np.testing.assert_array_equal(d.row_lower[3 : 2 + dim], active[:, 1])


@pytest.mark.parametrize("dim", [3, 4, 6])
def test_elliptic_cones(dim):
    """The force is that in the cone nearest to -D u in the metric 1/D; the curvature is minus its derivative."""
    rng, zones = np.random.default_rng(dim), set()
    for _ in range(40):
        m, d = one_block(rng, CONE, dim)
        d.row_residual[2] *= 2.0
        rows, friction = slice(2, 2 + dim), m.law_friction[1, : dim - 1]
        plain(cost.block_force)(m, d, 1)
        force, weight = d.row_force[rows].copy(), d.row_D[rows]
        slip = d.row_residual[rows] + force / weight  # in the dual cone, and orthogonal to the force
        assert force[0] >= np.linalg.norm(force[1:] / friction) - 1e-13
        assert slip[0] >= np.linalg.norm(slip[1:] * friction) - 1e-13
        assert force @ slip == pytest.approx(0.0, abs=1e-13)
        zones.add((force.any(), bool(np.abs(slip).max() > 1e-12)))
        plain(cost.block_weight)(m, d, 1)
        found, start = d.block_weight[: dim * dim].reshape(dim, dim).copy(), d.row_residual.copy()
        step = 1e-6
        for k in range(dim):
            sides = []
            for sign in (1.0, -1.0):
                d.row_residual = start.copy()
                d.row_residual[2 + k] += sign * step
                plain(cost.block_force)(m, d, 1)
                sides.append(d.row_force[rows].copy())
            np.testing.assert_allclose(found[k], -(sides[0] - sides[1]) / (2 * step), atol=1e-7)
    assert zones == {(False, True), (True, False), (True, True)}
    # without sliding, and at the apex
    for normal, pushes in ((-1.0, True), (1.0, False), (0.0, False)):
        m, d = one_block(rng, CONE, dim, [normal] + [0.0] * (dim - 1))
        plain(cost.block_force)(m, d, 1)
        wanted = [d.row_D[2] if pushes else 0.0] + [0.0] * (dim - 1)
        np.testing.assert_allclose(d.row_force[2 : 2 + dim], wanted, atol=1e-15)
        plain(cost.block_weight)(m, d, 1)
        weight = np.diag(d.row_D[2 : 2 + dim]) if pushes else np.zeros((dim, dim))
        np.testing.assert_allclose(d.block_weight[: dim * dim].reshape(dim, dim), weight, atol=1e-15)


def test_single_rows_and_equalities():
    rng = np.random.default_rng(1)
    for residual in (-2.0, -1e-3, 0.0, 1e-3, 2.0):
        m, d = one_block(rng, UNILATERAL, 1, residual)
        plain(cost.block_force)(m, d, 1)
        plain(cost.block_weight)(m, d, 1)
        assert d.row_force[2] == max(-d.row_D[2] * residual, 0.0)
        assert d.block_weight[0] == d.row_upper[2] == (d.row_D[2] if residual < 0.0 else 0.0)
        m, d = one_block(rng, FRICTION, 1, residual)
        plain(cost.block_force)(m, d, 1)
        plain(cost.block_weight)(m, d, 1)
        assert d.row_force[2] == np.clip(-d.row_D[2] * residual, -0.7, 0.7)
        assert d.block_weight[0] == (d.row_D[2] if abs(d.row_D[2] * residual) < 0.7 else 0.0)
    m, d = one_block(rng, FRICTION, 1, 0.5)
    d.row_D[2] = 1.4  # at the bound
    plain(cost.block_weight)(m, d, 1)
    assert d.block_weight[0] == 0.0
    for dim in (1, 3, 6):
        m, d = one_block(rng, EQUALITY, dim)
        plain(cost.block_weight)(m, d, 1)
        np.testing.assert_array_equal(d.block_weight[: dim * dim].reshape(dim, dim), np.diag(d.row_D[2 : 2 + dim]))


@pytest.mark.parametrize("last", [0, 2, 4])
def test_forces_of_all_rows(last):
    """Equalities are linear wherever they are; the first `last` blocks are counted as such."""
    rng, dims = np.random.default_rng(2), [3, 1, 6, 1, 1, 2]
    kinds = [EQUALITY, EQUALITY, EQUALITY, EQUALITY, UNILATERAL, EQUALITY]
    first = np.concatenate([[0], np.cumsum(dims)])
    m = SimpleNamespace(layout=layout())
    d = SimpleNamespace(time=np.float64(0.0), count={NEQUALITY: last, NBLOCK: 6}, block_kind=kinds, block_dim=dims)
    d.block_row, d.block_law = first[:-1], [0] * 6
    d.row_D, d.row_residual, d.row_force = rng.uniform(1, 2, 14), rng.normal(size=14), np.full(14, NAN)
    plain(cost.row_forces)(m, d)
    wanted = -d.row_D * d.row_residual
    wanted[11] = max(wanted[11], 0.0)
    np.testing.assert_array_equal(d.row_force, wanted)


# ---------------------------------------------------------------- products with the Jacobian


@pytest.mark.parametrize("alike", [False, True])
def test_products_with_the_jacobian(alike):
    rng, nv = np.random.default_rng(3), 14
    dims = [3, 1, 1, 1, 1, 4, 2, 3, 6] if alike else [3, 1, 4, 2, 3, 6]
    edge = range(2, 5) if alike else range(0)
    chains = [sorted(rng.choice(nv, rng.integers(1, 6), replace=False)) for _ in dims]
    ends = np.array([[0, 5], [-1, 8], [2, -1]])
    for r, b in enumerate(edge):
        chains[b] = [i + k for i in ends[r] if i >= 0 for k in range(3)]
    num = [len(chain) for chain in chains]
    row, place = np.cumsum([0, *dims])[:-1], np.cumsum([0, *(np.multiply(dims, num))])
    m = SimpleNamespace(layout=layout(), chain_dof=np.concatenate(chains), nedgerow=len(edge), edgerow_dof=ends)
    m.edgerow_J = [place[b] - place[2] for b in edge]
    d = SimpleNamespace(time=np.float64(0.0), block_dim=dims, block_num=num, block_row=row, block_J=place[:-1])
    d.block_dofs, d.row_J = np.cumsum([0, *num])[:-1], rng.normal(size=place[-1])
    d.count = {NBLOCK: len(dims), NEDGE: 2 if alike else -1, NROW: sum(dims)}
    J = np.zeros((sum(dims), nv))
    for b, dim in enumerate(dims):
        for c, i in enumerate(chains[b]):
            J[row[b] : row[b] + dim, i] = d.row_J[place[b] + c * dim :][:dim]
    x, y = rng.normal(size=nv), np.full(len(J), NAN)
    plain(blocks.times_rows)(m, d, x, y)
    np.testing.assert_allclose(y, J @ x, atol=1e-14)
    f, z = rng.normal(size=len(J)), x.copy()
    plain(blocks.add_transpose_rows)(m, d, f, z)
    np.testing.assert_allclose(z, x + J.T @ f, atol=1e-14)
    d.row_aref, d.row_residual = rng.normal(size=len(J)), np.full(len(J), NAN)
    plain(cost.row_residuals)(m, d, x)
    np.testing.assert_allclose(d.row_residual, J @ x - d.row_aref, atol=1e-14)
    # velocities at the end of a step, less what is asked
    d.qacc, d.row_step, d.dense = x, np.float64(0.25), {LEFT: 0.0}
    for b, dim in enumerate(dims):
        for k in range(dim):
            wanted = 0.25 * (J[row[b] + k] @ x - d.row_aref[row[b] + k])
            assert plain(acting.end_speed)(m, d, b, k) == pytest.approx(wanted, abs=1e-14)


def test_contacts_that_stay_closed():
    """Of a time step: those that push, or that act and do not separate; of located contact, all that are closed."""
    dof = [0]
    for features in (("stepping",), ("event",)):
        m = SimpleNamespace(layout=layout(*features), chain_dof=dof, opt_speed_tolerance=0.1, opt_dense_step=0.5)
        for force, weight, speed, left in itertools.product((0.0, 1.0), (0.0, 2.0), (-0.2, 0.09, 0.11), (0.0, 1.0)):
            d = SimpleNamespace(contact_block=[-1, 1], block_row=[9, 1], block_dim=[9, 1], block_num=[9, 1])
            d.block_J, d.block_dofs, d.row_aref = [9, 0], [9, 0], np.array([NAN, 0.3])
            d.row_force, d.row_D, d.row_J = np.array([NAN, force]), np.array([NAN, weight]), np.array([2.0])
            d.row_step, d.dense = np.float64(0.5), {LEFT: left}
            d.qacc = np.array([(speed / 0.5 + 0.3) / 2.0])
            stays = force > 0.0 or (weight > 0.0 and speed <= 0.1)
            assert plain(acting.stays_closed)(m, d, 1) == stays
            stepped = features == ("stepping",) or left > 0.0
            assert plain(acting.is_closed)(m, d, 1) == (stays or not stepped)
            assert plain(acting.is_contact)(m, d, 1) == (stays or not stepped)
            assert not plain(acting.is_closed)(m, d, 0)
            assert plain(acting.in_steps)(m, d) == stepped
            assert plain(acting.limit_acts)(m, d, 1) == ((features == ("event",) and left <= 0.0) or weight > 0.0)
            assert plain(acting.may_push)(m, d, 1)
    m = SimpleNamespace(layout=layout(), collision_law=[0, 1], law_reach=[9.0, 0.5], law_margin=[9.0, 0.25])
    for dist in (0.2, 0.25, 0.3, 0.5, 0.6):
        d = SimpleNamespace(contact_dist=[NAN, dist], contact_collision=[0, 1])
        assert plain(acting.is_contact)(m, d, 1) == (dist <= 0.5)
        assert plain(acting.may_push)(m, d, 1) == (dist < 0.25)
        assert plain(adhesive_contacts.within_reach)(m, d, 1) == (dist <= 0.5)


# ---------------------------------------------------------------- what moves contacts


@pytest.mark.parametrize("dim", [1, 3, 4, 6])
def test_surfaces_and_movers_carry_contacts(dim):
    """Velocities of both surfaces at the point, differences of which are seen along and about the contact's axes."""
    rng = np.random.default_rng(dim)
    m = SimpleNamespace(layout=layout("movers"), geom_bodyid=[2, 3])
    m.body_rootid, m.body_mocapid = [0, 1, 1, 3], [-1, 1, -1, 0]
    m.collision_geom1, m.collision_geom2, m.geom_surfacevel = [0, 0], [0, 1], rng.normal(size=(2, 6))
    d = SimpleNamespace(time=np.float64(0.0), contact_collision=[0, 1], xpos=rng.normal(size=(4, 3)))
    d.geom_xpos, d.geom_xmat = rng.normal(size=(2, 3)), np.array([rotation(rng).ravel() for _ in range(2)])
    d.contact_pos, frame = rng.normal(size=(2, 3)), rotation(rng)
    d.contact_frame, d.mover_vel = np.array([np.full(9, NAN), frame.ravel()]), rng.normal(size=(2, 6))
    start = rng.normal(size=9)
    linear, angular, spin = np.zeros(3), np.zeros(3), np.zeros(3)
    for sign, root, mover in ((-1.0, 1, 1), (1.0, 3, 0)):
        v, w = d.mover_vel[mover, :3], d.mover_vel[mover, 3:]
        linear += sign * (v + np.cross(w, d.contact_pos[1] - d.xpos[root]))
        angular += sign * w
    wanted = start.copy()
    wanted[1 : 1 + dim] += np.r_[frame @ linear, frame @ angular][:dim]
    rows = start.copy()
    plain(movers.add_carried_contact)(m, d, 1, 1, dim, d.mover_vel, rows)
    np.testing.assert_allclose(rows, wanted, atol=1e-14)
    # surfaces slide and spin in their own axes; neither moves along the normal, nor rolls
    sliding = np.zeros(3)
    for g, sign in ((0, -1.0), (1, 1.0)):
        mat = d.geom_xmat[g].reshape(3, 3)
        v, w = mat @ m.geom_surfacevel[g, :3], mat @ m.geom_surfacevel[g, 3:]
        one = plain(contacts.surface_velocity)(m, d, g, floats(d.contact_pos[1]))
        np.testing.assert_allclose(one[0], v + np.cross(w, d.contact_pos[1] - d.geom_xpos[g]), atol=1e-14)
        np.testing.assert_allclose(one[1], w, atol=1e-14)
        sliding += sign * (v + np.cross(w, d.contact_pos[1] - d.geom_xpos[g]))
        spin += sign * w
    more = np.r_[0.0, (frame @ sliding)[1:], (frame @ spin)[0], 0.0, 0.0]
    wanted[1 : 1 + dim] += more[:dim]
    d.row_velocity = start.copy()
    plain(contacts.add_surface_velocity)(m, d, 1, 1, dim)
    np.testing.assert_allclose(d.row_velocity, wanted, atol=1e-14)


def test_curves_of_cams():
    """SciPy's piecewise polynomials, repeated where they have a period, and further by the advance of each turn."""
    rng = np.random.default_rng(5)
    begin, coef = np.array([9.0, 0.5, 1.1, 1.7, 9.0]), rng.normal(size=(5, 4))
    m = SimpleNamespace(layout=layout("cam"), cam_num=[0, 3, 3], cam_adr=[0, 1, 1], cam_begin=begin, cam_coef=coef)
    m.cam_period, m.cam_advance, m.eq_data = [0.0, 2.0, 0.0], [0.0, 0.7, 0.0], rng.normal(size=(3, 11))
    curve = PPoly(coef[1:4, ::-1].T, [0.5, 1.1, 1.7, 2.5])
    for x in (-7.9, -1.51, 0.2, 0.5, 0.6, 1.1, 1.2, 1.7, 2.4, 2.6, 6.1):
        turns = np.floor((x - 0.5) / 2.0)
        for k in range(3):
            s, rate = x, 1.0
            if k == 1:
                s, rate = curve(x - 2.0 * turns) + 0.7 * turns, curve(x - 2.0 * turns, 1)
            elif k == 2:
                s, rate = curve(x), curve(x, 1)  # beyond its ends as its first and last piece
            found = plain(coupling.on_cam)(m, k, np.float64(x))
            np.testing.assert_allclose(found, (s, rate), rtol=1e-12, atol=1e-13)
            polynomial = np.polynomial.Polynomial([0.0, *m.eq_data[k, 1:5]])
            found = plain(coupling.coupling)(m, k, np.float64(x))
            np.testing.assert_allclose(found, (polynomial(s), polynomial.deriv()(s) * rate), rtol=1e-11, atol=1e-12)


def test_impedances_join_and_end():
    """The curve passes its midpoint, is flat at both ends, and constant beyond, for each exponent and without width."""
    for exponent in (1.0, 2.0, 3.0, 1.5):
        curve = floats([0.2, 0.9, 0.4, 0.3, exponent])

        def found(r, curve=curve):
            return plain(soft_law.impedance)(curve, np.float64(r))

        assert found(0.0) == pytest.approx(0.2, abs=1e-13) and found(0.4) == found(0.7) == pytest.approx(0.9, abs=1e-14)
        assert found(0.12) == pytest.approx(0.2 + 0.3 * 0.7, abs=1e-14)
        for x in (0.1, 0.25, 0.5, 0.8):
            part = x if exponent == 1.0 else x**exponent / 0.3 ** (exponent - 1.0)
            if x > 0.3 and exponent != 1.0:
                part = 1.0 - (1.0 - x) ** exponent / 0.7 ** (exponent - 1.0)
            assert found(0.4 * x) == found(-0.4 * x) == pytest.approx(0.2 + 0.7 * part, rel=1e-13)
    flat = floats([0.2, 0.9, 0.0, 0.3, 2.0])
    assert plain(soft_law.impedance)(flat, np.float64(0.1)) == pytest.approx(0.55)
    assert plain(soft_law.regularisation)(np.float64(0.8), np.float64(3.0)) == pytest.approx(0.75)
    assert plain(soft_law.reference)(2.0, 3.0, np.float64(0.5), np.float64(0.1), np.float64(4.0)) == pytest.approx(
        -12.1
    )


# ---------------------------------------------------------------- deformable bodies


def test_attraction_pulls_along_the_normal_row():
    """Its generalised force is the Jacobian of the normal gap, whatever moves the bodies."""
    for name in ("jelly", "tree, elliptic"):
        with plain_python():
            sim = saltus.Simulation(plain_worlds.WORLDS[name]())
            sim.forward()
        m, d = fields(sim.engine.m), fields(sim.engine.d)
        assert d.count[NCON] > 2
        d.qfrc_adhesion = np.zeros(m.nv)
        for k in range(d.count[NCON]):
            b = d.contact_block[k]
            if b < 0:
                continue
            wanted = np.zeros(m.nv)
            for c in range(d.block_num[b]):
                i = plain(blocks.chained_dof)(m, d, d.block_dofs[b] + c)
                wanted[i] = d.row_J[d.block_J[b] + c * d.block_dim[b]]
            d.qfrc_adhesion[:] = 1.0
            plain(adhesive_contacts.add_normal_force)(m, d, k, np.float64(2.5))
            np.testing.assert_allclose(d.qfrc_adhesion, 1.0 + 2.5 * wanted, atol=1e-13)


def test_bodies_of_contacts_of_deformable_bodies():
    m = SimpleNamespace(layout=layout(), collision_geom1=[0, -1, 1], collision_geom2=[1, -1, -1], geom_bodyid=[5, 6])
    m.flexelem_vert, m.flexvert_bodyid = np.array([[0, 1], [2, 3]]), [10, 11, 12, -1]
    d = SimpleNamespace(contact_collision=[0, 1, 2, 2], contact_elem=np.array([[0, 0], [1, 0], [-1, 1], [-1, 1]]))
    d.contact_vert = [-1, -1, -1, 0]
    bodies = [tuple(plain(contact_elements.contact_bodies)(m, d, k)) for k in range(4)]
    assert bodies == [(5, 6), (12, 10), (6, 12), (6, 10)]
    # a vertex without a body of its own: that of its first node
    m.layout, m.flexvert_nodeadr, m.node_vert = layout("flexcell"), [0, 0, 0, 1], [9, 1]
    assert plain(contact_elements.vertex_body)(m, 3) == 11 and plain(contact_elements.vertex_body)(m, 0) == 10


def test_lists_of_degrees_of_freedom():
    """Ascending, each once, of a body and all that carry it."""
    rng = np.random.default_rng(6)
    parent = np.array([-1, 0, 1, 1, 3, -1, 5, 2])
    m = SimpleNamespace(layout=layout(), dof_parentid=parent, body_lastdof=np.arange(-1, 8), nchaindof=7, nbody=9)

    def above(body):
        i, found = m.body_lastdof[body], set()
        while i >= 0:
            found.add(int(i))
            i = parent[i]
        return found

    for _ in range(20):
        bodies, first = rng.integers(0, 9, 3), 2
        d = SimpleNamespace(count={NFLEXDOF: first}, flex_dof=np.full(20, 0))
        d.flex_dof[:first] = 7, 3  # of another contact
        wanted = set()
        for body in bodies:
            plain(flex_contacts.list_dofs)(m, d, first, body)
            wanted |= above(body)
        assert d.flex_dof[first : d.count[NFLEXDOF]].tolist() == sorted(wanted) and d.flex_dof[:first].tolist() == [
            7,
            3,
        ]
        # of one of two bodies, with the side; whether neighbours in the list lie on one path to the root
        d = SimpleNamespace(count={NFLEXDOF: first}, found_dof=np.full(20, 7), found_sign=np.full(20, 9))
        m.broad_lastdof, m.broad_dofparent = m.body_lastdof, parent
        place, n, fill = plain(found_contacts.list_dofs)(m, d, bodies[0], bodies[1])
        sides = {**dict.fromkeys(above(bodies[0]), -1), **dict.fromkeys(above(bodies[1]), 1)}
        only = sorted(above(bodies[0]) ^ above(bodies[1]))
        assert (place, n) == (m.nchaindof + first, len(only)) and d.count[NFLEXDOF] == first + n
        assert d.found_dof[first : first + n].tolist() == only
        assert d.found_sign[first : first + n].tolist() == [sides[i] for i in only]
        path = [{*above_dof(parent, i)} for i in only]
        assert fill == any(a not in b for a, b in zip(only, path[1:], strict=False))


def above_dof(parent, i):
    while i >= 0:
        yield int(i)
        i = parent[i]


def test_well_spread_contacts_are_chosen():
    """The deepest, then always the one farthest from all chosen; ties and those out of reach aside."""
    rng = np.random.default_rng(7)
    for total in (5, contact_reduction.MOST + 7):
        first, n, reach = 2, 2 + total, 0.4
        d = SimpleNamespace(
            time=np.float64(0.0), contact_dist=rng.uniform(-0.5, 0.5, n), contact_pos=rng.normal(size=(n, 3))
        )
        d.contact_kept, d.contact_apart = np.full(n, 9.0), np.full(n, 9.0)
        plain(contact_reduction.choose)(d, first, n, np.float64(reach))
        there = [k for k in range(first, n) if d.contact_dist[k] <= reach]
        chosen = [min(there, key=lambda k: d.contact_dist[k])]
        while len(chosen) < min(contact_reduction.MOST, len(there)):
            far = {k: min(np.linalg.norm(d.contact_pos[k] - d.contact_pos[j]) for j in chosen) for k in there}
            chosen.append(max(far, key=far.get))
        assert {k for k in range(first, n) if d.contact_kept[k] > 0.5} == {*chosen}
        assert d.contact_kept[:first].tolist() == [9.0] * first


# ---------------------------------------------------------------- searches


def test_highest_vertex_of_a_block():
    rng = np.random.default_rng(8)
    for _ in range(10):
        star, u = rng.normal(size=(2, 3 * AT_ONCE)), rng.normal(size=3)
        heights = u @ star[1].reshape(3, AT_ONCE)
        found, height = plain(hull.higher_of_duals)(SimpleNamespace(hull_star=star), 1, floats(u), np.float64(-9.0))
        assert found == np.argmax(heights) and height == pytest.approx(heights.max(), abs=1e-15)
        found, height = plain(hull.higher_of_duals)(SimpleNamespace(hull_star=star), 1, floats(u), np.float64(9.0))
        assert (found, height) == (-1, 9.0)


def test_pairs_are_seen_in_the_first_lane_alone():
    d, first = SimpleNamespace(time=np.float64(0.0)), plain(lane_turns.first_to_see)
    assert first(d, np.bool_(True), 0) and not first(d, np.bool_(False), 0)
    assert not first(d, np.bool_(True), 1) and not first(d, np.bool_(False), 1)  # an earlier lane has it


def cores(rng, kinds, sizes, rot, shift):
    area = Area([NAN] * PAIR_NUMBERS)
    for at, x in ((ROT, rot), (SHIFT, shift), (SIZE1, sizes[0]), (SIZE2, sizes[1])):
        for k, number in enumerate(np.ravel(x)):
            area.put(at + k, np.float64(number))
    for at, value in ((KIND1, kinds[0]), (KIND2, kinds[1]), (HULL1, -1), (LAST1, -1), (LAST2, -1)):
        area.put(at, value)
    area.put(HULL1 + 1, -1)
    return area


def turned(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return {0: np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), 2: np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])}[axis]


@pytest.mark.parametrize(
    ("kinds", "rot", "vertices"),
    [
        ((SPHERE, SPHERE), np.eye(3), 1),
        ((CAPSULE, SPHERE), np.eye(3), 2),
        ((CAPSULE, CAPSULE), np.eye(3), 2),
        ((CAPSULE, CAPSULE), turned(0, 0.7), 3),
        ((CAPSULE, BOX), turned(0, 0.7), 4),
    ],
)
def test_flat_differences_have_no_depth(kinds, rot, vertices):
    """Of two points, of segments along a line, of two that cross: no tetrahedron spans their difference."""
    rng = np.random.default_rng(9)
    p = cores(rng, kinds, ([0.1, 0.3, 0.2], [0.2, 0.4, 0.3]), rot, [0.0, 0.0, 0.05 if vertices < 4 else 0.0])
    v = Area([NAN] * penetration.VERTEX_AREA)
    plain(find_vertex)(None, p, v, floats([0.3, 0.2, 0.9]))
    assert plain(penetration.completed)(None, p, v, 1) == (vertices == 4)
    w = np.array([[v.get(VERTEX_NUMBERS * k + W + i) for i in range(3)] for k in range(vertices)])
    assert np.linalg.matrix_rank(w[1:] - w[0], tol=1e-9) == vertices - 1
    assert plain(penetration.penetration)(None, p, v, 1) == (vertices == 4)


def test_a_depth_that_is_equal_in_all_directions():
    """Of one sphere in the middle of another, as ellipsoids: memory is full before any face is on the boundary."""
    rng = np.random.default_rng(12)
    p = cores(rng, (ELLIPSOID, ELLIPSOID), ([0.25] * 3, [0.3] * 3), np.eye(3), [0.0, 0.0, 0.0])
    v = Area([NAN] * penetration.VERTEX_AREA)
    plain(find_vertex)(None, p, v, floats([0.3, 0.2, 0.9]))
    assert plain(penetration.penetration)(None, p, v, 1)
    assert p.get(DIST) == pytest.approx(-0.55, abs=1e-14)
    normal, point = (np.array([p.get(at + i) for i in range(3)]) for at in (NORMAL, POINT))
    np.testing.assert_allclose(point, 0.25 * normal, atol=1e-14)


def test_support_points():
    rng, prism = np.random.default_rng(10), rng_prism()
    for kind, size in ((SPHERE, [0.3, 0, 0]), (CAPSULE, [0.1, 0.4, 0]), (BOX, [0.3, 0.2, 0.1])):
        for u in rng.normal(size=(6, 3)):
            x = np.array(plain(support.support)(None, kind, -1, floats(size), floats(u), -1)[:3])
            reach = {SPHERE: 0.0, CAPSULE: 0.4 * abs(u[2]), BOX: np.abs(u) @ size}[kind]
            assert x @ u == pytest.approx(reach, abs=1e-15)
    for u in rng.normal(size=(6, 3)):
        *x, number = plain(support.of_prism)(Area([*floats(prism)]), floats(u))
        assert number == np.argmax(prism @ u) and [*x] == [*prism[number]]


def rng_prism():
    return np.random.default_rng(11).normal(size=(6, 3))


# ---------------------------------------------------------------- frames, seams


def test_tangents_are_nearest_to_what_is_wanted():
    """The wanted direction's projection, or y's, or z's for normals near y."""
    rng = np.random.default_rng(12)
    ways = [*np.eye(3), *-np.eye(3), *rng.normal(size=(6, 3))]
    for normal, wanted in itertools.product(
        ways, [np.zeros(3), *np.eye(3), *rng.normal(size=(3, 3)), 0.1 * np.eye(3)[0]]
    ):
        normal = normal / np.linalg.norm(normal)
        found = np.array(plain(contact_list.first_tangent)(floats(normal), floats(wanted)))
        want = wanted if wanted @ wanted >= 0.25 else np.eye(3)[2 if abs(normal[1]) >= 0.5 else 1]
        side = want - want @ normal * normal
        if np.linalg.norm(side) < 1e-12:  # along the normal
            want = np.eye(3)[1 if abs(normal[0]) >= 0.5 else 0]
            side = want - want @ normal * normal
        np.testing.assert_allclose(found, side / np.linalg.norm(side), atol=1e-14)


def test_distances_of_half_spaces_and_their_normal_cones():
    """Depth is the largest excess; what remains of a vector is what is left after non-negative least squares."""
    from scipy.optimize import nnls

    rng = np.random.default_rng(13)
    for _ in range(8):
        adr, count = 2, 4
        planes = rng.normal(size=(8, 4))
        planes[:, :3] /= np.linalg.norm(planes[:, :3], axis=1)[:, None]
        m, d = SimpleNamespace(seam_plane=planes), SimpleNamespace(seam_push=np.full(9, NAN))
        point, normal = rng.normal(size=3), rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        excess = planes[:, :3] @ point - planes[:, 3]
        assert plain(seams.depth)(m, adr, count, floats(point)) == pytest.approx(
            excess[adr : adr + count].max(), abs=1e-14
        )
        slack = 0.5
        near = [i for i in range(adr, adr + count) if excess[i] >= -slack]
        rest = normal.copy()
        if near:
            own = planes[near, :3].T
            rest = normal - own @ nnls(own, normal)[0]
        found = plain(seams.outside_cone)(m, d, adr, count, floats(point), floats(normal), np.float64(slack))
        np.testing.assert_allclose(found, rest, atol=1e-3)
        has = plain(seams.has_normal)(m, d, adr, count, floats(point), floats(normal), np.float64(slack))
        assert has == (np.linalg.norm(found) <= seams.ANGLE)
        one, two = plain(seams.across)(floats(normal))
        np.testing.assert_allclose(np.cross(one, two), normal, atol=1e-14)
