"""Results of compiled kernels beside the same kernels on numbers of 50 digits.

A value may differ by as much as it changes when the inputs are rounded: by `FACTOR` times the largest change among
inputs that differ by some roundings of their tuples' largest numbers, and that many roundings of its own. Where the
exact value jumps under such changes, either side of it is right. A tangent is compared with exact differences in the
same way; at a kink it lies between the slopes of both sides.
"""

import functools
import zlib
from collections.abc import Callable

import numpy as np

from . import inputs
from .compiled import WIDTH, Compiled, flat, tangents
from .exact import CONTEXT, Number, exact, plain

FACTOR = 8.0  # roundings of sums of some terms, beside those of the inputs
ROUNDINGS = 2.0  # of the inputs that are changed
CHANGES = 4  # changed inputs for each input
CASES = 16  # inputs of each kernel
JUMP = 1e15  # a larger slope is none
STEP = Number(10) ** -20  # of differences: central ones err by its square
KINDS = {"float64": 2.0**-53, "lane64": 2.0**-53, "lane32": 2.0**-24}
LEAST = {"float64": 1e-280, "lane64": 1e-280, "lane32": 1e-30, "dual": 1e-280}  # underflow


def of_file(name, kernels, rows):
    """Comparisons of the kernels of a file, by name, which are compiled together."""
    made = {k: Comparison(kernel, rows[k]) for k, kernel in kernels.items()}
    compiled = Compiled(name, kernels.values(), [c.words for c in made.values()], [c.sample for c in made.values()])
    for number, comparison in enumerate(made.values()):
        comparison.compiled = functools.partial(compiled, number)
    return made


