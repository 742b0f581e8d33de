"""Contacts at seams: which of them are contacts with the union of geoms, and bodies that slide and roll across.

The rule is compared with the distance from the union: a vector is normal to it at a point where a small ball, moved
there along the vector, touches nothing else (proximal normals; Rockafellar & Wets, Variational Analysis (1998), example
6.16). It runs as plain Python here. Bodies that cross seams must move as on one floor, in closed form.
"""

import itertools

import numpy as np
import pytest
from helpers.hard_layout import share_layout
from helpers.seams import ROW, TWO, World, box, crossing, lattice

import saltus

G = 9.81


@pytest.fixture(autouse=True)
def one_layout(monkeypatch):
    """Floors of all shapes need the same kernels."""
    share_layout(monkeypatch, "convex")


UP, AHEAD, BACK = (0, 0, 1), (1, 0, 0), (-1, 0, 0)


def test_flush_boxes_have_neither_inner_faces_nor_inner_edges():
    world = World("".join(TWO))
    assert world.keeps("A", (0, 0.3, 0), UP)
    assert world.keeps("B", (0, 0.3, 0), UP)
    assert not world.keeps("A", (0, 0.3, 0), AHEAD)
    assert not world.keeps("A", (0, 0.3, -0.1), AHEAD)
    assert not world.keeps("A", (0, 0.3, 0), (1e-4, 0, 1))
    assert not world.keeps("B", (0, 0.3, 0), BACK)
    # outer edge, up to the seam
    assert world.keeps("A", (0, 1, 0), (0, 0.6, 0.8))
    assert not world.keeps("A", (0, 1, 0), (0.1, 0.6, 0.8))


def test_a_normal_within_the_tolerance_becomes_that_of_both_faces():
    world = World("".join(TWO))
    assert world.keeps("A", (0, 0.3, 0), (3e-7, 0, 1))
    np.testing.assert_array_equal(np.abs(world.d.views["contact_frame"][0]), [0, 0, 1, 0, 1, 0, 1, 0, 0])
    for tilt in (1.1e-6, 2e-6, 1e-5):
        assert not world.keeps("A", (0, 0.3, 0), (tilt, 0, 1))


def test_the_foot_of_a_riser_belongs_to_its_face():
    """The face is normal to the union at all points above the tread, and so is its foot as their limit."""
    step = box("step", (0, -1, -0.2), (1, 1, 0.3))
    world = World(TWO[0] + step)
    assert world.keeps("step", (0, 0, 0), BACK)
    assert world.keeps("step", (0, 0, 0.2), BACK)
    assert not world.keeps("step", (0, 0, -0.1), BACK)
    assert world.keeps("step", (0, 0, 0.3), (-1, 0, 1))
    assert world.keeps("A", (0, 0, 0), UP)
    assert not world.keeps("A", (0, 0, 0), AHEAD)
    assert not world.keeps("A", (0, 0, 0), (1, 0, 1))


def test_a_face_may_be_covered_by_several_neighbours():
    halves = box("B", (0, -1, -0.2), (1, 0, 0)) + box("C", (0, 0, -0.2), (1, 1, 0))
    world = World(TWO[0] + halves)
    assert not world.keeps("A", (0, 0, 0), AHEAD)
    assert not world.keeps("A", (0, 0, -0.1), AHEAD)
    world = World(TWO[0] + box("B", (0, -1, -0.2), (1, 0, 0)))
    assert world.keeps("A", (0, 0, 0), AHEAD)  # a corner of the union
    assert not world.keeps("A", (0, -0.1, 0), AHEAD)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("axis", range(3))
