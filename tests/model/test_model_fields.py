"""What editors are told of a model is what MuJoCo has: names, shapes and kinds of numbers."""

import math

import numpy as np
from helpers.declared import declared, stated_shape

import saltus
from saltus.model.model import Options
from saltus.model.model_fields import ModelFields


def test_fields_are_those_of_the_model():
    model = saltus.load("humanoid")

    def number(word):
        return int(word) if word.isdigit() else getattr(model, word)

    for name, (annotation, text) in declared(ModelFields).items():
        value, shape = getattr(model, name), stated_shape(text)
        if shape is None:
            assert isinstance(value, int), name
            continue
        sizes = [math.prod(map(number, word.split())) for word in shape]
        assert [*value.shape] == (sizes if value.ndim > 1 else sizes[:1]), name
        assert value.dtype == getattr(np, annotation.removeprefix("NDArray[np.").removesuffix("]")), name


def test_options_are_those_of_the_model():
    opt = saltus.load("humanoid").opt
    for name, (annotation, text) in declared(Options).items():
        value = getattr(opt, name)
        assert annotation == ("NDArray[np.float64]" if isinstance(value, np.ndarray) else type(value).__name__), name
        assert stated_shape(text) == ([str(len(value))] if isinstance(value, np.ndarray) else None)
