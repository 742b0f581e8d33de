"""Derivatives by every field that may vary, under every integrator, of every kind of thing that a field belongs to.

Law: P = ∂(q', v', w')/∂p of one step from the same state, for each integrator by its name and each field of the
program's own tables; see `tests/simulate/derivatives/test_parameter_derivatives.py`.

References: differences of steps of changed models, whose constants are MuJoCo's, extrapolated (Ridders 1982) along a
random change of the whole field; for the adaptive steps of `dopri5` those of eight steps of `rk4`, over 1 ms, in which
no muscle passes a kink of its curves: halving them changes the derivatives by less than 1e-12. Their estimated error,
rounding of 1e-14 of the state over differences of 1e-4, must be below 1e-8 of the largest derivative or of 1.
Tolerance: 1e-9 of the largest derivative, beside five times the error and 1e-10 for that rounding.
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.field_scenes import SCENES
from helpers.parametric import direction_of, ridders, with_field

import saltus
from saltus.errors import OptionError
from saltus.model.vary.columns import columns
from saltus.model.vary.fields import MAY_VARY

EXACT, ROUNDING, STEP = 1e-9, 1e-10, 4e-3
WITHOUT = {
    name for name, i in saltus.integrators().items() if i.doubles_only or i.needs.get("pcg") is True
}  # refused by name
ADAPTIVE = {name for name, i in saltus.integrators().items() if i.adaptive}
OF_CONTACT = {"moreau_jean"}  # demands the hard law where there are constraints
#: Fields that change no step: gaps list contacts, and fields of magnets are for sensors.
NO_EFFECT = {"geom_gap", "pair_gap", "opt.magnetic"}


def scene(name):
    """A model with its state."""
    source, state = SCENES[name]
    model = saltus.load(source)
    return model, state(model.mj_model)


def at(model, integrator, state, **options):
    sim = saltus.Simulation(model, integrator, **options)
    for name, value in state.items():
        getattr(sim, name)[:] = value
    return sim


def timestep(model, integrator):
    """The step (s) that is differentiated."""
    return 0.001 if integrator in ADAPTIVE else model.opt.timestep


def stepped(model, integrator, state):
    """The state after a step; of adaptive steps after the same time in short ones."""
    steps, fixed = (8, "rk4") if integrator in ADAPTIVE else (1, integrator)
    sim = at(model, fixed, state, timestep=timestep(model, integrator) / steps)
    sim.step(steps)
    return sim.qpos.copy(), sim.qvel.copy(), sim.act.copy()


def chosen(model, field):
    """A random change of a field, and the names of the numbers that it changes."""
    base, change = direction_of(model, field)
    names = [column.name for column in columns(model, [field])]
    return base, change, [names[k] for k in np.flatnonzero(change.reshape(-1))]


def there(model):
    """The fields that the model has."""
    return [field for field in MAY_VARY if direction_of(model, field)[0].size]


def assert_agrees(model, integrator, state, field):
    base, change, names = chosen(model, field)
    tight = {"tolerance": (1e-12, 1e-14)} if integrator in ADAPTIVE else {}
    P = at(model, integrator, state, timestep=timestep(model, integrator), **tight).linearize(parameters=names).P
    nominal = stepped(model, integrator, state)

    def end(x):
        qpos, qvel, act = stepped(with_field(model, field, base + x * change), integrator, state)
        return np.concatenate(
            [oracle.difference(model.mj_model, nominal[0], qpos), qvel - nominal[1], act - nominal[2]]
        )

    wanted, error = ridders(end, STEP)
    found, scale = P @ change[change != 0], np.abs(wanted).max()
    assert error <= 10 * EXACT * max(1.0, scale), field
    np.testing.assert_allclose(found, wanted, rtol=0, atol=EXACT * scale + 5 * error + ROUNDING, err_msg=field)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("integrator", saltus.integrators())
def test_every_cell_is_right_or_refused(integrator, name):
    model, state = scene(name)
    if integrator in WITHOUT:
        with pytest.raises(OptionError, match=rf"{integrator} does not support|does not support {integrator}"):
            at(model, integrator, state).linearize(parameters="opt.gravity")
    elif integrator in ADAPTIVE and name != "free":
        with pytest.raises(
            OptionError, match=f"soft contacts and limits begin and end inside the steps of {integrator}"
        ):
            at(model, integrator, state).linearize(parameters="opt.gravity")
    elif integrator in OF_CONTACT and name != "free":
        with pytest.raises(OptionError, match=f"{integrator} requires hard contact"):
            at(model, integrator, state)
        with pytest.raises(OptionError, match=f"{integrator} steps over impacts"):
            at(model, integrator, state, contact="hard").linearize(parameters="opt.gravity")
    else:
        for field in there(model):
            assert_agrees(model, integrator, state, field)


@pytest.mark.slow
def test_every_field_has_an_effect_in_a_scene():
    """Else the table above would compare zeros."""
    felt = set()
    for name in SCENES:
        model, state = scene(name)
        sim = at(model, "euler", state)
        felt |= {field for field in there(model) if np.any(sim.linearize(parameters=chosen(model, field)[2]).P)}
    assert set(MAY_VARY) - felt == NO_EFFECT


@pytest.mark.parametrize("integrator", sorted(WITHOUT))
def test_integrators_without_derivatives_are_named(integrator):
    with pytest.raises(
        OptionError, match=f"linearize does not support {integrator}; choose euler or implicit_midpoint"
    ):
        saltus.Simulation("double_pendulum", integrator).linearize(parameters="body_mass")
