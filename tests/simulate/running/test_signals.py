"""Fields of the data that a run records on request.

Law: a recorded number is that of MuJoCo at the recorded state. Tolerance: 1e-11 of the largest, for smooth quantities.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.simulate.resume import resume

ARM = """<mujoco><worldbody>
  <body name="ball" pos="0 0 .5"><freejoint name="free"/><geom size=".1" mass="1"/></body>
  <body name="arm" pos="1 0 2"><joint name="theta" axis="0 1 0"/><geom size=".05" pos=".3 0 0"/>
    <body name="hand" pos=".3 0 0"><joint name="x" type="slide" axis="1 0 0"/><geom size=".05"/>
      <site name="tip" pos="0 0 -.1"/></body></body></worldbody>
  <actuator><motor name="motor" joint="theta"/></actuator>
  <sensor><jointpos name="angle" joint="theta"/></sensor></mujoco>"""
RECORD = (
    *("xpos[hand]", "site_xpos[tip][2]", "qfrc_actuator", "qfrc_bias[free]", "qacc[theta]", "cfrc_int[arm]", "cvel"),
    *("qfrc_inverse", "cacc[hand]", "sensordata", "qpos", "actuator_force[motor]"),
)


def at(model, data, name):
    """The signal in MuJoCo's data."""
    field, _, rest = name.partition("[")
    values = getattr(data, field)
    place = rest.rstrip("]").split("][")[0]
    if not place:
        return values
    if field in ("qfrc_bias", "qacc"):
        joint = model.joint(place)
        first = int(joint.dofadr[0])
        values = values[first : first + 6] if place == "free" else values[first]
    else:
        kind = "site" if field.startswith("site") else "actuator" if field.startswith("actuator") else "body"
        values = values[getattr(model, kind)(place).id]
    return values[int(rest[-2])] if "][" in rest else values


@pytest.fixture(scope="module")
def recorded():
    sim = saltus.Simulation(ARM, "rk4", timestep=0.01)
    sim.ctrl, sim.qvel[6] = [0.7], 1.5
    return sim.run(0.1, sample=0.013, record=RECORD)


def test_signals_are_those_of_the_recorded_states(recorded):
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    shapes = recorded.attrs["signals"]
    assert set(shapes) == set(RECORD) - {"sensordata", "qpos"}
    for k in range(len(recorded)):
        data.qpos[:], data.qvel[:], data.ctrl[:] = recorded.qpos[k], recorded.qvel[k], recorded.ctrl[k]
        mujoco.mj_forward(model, data)
        mujoco.mj_inverse(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        first = 0
        for name, shape in shapes.items():
            count = int(np.prod(shape))
            found, first = recorded.signals[k, first : first + count].reshape(shape), first + count
            np.testing.assert_allclose(found, at(model, data, name), rtol=1e-11, atol=1e-10, err_msg=name)


def test_signals_have_names_and_units(recorded):
    units = dict(zip(recorded.names["signal"], recorded.units["signal"], strict=True))
    assert units["xpos[hand][1]"] == "m" and units["qfrc_bias[free.wx]"] == "N m" and units["qacc[theta]"] == "rad/s²"
    assert units["cfrc_int[arm][0]"] == "N m" and units["cvel[hand][5]"] == "m/s"
    assert units["actuator_force[motor]"] == "N m"


def test_a_streamed_run_that_goes_on_records_the_signals(tmp_path):
    """The interrupted and resumed recording is that of an uninterrupted run, bit for bit."""

    def cut(done):
        if done > 0.5:
            raise KeyboardInterrupt

    runs = []
    for name, progress in (("whole.zarr", False), ("cut.zarr", cut)):
        sim = saltus.Simulation(ARM, "rk4", timestep=0.01)
        sim.qvel[6] = 1.5
        with pytest.warns() if progress else np.errstate():
            runs.append(sim.run(0.4, sample=0.013, record=RECORD, save=tmp_path / name, progress=progress))
    found = resume(tmp_path / "cut.zarr", progress=False)
    assert len(found) == len(runs[0]) and found.attrs["signals"] == runs[0].attrs["signals"]
    np.testing.assert_array_equal(found.signals, runs[0].signals)
    np.testing.assert_array_equal(found.sensordata, runs[0].sensordata)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("xpso", "did you mean 'xpos'"),
        ("xpos[foot]", "known: arm, ball, hand, world"),
        ("xpos[hand][3]", "3 numbers"),
        ("xpos[hand][0][0]", "too many indices"),
        ("efc_force", "differs in size"),
        ("sensor[x]", "there are: angle"),
        ("ledger", "unknown quantity"),
    ],
)
def test_what_cannot_be_recorded_is_named(name, message):
    with pytest.raises(OptionError, match=message.replace("[", r"\[")):
        saltus.Simulation(ARM, "rk4", timestep=0.01).run(0.1, record=name)
