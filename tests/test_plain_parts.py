"""Parts of steps that whole worlds seldom show, called by themselves in plain Python.

Laws: brute force over directions, coordinates or couplings; NumPy on the same numbers; closed forms of curvatures and
of rotations. Tolerances: rounding, and spacing of the directions that brute force tries.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import fields, plain, plain_python
from helpers.selves.exact import Area
from helpers.stand_ins import layout, rotation
from helpers.stiction_scenes import belt

import saltus
from saltus.contact.convex import corner_normals, faces
from saltus.contact.convex.search.pair_area import PAIR_NUMBERS, ROT
from saltus.contact.counts import NBLOCK, NISLAND
from saltus.contact.event import gap_functions
from saltus.contact.rigid import ellipsoid
from saltus.contact.rows import acting
from saltus.contact.rows.blocks import CONE, FRICTION
from saltus.dynamics import motions
from saltus.integrate import status
from saltus.integrate.adaptive import step_bounds
from saltus.integrate.event import dense_events, event_functions
from saltus.model.enums import BLOCKS, ROWS
from saltus.model.event_enums import SIZE, SLIP, STICK
from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED
from saltus.solve.impact import problem, sequence
from saltus.solve.soft.dual import island
from saltus.solve.soft.trees import domains, islands
from saltus.solve.stepping import breakaway, hard_rows, modes


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


# ---------------------------------------------------------------- contact


@pytest.mark.parametrize("side", [faces.FIRST, faces.SECOND])
def test_place_on_a_rim_that_is_nearest_to_a_face(side):
    """The lowest of 720 places on the rim above a face with this outward normal."""
    rng, angles = np.random.default_rng(0), np.arange(720) * np.pi / 360
    for _ in range(5):
        rot, normal = rotation(rng), rotation(rng)[0]
        area = Area([np.nan] * PAIR_NUMBERS)
        for k, x in enumerate(rot.ravel()):
            area.put(ROT + k, x)
        cosine, sine = plain(faces.nearest_of_rim)(area, side, tuple(normal))
        rim = np.stack([np.cos(angles), np.sin(angles), 0 * angles])
        heights = normal @ (rim if side == faces.FIRST else rot @ rim)
        nearest = angles[np.argmin(heights)]
        assert np.cos(nearest) * cosine + np.sin(nearest) * sine > np.cos(np.pi / 360)
        assert cosine**2 + sine**2 == pytest.approx(1.0, abs=1e-14)


def test_least_radius_of_curvature_of_an_ellipsoid():
    """1/κ at the ends of axes, where κ = a/b² is the curvature at the end of half axis a towards half axis b."""
    for size in itertools.permutations((0.1, 0.2, 0.35)):
        wanted = min(b * b / a for a, b in itertools.permutations(size, 2))
        assert plain(ellipsoid.rolling_radius)(tuple(map(np.float64, size))) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_normal_across_two_edges(size):
    """The unit vector perpendicular to both, at corners of any size, if their angle is no rounding."""
    rng = np.random.default_rng(7)
    for sine in (1e-3, 0.5, 1.0):
        along, other, _ = rotation(rng).T
        edge, normal = sine * other + np.sqrt(1 - sine**2) * along, np.cross(other, along)
        corners = size * np.array([0 * edge, edge, edge + 0.3 * normal])
        area = Area(corners.ravel().tolist())
        for sign in (1.0, -1.0):
            there = plain(corner_normals.across_edges)
            near = sign * normal + 1e-4 * along  # the normal that a search has found
            found = there(area, 3, tuple(along), tuple(near), tuple(0.4 * size * edge))
            np.testing.assert_allclose(found, -sign * normal, rtol=0, atol=1e-12)


def test_plane_and_box_have_a_contact_at_each_corner():
    xml = """<mujoco><worldbody><geom type="plane" size="5 5 1" euler="5 10 0"/><body pos=".1 .2 .6"
      euler="20 30 40"><freejoint/><geom type="box" size=".1 .2 .3" mass="1"/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(xml, contact=saltus.Hard())
    sim.forward()
    m, d = sim.engine.m, sim.engine.d
    count = plain(gap_functions.pair_points)(fields(m), fields(d), 0, 0, 1e3)
    size = m.geom_size[1]
    signs = np.array([[1 if k >> i & 1 else -1 for i in range(3)] for k in range(8)])
    corners = d.geom_xpos[1] + signs * size @ d.geom_xmat[1].reshape(3, 3).T
    normal = d.geom_xmat[0].reshape(3, 3)[:, 2]
    heights = (corners - d.geom_xpos[0]) @ normal
    assert count == 8
    np.testing.assert_allclose(d.contact_dist[:8], heights, rtol=0, atol=1e-13)
    np.testing.assert_allclose(d.contact_pos[:8], corners - heights[:, None] / 2 * normal, rtol=0, atol=1e-13)


