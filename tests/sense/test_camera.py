"""Cameras. References: MuJoCo's camprojection sensor; a point on the ray of a pixel's centre is projected on it."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from saltus.number.kernels import interpret
from saltus.sense.camera import camera_axes, camera_position, pixel_ray, projection

XML = """<mujoco><worldbody><body name="target" pos=".3 .2 -.1"><geom size=".1"/></body>
<site name="there" pos=".2 -.3 .4"/>
<body pos="1 2 3" euler="10 20 30"><geom size=".1"/>
  <camera name="c" pos=".1 .2 .3" euler="5 -8 7" fovy="50" resolution="64 48" {}/></body>
</worldbody><sensor><camprojection site="there" camera="c"/></sensor></mujoco>"""
KINDS = ['mode="fixed"', 'mode="track"', 'mode="trackcom"', 'mode="targetbody" target="target"']


@pytest.mark.parametrize("kind", [*KINDS, 'mode="targetbodycom" target="target"'])
def test_poses_and_projections_are_mujocos(kind):
    m = mujoco.MjModel.from_xml_string(XML.format(kind))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    fields = {name: getattr(m, name) for name in dir(m) if name.startswith("cam_")}
    focal = m.cam_resolution[0, 1] / 2 / np.tan(np.radians(25.0))  # pixels: square, 50 degrees from top to bottom
    lens = np.array([[focal, focal, 32.0, 24.0]])
    model = SimpleNamespace(**fields | {"cam_focal": lens[:, :2], "cam_lens": lens, "cam_mat": m.cam_mat0 * 0})
    model.layout = SimpleNamespace(features={"camera"})
    mat, quat = np.zeros(9), m.cam_quat[0]
    mujoco.mju_quat2Mat(mat, quat)
    model.cam_mat = [mat]
    data = SimpleNamespace(xpos=d.xpos, xmat=d.xmat, subtree_com=d.subtree_com, time=0.0)
    np.testing.assert_allclose(interpret(camera_position)(model, data, 0), d.cam_xpos[0], atol=1e-14)
    np.testing.assert_allclose(interpret(camera_axes)(model, data, 0), d.cam_xmat[0], atol=1e-14)
    found = interpret(projection)(model, data, 0, tuple(d.site("there").xpos))
    np.testing.assert_allclose(found, d.sensordata, rtol=1e-12)
    for row, column in [(0, 0), (10, 50), (47, 63)]:
        origin, ray = interpret(pixel_ray)(model, data, 0, row, column)
        assert np.linalg.norm(ray) == pytest.approx(1.0, abs=1e-15)
        found = interpret(projection)(model, data, 0, tuple(np.array(origin) + 2.7 * np.array(ray)))
        np.testing.assert_allclose(found, [column + 0.5, row + 0.5], atol=1e-12)
