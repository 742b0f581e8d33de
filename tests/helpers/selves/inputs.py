"""Inputs of kernels at the edges of their domains, from words that say what a kernel takes.

    "v3 v3"         two vectors
    "q x"           a unit quaternion and a number
    "(v3 v3 v3) +"  a tuple of three vectors, and a positive number
    "? v3 v3"       a condition and two vectors
    "i0,1,2 R"      a whole number among these, and a rotation matrix

Words of real numbers: `x` any, `+` positive, `0+` not negative, `w` from 0 to 1 with both ends, `a` angles; `vN`, `+N`,
`wN` tuples of N of them, `pN` as `+N` but not far from 1, `cN` N numbers in [-1, 1] with both ends, `u3` unit vectors,
`q` unit quaternions, `R` rotation matrices, `s6` symmetric positive definite matrices (xx yy zz xy xz yz), `n0,1` one
of these numbers, `f0,1` one that is the same in all lanes.
"""

import itertools
import re
from dataclasses import dataclass

import numpy as np

TINY, HUGE = 2.0**-30, 2.0**27  # far from 1; squares of products of them are numbers in single precision
WIDE = ("tiny", "huge")  # edges that single precision may not hold


@dataclass(frozen=True)
class Word:
    """Kind of one argument, or of one part of a tuple: `kind`, the size of its tuple (0: no tuple), and choices."""

    kind: str
    size: int = 0
    choices: tuple[int, ...] = ()

    @property
    def count(self):
        """Real numbers that it takes; a condition is the sign of one."""
        return 0 if self.is_whole else self.size or 1

    @property
    def is_whole(self):
        """Whether it takes a whole number, which is the same in all lanes."""
        return self.kind in ("i", "f")


def parsed(text):
    """The words of a text: a list of `Word` and, for tuples of tuples, of lists."""
    tokens = re.findall(r"\(|\)|[^\s()]+", text)

    def part():
        found = []
        while tokens and tokens[0] != ")":
            token = tokens.pop(0)
            if token == "(":
                found.append(part())
                tokens.pop(0)
            else:
                found.append(_word(token))
        return found

    return part()


def _word(token):
    if token[0] in "inf":
        return Word(token[0], choices=tuple(map(int, token[1:].split(","))))
    if token in ("q", "R"):
        return Word(token, {"q": 4, "R": 9}[token])
    kind, size = re.fullmatch(r"(0\+|[x+wavuscp?])(\d*)", token).groups()
    return Word(kind, int(size or 0))


def leaves(words):
    """The words in order, those inside tuples, too."""
    return [leaf for word in words for leaf in (leaves(word) if isinstance(word, list) else [word])]


def drawn(words, rng, count):
    """Inputs: reals [count, n], whole numbers [count, k] and whether all fit single precision [count]."""
    flat = leaves(words)
    choices = list(itertools.product(*[word.choices for word in flat if word.is_whole]))
    reals, narrow = [], []
    for _ in range(count):
        numbers, edges = [], []
        for word in flat:
            if not word.is_whole:
                value, edge = _drawn(word, rng, numbers)
                numbers.append(value)
                edges.append(edge)
        reals.append(np.concatenate([*numbers, np.zeros(0)]))
        narrow.append(not any(edge in WIDE for edge in edges))
    whole = np.array([choices[k % len(choices)] for k in range(count)], int).reshape(count, -1)
    return np.array(reals, np.float32).astype(float).reshape(count, -1), whole, np.array(narrow)


