"""Parts of solvers and of contact that whole worlds seldom show, called by themselves in plain Python.

Laws: definitions written out in NumPy, brute force, work against energy, and forces found again from the accelerations
that they cause. Tolerances: rounding; 1e-9 of forces where a step is solved by iterations.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.cones import cone_problem, random_mechanism, violation
from helpers.plain_python import fields, plain, plain_python
from helpers.seams import World, box
from helpers.selves.exact import Area
from scipy.spatial.transform import Rotation

import saltus
from saltus.contact.broad.found_pairs import find_pairs
from saltus.contact.broad.grid import join_pairs
from saltus.contact.convex.search import penetration
from saltus.contact.convex.search.pair_area import KIND2, PAIR_NUMBERS, VERTEX_NUMBERS, find_vertex
from saltus.contact.counts import NCON, NFLEXDOF, NFOUND, NLOST
from saltus.contact.event import gap_functions
from saltus.contact.flex import contact_reduction
from saltus.contact.pairs import contact_pairs
from saltus.contact.rows.blocks import FRICTION
from saltus.dynamics.flex import rods
from saltus.integrate.implicit import discrete
from saltus.model.compile.constraints import broad
from saltus.model.enums import BLOCKS, BOX, CAPSULE, CYLINDER, ROWS, SPHERE
from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, COULOMB, UNILATERAL
from saltus.number.threads.team import RESULT, place_of
from saltus.simulate.engine import loops
from saltus.solve.cone import problem
from saltus.solve.cone.residual import residual, velocity
from saltus.solve.impact import problem as problem_of_impact
from saltus.solve.impact import tangential
from saltus.solve.soft.trees import tree_blocks
from saltus.solve.status import DIVERGED
from saltus.solve.stepping import least_forces, nonlinear_gauss_seidel


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


# ---------------------------------------------------------------- contact problems


def test_scaled_problem():
    """A = d W d, b = d q / s, z = r / (d s), bounds alike; d from mean diagonals of blocks, or equalities' own."""
    rng, kinds, dims = np.random.default_rng(0), [COULOMB, BILATERAL, UNILATERAL, BOUNDED], [3, 3, 1, 1]
    J = rng.normal(size=(8, 9)) * 10.0 ** rng.uniform(-2, 2, (8, 1))
    W, q, r, mu = J @ J.T, rng.normal(size=8), rng.normal(size=8), [0.5, 0.0, 0.0, 2.0]
    p = cone_problem(W, q, mu, kinds, dims, r)
    diagonal = np.diag(W).copy()
    diagonal[:3] = diagonal[:3].mean()
    scale = 1 / np.sqrt(diagonal)
    size = np.abs(scale * q).max()
    np.testing.assert_allclose(plain(problem.scale)(fields(p)), size, rtol=1e-14)
    np.testing.assert_allclose(p.hard_scale, scale, rtol=1e-14)
    np.testing.assert_allclose(p.hard_A.reshape(8, 8), W * np.outer(scale, scale), rtol=1e-13)
    np.testing.assert_allclose(p.hard_b, scale * q / size, rtol=1e-14)
    np.testing.assert_allclose(p.hard_z, r / (scale * size), rtol=1e-14)
    np.testing.assert_allclose(p.hard_bound[3], mu[3] / (scale[7] * size), rtol=1e-14)
    # a block without inertia, and one without any; no velocity
    p = cone_problem(
        np.diag([1.0, 4.0, 4.0, 0.0, 0.0]), np.zeros(5), [0.5, 0.0, 0.0], [COULOMB, UNILATERAL, UNILATERAL]
    )
    assert plain(problem.scale)(fields(p)) == 1.0
    np.testing.assert_allclose(p.hard_scale, [3**-0.5] * 3 + [1 / np.sqrt(3 * problem.FLAT)] * 2, rtol=1e-14)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("start", ["nothing", "the solution"])
