"""Flush geoms that are one floor: which contacts are contacts with their union, and bodies that cross seams."""

import itertools

import numpy as np

import saltus
from saltus.contact.seams import drop_covered
from saltus.number.kernels import interpret

BALL = 1e-3  # m: radius of the ball that probes the union; above the width of seams, below that of the boxes


class World:
    """Static geoms and a mover, and the rule for a contact of the mover with one of them."""

    def __init__(self, floor, mover='<geom name="m" size=".1"/>', more=""):
        xml = f"<mujoco>{more}<worldbody>{floor}<body pos='0 0 9'><freejoint/>{mover}</body></worldbody></mujoco>"
        engine = saltus.Simulation(xml, contact="hard").engine
        self.m, self.d, self.model = engine.m, engine.d, engine.model
        self.rule = interpret(drop_covered)
        v = self.m.views
        self.pairs = list(zip(v["collision_geom1"].tolist(), v["collision_geom2"].tolist(), strict=True))
        self.d.views["geom_xpos"][:], self.d.views["geom_xmat"][:] = v["geom_pos"], v["geom_mat"]

    def keeps(self, name, point, normal, mover="m"):
        """Whether a contact of the mover stays, at a point of a geom's surface with a normal away from it."""
        geom, other = (self.model.names("geom").index(n) for n in (name, mover))
        c = self.pairs.index((geom, other) if (geom, other) in self.pairs else (other, geom))
        sign = 1.0 if self.pairs[c][0] == geom else -1.0
        normal = np.array(normal) / np.linalg.norm(normal)
        self.d.views["contact_pos"][0], self.d.views["contact_dist"][0] = point, 0.0
        self.d.views["contact_frame"][0] = [*(sign * normal), *[0.0] * 6]
        return self.rule(self.m, self.d, 0, 1, c) == 1


def box(name, low, high, more=""):
    """A box between two corners (m)."""
    low, high = np.array(low), np.array(high)
    size, pos = (" ".join(f"{float(x)!r}" for x in v) for v in ((high - low) / 2, (high + low) / 2))
    return f'<geom name="{name}" type="box" size="{size}" pos="{pos}" {more}/>'


TWO = box("A", (-1, -1, -0.2), (0, 1, 0)), box("B", (0, -1, -0.2), (1, 1, 0))


def lattice(seed, count=300):
    """Random blocks of half a metre on a lattice, and cases: block, point, normal, whether it is one of the union's.

    Points are on faces and edges, some of them on lines of the lattice; normals are random.
    """
    r = np.random.default_rng(seed)
    cells = [np.array(c) for c in itertools.product(range(3), range(3), range(2)) if r.random() < 0.6]
    cases = []
    for _ in range(count):
        k = int(r.integers(len(cells)))
        # a face, or an edge with a normal between those of its faces
        axes = r.permutation(3)[: r.integers(1, 3)]
        sides = r.choice([-1, 1], len(axes))
        normal, place = np.zeros(3), r.choice([0.0, 0.5, 1.0, *r.uniform(0.05, 0.95, 4)], 3)
        for axis, side in zip(axes, sides, strict=True):
            normal[axis], place[axis] = side * r.uniform(0.2, 1), (side + 1) / 2
        normal /= np.linalg.norm(normal)
        point = (cells[k] + place) * 0.5
        # near the point, on the face or edge
        free = [i for i in range(3) if i not in axes]
        inward = {i: [-1, 1] if 0 < place[i] < 1 else [1 if place[i] == 0 else -1] for i in free}
        shifts = itertools.product(*[inward[i] for i in free])
        near = [point + 3 * BALL * np.isin(range(3), free) * _spread(free, shift) for shift in shifts]
        expected = any(_distance(cells, p + BALL * normal) > 0.999 * BALL for p in near)
        cases.append((k, point, normal, expected))
    return cells, cases


def _spread(free, shift):
    """A shift (-1 or 1) of the free coordinates, 0 of the others."""
    out = np.zeros(3)
    out[free] = shift
    return out


def _distance(cells, point):
    """Distance (m) of a point from cubes of half a metre."""
    middles = (np.array(cells) + 0.5) * 0.5
    return np.linalg.norm(np.maximum(np.abs(point - middles) - 0.25, 0.0), axis=1).min()


CROSSING = """<mujoco><option timestep="0.002"/><default><geom friction="{mu} 0 0" condim="3"/></default>
<worldbody>{floor}
<body pos="{x} 0 .1"><freejoint/><geom name="c" type="box" size=".1 .1 .1" mass="1"/></body>
<body pos="{x} .6 .1"><freejoint/><geom name="s" size=".1" mass="1"/></body></worldbody></mujoco>"""
ROW = "".join(box(f"t{k}", (0.1 * k, -1, -0.2), (0.1 * k + 0.1, 1, 0)) for k in range(21))


def crossing(floor, integrator, mu=0.0, x=0.15):
    """A cube and a ball on a floor."""
    return saltus.Simulation(CROSSING.format(floor=floor, mu=mu, x=x), integrator, contact="hard")