def test_an_edge_that_a_neighbour_covers_in_part_counts_where_it_ends(axis, side):
    """Its normals are the union's along the part that is free, whichever way that is and along whichever axis."""

    def turned(v):
        return tuple(np.roll(v, axis))

    def block(name, low, high):
        return box(name, turned(low), turned(high))

    whole = block("A", (-1, -1, -0.2), (0, 1, 0))
    halves = [block("B", (0, -1, -0.2), (1, 0, 0)), block("C", (0, 0, -0.2), (1, 1, 0))][::side]
    world = World(whole + halves[0])
    assert world.keeps("A", turned((0, 0, 0)), turned((1, 0, 1)))
    assert world.keeps("A", turned((0, 0.5 * side, 0)), turned((1, 0, 1)))
    assert not world.keeps("A", turned((0, -0.5 * side, 0)), turned((1, 0, 1)))
    assert not world.keeps("A", turned((0, 0, 0)), turned((1, -0.5 * side, 1)))  # no normal of the edge
    assert not World(whole + "".join(halves)).keeps("A", turned((0, 0, 0)), turned((1, 0, 1)))


def test_the_foot_of_a_pillar_belongs_to_its_side():
    world = World(TWO[0] + '<geom name="P" type="cylinder" size=".2 .5" pos="-.5 0 .5"/>')
    assert world.keeps("P", (-0.7, 0, 0), BACK)
    assert not world.keeps("P", (-0.7, 0, 0), (0, 0, -1))


@pytest.mark.parametrize(("width", "flush"), [(5e-8, True), (1e-3, False)])
def test_gaps_and_steps_count_beyond_the_tolerance_alone(width, flush):
    """1e-6 of the least half width, 0.1 m: a step of 5e-8 m is none, one of 1 mm is."""
    for shift in ((width, 0, 0), (0, 0, width)):
        world = World(TWO[0] + box("B", np.add((0, -1, -0.2), shift), np.add((1, 1, 0), shift)))
        assert world.keeps("B", (shift[0], 0, shift[2]), BACK) != flush
        assert world.keeps("B", (shift[0], 0, shift[2]), (-0.1, 0, 1)) != flush


def test_a_geom_that_the_body_passes_through_covers_nothing():
    ghost = box("B", (0, -1, -0.2), (1, 1, 0), 'contype="0" conaffinity="2"')
    mask = '<geom name="n" size=".1" contype="3" conaffinity="3"/>'
    world = World(TWO[0] + ghost, '<geom name="m" size=".1"/>' + mask)
    assert world.keeps("A", (0, 0, 0), AHEAD)
    assert not world.keeps("A", (0, 0, 0), AHEAD, mover="n")


def test_planes_and_meshes_are_neighbours_too():
    """A box sunk into a plane up to its top; a wedge whose slope begins at the edge of a box."""
    world = World('<geom name="floor" type="plane" size="9 9 1"/>' + TWO[0])
    assert world.keeps("A", (0, 0, 0), UP)
    assert not world.keeps("A", (0, 0, 0), (1, 0, 1))
    wedge = "0 -1 0  0 1 0  0 -1 -.2  0 1 -.2  1 -1 .5  1 1 .5  1 -1 -.2  1 1 -.2"
    asset = f'<asset><mesh name="w" vertex="{wedge}" inertia="shell"/></asset>'
    world = World(TWO[0] + '<geom name="W" type="mesh" mesh="w"/>', more=asset)
    assert world.keeps("A", (-0.1, 0, 0), UP)
    assert world.keeps("A", (0, 0, 0), UP)
    assert not world.keeps("A", (0, 0, 0), AHEAD)
    assert not world.keeps("A", (0, 0, 0), (1, 0, 3))


def test_seams_of_the_moving_body_count_alike():
    """Two flush boxes on one body that moves, above a floor of one box."""
    mover = box("P", (-1, -1, 0), (0, 1, 0.2), 'mass="1"') + box("Q", (0, -1, 0), (1, 1, 0.2), 'mass="1"')
    world = World('<geom name="m" type="box" size="9 9 .1"/>', mover)
    assert world.keeps("P", (0, 0, 0), (0, 0, -1))
    assert not world.keeps("P", (0, 0, 0), (0.1, 0, -1))
    assert not world.keeps("Q", (0, 0, 0), BACK)