def test_further_attempts_at_a_problem(seed, start):
    """They solve it, and what they leave is not worse than before, also where the tolerance is out of reach."""
    W, q, mu = random_mechanism(np.random.default_rng(seed), 1)
    p = cone_problem(W, q, mu)
    view, tolerance = fields(p), 1e-12 if start == "nothing" else 0.0
    size = plain(problem.scale)(view)
    p.hard_proximal[0] = p.hard_iterations[0] = 0
    rest = 1e3
    if start == "the solution":
        rest = plain(problem.solve_island)(view, 1e-12)
    found = plain(problem._again)(view, tolerance, rest)
    plain(velocity)(view)
    assert found == plain(residual)(view) <= min(rest, 1e-12)
    assert violation(W, q, mu, p.hard_scale * size * p.hard_z) < 1e-10


def test_tangential_velocities_that_turn():
    """Of members that approach, by their own coefficient; with the share e of it."""
    kinds, dims = [COULOMB, COULOMB, COULOMB, BILATERAL, UNILATERAL, COULOMB], [3, 3, 3, 3, 1, 3]
    first, member = np.cumsum([0, *dims])[:-1], [1, 1, 0, 1, 1, 1]
    rng = np.random.default_rng(1)
    p = SimpleNamespace(impact_count={BLOCKS: 6, ROWS: 16}, impact_kind=kinds, impact_dim=dims, impact_row=first)
    p.impact_base, p.impact_before = rng.uniform(0.5, 1.0, (2, 16))
    p.impact_base[first[[0, 2, 3, 4, 5]]] *= -1.0
    p.impact_base[first[1]] = -0.5 * plain(problem_of_impact.least_approach)(p, 1e-3)  # as good as at rest
    p.impact_member, p.impact_turn = member, np.full(16, 7.0)
    p.hard_tangential = np.array([0.6, 0.5, 0.5, 0.5, 0.5, 0.0])
    assert plain(tangential.aim_turns)(p, 0.75, 1e-3) == 1
    wanted = np.zeros(16)
    wanted[first] = 7.0
    wanted[1:3] = -0.75 * 0.6 * p.impact_base[1:3]
    np.testing.assert_allclose(p.impact_turn, wanted, rtol=1e-15)