class Comparison:
    """Findings about a kernel at some inputs; `faults` lists what disagrees."""

    compiled: Callable

    def __init__(self, kernel, row, cases=CASES):
        self.row, self.kernel = row, kernel
        self.words = inputs.parsed(row.words)
        self.rng = np.random.default_rng(zlib.crc32(kernel.py_func.__qualname__.encode()))
        self.x, self.k, self.narrow = inputs.drawn(self.words, self.rng, cases)
        if row.shape is not None:
            self.x = np.array([row.shape(x) for x in self.x], np.float32).astype(float)
        order = np.lexsort(self.k.T) if self.k.size else np.arange(cases)
        self.x, self.k, self.narrow = self.x[order], self.k[order], self.narrow[order]
        self.scale = inputs.scales(self.words, self.x, row.together)
        self._plain, self._exact = plain(kernel), exact(kernel)
        self.sample = self._plain(*inputs.arguments(self.words, iter(self.x[0]), iter(self.k[0])))
        self.values = self._exact_values(self.x)
        self.faults: list[str] = []
        self._near: dict = {}  # by the rounding: changed inputs, and the values there

    def _call(self, x, k):
        found = flat(self._exact(*inputs.arguments(self.words, iter(x), iter(k), Number)))
        return [Number(y) if isinstance(y, int | float | Number) else CONTEXT.nan for y in found]

    def _exact_values(self, x):
        return [self._call([Number(float(v)) for v in row], k) for row, k in zip(x, self.k, strict=True)]

    def _changed(self, size):
        """Exact numbers near the inputs: `CHANGES` times [n, reals]."""
        for _ in range(CHANGES):
            moves = self.rng.normal(size=self.x.shape) * self.scale * ROUNDINGS * size
            yield [
                [Number(float(v)) + Number(float(m)) for v, m in zip(*row, strict=True)]
                for row in zip(self.x, moves, strict=True)
            ]

    def check(self):
        """The faults of all kinds of number."""
        self.check_plain()
        for kind in KINDS if self.row.lanes else ("float64",):
            self.check_values(kind)
        if self.row.lanes:
            self.check_neighbours("lane64")
        if self.row.tangents:
            self.check_tangents()
        return self.faults

    def check_plain(self):
        """Python's floats, which divide by zero with an error: only where they do not."""
        size = KINDS["float64"]
        bounds = self.bounds(size, LEAST["float64"])
        for case, (x, k) in enumerate(zip(self.x, self.k, strict=True)):
            try:
                found = flat(self._plain(*inputs.arguments(self.words, map(float, x), iter(k))))
            except (ZeroDivisionError, OverflowError, ValueError):
                continue
            self._compare("plain", case, found, bounds[case])

    def check_values(self, kind):
        bounds = self.bounds(KINDS[kind], LEAST[kind])
        wanted = self.narrow if kind == "lane32" else np.ones(len(self.x), bool)
        found = self.padded(kind, self.x)
        for case in np.flatnonzero(wanted):
            self._compare(kind, case, found[case], bounds[case])

    def padded(self, kind, x):
        """Values where the cases of a group of lanes have the same whole numbers."""
        width, out = WIDTH[kind], None
        _, groups = np.unique(self.k, axis=0, return_inverse=True) if self.k.size else (0, np.zeros(len(x), int))
        for group in np.unique(groups):
            at = np.flatnonzero(groups.ravel() == group)
            full = np.resize(at, -(-len(at) // width) * width)
            found = self.compiled(kind, x[full], self.k[full])
            out = np.zeros((len(x), found.shape[1]), found.dtype) if out is None else out
            out[full] = found
        return out

    def check_neighbours(self, kind):
        """A lane's result is the same, bit by bit, beside other cases."""
        _, counts = np.unique(self.k, axis=0, return_counts=True) if self.k.size else (0, np.array([len(self.x)]))
        if len(counts) > 1:
            return
        first = self.compiled(kind, self.x, self.k)
        turned = np.roll(self.compiled(kind, np.roll(self.x, 3, axis=0), self.k), -3, axis=0)
        if not np.array_equal(first, turned, equal_nan=True):
            case = int(np.flatnonzero(~((first == turned) | (np.isnan(first) & np.isnan(turned))).all(axis=1))[0])
            self.faults.append(f"{kind}: case {case} depends on its neighbours, {self.told(case)}")

    def bounds(self, size, least):
        """[n] of lists: how far each number may be from the exact one; None: anything, where that is not finite."""
        if size not in self._near:
            changed = [list(x) for x in self._changed(size)]
            self._near[size] = [(x, self._called_all(x)) for x in changed]
        near = [values for _, values in self._near[size]]
        return [
            self._bounds_of(size, value, [values[case] for values in near], least)
            if self._means(value, *[values[case] for values in near])
            else [None] * len(value)
            for case, value in enumerate(self.values)
        ]

    def _means(self, *values):
        """Whether results mean anything, also at changed inputs."""
        return self.row.flag is None or all(value[self.row.flag] != 0 for value in values)

    def _bounds_of(self, size, value, near, least):
        found = []
        for j, y in enumerate(value):
            others = [values[j] for values in near]
            finite = all(map(CONTEXT.isfinite, (y, *others)))
            change = max(abs(z - y) for z in others) if finite else CONTEXT.nan
            found.append(self.row.factor * FACTOR * (size * abs(y) + change) + least if finite else None)
        largest = max((b for b in found if b is not None), default=None)
        return [b if b is None or not self.row.together else largest for b in found]

    def left_out(self):
        """The part of the numbers that is not compared, since the exact one is not finite."""
        bounds = [bound for case in self.bounds(KINDS["float64"], 0.0) for bound in case]
        return sum(bound is None for bound in bounds) / len(bounds)

    def _called_all(self, x):
        return [self._call(row, k) for row, k in zip(x, self.k, strict=True)]

    def _compare(self, kind, case, found, bounds):
        for j, (got, bound) in enumerate(zip(found, bounds, strict=True)):
            value = self.values[case][j]
            if bound is None:
                continue
            if not np.isfinite(float(got)) or abs(Number(float(got)) - value) > bound:
                self.faults.append(
                    f"{kind}: number {j} is {float(got):.17g}, exactly {CONTEXT.nstr(value, 17)}, "
                    f"bound {CONTEXT.nstr(bound, 2)}, {self.told(case)}"
                )
                return

    def told(self, case):
        """The inputs of a case."""
        return f"case {case}: {[float(v) for v in self.x[case]]} {self.k[case].tolist()}"

    def check_tangents(self):
        """Tangents along one direction in each case, and that the others stay zero."""
        tangent = tangents(self.rng, self.scale, 1)
        tangent[:, list(self.row.fixed)] = 0.0
        values, slopes = self.compiled("dual", self.x, self.k, tangent)
        bounds = self.bounds(KINDS["float64"], LEAST["dual"])
        exact = [[Number(float(v)) for v in x] for x in self.x]
        near = [(exact, self.values), *self._near[KINDS["float64"]]]
        for case in range(len(self.x)):
            self._compare("dual", case, values[case], bounds[case])
            t = [Number(float(v)) for v in tangent[case, :, 0]]
            sides = [self._slopes(x[case], y[case], t, case) for x, y in near]
            self._compare_slopes(case, slopes[case, :, 0], sides, bounds[case])
        finite = np.isfinite(slopes[..., 0])
        if np.any(slopes[finite][:, 1:] != 0.0):
            self.faults.append("dual: a tangent that is zero in all inputs is not in the outputs")

    def _slopes(self, x, here, t, case):
        """Slopes of both sides at an input along a tangent."""
        ahead = self._call([a + STEP * b for a, b in zip(x, t, strict=True)], self.k[case])
        behind = self._call([a - STEP * b for a, b in zip(x, t, strict=True)], self.k[case])
        return [((p - y) / STEP, (y - q) / STEP) for p, y, q in zip(ahead, here, behind, strict=True)]

    def _compare_slopes(self, case, found, sides, bounds):
        """Between the slopes of both sides, which differ at a kink, and of which neither is one at a jump."""
        first, allowed = sides[0], []
        for j in range(len(found)):
            others = [s[j] for s in sides]
            largest = max(abs(a) for s in others for a in s)
            if bounds[j] is None or not largest <= JUMP * (1 + abs(self.values[case][j])):
                allowed.append(None)
                continue
            low, high = min(first[j]), max(first[j])
            change = max(max(abs(min(s) - low), abs(max(s) - high)) for s in others[1:])
            bound = self.row.factor * FACTOR * (KINDS["float64"] * max(abs(low), abs(high)) + change)
            allowed.append((low, high, bound + LEAST["dual"] + Number(10) ** -15 * (high - low)))
        most = max((a[2] for a in allowed if a), default=None)
        for j, (got, between) in enumerate(zip(found, allowed, strict=True)):
            if between is None:
                continue
            low, high, bound = between
            bound = most if self.row.together else bound
            if not np.isfinite(got) or not low - bound <= Number(float(got)) <= high + bound:
                self.faults.append(
                    f"dual: the slope of number {j} is {got:.17g}, exactly {CONTEXT.nstr(low, 17)} to "
                    f"{CONTEXT.nstr(high, 17)}, bound {CONTEXT.nstr(bound, 2)}, {self.told(case)}"
                )
                return