@pytest.mark.parametrize("seed", range(4))
def test_the_rule_is_that_of_the_distance_from_the_union(seed):
    """Random blocks of a lattice; points of faces and edges, some of them on lines of the lattice, random normals."""
    cells, cases = lattice(seed)
    world = World("".join(box(f"b{k}", c * 0.5, (c + 1) * 0.5) for k, c in enumerate(cells)))
    assert "seams" in world.m.layout.features
    for k, point, normal, expected in cases:
        assert world.keeps(f"b{k}", point, normal) == expected, (cells[k], point, normal)


# ------------------------------------------------------------ bodies that cross seams

TILES = "".join(
    box(f"t{i}{j}", (0.5 * i, 0.5 * j - 1.2, -0.2), (0.5 * i + 0.5, 0.5 * j - 0.7, 0))
    for i in range(5)
    for j in range(5)
)
METHODS = [
    pytest.param("dopri5", marks=pytest.mark.slow),
    pytest.param("rk4", marks=pytest.mark.slow),
    "moreau_jean",
]


@pytest.mark.parametrize("integrator", METHODS)
def test_twenty_seams_leave_momentum_alone(integrator):
    """Without friction x = x0 + v t. Tolerance 1e-9: a ball is held up to a tilt of 1e-6 rad, and loses 1e-12 of v."""
    sim = crossing(ROW, integrator)
    sim.qvel[[0, 6]] = 1.0
    sim.run(1.8)
    np.testing.assert_allclose(sim.qpos[[0, 1, 2, 7, 8, 9]], [1.95, 0, 0.1, 1.95, 0.6, 0.1], atol=1e-9)
    np.testing.assert_allclose(sim.qvel, [1, 0, 0, 0, 0, 0] * 2, atol=1e-9)


@pytest.mark.parametrize("integrator", METHODS)
def test_friction_on_twenty_seams(integrator):
    """The cube slides with v = v0 - μ g t, the ball rolls with v = ω r; all methods are exact for constant forces."""
    mu, time, start = 0.1, 1.2, 1.9
    sim = crossing(ROW, integrator, mu)
    sim.qvel[[0, 6, 10]] = start, 1.0, 10.0
    sim.run(time)
    np.testing.assert_allclose(sim.qvel[[0, 6, 10]], [start - mu * G * time, 1, 10], atol=1e-9)
    np.testing.assert_allclose(sim.qpos[[0, 7]], [0.15 + start * time - mu * G * time**2 / 2, 0.15 + time], atol=1e-9)


@pytest.mark.parametrize("integrator", METHODS)
def test_corners_of_tiles_leave_momentum_alone(integrator):
    sim = crossing(TILES, integrator)
    sim.qvel[[0, 1, 6, 7]] = 1.0, 0.3, 1.0, 0.3
    sim.run(1.2)
    np.testing.assert_allclose(sim.qpos[[0, 1, 7, 8]], [1.35, 0.36, 1.35, 0.96], atol=1e-9)
    np.testing.assert_allclose(sim.qvel[[0, 1, 6, 7]], [1, 0.3, 1, 0.3], atol=1e-9)


@pytest.mark.parametrize("integrator", METHODS)
def test_a_riser_stops_what_meets_it(integrator):
    """Restitution 0: the cube and the ball end at rest at a step's face, x = 1 - r, at their height."""
    sim = crossing(TWO[1] + box("C", (1, -1, -0.2), (2, 1, 0.5)), integrator)
    sim.qvel[[0, 6]] = 1.0
    sim.run(1.0)
    near = 1e-5 if integrator == "moreau_jean" else 1e-9  # a step's fall, g h²
    np.testing.assert_allclose(sim.qpos[[0, 2, 7, 9]], [0.9, 0.1, 0.9, 0.1], atol=near)
    np.testing.assert_allclose(sim.qvel, np.zeros(12), atol=near)


