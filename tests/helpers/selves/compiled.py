"""Kernels of scalars and tuples on arrays of inputs, compiled for floats, lanes and duals."""

import numpy as np

from saltus.number.components import as_number
from saltus.number.kernels import Entry
from saltus.number.kinds import NTANGENT, lane32, lane64
from saltus.number.structs import Field, Layout, Struct

from . import inputs

WIDTH = {"float64": 1, "dual": 1, "lane64": lane64.width, "lane32": lane32.width}


def flat(found):
    """Result of a kernel as a list: nested tuples, conditions and whole numbers as numbers."""
    if isinstance(found, tuple | list):
        return [x for part in found for x in flat(part)]
    return [int(found) if isinstance(found, bool | np.bool_) else found]


def places(found, name="found"):
    """Expressions for the numbers in what a kernel returns, which is like `found`."""
    if isinstance(found, tuple | list):
        return [text for k, part in enumerate(found) for text in places(part, f"{name}[{k}]")]
    return [name]


class Compiled:
    """Kernels that are compiled together, for inputs in words; each returns what is like its sample."""

    def __init__(self, name, kernels, words, samples):
        reals, whole = (max(1, *sizes) for sizes in zip(*map(_sizes, words), strict=True))
        outputs = max(len(places(sample)) for sample in samples)
        fields = {"n": Field("int", ()), "x": Field("real", ("n", reals)), "k": Field("int", ("n", whole))}
        self._input = Layout(f"SelvesIn{reals}_{whole}", fields, frozen=True)
        self._output = Layout(f"SelvesOut{outputs}", {"y": Field("real", ("n", outputs))})
        self._counts = [len(places(sample)) for sample in samples]
        body = []
        for number, (word, sample) in enumerate(zip(words, samples, strict=True)):
            body += [f"if which == {number}:", "    for i in range(m.n):"]
            body += [f"        found{number} = f{number}({inputs.source(word)})"]
            numbers = enumerate(places(sample, f"found{number}"))
            body += [f"        d.y[i, {j}] = as_number({text}, d.y[i, {j}])" for j, text in numbers]
        called = {f"f{number}": kernel for number, kernel in enumerate(kernels)}
        self._entry = Entry(f"selves_{name}", "which", "\n".join(body), as_number=as_number, **called)

    def __call__(self, which, kind, reals, whole, tangents=None):
        """y [n, outputs], of duals with their tangents [n, outputs, 8]; lanes lie side by side in their order."""
        n, width = len(reals), WIDTH[kind]
        groups = -(-n // width)
        fill = [*range(n), *[n - 1] * (groups * width - n)]
        m, d = (Struct(layout, {"n": groups}, kind) for layout in (self._input, self._output))
        m.k[:, : whole.shape[1]] = whole[fill][::width]
        reals = np.asarray(reals)[fill]
        if kind == "dual":
            m.x[:, : reals.shape[1], 0, 0], m.x[:, : reals.shape[1], 1, :] = reals, tangents
        elif width > 1:
            m.x[:, : reals.shape[1]] = reals.reshape(groups, width, -1).transpose(0, 2, 1)
        else:
            m.x[:, : reals.shape[1]] = reals
        self._entry(m, d, which)
        y = d.y[:, : self._counts[which]]
        if kind == "dual":
            return y[..., 0, 0], y[..., 1, :]
        return y.transpose(0, 2, 1).reshape(groups * width, -1)[:n] if width > 1 else y


def _sizes(words):
    """Numbers of real and whole numbers that words take."""
    leaves = inputs.leaves(words)
    return sum(word.count for word in leaves), sum(word.is_whole for word in leaves)


def tangents(rng, scale, directions):
    """Tangents [n, reals, 8] of the sizes `scale` (1 for zeros), random ones in the first directions, else zero."""
    found = np.zeros((*scale.shape, NTANGENT))
    size = np.where(scale > 0, scale, 1.0)
    found[..., :directions] = rng.normal(size=(*scale.shape, directions)) * size[..., None]
    return found.astype(np.float32).astype(float)
