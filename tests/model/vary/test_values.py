"""What kernels make of fields that vary is what they make of each changed model by itself, to the bit.

Reference: MuJoCo's model with the changed values, after its mj_setConst, loaded on its own. Every field that may vary,
on mechanisms with tendons that wrap, muscles, equalities, sites, free bodies and contacts.
"""

import copy

import mujoco
import numpy as np
import pytest
from helpers.varied import ARMS, drawn, given

import saltus
from saltus.errors import OptionError
from saltus.model.vary.fields import MAY_VARY, value_of
from saltus.model.vary.stack import put
from saltus.simulate.engine.batch.varied_model import VariedModel

MECHANISMS = {"arms": ARMS, "humanoid": "humanoid", "sit_to_stand": "sit_to_stand"}
N = 5


#: Fields that stay: one that MuJoCo leaves as it was, and bounds of motion, which only decide who is looked at for
#: passing through something, where simulations of a batch are those of the model.
KEPT = ("geom_rbound", "passing_reach", "passing_least")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_each_field(mechanism):
    model = saltus.load(MECHANISMS[mechanism])
    m, rng, tried = model.mj_model, np.random.default_rng(1), []
    for name in [name for name in MAY_VARY if np.size(value_of(m, name))]:
        vary = frozenset([name])
        struct = model.struct(vary=vary)
        try:
            varied = VariedModel(model, [name], N, N, m.opt.timestep, struct)
        except OptionError as error:
            assert "nothing in the model reads" in str(error), name
            continue
        values = drawn(m, name, rng, N)
        if not given(varied, name, values):
            continue
        tried.append(name)
        width = varied.rows.shape[-1]
        for i in range(N):
            changed = copy.copy(m)
            put(changed, {name: values}, i)
            mujoco.mj_setConst(changed, mujoco.MjData(changed))
            alone, mine = model.with_values_of(changed, {}).struct(vary=vary), struct.duplicate()
            for row, place in zip(varied.rows[i // width], varied.places, strict=True):
                mine.real[place] = row[i % width]
            for field, wanted in alone.views.items():
                if field not in KEPT:
                    first = (..., 0) if field in struct.layout.varied else ...
                    np.testing.assert_array_equal(mine.views[field][first], wanted[first], f"{name}: {field}")
    assert len(tried) > 20


def test_bounding_radii():
    """Of spheres about the shapes: the radius, or the distance of the farthest point, by Pythagoras."""
    model = saltus.load(ARMS)
    struct = model.struct(vary=frozenset(["geom_size"]))
    varied = VariedModel(model, ["geom_size"], 1, 1, 0.002, struct)
    for shape, size, radius in (("arm", (0.3, 0.4, 0), 0.7), ("hand", (2, 3, 6), 7.0), ("round", (0.1, 0.5, 0.2), 0.5)):
        geom = model.id("geom", shape)
        varied.fields["geom_size"][0, geom] = size
        varied.update()
        place = int(struct.ints[struct.layout.slot["geom_rbound"]]) + geom * varied.rows.shape[-1]
        assert varied.rows[0, list(varied.places).index(place), 0] == pytest.approx(radius, rel=1e-15)
