"""A mechanism for kernels that run as plain Python: Saltus's model and empty data, and MuJoCo's numbers."""

import numpy as np

import saltus
from helpers import oracle
from helpers.random_tree import random_tree
from saltus.model.layout import DATA, data_sizes
from saltus.number.structs import Struct


class Mechanism:
    """`m` and `d` are what kernels take, `theirs` and `reference` are MuJoCo's model and data, all computed."""

    def __init__(self, seed, xml=None):
        self.model = saltus.load(random_tree(seed) if xml is None else xml)
        self.m = self.model.struct()
        self.d = Struct(DATA, data_sizes(self.model.sizes()))
        self.theirs = oracle.reference(self.model)
        self.state = oracle.random_state(self.theirs, np.random.default_rng(seed))
        self.reference = oracle.forward(self.theirs, self.state)
        self.take("qpos", "qvel", "xfrc_applied")

    def take(self, *names):
        """Put MuJoCo's numbers into the data."""
        for name in names:
            view = self.d.views[name]
            view[...] = np.reshape(getattr(self.reference, name), view.shape)

    def agree(self, *names, tolerance=1e-13):
        """The data's numbers are MuJoCo's, to a part of the largest (or of 1)."""
        for name in names:
            found, expected = self.d.views[name], getattr(self.reference, name)
            scale = max(1.0, np.max(np.abs(expected), initial=0.0))
            np.testing.assert_allclose(
                found, np.reshape(expected, found.shape), rtol=0, atol=tolerance * scale, err_msg=name
            )
