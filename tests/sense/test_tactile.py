"""Tactile sensors against MuJoCo 4.0's sensordata.

Reference: mj_forward of skins on a body's shapes that lie in other shapes of all kinds, also in two at once;
signed distances by closed forms. Tolerance 1e-13: all follows from poses and velocities.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete, put
from helpers.plain_or_slow import plain_or_slow
from helpers.skins import AGAIN, SHAPES, TEXT, all_shapes, states

import saltus

TOLERANCE = 1e-13
FAR = '<body pos="0 0 5"><freejoint/><geom size=".2"/></body>'


def text(shape, more=""):
    geom = f"<geom {SHAPES[shape]}/>"
    return TEXT.format(other=geom if shape == "plane" else f"<freejoint/>{geom}", more=more)


def test_all_shapes_at_once():
    """Each by itself in some state and place, as deepest and in the sum of speeds."""
    m = complete(all_shapes())
    sim, deepest = saltus.Simulation(saltus.load(m)), set()
    for d in states(m, 12, spread=0.15):
        put(sim, d)
        np.testing.assert_allclose(sim.sensordata, d.sensordata, rtol=0, atol=TOLERANCE)
        deepest |= {round(float(x), 12) for x in d.sensordata[:35] if x > 0}
    assert len(deepest) > 50


@plain_or_slow
@pytest.mark.parametrize("more", ["", AGAIN, FAR])
@pytest.mark.parametrize("shape", SHAPES)
def test_readings(shape, more):
    m = complete(text(shape, more))
    sim, felt = saltus.Simulation(saltus.load(m)), []
    for d in states(m, 6):
        put(sim, d)
        np.testing.assert_allclose(sim.sensordata, d.sensordata, rtol=0, atol=TOLERANCE)
        felt.append((d.sensordata[: m.sensor_adr[3]] > 0).sum())
    assert max(felt) > 12


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_lanes(precision):
    """Some touch and some do not; what others touch is felt by nobody else."""
    model = saltus.load(complete(text("sphere", AGAIN)))
    found = list(states(model.mujoco, 7))
    batch = saltus.Batch(model, 7, threads=1, precision=precision)
    qpos = np.array([d.qpos for d in found])
    qpos[::2, 2] -= 0.5  # the sphere is away
    batch.qpos, batch.qvel = qpos, np.array([d.qvel for d in found])
    readings, untouched = batch.read("sensordata"), []
    for i, d in enumerate(found):
        d.qpos[:] = qpos[i]
        mujoco.mj_forward(model.mujoco, d)
        untouched.append(not d.sensordata[:35].any())
        close = 1e-12 if precision == "float64" else 1e-4
        np.testing.assert_allclose(readings[i], d.sensordata, rtol=0, atol=close)
    assert not all(untouched)


def test_depth_in_a_ball_is_what_is_missing_to_its_radius():
    """A taxel at a distance r from the centre of a ball of radius R is R - r deep; it slides at the ball's speed."""
    sim = saltus.Simulation(text("sphere"))
    sim.qpos[:3], sim.qpos[3:7] = [-0.05, 0.0, -0.35], [1, 0, 0, 0]
    sim.qvel[:3] = [0.3, -0.2, 0.0]
    m, skin = sim.model.mujoco, sim.model.names("geom").index("pad")
    count = m.mesh_vertnum[0]
    depth, first, second = sim.sensordata[: 3 * count].reshape(3, count)
    mat = sim.data.geom_xmat[skin].reshape(3, 3)
    place = m.mesh_vert[:count] @ mat.T + sim.data.geom_xpos[skin]
    wanted = np.maximum(0.3 - np.linalg.norm(place - sim.data.geom_xpos[0], axis=1), 0.0)
    np.testing.assert_allclose(depth, wanted, rtol=0, atol=1e-14)
    inside = wanted > 0
    assert inside.sum() > 3
    tangents = m.mesh_normal[: 3 * count].reshape(count, 3, 3)[:, 1:] @ mat.T
    speeds = np.abs(tangents @ [0.3, -0.2, 0.0])
    np.testing.assert_allclose(np.stack([first, second], axis=1), speeds * inside[:, None], rtol=0, atol=1e-14)


def test_meshes_without_a_distance_field_are_not_felt():
    mesh = '<body pos="0 0 -.1"><freejoint/><geom type="mesh" mesh="wild"/></body>'
    m = complete(TEXT.format(other="<freejoint/><geom size='.01' pos='0 0 -2'/>", more=mesh))
    sim = saltus.Simulation(saltus.load(m))
    for d in states(m, 2):
        put(sim, d)
        assert d.ncon and not d.sensordata[: m.sensor_adr[3]].any()
        assert not sim.sensordata[: m.sensor_adr[3]].any()


FIELDS = {
    "distance field": '<geom name="rock" type="sdf" mesh="solid"/>',
    "height field": '<geom name="hills" type="hfield" hfield="hills"/>',
}
ASSETS = """<asset><mesh name="solid" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .3"/>
  <hfield name="hills" nrow="2" ncol="2" size="0.5 0.5 0.1 0.1" elevation="0 1 0 1"/></asset><worldbody>"""
CLOTH = """<flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" radius=".01" mass="1"><edge
  damping="1"/></flexcomp>"""


@pytest.mark.parametrize("field", [*FIELDS, "deformable body"])
def test_what_is_not_felt_is_refused(field):
    """Unless the sensor's body cannot touch it, or the sensor is left out."""
    more = FIELDS.get(field, CLOTH)
    xml = text("sphere", more).replace("<worldbody>", ASSETS)
    with pytest.raises(saltus.ModelError, match=field) as caught:
        saltus.load(xml)
    assert (caught.value.element, caught.value.name) == ("sensor", "pad")
    model = saltus.load(xml, ignore=["tactile"])
    assert len(model.ignored) == 3
    assert "sense_tactile" not in model.sensing_struct().layout.features
    if field in FIELDS:
        apart = xml.replace(more, more.replace("/>", ' contype="0" conaffinity="0"/>'))
        assert "sense_tactile" in saltus.load(apart).sensing_struct().layout.features