@pytest.mark.parametrize("dim", [1, 3, 6])
def test_step_sizes_of_rows_of_one_unit(dim):
    A = np.random.default_rng(dim).uniform(1.0, 9.0, (dim + 2, dim))
    d = SimpleNamespace(time=0.0, block_row=[2], block_dim=[dim], dual_A=A)
    for r in range(dim):
        own = [A[2 + k, k] for k in range(dim) if k // 3 == r // 3]
        assert plain(nonlinear_gauss_seidel.most_moved)(d, 0, r) == max(own)


def test_dry_friction_is_free_below_its_bound():
    """Not at the bound, and not where there is no friction."""
    d = SimpleNamespace(block_row=[0], block_kind=[FRICTION], block_dim=[1], row_force=[0.0], row_loss=[0.0])
    for force, loss, free in (
        (0.5, 1.0, 1),
        (-0.5, 1.0, 1),
        (1.0, 1.0, 0),
        (-1.0, 1.0, 0),
        (0.0, 0.0, 0),
        (0.0, 1.0, 1),
    ):
        d.row_force[0], d.row_loss[0] = force, loss
        assert plain(least_forces.free_rows)(None, d, 0) == free


def test_rows_that_act_on_whole_bodies():
    """On one tree or two, with six degrees of freedom each, all of which the rows have."""
    for lower in (0, 1):
        for upper in (0, 1):
            for split, count in ((6, 6), (6, 12), (3, 6), (6, 9), (3, 9), (5, 12)):
                dofs = [6 if lower else 5, 6 if upper else 7]
                m = SimpleNamespace(tree_dofnum=dofs)
                d = SimpleNamespace(block_split=[split], block_num=[count])
                both = dofs == [6, 6] and (split, count) == (6, 12)
                assert plain(tree_blocks.is_whole)(m, d, 0, 0, 1) == both
                assert plain(tree_blocks.is_whole)(m, d, 0, 0, 0) == (dofs[0] == 6 and count == 6)


# ---------------------------------------------------------------- contact


LIMITED = """<mujoco><compiler autolimits="true"/><worldbody><body><joint type="ball" range="0 40" margin=".1"/>
<geom size=".1" mass="1"/><body pos="1 0 0"><joint axis="0 1 0" range="-20 50" margin=".03"/>
<geom size=".1" mass="1"/></body></body></worldbody></mujoco>"""


def test_gaps_of_limits_of_joints():
    """Angles to both ends, less margins; of a ball joint to its largest angle, whatever its axis."""
    sim, rng = saltus.Simulation(LIMITED, contact=saltus.Hard()), np.random.default_rng(2)
    m, d = fields(sim.engine.m), fields(sim.engine.d)
    for _ in range(4):
        way, angle, hinge = rng.normal(size=3), rng.uniform(0.0, 0.7), rng.uniform(-0.3, 0.8)
        x, y, z, w = Rotation.from_rotvec(angle * way / np.linalg.norm(way)).as_quat()
        sim.engine.d.qpos[:] = w, x, y, z, hinge
        found = [plain(gap_functions.joint_gaps)(m, d, k) for k in range(2)]
        gaps = [np.deg2rad(40) - angle - 0.1, hinge + np.deg2rad(20) - 0.03, np.deg2rad(50) - hinge - 0.03]
        np.testing.assert_allclose([found[0][0], *found[1]], gaps, rtol=0, atol=1e-14)
        assert found[0][1] == gap_functions.ABSENT


def test_contacts_at_inner_sides_of_both_unions_are_dropped():
    """Floor and mover of two boxes each: the sides between them are no surface, the outer ones are."""
    floor = box("A", (-1, -1, -0.2), (0, 1, 0)) + box("B", (0, -1, -0.2), (1, 1, 0))
    world = World(floor, box("m", (-0.4, -0.1, -0.1), (0, 0.1, 0.1)) + box("n", (0, -0.1, -0.1), (0.4, 0.1, 0.1)))
    assert world.keeps("A", (-0.5, 0, 0), (0, 0, 1)) and world.keeps("B", (0.5, 0, 0), (0, 0, 1))
    assert not world.keeps("A", (0, 0, -0.1), (1, 0, 0)) and not world.keeps("B", (0, 0, -0.1), (-1, 0, 0))


@pytest.mark.parametrize("seed", range(3))
def test_contacts_that_are_kept_of_many(seed):
    """The deepest, then always the one that is farthest from those chosen; those beyond reach are no candidates."""
    rng, first, count, reach = np.random.default_rng(seed), 2, 80, 0.01
    n, most = first + count, contact_reduction.MOST
    d = SimpleNamespace(time=0.0, contact_dist=rng.uniform(-0.02, 0.02 if seed else 0.01, n))
    d.contact_pos, d.contact_frame = [[tuple(x) for x in rng.normal(size=(n, k))] for k in (3, 9)]
    d.contact_elem, d.contact_vert = rng.integers(0, 9, (n, 2)), np.arange(n)
    d.contact_kept, d.contact_apart, d.contact_collision = np.full(n, 7.0), np.zeros(n), np.full(n, 3)
    pos, dist, frame = np.array(d.contact_pos), d.contact_dist.copy(), np.array(d.contact_frame)
    there = [k for k in range(first, n) if dist[k] <= reach]
    chosen = [min(there, key=lambda k: dist[k])]
    while len(chosen) < min(most, len(there)):
        apart = {k: min(np.sum((pos[k] - pos[c]) ** 2) for c in chosen) for k in there if k not in chosen}
        chosen.append(max(apart, key=apart.get))
    m = SimpleNamespace(collision_flex2=[0] * 4, collision_geom1=[0, 0, 0, 1], flex_order=[1])
    m.layout = SimpleNamespace(features={"flexfew"})
    keep = plain(contact_reduction.keep_few)
    for order, end in ((0, n), (1, first + most)):
        m.flex_order[0] = order
        assert keep(m, d, first, end, 3, reach) == end
    m.flex_order[0] = 1
    out = keep(m, d, first, n, 3, reach)
    chosen = sorted(chosen)
    assert out - first == len(chosen)
    np.testing.assert_array_equal(np.array(d.contact_pos)[first:out], pos[chosen])
    np.testing.assert_array_equal(np.array(d.contact_frame)[first:out], frame[chosen])
    assert d.contact_vert[first:out].tolist() == chosen and d.contact_dist[first:out].tolist() == dist[chosen].tolist()


@pytest.mark.parametrize("direction", [way for way in itertools.product((-1, 0, 1), repeat=3) if any(way)])
def test_a_second_point_of_a_segment(direction):
    """The difference of a sphere's core and a capsule's has one, wherever it points, and of two spheres' none."""
    z = np.array(direction) / np.linalg.norm(direction)
    x = np.cross(np.roll(z, 1) + (np.ptp(z) == 0.0) * np.array([1.0, 0.0, 0.0]), z)
    x /= np.linalg.norm(x)
    turn = np.transpose([x, np.cross(z, x), z])  # without rounding along axes
    for end in (1.0, -1.0):
        area, points = Area([np.nan] * PAIR_NUMBERS), Area([np.nan] * 4 * VERTEX_NUMBERS)
        numbers = [*turn.ravel(), 0.1, 0.2, 0.3, 0.1, 0, 0, 0.1, 0.5, 0, SPHERE, CAPSULE, -1, -1, -1, -1]
        for k, x in enumerate(numbers):
            area.put(k, x)
        plain(find_vertex)(None, area, points, tuple(end * np.array(direction, float)))
        assert plain(penetration.second_vertex)(None, area, points) == 2
        first, second = (np.array([points.get(k * VERTEX_NUMBERS + i) for i in range(3)]) for k in range(2))
        np.testing.assert_allclose(np.linalg.norm(first - second), 1.0, rtol=1e-12)
        area.put(KIND2, SPHERE)
        plain(find_vertex)(None, area, points, (1.0, 0.0, 0.0))
        assert plain(penetration.second_vertex)(None, area, points) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_tetrahedron_from_one_point(seed):
    """Of two boxes or cylinders anywhere; its volume is no rounding."""
    rng = np.random.default_rng(seed)
    for kinds in ((BOX, BOX), (BOX, CYLINDER), (CYLINDER, SPHERE)):
        area, points = Area([np.nan] * PAIR_NUMBERS), Area([np.nan] * 4 * VERTEX_NUMBERS)
        turn = Rotation.random(random_state=seed).as_matrix()
        numbers = [*turn.ravel(), *rng.normal(size=3), *rng.uniform(0.1, 0.5, 6), *kinds, -1, -1, -1, -1]
        for k, x in enumerate(numbers):
            area.put(k, x)
        plain(find_vertex)(None, area, points, tuple(rng.normal(size=3)))
        assert plain(penetration.completed)(None, area, points, 1)
        a, b, c, d = (np.array([points.get(k * VERTEX_NUMBERS + i) for i in range(3)]) for k in range(4))
        assert abs(np.dot(np.cross(b - a, c - a), d - a)) > 1e-4


SPHERES = """<mujoco><worldbody><geom type="plane" size="9 9 1"/>{}</worldbody></mujoco>"""


def test_pairs_of_many_geoms(monkeypatch):
    """Each once, of all spheres whose boxes meet, wherever they are: cells of one hash do not mix."""
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    bodies = '<body><freejoint/><geom size=".06"/></body>' * 7  # with few of them, and few hashes
    sim, rng = saltus.Simulation(SPHERES.format(bodies)), np.random.default_rng(0)
    m, d = sim.engine.m, sim.engine.d
    count = 0
    for _ in range(60):
        d.geom_xpos[1:] = rng.uniform(-9.0, 9.0, 3) + rng.uniform(-0.07, 0.07, (7, 3))
        d.geom_xmat[:] = np.eye(3).ravel()
        plain(find_pairs)(fields(m), fields(d))
        x, n = d.geom_xpos, d.count[NFOUND]
        assert d.found_count[0] == n  # none had to be left out as one that is there already
        near = {(a, b) for a, b in itertools.combinations(range(1, 8), 2) if np.abs(x[a] - x[b]).max() <= 0.12}
        pairs = zip(d.found_geom1[:n].tolist(), d.found_geom2[:n].tolist(), strict=True)
        found = [tuple(sorted(pair)) for pair in pairs if 0 not in pair]
        assert len(set(found)) == len(found) and set(found) == near
        count += len(near)
    assert count > 200


@pytest.mark.parametrize("seed", range(2))
def test_lists_of_found_contacts(monkeypatch, seed):
    """One list of degrees of freedom for each run of contacts of two bodies; contacts of all spheres that touch."""
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    rng, place = np.random.default_rng(seed), []
    for k in range(16):
        at = rng.uniform(0.0, 0.3, 3) + [0, 0, 0.05]
        other = '<geom size=".05" pos=".02 0 0"/>' if k % 3 == 0 else ""
        place.append(f'<body pos="{at[0]} {at[1]} {at[2]}"><freejoint/><geom size=".06"/>{other}</body>')
    sim = saltus.Simulation(SPHERES.format("".join(place)))
    m, d = sim.engine.m, sim.engine.d
    size, body = m.geom_size[:, 0], m.geom_bodyid
    for _ in range(2):
        sim.forward()
        x, count, sides = d.geom_xpos, d.count[NCON], contact_pairs(m, d)
        touching = {(0, a) for a in range(1, m.ngeom) if x[a, 2] <= size[a]}
        for a, b in itertools.combinations(range(1, m.ngeom), 2):
            if body[a] != body[b] and np.linalg.norm(x[a] - x[b]) <= size[a] + size[b]:
                touching.add((a, b))
        pairs = list(zip(sides.geom1[:count].tolist(), sides.geom2[:count].tolist(), strict=True))
        assert sorted(tuple(sorted(pair)) for pair in pairs) == sorted(touching)
        between = [(body[a], body[b]) for a, b in pairs]
        runs = [pair for k, pair in enumerate(between) if k == 0 or pair != between[k - 1]]
        assert d.count[NFLEXDOF] == sum(6 * (a > 0) + 6 * (b > 0) for a, b in runs) and len(runs) < count
        sim.qpos.reshape(-1, 7)[:, :3] += rng.uniform(-0.05, 0.05, (16, 3))


def test_parts_of_a_list_of_pairs_are_joined():
    """Those of three threads in their order; what the list has no room for is counted."""
    for most, lost in ((9, 0), (7, 2)):
        keys, room = [[1, 2, 3], [4, 5], [6, 7, 8, 9]], max(most, 4)
        m = SimpleNamespace(nfound=room, layout=SimpleNamespace(features={"threads"}))
        d = SimpleNamespace(found_key=np.zeros(3 * room, int), found_count=[3], count={NLOST: 0}, team={})
        for part, own in enumerate(keys):
            d.found_key[part * room : part * room + len(own)] = own
            d.team[place_of(part, RESULT)] = part * room + len(own)
        plain(join_pairs)(m, d, 3)
        assert d.found_key[: d.found_count[0]].tolist() == list(range(1, 10 - lost))
        assert d.count[NLOST] == min(lost, 1)  # one for each part that did not have room


FALLING_APART = """<mujoco><option timestep=".01"/><worldbody><body><joint type="slide" damping="-200"/>
<geom size=".1" mass="1"/></body></worldbody></mujoco>"""


def test_samples_of_a_motion_that_diverges():
    """They end with the status that says so, whatever the slopes at the start were."""
    sim = saltus.Simulation(FALLING_APART, "dopri5")
    sim.qvel[0] = 1.0
    times, out = np.array([0.05, 0.5]), np.zeros((2, 3))
    found = loops.recorder(sim.integrator)(sim.engine.m, sim.engine.d, times, 0, 10000, *sim.integrator.parameters, out)
    assert found == (1, DIVERGED)


# ---------------------------------------------------------------- forces


def test_mean_force_of_a_rod_does_the_work_of_its_energy():
    """For any motion over a step; without a force or torque in all, and the force itself where nothing moves."""
    bodies = "".join(
        f'<body name="b{i}" pos="{0.1 * i} 0 0"><joint type="slide" axis="1 0 0"/><joint type="slide" '
        f'axis="0 1 0"/><joint type="slide" axis="0 0 1"/><geom size=".01" mass=".1"/></body>'
        for i in range(3)
    )
    xml = f"""<mujoco><worldbody>{bodies}</worldbody><deformable><flex name="r" dim="1" radius=".01" body="b0 b1 b2"
      element="0 1 1 2"><contact contype="0" conaffinity="0" selfcollide="none"/>
      <elasticity young="1e5" poisson=".3"/></flex></deformable></mujoco>"""
    sim, rng = saltus.Simulation(xml, "energy_momentum"), np.random.default_rng(3)
    sim.forward()
    m, d, data, h = fields(sim.engine.m), fields(sim.engine.d), sim.engine.d, 0.1
    assert m.nrod == 1

    def force(kernel, *more):
        data.flexvert_spring[:] = 0.0
        plain(kernel)(m, d, *more)
        return data.flexvert_spring.copy()

    def energy(x):
        data.flexvert_xpos[:] = x
        return plain(rods.rods_energy)(m, d)

    for _ in range(5):
        x, v = sim.engine.d.flexvert_xpos + 0.03 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
        gain = energy(x + h / 2 * v) - energy(x - h / 2 * v)
        data.flexvert_xpos[:], data.flexvert_xvel[:] = x, v
        f = force(rods.add_mean_rod, 0, h)
        scale = np.abs(f).max()
        assert np.sum(f * h * v) == pytest.approx(-gain, abs=1e-11 * scale)
        np.testing.assert_allclose([f.sum(axis=0), np.cross(x, f).sum(axis=0)], 0.0, atol=1e-12 * scale)
        data.flexvert_xvel[:] = 0.0
        np.testing.assert_allclose(force(rods.add_mean_rod, 0, h), force(rods.add_rods), rtol=0, atol=1e-12 * scale)
        data.flexvert_xpos[:] = [[0.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]]


PUSHED = """<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 .09">
<joint type="slide" axis="0 0 1" damping="3" stiffness="200"/>
<joint axis="0 1 0" damping=".1" stiffness="4" armature=".1"/>
<geom type="capsule" size=".1" fromto="0 0 0 .3 0 0" mass="1"/><body pos=".3 0 .3"><joint name="e" axis="0 1 0"
frictionloss=".2" range="-10 10" limited="true"/><geom size=".1" mass=".5"/></body></body></worldbody>
<actuator><motor joint="e" gear="2"/></actuator></mujoco>"""


def test_forces_from_the_accelerations_of_a_discrete_step():
    """Those of actuators and those applied, in contact, with springs, dampers and dry friction."""
    sim, rng = saltus.Simulation(PUSHED, "discrete"), np.random.default_rng(4)
    for _ in range(3):
        sim.qvel[:], sim.qfrc_applied[:], sim.ctrl[:] = rng.normal(size=3), rng.normal(size=3), 0.7
        start, v = sim.snapshot(), sim.qvel.copy()
        sim.step()
        qacc = (sim.qvel - v) / 0.01
        sim.restore(start)
        sim.forward()
        sim.engine.d.qacc[:] = qacc
        plain(discrete.inverse_of_step)(fields(sim.engine.m), fields(sim.engine.d), 0.01)
        wanted = sim.qfrc_applied + [0.0, 0.0, 1.4]
        found = sim.engine.d.qfrc_inverse
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6 * np.abs(sim.engine.d.qfrc_constraint).max() + 1e-9)
        sim.step()