# ---------------------------------------------------------------- motion


def test_motion_of_a_prescribed_body():
    """Angular velocity and acceleration of q = exp(a(t)) times a length, by finite differences of rotation matrices."""
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, rate, change = rng.normal(size=(3, 4))
        numbers = np.concatenate([[1.0], rng.normal(size=3), q, rng.normal(size=3), rate, rng.normal(size=3), change])

        def matrix(t, terms=(q, rate, change)):
            w, x, y, z = terms[0] + t * terms[1] + 0.5 * t * t * terms[2]
            k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            return np.eye(3) + 2 * (w * k + k @ k) / (w * w + x * x + y * y + z * z)

        def spin(t, eps=1e-4, matrix=matrix):
            s = (matrix(t + eps) - matrix(t - eps)) / (2 * eps) @ matrix(t).T
            return np.array([s[2, 1] - s[1, 2], s[0, 2] - s[2, 0], s[1, 0] - s[0, 1]]) / 2

        d = SimpleNamespace(time=0.0, mover_time=[0], mover_given=[0])
        for name in ("mocap_pos", "mocap_quat", "mocap_vel", "mover_pos", "mover_quat", "mover_vel", "mover_acc"):
            setattr(d, name, [None])
        plain(motions.place_carrier)(None, d, 0, numbers)
        np.testing.assert_allclose(d.mocap_vel[0][3:], spin(0.0), atol=1e-5 * np.abs(spin(0.0)).max() + 1e-5)
        turning = (spin(1e-3) - spin(-1e-3)) / 2e-3
        np.testing.assert_allclose(d.mover_acc[0][3:], turning, atol=1e-3 * np.abs(turning).max())
        assert [*d.mocap_vel[0][:3], *d.mover_acc[0][:3]] == [*numbers[8:11], *numbers[15:18]]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_states_that_are_no_numbers_are_found(number):
    """1, and not NaN, wherever the number stands."""
    sim = saltus.Simulation(
        '<mujoco><worldbody><body><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>'
    )
    sim.forward()
    m, d = fields(sim.engine.m), fields(sim.engine.d)
    assert plain(status.bad_state)(m, d) == 0.0
    for view, place in ((sim.engine.d.qpos, 1), (sim.engine.d.qvel, 4), (sim.engine.d.time, ())):
        kept = view[place].copy()
        view[place] = number
        with np.errstate(invalid="ignore"):
            assert plain(status.bad_state)(m, d) == 1.0
        view[place] = kept


SPINNING = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 9"><freejoint/>
<geom size=".1" mass="1"/></body></worldbody></mujoco>"""


def test_turn_of_a_body_in_a_time_step_of_dense_events():
    """At most TURN, in any direction; slower bodies keep the size of the phase."""
    sim = saltus.Simulation(SPINNING, contact=saltus.Hard())
    sim.forward()
    rng, d = np.random.default_rng(4), sim.engine.d
    d.dense[SIZE] = 0.01
    for _ in range(8):
        way = rng.normal(size=3)
        for speed in (5.0, 500.0):
            sim.qvel[3:] = speed * way / np.linalg.norm(way)
            found = plain(dense_events.short_enough)(fields(sim.engine.m), fields(d))
            assert found == pytest.approx(min(0.01, dense_events.TURN / speed), rel=1e-13)
    assert dense_events.TURN / 500.0 < 0.01 < dense_events.TURN / 5.0


ACTED = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .1"><joint name="z" type="slide"
axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody><actuator>
<general joint="z" dyntype="integrator"/><general joint="z" dyntype="filter" dynprm=".1"/></actuator></mujoco>"""


@pytest.mark.parametrize("there", [True, False])
def test_slopes_come_back_where_there_is_no_break(there):
    sim, rng = saltus.Simulation(ACTED, "dopri5"), np.random.default_rng(5)
    sim.forward()
    m, d = sim.engine.m, sim.engine.d
    places = [(d.stage_qacc, m.nv), (d.stage_act, m.nact), (d.qacc_warmstart, m.nv)]
    before, after = ([rng.normal(size=n) for _, n in places] for _ in range(2))
    for (view, n), value in zip(places, before, strict=True):
        view.reshape(-1)[:n] = value
    plain(step_bounds.keep_slopes)(fields(m), fields(d))
    for (view, n), value in zip(places, after, strict=True):
        view.reshape(-1)[:n] = value
    plain(step_bounds.bring_back_slopes)(fields(m), fields(d), np.bool_(there))
    for (view, n), value in zip(places, after if there else before, strict=True):
        np.testing.assert_array_equal(view.reshape(-1)[:n], value)


# ---------------------------------------------------------------- solvers and events


