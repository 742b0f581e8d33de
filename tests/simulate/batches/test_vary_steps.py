"""Steps of a batch whose simulations vary in a field are MuJoCo's mj_step of each changed model.

Reference: MuJoCo's model with the changed values after its mj_setConst; its solver runs until nothing changes. Every
field that may vary and that the model reads, by itself, from states in which bodies touch. Tolerance: 1e-10, as much as
the solvers' sums in another order may come to.
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

N = 5


def tight(source):
    """A model whose solver runs to the end."""
    m = copy.copy(saltus.load(source).mj_model)
    m.opt.tolerance, m.opt.iterations, m.opt.ls_iterations = 0.0, 200, 100
    return saltus.load(m)


def one_step(m, state):
    """The velocities after mj_step, from a state and controls."""
    d = mujoco.MjData(m)
    mujoco.mj_setConst(m, d)
    mujoco.mj_resetData(m, d)
    for name, value in state.items():
        getattr(d, name)[:] = value
    mujoco.mj_step(m, d)
    return d.qvel, d.ncon


def states_of(model, rng):
    """Positions near the start, in which bodies touch, and velocities, activations and controls."""
    m = model.mj_model
    qpos = np.tile(m.qpos0, (N, 1))
    for i, q in enumerate(qpos):
        mujoco.mj_integratePos(m, q, 0.1 * rng.normal(size=m.nv), 1.0)
        if "ball" in model.names("body"):  # on the floor, and at the head of the post
            start = model.jnt_qposadr[model.body_jntadr[model.id("body", "ball")]]
            q[start : start + 3] = (1.0, 0.0, 0.08) if i % 2 else (1.84, 0.0, 0.5)
    states = {"qpos": qpos, "qvel": rng.normal(size=(N, m.nv)), "ctrl": rng.uniform(-1, 1, (N, m.nu))}
    return states | ({"act": rng.uniform(0, 1, (N, m.na))} if m.na else {})


@pytest.mark.parametrize("source", [ARMS, "humanoid"], ids=["arms", "humanoid"])
def test_each_field(source):
    model = tight(source)
    m, rng, tried, touching = model.mj_model, np.random.default_rng(2), 0, 0
    for name in (name for name in MAY_VARY if np.size(value_of(m, name))):
        try:
            batch = saltus.Batch(model, N, threads=1, vary=[name])
        except OptionError as error:
            assert "nothing in the model reads" in str(error), name
            continue
        values = drawn(m, name, rng, N)
        if not given(batch.lanes.varied_model, name, values):
            continue
        states = states_of(model, rng)
        for field, state in states.items():
            setattr(batch, field, state)
        batch.step()
        for i in range(N):
            changed = copy.copy(m)
            put(changed, {name: values}, i)
            qvel, contacts = one_step(changed, {field: state[i] for field, state in states.items()})
            close = 1e-10 * max(1.0, np.abs(qvel).max())
            np.testing.assert_allclose(batch.qvel[i], qvel, rtol=0, atol=close, err_msg=name)
            touching += contacts > 0
        tried += 1
    assert tried > 30 and touching > 3 * tried


MOTOR = """<mujoco><option gravity="0 0 0" timestep="0.002"/><worldbody><body><joint name="x" type="slide"/>
  <geom size="0.1" mass="1"/></body></worldbody><actuator><dcmotor name="m" joint="x" resistance="1.3" motorconst=".4"
    thermal="3 0 50 0.004 25 20" inductance="0 0.02" saturation="0 2 15" cogging="0.3 7 0.4" lugre="800 20 .5 .7 .05"
    controller="3 2 0.2 5 0.6 4" input="pos vel voltage"/></actuator></mujoco>"""
VALUES = (  # of cogging, limits of current rate, integral and voltage, where 0 is none; of friction, resistance
    {},
    {"actuator_biasprm[m][0]": 0.0, "actuator_dynprm[m][1]": 0.0, "actuator_gainprm[m][7]": 0.0},
    {"actuator_biasprm[m][3]": 0.6, "actuator_dynprm[m][8]": 0.0, "actuator_gainprm[m][0]": 1.5},
)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "implicitfast"])
def test_dc_motors_with_numbers_of_their_own(integrator):
    """Each lane does what a model that is changed to its numbers does, to the bit."""
    model = saltus.load(MOTOR)
    fields = ("actuator_biasprm", "actuator_dynprm", "actuator_gainprm")
    batch = saltus.Batch(model, 3, integrator=integrator, vary=fields)
    for i, values in enumerate(VALUES):
        for key, value in values.items():
            getattr(batch.model, key.partition("[")[0])[i, 0, int(key[-2])] = value
    batch.ctrl[:] = 0.5, 1.0, 3.0
    batch.step(200)
    for i, values in enumerate(VALUES):
        sim = saltus.Simulation(model.changed(values), integrator)
        sim.ctrl[:] = 0.5, 1.0, 3.0
        sim.step(200)
        np.testing.assert_array_equal(batch.qpos[i], sim.qpos)
        np.testing.assert_array_equal(batch.act[i], sim.act)
    with pytest.raises(saltus.OptionError, match="cannot begin or cease"):
        batch.model.actuator_dynprm[1, 0, 5] = 0.0
        batch.step()
