"""Chains: the degrees of freedom of the relative motion of two bodies."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from saltus.model.tree.particles import uncoupled


@dataclass
class ChainTable:
    """Chains in order of their first use: the columns of the Jacobians of constraints.

    A chain lists degrees of freedom in ascending order, each with 1 if it moves the second body, -1 if it moves the
    first, 0 if both.
    """

    m: mujoco.MjModel
    place: dict[tuple, int] = field(default_factory=dict)
    entries: list[tuple] = field(default_factory=list)  # (bodies, dofs, signs)

    def of_dofs(self, dofs) -> int:
        """The chain of given degrees of freedom."""
        return self._index(("dofs", *dofs), (0, 0), list(dofs), [1.0] * len(dofs))

    def of_bodies(self, body1: int, body2: int, *, skip_common: bool) -> int:
        """The chain between two bodies; without degrees of freedom that move both if `skip_common`."""
        key = (body1, body2, skip_common)
        if key not in self.place:
            first, second = self.ancestors(body1), self.ancestors(body2)
            dofs = sorted(first ^ second if skip_common else first | second)
            signs = [float(i in second) - float(i in first) for i in dofs]
            self._index(key, (body1, body2), dofs, signs)
        return self.place[key]

    def ancestors(self, body: int) -> set[int]:
        """All degrees of freedom on the path from a body to the root."""
        m, found = self.m, set()
        while body > 0:
            found |= set(range(m.body_dofadr[body], m.body_dofadr[body] + m.body_dofnum[body]))
            body = m.body_parentid[body]
        return found

    def dofs(self, chain: int) -> list[int]:
        return self.entries[chain][1]

    def _index(self, key, bodies, dofs, signs) -> int:
        if key not in self.place:
            self.place[key] = len(self.entries)
            self.entries.append((bodies, dofs, signs))
        return self.place[key]

    def values(self) -> dict[str, object]:
        """The Model's fields."""
        m = self.m
        parents = uncoupled(m, m.dof_parentid)
        bodies = np.array([e[0] for e in self.entries], int).reshape(-1, 2)
        count = np.array([len(e[1]) for e in self.entries], int)
        return {
            "chain_adr": np.cumsum(count) - count,
            "chain_num": count,
            "chain_body1": bodies[:, 0],
            "chain_body2": bodies[:, 1],
            "chain_fill": [not _on_one_way(parents, e[1]) for e in self.entries],
            "chain_dof": [i for e in self.entries for i in e[1]],
            "chain_sign": [s for e in self.entries for s in e[2]],
            **chain_values(m, bodies),
        }


def chain_values(m: Any, bodies: np.ndarray) -> dict[str, np.ndarray]:
    """Inverse inertias of the relative motion of pairs of bodies [nchain, 2]."""
    inverse = m.body_invweight0[..., bodies[:, 0], :] + m.body_invweight0[..., bodies[:, 1], :]
    return {"chain_translation": inverse[..., 0], "chain_rotation": inverse[..., 1]}


def _on_one_way(parents, dofs) -> bool:
    """Whether each degree of freedom is an ancestor of the next, so that the inertia matrix already couples them."""
    for lower, upper in itertools.pairwise(dofs):
        i = upper
        while i > lower:
            i = parents[i]
        if i != lower:
            return False
    return True