@pytest.mark.parametrize("integrator", METHODS)
def test_stairs_are_what_they_are_cut_into(integrator):
    """The same stair of columns side by side and of slabs on each other: one union, one motion."""
    columns = "".join(box(f"t{k}", (0.3 * k, -1, -1), (0.3 * k + 0.3, 1, -0.1 * k)) for k in range(4))
    slabs = "".join(box(f"t{k}", (0, -1, -0.1 * k - 0.1), (0.3 * k + 0.3, 1, -0.1 * k)) for k in range(4))
    ends = []
    for stair in (columns, slabs):
        sim = crossing(stair, integrator)
        sim.qvel[[0, 6]] = 1.0
        sim.run(0.5)
        ends.append(np.concatenate([sim.qpos, sim.qvel]))
    assert ends[0][2] < 0.05  # it has come down a step
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_a_cube_tumbles_on_a_seam_as_on_one_box(integrator):
    """Corner after corner, without friction. Tolerance 1e-6: errors of steps, 1e-9, grow from impact to impact."""
    ends = []
    for floor in ("".join(TWO), box("one", (-1, -1, -0.2), (1, 1, 0))):
        sim = crossing(floor, integrator, x=0.0)
        sim.qpos[2:7] = [0.3, 0.98, 0.1, 0.15, 0.05]
        sim.run(0.4)
        ends.append(np.concatenate([sim.qpos[:7], sim.qvel[:6]]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


SHAPES = {  # geom, height of the centre (m), turn
    "mesh": ('type="mesh" mesh="m"', 0.1, "0 0 0"),
    "puck": ('type="cylinder" size=".1 .05"', 0.05, "0 0 0"),
    "wheel": ('type="cylinder" size=".1 .03"', 0.1, "90 0 0"),
    "capsule": ('type="capsule" size=".05 .1"', 0.05, "0 90 0"),
    "turned capsule": ('type="capsule" size=".05 .1"', 0.05, "90 0 25"),
    "turned cube": ('type="box" size=".1 .1 .1"', 0.1, "0 0 30"),
}


def all_shapes():
    """Bodies of all shapes side by side, without friction, before the seam of two boxes."""
    corners = " ".join(f"{x} {y} {z}" for x, y, z in itertools.product((-0.1, 0.1), repeat=3))
    bodies = "".join(
        f'<body pos="-.3 {0.5 * k} {height}" euler="{turn}"><freejoint/><geom {geom} mass="1" contype="2"/></body>'
        for k, (geom, height, turn) in enumerate(SHAPES.values())
    )
    floor = box("A", (-1, -1, -0.2), (0, 4, 0)) + box("B", (0, -1, -0.2), (1, 4, 0))
    return f"""<mujoco><option timestep="0.002"/><asset><mesh name="m" vertex="{corners}"/></asset>
    <default><geom friction="0 0 0" conaffinity="0"/></default><worldbody>
    {floor.replace("<geom", '<geom conaffinity="2"')}{bodies}</worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["dopri5", "rk4", "moreau_jean"])
def test_all_shapes_cross_a_seam(integrator):
    """x = x0 + v t. Tolerance 1e-8: pairs with cylinders are searched to 1e-10 of their size.

    The wheel stands on a line of 6 cm, about whose normal it turns by errors of that search, below 3e-6 rad/s.
    """
    sim = saltus.Simulation(all_shapes(), integrator, contact="hard")
    for k in range(len(SHAPES)):
        sim.qvel[6 * k] = 1.0
    start = sim.qpos.copy()
    sim.run(0.6)
    for k, (shape, (_, height, _)) in enumerate(SHAPES.items()):
        place = [start[7 * k] + 0.6, 0.5 * k, height]
        np.testing.assert_allclose(sim.qpos[7 * k : 7 * k + 3], place, atol=1e-8, err_msg=shape)
        np.testing.assert_allclose(sim.qvel[6 * k : 6 * k + 3], [1, 0, 0], atol=1e-8, err_msg=shape)
        np.testing.assert_allclose(sim.qvel[6 * k + 3 : 6 * k + 6], np.zeros(3), atol=3e-6, err_msg=shape)
