"""Parts of one object by name, in one simulation and in many.

Reference: MuJoCo's own named access, `data.body("hand").xpos`, on the same model and state.
"""

import mujoco
import numpy as np
import pytest
from helpers.mechanisms import SEVERAL_TREES

import saltus

XML = """
<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="shoulder" type="ball" damping=".1"/><geom name="upper" size=".1" pos=".3 0 0"/>
      <body name="hand" pos=".6 0 0"><joint name="wrist" axis="0 1 0"/><geom name="palm" size=".05" mass=".2"/>
        <site name="tip" pos=".1 0 0"/></body>
    </body>
    <body name="ball" pos="0 1 1"><freejoint name="free"/><geom size=".1"/></body>
  </worldbody>
  <tendon><fixed name="cable"><joint joint="wrist" coef="1"/></fixed></tendon>
  <actuator><motor name="motor" joint="wrist" gear="2"/><position name="servo" tendon="cable" kp="3"/></actuator>
</mujoco>"""
NAMED = {
    "body": {"hand": "xpos xquat xmat xipos subtree_com cvel mass inertia pos", "ball": "xpos mass"},
    "joint": {"shoulder": "qpos qvel qacc xanchor damping", "wrist": "qpos qvel xaxis range", "free": "qpos qvel cdof"},
    "geom": {"palm": "xpos xmat size friction"},
    "site": {"tip": "xpos xmat"},
    "tendon": {"cable": "length velocity"},
    "actuator": {"motor": "ctrl force length velocity gear", "servo": "force gainprm"},
}
CASES = [(kind, name, part) for kind, names in NAMED.items() for name, parts in names.items() for part in parts.split()]
model = saltus.load(XML)


def state(rng):
    qpos, qvel = rng.normal(size=12), rng.normal(size=10)
    for first in (0, 8):
        qpos[first : first + 4] /= np.linalg.norm(qpos[first : first + 4])
    return qpos, qvel, rng.normal(size=2)


@pytest.fixture(scope="module")
def both():
    """A simulation and MuJoCo's data in one state."""
    sim, data = saltus.Simulation(model, "rk4"), mujoco.MjData(model.mujoco)
    sim.qpos, sim.qvel, sim.ctrl = data.qpos[:], data.qvel[:], data.ctrl[:] = state(np.random.default_rng(0))
    mujoco.mj_forward(model.mujoco, data)
    return sim, data


@pytest.mark.parametrize(("kind", "name", "part"), CASES)
def test_parts_are_those_of_mujoco(both, kind, name, part):
    sim, data = both
    theirs = getattr(getattr(data, kind)(name), part, None)
    theirs = getattr(getattr(model.mj_model, kind)(name), part) if theirs is None else theirs
    ours = getattr(getattr(sim, kind)(name), part)
    np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11)
    assert ours.shape == theirs.shape


def test_parts_of_the_state_are_set():
    sim = saltus.Simulation(model, "rk4")
    sim.joint("wrist").qpos = 0.5
    sim.joint("shoulder").qvel = [1.0, 2.0, 3.0]
    sim.joint("shoulder").qvel[1] = 5.0
    sim.actuator("motor").ctrl = 0.25
    sim.body("ball").xfrc_applied = [0, 0, 1, 0, 0, 0]
    assert sim.qpos[4] == 0.5 and sim.qvel[:3].tolist() == [1.0, 5.0, 3.0] and sim.ctrl[0] == 0.25
    assert sim.xfrc_applied[3, 2] == 1.0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("sim.body('hand').xpos = [0, 0, 0]", "computed from the state"),
        ("sim.body('hand').mass = 1.0", r"model\.changed"),
        ("sim.body('hand').xposs", "did you mean 'xpos'"),
        ("sim.joint('shoulder').qvel = [1, 2]", r"qvel of joint 'shoulder' has shape \(3,\), not \(2,\)"),
        ("sim.joint('elbow')", "no joint 'elbow'; there are: shoulder, wrist, free"),
        ("sim.data.body('hand')", r"sim\.body\(name\)"),
        ("batch.body('hand').xpos = 0", "computed"),
        ("batch.body('hand').xpos[0] = 1", "computed"),
        ("batch.joint('wrist').armature", "does not vary"),
    ],
)
def test_wrong_uses_are_named(both, change, why):
    with pytest.raises((saltus.OptionError, AttributeError), match=why):
        exec(change, {"sim": both[0], "batch": saltus.Batch(model, 2)})


def test_parts_of_a_batch_have_an_axis_of_simulations():
    rng = np.random.default_rng(1)
    batch, data = saltus.Batch(model, 3), mujoco.MjData(model.mujoco)
    states = [state(rng) for _ in range(3)]
    batch.qpos, batch.qvel, batch.ctrl = (np.array(x) for x in zip(*states, strict=True))
    for i, (qpos, qvel, ctrl) in enumerate(states):
        data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, ctrl
        mujoco.mj_forward(model.mujoco, data)
        for kind, name, part in (
            ("body", "hand", "xpos"),
            ("joint", "shoulder", "qvel"),
            ("actuator", "servo", "force"),
        ):
            ours = getattr(getattr(batch, kind)(name), part)
            np.testing.assert_allclose(ours[i], getattr(getattr(data, kind)(name), part), rtol=1e-11, atol=1e-11)
    batch.joint("wrist").qvel = [[1.0], [2.0], [3.0]]
    batch.joint("wrist").qvel += 1.0
    batch.joint("wrist").qvel[2] = 9.0
    np.testing.assert_array_equal(batch.qvel[:, 3], [2.0, 3.0, 9.0])


def test_parts_that_are_listed_can_be_read():
    sim = saltus.Simulation(SEVERAL_TREES)
    for kind in NAMED:
        for name in sim.model.names(kind):
            found = getattr(sim, kind)(name)
            for part in set(dir(found)) - {"id", "name"}:
                assert getattr(found, part).size
