"""Running a kernel on many inputs in any kind of number: inner kernels can only be called from compiled code."""

import math

import mpmath
import numpy as np

from saltus.number.kernels import Entry
from saltus.number.kinds import lane32, lane64
from saltus.number.structs import Field, Layout, Struct

WIDTH = {"lane64": lane64.width, "lane32": lane32.width}
REAL = ("float64", "float32", "lane64", "lane32")


class Cases:
    """A kernel from a tuple of `inputs` numbers to a tuple of `outputs` numbers, as a function on arrays.

    Called with x [n, inputs] it returns [n, outputs]. In lanes the cases lie side by side, the last group filled up
    with the last case. Duals: x [n, inputs] with tangents dx [n, inputs, 8] give (y, dy).
    """

    def __init__(self, kernel, inputs, outputs):
        layouts = f"Input{inputs}", f"Output{outputs}"
        self._input = Layout(layouts[0], {"n": Field("int", ()), "x": Field("real", ("n", inputs))}, frozen=True)
        self._output = Layout(layouts[1], {"y": Field("real", ("n", outputs))})
        body = "for i in range(m.n):\n    d.y[i] = f(m.x[i])"
        self._entry = Entry(f"cases_{kernel.py_func.__name__}", "", body, f=kernel)

    def __call__(self, kind, x, dx=None):
        x = np.asarray(x, np.float32 if kind.endswith("32") else np.float64)
        width = WIDTH.get(kind, 1)
        groups = math.ceil(len(x) / width)
        m, d = (Struct(layout, {"n": groups}, kind) for layout in (self._input, self._output))
        if width > 1:
            full = np.concatenate([x, np.repeat(x[-1:], groups * width - len(x), axis=0)])
            m.x[...] = full.reshape(groups, width, -1).transpose(0, 2, 1)
        elif kind == "dual":
            m.x[..., 0, 0], m.x[..., 1, :] = x, dx
        else:
            m.x[...] = x
        self._entry(m, d)
        if kind == "dual":
            return d.y[..., 0, 0], d.y[..., 1, :]
        return d.y.transpose(0, 2, 1).reshape(groups * width, -1)[: len(x)] if width > 1 else d.y


def ulps(got, exact):
    """Distance of floats from exact values (mpmath), in units of the exact value's last place in their precision."""
    got = np.asarray(got)
    tiny = np.finfo(got.dtype).tiny
    spacing = [np.spacing(got.dtype.type(max(abs(float(e)), tiny))) for e in exact]
    return np.array(
        [float(abs(mpmath.mpf(float(g)) - e) / float(s)) for g, e, s in zip(got, exact, spacing, strict=True)]
    )


def same_bits(a, b):
    """Whether two arrays of floats are equal bit by bit, NaNs being alike."""
    signs = (np.signbit(x) & ~np.isnan(x) for x in (a, b))
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True) and np.array_equal(*signs)