@pytest.mark.parametrize("angle", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("speed", [0.0, 0.3])
@pytest.mark.parametrize("hold", [None, 0.0, 1.2])
def test_contacts_that_slip(angle, speed, hold):
    """A force at the bound of its cone slips if it moves, in any direction; the bound is an ellipse.

    `hold`: static friction that holds it, as long as it does; 0 for a contact that it has let go.
    """
    friction, normal, way = np.array([0.5, 0.8]), 3.0, np.array([np.cos(np.pi * angle), np.sin(np.pi * angle)])
    for part, moves in ((1.0, speed > 0.0 and not hold), (0.99, False)):
        m = SimpleNamespace(layout=layout(*["stiction"] * (hold is not None)), law_friction=friction[None])
        m.opt_speed_tolerance = 1e-8
        d = SimpleNamespace(block_kind=[CONE], block_dim=[3], block_row=[0], block_law=[0], block_hold=[hold])
        d.row_force = np.array([normal, *(part * normal * friction * way)])
        d.row_velocity, d.row_search = np.array([0.0, *(2.0 * speed * way)]), np.array([0.0, *(-10.0 * speed * way)])
        assert plain(modes.slips)(m, d, 0, 0.1, 0) == moves


@pytest.mark.parametrize("h", [0.002, 2e-4])
def test_velocity_at_the_end_of_a_step_is_that_of_its_own_length(h):
    """u⁺ = u⁻ + h a of a sliding ball, also in a step that is shorter than the timestep."""
    with plain_python():
        sim = saltus.Simulation(belt(shape='type="sphere" size=".05"', h=0.002), "moreau_jean", contact="hard")
        sim.qvel[:2] = 0.5, 0.1
        sim.forward()
        m, d = fields(sim.engine.m), fields(sim.engine.d)
        plain(hard_rows.find_hard_rows)(m, d, np.float64(h))
        d.qacc[:] = -3.0, 2.0, 0.0
        ends = [plain(acting.end_speed)(m, d, 0, k) for k in (1, 2)]
    np.testing.assert_allclose(np.sort(np.abs(ends)), np.sort(np.abs([0.5 - 3.0 * h, 0.1 + 2.0 * h])), rtol=1e-14)


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize(("past", "mode"), [(0, STICK), (0, SLIP), (-1, STICK)])
def test_a_rough_solution_lets_no_contact_go_that_held_before(past, mode, rough):
    m = SimpleNamespace(layout=layout("stiction"), law_friction=np.array([[0.3, 0.3]]), opt_speed_tolerance=1e-8)
    d = SimpleNamespace(time=0.0, count={NBLOCK: 1}, block_kind=[CONE], block_dim=[3], block_row=[0], block_law=[0])
    d.block_hold, d.block_held, d.past_mode = [0.8], [np.nan], [mode]
    plain(breakaway.note_held)(m, d, 0, past, 0)
    # at the edge of the cone, and moving: u⁺ = u⁻ + h J a
    d.row_force, d.row_aref, d.row_step = np.array([10.0, -8.0, 0.0]), np.array([0.0, -0.5, 0.0]), 0.01
    d.block_num, d.block_J, d.block_dofs, d.row_J, d.qacc = [0], [0], [0], np.zeros(0), np.zeros(0)
    free = not rough or past < 0 or mode == SLIP
    assert not plain(breakaway.break_away)(m, d, False, 1.0 * rough)
    assert plain(breakaway.break_away)(m, d, True, 1.0 * rough) == free
    assert d.block_hold[0] == (0.0 if free else 0.8)


def test_contacts_with_forces_that_are_not_unique_begin_to_move():
    """Event functions are those of each block's own rows."""
    rng, dims = np.random.default_rng(6), [3, 1, 3, 2]
    first = np.concatenate([[0], np.cumsum(dims)])
    d = SimpleNamespace(time=0.0, hard_dim=dims, hard_row=first[:-1], block_item=[4, 0, -1, 2, 3])
    block = [1, 0, 2, 4]  # of the cone problem's blocks, among all
    d.hard_block, d.hard_count = np.repeat(block, dims), {BLOCKS: 4, ROWS: sum(dims)}
    d.block_row, d.block_kind = [3, 0, 6, 9, 10], [FRICTION] * 5
    d.hard_place = np.concatenate([d.block_row[b] + np.arange(n) for b, n in zip(block, dims, strict=True)])
    d.hard_q, d.hard_u, d.event_value = rng.normal(size=(2, sum(dims))).tolist() + [np.full(5, np.nan)]
    plain(event_functions.read_shared)(None, d)
    room, wanted = event_functions.ROOM * np.abs(d.hard_q).max(), np.full(5, np.nan)
    for k, b in enumerate(block):
        if d.block_item[b] >= 0:
            wanted[d.block_item[b]] = room - np.abs(d.hard_u[first[k] : first[k + 1]]).max()
    np.testing.assert_allclose(d.event_value, wanted, rtol=1e-15)
    assert np.isfinite(wanted).sum() == 3


def test_largest_speed_before_an_impact():
    before = np.array([0.2, -3.0, 1.0, 9.0])
    p = SimpleNamespace(impact_count={ROWS: 3}, impact_before=before)
    assert plain(problem.speed_before)(p) == 3.0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("count", [2, 4])
def test_trees_of_one_phase_in_different_groups_never_touch(seed, count):
    """Whatever touches: chains of neighbours, distant pairs, and slabs so thin that their separators touch."""
    rng, trees = np.random.default_rng(seed), 12
    slab = np.sort(rng.integers(0, count, trees))
    pairs = [(k, k + 1) for k in range(trees - 1)] + [(k, k + 2) for k in range(trees - 2)]
    pairs += [tuple(rng.choice(trees, 2, replace=False)) for _ in range(seed % 3)]
    pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs if rng.random() < 0.8]
    d = SimpleNamespace(island_treeadr=[0, trees], island_tree=rng.permutation(trees), separates=np.full(trees, 7))
    d.tree_group, d.phase_adr = slab.copy(), np.zeros((1, 4), int)
    d.island_blockadr, d.island_block, d.block_trees = [0, len(pairs)], rng.permutation(len(pairs)), np.array(pairs)
    near = plain(domains.mark_separators)(d, 0)
    assert near == all(abs(slab[a] - slab[b]) <= 1 for a, b in pairs)
    plain(domains.group_separators)(d, 0, count)
    group, ends = d.tree_group, d.phase_adr[0]
    phase = np.searchsorted(ends, group, side="right")
    for a, b in pairs:
        assert group[a] == group[b] or phase[a] != phase[b]
    assert (group[d.separates == 0] == slab[d.separates == 0]).all() and (group < ends[3]).all()
    assert (group[d.separates == 1] >= count).all()


