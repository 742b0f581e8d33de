"""The scenes, and what it takes to open one's own.

Reference: what each scene claims: that it stands, settles, turns over or hands on.
"""

import numpy as np
import pytest
from helpers.lab import decoded, do, notices, opened, page, run

import saltus
from saltus import lab
from saltus.lab.data.recording import Downloads
from saltus.lab.messages.protocol import encode
from saltus.lab.scene.scene_names import MADE
from saltus.lab.scene.scenes import SCENES, scenes

PARAMETERS = "body_mass[bob] 0.1 10; dof_damping[hinge] 0 5;opt.gravity[2] -20 0"
MARKED = f"""
<mujoco><custom><text name="parameters" data="{PARAMETERS}"/><text name="other" data="x"/></custom>
  <worldbody><body name="bob"><joint name="hinge" axis="0 1 0"/><geom pos="0 0 -1" size=".1"/></body></worldbody>
</mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("name", list(scenes()))
def test_every_scene_can_be_shown(name):
    """Before anything is compiled: its message is JSON of a size that a page takes, its first frame has everything."""
    scene = scenes()[name]
    session = scene.open(Downloads(), {})
    message = session.scene()
    assert (message["name"], scene.title != "", scene.group != "") == (name, True, True)
    assert len(encode(message)) < 2_000_000
    frame = decoded(session.frame().encode(1), message)
    assert np.isfinite(frame["bodies"][0]).all() and np.isfinite(frame["com"]).all()
    assert encode(session.status())


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_titles_say_what_runs(scene):
    """The contact law and, where a title names one, the number of integrators beside each other."""
    session = scene.open(Downloads(), {"playing": False})
    status = session.status()
    assert ("hard contact" in scene.title) == (status["contact"] == "hard")
    if "four integrators" in scene.title:
        assert len({session.sim.integrator.name, *session.builder.wanted.ghosts}) == 4


def test_the_shell_knows_the_scenes_made_for_the_lab():
    assert MADE == tuple(scene.name for scene in SCENES)


def test_bundled_models_are_all_there():
    assert set(saltus.models()) <= set(scenes())
    assert next(iter(scenes())) == lab.FIRST


@pytest.mark.slow
def test_the_arm_goes_where_it_is_told():
    session = run(opened("arm"), 8.0)
    assert session.status()["servo"] is True
    np.testing.assert_allclose(session.sim.qpos, [0.6, 1.2], atol=5e-3)
    do(session, "slider", id="target 2", value=-0.5)
    run(session, 8.0)
    np.testing.assert_allclose(session.sim.qpos, [0.6, -0.5], atol=5e-3)


@pytest.mark.slow
def test_the_pole_stays_up():
    """When the cart is pushed with 5 N for half a second, and while it goes elsewhere; without the servo it falls."""
    session = run(opened("cart_pole"), 8.0)
    assert abs(session.sim.qpos).max() < 1e-2
    do(session, "keydown", key="d")
    run(session, 0.5)
    do(session, "keyup", key="d")
    assert abs(session.sim.qpos[1]) > 0.05
    run(session, 10.0)
    assert abs(session.sim.qpos).max() < 1e-2
    do(session, "slider", id="target", value=1.0)
    run(session, 10.0)
    np.testing.assert_allclose(session.sim.qpos, [1.0, 0.0], atol=1e-2)
    do(session, "keydown", key="s")
    session.sim.qpos[1] = 0.01
    run(session, 3.0)
    assert abs(session.sim.qpos[1]) > 1.0 and session.sim.ctrl[0] == 0.0


def test_the_free_body_turns_over():
    """About its middle axis, every 4.61 s: the box's y axis, first along its spin, points the other way and back."""
    session = opened("free_body")
    along = []
    for _ in range(92):
        run(session, 0.1)
        _, x, _, z = session.sim.qpos[3:]
        along.append(1 - 2 * (x * x + z * z))
    assert min(along) < -0.99 and max(along[60:]) > 0.99


# ---------------------------------------------------------------- one's own


def test_a_model_file_of_ones_own(tmp_path):
    path = tmp_path / "swing.xml"
    path.write_text(MARKED)
    options = dict(integrator="velocity_verlet", timestep=0.01, playing=False, speed=0.5)
    with lab.open(path, browser=False, **options) as it, page(it) as client:
        client.until(lambda: client.scene is not None and "speed" in client.status)
        assert client.scene["title"] == "swing" and not client.status["playing"]
        assert [s["id"] for s in client.scene["sliders"]] == [
            *["qpos[hinge]", "body_mass[bob]", "dof_damping[hinge]", "opt.gravity[2]"]
        ]
        client.send("slider", id="opt.gravity[2]", value=-5.0)
        client.until(lambda: client.status["gravity"] == [0.0, 0.0, -5.0])
        assert (client.status["speed"], client.status["timestep"]) == (0.5, 0.01)
        client.send("scene", name="nowhere")
        client.until(lambda: any("no scene 'nowhere'" in text for text in client.notices))


def test_a_scene_with_options():
    with lab.open(
        "pendularm", browser=False, integrator="rk4", timestep=0.02, parameters=["body_mass[pendulum]=1:3"]
    ) as it:
        session = it._stage.session
        assert session.integrator_name() == "rk4" and session.sim.timestep == 0.02
        assert [s["id"] for s in session.scene()["sliders"]][-1] == "body_mass[pendulum]"


def test_a_mistake_in_a_scene_leaves_the_lab_standing():
    with lab.open("pendularm", browser=False) as it, page(it) as client:
        client.until(lambda: client.frame is not None)
        it._stage.session.tick = lambda elapsed: 1 / 0
        client.until(lambda: any("ZeroDivisionError" in text for text in client.notices))
        client.send("scene", name="pendularm2")
        client.until(lambda: client.scene["name"] == "pendularm2" and client.frame is not None)


def test_the_sliders_of_a_humanoid_fit_its_joints():
    session = scenes()["humanoid"].open(Downloads(), {})
    model = session.sim.model
    for slider in session.scene()["sliders"]:
        if slider["group"] == "control":
            k = model.names("actuator").index(slider["label"])
            assert [slider["min"], slider["max"]] == list(model.actuator_ctrlrange[k])
    assert not notices(session)