def _drawn(word, rng, before):
    """The numbers of a word, and the name of the edge at which they are."""
    edge = rng.choice(
        ["zero", "same", "near", "opposite", "axis", "tiny", "huge", "any"], p=[0.08] * 5 + [0.06, 0.06, 0.48]
    )
    same = next((b for b in reversed(before) if len(b) == word.count), None)
    if word.kind == "n":
        return rng.choice(word.choices, 1).astype(float), "any"
    if word.kind in "xv?":
        return _any(word, rng, edge, same), edge
    if word.kind in ("+", "0+", "p"):
        x = np.exp(rng.normal(size=word.count))
        if edge == "same" and same is not None and (same > 0).all():
            return same.copy(), edge
        if edge == "zero" and word.kind == "0+":
            return x * 0.0, edge
        if edge == "axis":
            x[:] = x[0]
        return x * {"tiny": TINY, "huge": HUGE}.get(
            edge if word.kind != "p" else "", 1.0
        ), edge if word.kind != "p" else "any"
    if word.kind in "wc":
        low = 0.0 if word.kind == "w" else -1.0
        x = rng.uniform(low, 1.0, word.count)
        at_end = rng.random(word.count) < (0.5 if edge in ("zero", "axis") else 0.0)
        return np.where(at_end, rng.choice([low, 1.0, 0.0], word.count), x), "any"
    if word.kind == "a":
        ends = np.array([0.0, np.pi, -np.pi, np.pi / 2, 2 * np.pi])
        near = rng.choice(ends) + rng.choice([0.0, 1e-6, -1e-6])
        return np.array([near if edge in ("zero", "axis", "near") else rng.uniform(-7, 7)]), "any"
    if word.kind == "u":
        return _unit(word.count, rng, edge, same), "any"
    if word.kind == "q":
        return _unit(4, rng, edge, same), "any"
    if word.kind == "R":
        return _matrix(_unit(4, rng, edge, None)), "any"
    if word.kind == "s":
        half = rng.normal(size=(3, 3)) * np.exp(rng.normal())
        full = np.diag(np.diag(half) ** 2 + 0.1) if edge == "axis" else half @ half.T + 0.1 * np.eye(3)
        return full[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], "any"
    raise ValueError(f"no such word: {word.kind}")


def _any(word, rng, edge, same):
    x = rng.normal(size=word.count)
    if edge == "zero":
        return x * 0.0
    if edge == "axis":
        return np.where(np.arange(word.count) == rng.integers(word.count), rng.choice([-1.0, 1.0, 0.5]), 0.0)
    if same is not None and edge in ("same", "opposite", "near"):
        return {"same": same, "opposite": -same, "near": same + 2.0**-20 * x}[edge].copy()
    return x * {"tiny": TINY, "huge": HUGE}.get(edge, 1.0)


def _unit(size, rng, edge, same):
    if edge in ("same", "opposite") and same is not None and abs(same @ same - 1.0) < 1e-6:
        return same * (1.0 if edge == "same" else -1.0)
    x = rng.normal(size=size)
    if edge in ("zero", "axis", "tiny"):
        x = np.where(np.arange(size) == rng.integers(size), rng.choice([-1.0, 1.0]), 0.0)
    if edge in ("near", "huge"):
        x = np.where(np.arange(size) == 0, 1.0, 2.0**-20 * x)
    return x / np.linalg.norm(x)


def _matrix(q):
    w, v = q[0], q[1:]
    across = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return ((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * across).ravel()


def scales(words, reals, together=False):
    """For each number the largest of the tuple that it belongs to, or of all: what its rounding is measured by."""
    if together:
        return np.broadcast_to(np.abs(reals).max(axis=1, keepdims=True), reals.shape)
    found, at = np.empty_like(reals), 0
    for word in leaves(words):
        if word.count:
            found[:, at : at + word.count] = np.abs(reals[:, at : at + word.count]).max(axis=1, keepdims=True)
            at += word.count
    return found


def arguments(words, reals, whole, number=float):
    """The arguments that a kernel takes, of iterators over real and whole numbers; `number` makes one real."""
    found = []
    for word in words:
        if isinstance(word, list):
            found.append(tuple(arguments(word, reals, whole, number)))
        elif word.is_whole:
            k = int(next(whole))
            found.append(k if word.kind == "i" else number(k))
        elif word.kind == "?":
            found.append(next(reals) > 0)
        elif word.size:
            found.append(tuple(next(reals) for _ in range(word.size)))
        else:
            found.append(next(reals))
    return found


def _places_of(name):
    for j in itertools.count():
        yield f"{name}[i, {j}]"


def source(words):
    """The arguments as an expression in a compiled kernel, of `x` [n] and whole numbers `k` [n]."""
    reals, whole = map(_places_of, ("m.x", "m.k"))

    def part(words):
        texts = []
        for word in words:
            if isinstance(word, list):
                texts.append(f"({', '.join(part(word))},)")
            elif word.is_whole:
                texts.append(next(whole) if word.kind == "i" else f"1.0 * {next(whole)}")
            elif word.kind == "?":
                texts.append(f"{next(reals)} > 0.0")
            elif word.size:
                texts.append(f"({', '.join(next(reals) for _ in range(word.size))},)")
            else:
                texts.append(next(reals))
        return texts

    return ", ".join(part(words))
