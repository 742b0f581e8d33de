"""Boxes that are halved where it matters: where a function crosses a level, changes most, or is greatest.

The unit cube is divided into boxes, each of which is identified by its depth (it is 2^-depth wide) and its place among
boxes of that width. To halve a box is to divide it into 2^d along all d axes. The function is known at the corners of
all boxes. Coordinates of points are whole multiples of 2^-DEEP, so that boxes that share a point agree on it exactly.

A box is judged by the values at its corners and, where a neighbour has been halved, half-way between them: a
border that leaves a narrow box through a side is followed into the wide one behind it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

DEEP = 40  # halvings of the cube, at most

Point = tuple[int, ...]  # multiples of 2^-DEEP
Cell = tuple[int, Point]  # depth, and place among the cells of that width

GOALS = ("edges", "max", "min")


class Cells:
    """The boxes of a cube of `dimensions`, 2^`depth` along each axis at first.

    `level` or `goal`, one of `GOALS`: where boxes are halved, until they are as narrow as `deepest` says.

    Attributes:
        values: the function by point; nan where it has none.
    """

    def __init__(self, dimensions: int, depth: int, deepest: int, level: float | None, goal: str):
        self._deepest, self._level, self._goal = max(deepest, depth), level, goal
        self._ends = list(itertools.product((0, 1), repeat=dimensions))
        self._thirds = list(itertools.product((0, 1, 2), repeat=dimensions))
        self._leaves: dict[Cell, None] = {  # in order of creation
            (depth, place): None for place in itertools.product(range(1 << depth), repeat=dimensions)
        }
        self.values: dict[Point, float] = {}

    def first(self) -> list[Point]:
        """The corners of all boxes at the beginning."""
        return list(dict.fromkeys(point for cell in self._leaves for point in self._corners(cell)))

    def next(self, most: int) -> list[Point]:
        """Halve some boxes; the points at which the function must be known then, `most` of them at most."""
        while chosen := self._chosen():
            new: dict[Point, None] = {}
            halved = 0
            for cell in chosen:
                wanted = [p for p in self._grid(cell) if p not in self.values and p not in new]
                if len(new) + len(wanted) <= most:
                    new |= dict.fromkeys(wanted)
                    self._halve(cell)
                    halved += 1
            if new or not halved:
                return list(new)
        return []

    @property
    def about(self) -> str:
        """Target of the search, in words that follow the function's name: "around 3", "where it changes most"."""
        if self._level is not None:
            return f"around {self._level:g}"
        return {"edges": "where it changes most", "max": "at its greatest", "min": "at its least"}[self._goal]

    @property
    def width(self) -> float:
        """Width of the widest box that still matters, or of the narrowest box where none does."""
        depths = [cell[0] for cell in self._leaves if self._matters(cell)] or [max(cell[0] for cell in self._leaves)]
        return 2.0 ** -min(depths)

    @property
    def none_matters(self) -> bool:
        """Whether the function neither crosses the level nor, without one, changes at all."""
        return not any(map(self._matters, self._leaves))

    # -------------------------------------------------------- boxes to halve

    def _chosen(self) -> list[Cell]:
        """The boxes to halve next, the most urgent first."""
        if self._level is None and self._goal != "edges":
            return self._promising()
        score = {cell: self._score(cell) for cell in self._leaves if cell[0] < self._deepest}
        best = max(score.values(), default=0.0)
        found = [cell for cell, x in score.items() if x > best / 2]
        return sorted(found, key=lambda cell: -score[cell])

    def _score(self, cell: Cell) -> float:
        """Priority of a box: its width times the change of the function in it."""
        if self._level is not None:
            return 2.0 ** -cell[0] * self._crosses(cell)
        return 2.0 ** -cell[0] * self._change(cell)

    def _crosses(self, cell: Cell) -> bool:
        assert self._level is not None
        return len({x >= self._level for x in self._seen(cell) if math.isfinite(x)}) == 2

    def _change(self, cell: Cell) -> float:
        """Change of the function in a box; the function's whole range where some of the points have no value."""
        seen = list(self._seen(cell))
        good = [x for x in seen if math.isfinite(x)]
        if not good:
            return 0.0
        return max(good) - min(good) if len(good) == len(seen) else self._whole_range()

    def _whole_range(self) -> float:
        good = [x for x in self.values.values() if math.isfinite(x)]
        return (max(good) - min(good)) or 1.0

    def _matters(self, cell: Cell) -> bool:
        if self._level is not None:
            return self._crosses(cell)
        return self._change(cell) > 0 if self._goal == "edges" else self._best_in(cell) == self._best()

    # -------------------------------------------------------- the greatest and the least

    def _promising(self) -> list[Cell]:
        """Boxes in which the greatest value may be, if the function changes no faster than at some rate.

        For each rate there is a width at which they are (Jones, Perttunen & Stuckman 1993). Of the widths but the one
        where the greatest value is known, one box. None where all boxes around the greatest value are narrow enough.
        """
        best = self._best()
        if all(cell[0] >= self._deepest for cell in self._leaves if self._best_in(cell) == best):
            return []
        widest: dict[int, list[Cell]] = {}
        value: dict[int, float] = {}
        for cell in self._leaves:
            x = self._best_in(cell)
            depth = cell[0]
            if depth >= self._deepest or x == -math.inf:
                continue
            if x > value.get(depth, -math.inf):
                value[depth], widest[depth] = x, [cell]
            elif x == value[depth] == best:
                widest[depth].append(cell)
        found = [depth for depth in sorted(value, reverse=True) if _on_hull(depth, value)]
        return [cell for depth in found for cell in widest[depth]]

    def _best(self) -> float:
        return max(map(self._sign, self.values.values()), default=-math.inf)

    def _best_in(self, cell: Cell) -> float:
        return max(map(self._sign, self._seen(cell)))

    def _sign(self, x: float) -> float:
        """The value, the greater the better; nothing is worse than none."""
        return -math.inf if not math.isfinite(x) else x if self._goal == "max" else -x

    # -------------------------------------------------------- boxes and points

    def _halve(self, cell: Cell) -> None:
        depth, place = cell
        del self._leaves[cell]
        self._leaves |= {
            (depth + 1, tuple(2 * i + b for i, b in zip(place, ends, strict=True))): None for ends in self._ends
        }

    def _corners(self, cell: Cell) -> Iterator[Point]:
        depth, place = cell
        for ends in self._ends:
            yield tuple((i + b) << (DEEP - depth) for i, b in zip(place, ends, strict=True))

    def _grid(self, cell: Cell) -> Iterator[Point]:
        """Points of a box: its corners and the points half-way between them."""
        depth, place = cell
        for thirds in self._thirds:
            yield tuple((2 * i + b) << (DEEP - depth - 1) for i, b in zip(place, thirds, strict=True))

    def _seen(self, cell: Cell) -> Iterator[float]:
        """Known values of the function at the points of a box."""
        return (self.values[point] for point in self._grid(cell) if point in self.values)


def _on_hull(depth: int, value: Mapping[int, float]) -> bool:
    """Whether value + rate * width is greatest at this depth for some positive rate."""
    width, own = 2.0**-depth, value[depth]
    least = max(((x - own) / (width - 2.0**-d) for d, x in value.items() if d > depth), default=0.0)
    most = min(((own - x) / (2.0**-d - width) for d, x in value.items() if d < depth), default=math.inf)
    return max(least, 0.0) <= most and most > 0
