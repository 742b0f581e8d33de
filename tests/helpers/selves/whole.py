"""Forward dynamics of whole models on numbers of 50 digits, and compiled for floats, lanes and duals."""

import numpy as np

import saltus
from helpers.random_tree import random_tree
from saltus.model.fields import integrate, tree
from saltus.model.fields.constraint import cone, event, impact, passing, search, solve, stepping
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.kinds import NTANGENT, lane64
from saltus.number.structs import Struct
from saltus.number.symbols import Kind, SymbolicStruct, symbolic_model
from saltus.solve.acceleration import forward

from .exact import Number, exact

EXACT = Kind(lambda x: x if isinstance(x, Number) else Number(float(x)), None)
FORWARD = Entry("selves_forward", "", "return forward(m, d)", forward=forward)
STEP = Number(10) ** -20  # of differences
_SCRATCH = (
    *(tree.SCRATCH, solve.SCRATCH, cone.FIELDS, cone.SCRATCH, impact.IMPACT_FIELDS, event.SCRATCH),
    *(search.SCRATCH, passing.SCRATCH, stepping.SCRATCH, integrate.SCRATCH),
)
_WORK = {"row_search", "block_weight"}  # beside the rows, by the solver
#: Fields that hold results: not what an iteration leaves.
RESULTS = (DATA.fields.keys() - {name for fields in _SCRATCH for name in fields} - _WORK) | {"qfrc_constraint"}
SHAPES = (
    '<geom type="sphere" size="0.2" pos="0.05 0 0"/>',
    '<geom type="capsule" size="0.1 0.2" pos="0 0.05 0"/>',
    '<geom type="box" size="0.1 0.15 0.2" pos="0 0 0.05"/>',
)


def touching_tree(seed, cone, bodies=3):
    """A random tree of bodies with shapes that lie in each other and in a plane."""
    parts = random_tree(seed, bodies=bodies).split("<inertial")
    text = "".join(part + SHAPES[k % 3] + "<inertial" for k, part in enumerate(parts[:-1])) + parts[-1]
    text = text.replace("<option ", f'<option cone="{cone}" tolerance="1e-14" iterations="100" ')
    return text.replace("<worldbody>", '<worldbody><geom type="plane" size="5 5 1" pos="0 0 -0.2"/>')


class Whole:
    """A model with `states` (qpos, qvel), and forward dynamics at them in all kinds of number."""

    def __init__(self, xml, seed, count=lane64.width):
        self.model = saltus.load(xml)
        self._m = self.model.struct()
        self._exact_m = symbolic_model(self._m, EXACT)
        self._exact_m.opt_tolerance = self._exact_m.opt_ls_tolerance = Number(10) ** -40
        self._forward = exact(forward)
        rng = np.random.default_rng(seed)
        qpos = saltus.Simulation(self.model).qpos
        self.states = [
            (qpos + 0.02 * rng.normal(size=self.model.nq), rng.normal(size=self.model.nv)) for _ in range(count)
        ]
        self.rng = rng

    def exact(self, qpos, qvel):
        """The fields of Data as arrays of numbers of 50 digits, and the status."""
        d = SymbolicStruct(DATA, data_sizes(self.model.sizes()), EXACT)
        d.fill("timestep", self.model.opt.timestep)
        d.views["qpos"][:], d.views["qvel"][:] = [[Number(x) for x in values] for values in (qpos, qvel)]
        status = self._forward(self._exact_m, d)
        return d.views, status

    def near(self, qpos, qvel):
        """A state that differs by some roundings."""
        return [
            np.array([Number(float(x)) + Number(2.0**-52 * self.rng.normal()) * max(1.0, abs(x)) for x in values])
            for values in (qpos, qvel)
        ]

    def _data(self, kind):
        sizes = data_sizes(self.model.sizes(), lanes=kind == "lane64", tangents=kind == "dual")
        d = Struct(DATA, sizes, kind)
        d.fill("timestep", self.model.opt.timestep)
        return d

    def floats(self, state):
        """Data of floats at a state, and the status."""
        d = self._data("float64")
        d.fill("qpos", self.states[state][0])
        d.fill("qvel", self.states[state][1])
        return d, FORWARD(self._m, d)

    def lanes(self):
        """Data of lanes, each at a state of its own, and the status."""
        d = self._data("lane64")
        for lane, (qpos, qvel) in enumerate(self.states):
            d.views["qpos"][..., lane], d.views["qvel"][..., lane] = qpos, qvel
        return d, FORWARD(self._m, d)

    def duals(self, state, directions):
        """Data of duals at a state with tangents [nv, 8] of the velocities, and the status."""
        d = self._data("dual")
        d.fill("qpos", self.states[state][0])
        d.fill("qvel", self.states[state][1])
        d.views["qvel"][:, 1, :] = directions
        return d, FORWARD(self._m, d)

    def directions(self):
        """Tangents of the velocities, [nv, 8]."""
        return self.rng.normal(size=(self.model.nv, NTANGENT)).astype(np.float32).astype(float)

    def slopes(self, qpos, qvel, direction):
        """Exact slopes of all results at a state along a direction of the velocities."""
        ahead, behind = (
            self.exact(
                qpos, [Number(x) + sign * STEP * Number(float(t)) for x, t in zip(qvel, direction, strict=True)]
            )[0]
            for sign in (1, -1)
        )
        real = [name for name in RESULTS & ahead.keys() if DATA.fields[name].kind == "real"]
        return {name: (ahead[name] - behind[name]) / (2 * STEP) for name in real}