def test_patience_with_impacts_in_sequence():
    """From the smallest angle of a normal with the rows before it: sin² is 1 / (W_ii (W⁻¹)_ii) of those rows."""
    rng = np.random.default_rng(8)
    for _ in range(5):
        J = rng.normal(size=(11, 14))
        W, dims = J @ J.T, [3, 3, 2, 3]
        contact = next(kind for kind in range(4) if kind not in (BILATERAL, BOUNDED))
        kinds, first = [contact, contact, BILATERAL, contact], np.concatenate([[0], np.cumsum(dims)])
        p = SimpleNamespace(impact_count={BLOCKS: 4, ROWS: 11}, impact_kind=kinds, impact_dim=dims)
        p.impact_row, p.impact_W, p.hard_factor = first[:-1], W.ravel(), np.full(121, np.nan)
        rows, least = [], 1.0
        for b, kind in enumerate(kinds):
            for i in range(first[b], first[b + 1]) if kind == BILATERAL else [first[b]]:
                rows.append(i)
                if kind == contact:
                    least = min(least, 1 / (np.linalg.inv(W[np.ix_(rows, rows)])[-1, -1] * W[i, i]))
        assert plain(sequence.patience)(p) == pytest.approx(sequence.PATIENCE * 5 / np.sqrt(least), rel=1e-12)


def test_runs_of_neighbours():
    """As long as they may be, and no longer."""
    entries, adr, most = np.array([0, 1, 2, 3, 4, 7, 9, 10, 11, 12]), [0, 7, 10], 3
    d, run, runadr = SimpleNamespace(count={NISLAND: 2}), np.zeros((10, 2), int), np.zeros(3, int)
    plain(islands.list_runs)(d, adr, entries, runadr, run, most)
    assert runadr.tolist() == [0, 4, 5]
    assert run[:5].tolist() == [[0, 3], [3, 5], [7, 8], [9, 10], [10, 13]]


@pytest.mark.parametrize("short", ["", "nproblem", "nitem", "nisland_A"])
def test_room_for_islands_ends_where_memory_does(short):
    """Two islands, of 5 and of 12 unknowns, the second without a matrix: rows of whole registers of eight."""
    m = SimpleNamespace(nproblem=2, nitem=8 + 16, nisland_A=5 * 8, ndense=10)
    d = SimpleNamespace(problem=[(0, 0, 5, 1, 0), None])
    one, two = ((0, 5), (1, 12)) if short != "nisland_A" else ((0, 5), (1, 5))
    assert plain(island.room_for)(m, d, *one)
    if short:
        setattr(m, short, getattr(m, short) - 1)
    if short == "nisland_A":
        assert not plain(island.room_for)(m, d, *one)
    else:
        assert plain(island.room_for)(m, d, *two) == (not short)
