"""Cameras and joints for the page. Reference: MuJoCo's frames, names and fields of view."""

from types import SimpleNamespace

import mujoco
import numpy as np

import saltus
from saltus.lab.view import marks

XML = """<mujoco><worldbody><camera name="far" pos="1 2 3" euler="10 20 30" fovy="33"/>
<camera pos="0 -4 0" xyaxes="1 0 0 0 0 1" projection="orthographic" fovy="5"/>
<camera name="lens" resolution="200 100" sensorsize=".02 .01" focal=".03 .03" principal=".001 .002"/>
<body name="a"><joint name="one" axis="0 1 0"/><geom size=".1" pos="1 0 0"/>
<body name="b"><joint name="turns" type="ball"/><geom size=".1"/></body></body></worldbody></mujoco>"""


def test_they_are_mujocos():
    model = saltus.load(XML)
    m = model.mujoco
    d, mat = mujoco.MjData(m), np.zeros(9)
    mujoco.mj_forward(m, d)
    pose = SimpleNamespace(cam_xpos=d.cam_xpos, cam_xmat=d.cam_xmat.reshape(-1, 3, 3))
    for c, row in enumerate(marks.camera_poses(pose)):
        mujoco.mju_quat2Mat(mat, row[3:])
        np.testing.assert_allclose(row[:3], d.cam_xpos[c])
        np.testing.assert_allclose(mat, d.cam_xmat[c], atol=1e-14)
    far, parallel, lens = marks.cameras(model)
    assert (far["name"], far["fovy"], far["height"], far["shift"]) == ("far", 33.0, None, [0.0, 0.0])
    assert parallel["height"] == 5.0
    np.testing.assert_allclose(np.tan(np.radians(lens["fovy"] / 2)), 0.005 / 0.03, rtol=1e-6)  # MuJoCo's are floats
    np.testing.assert_allclose(np.abs(lens["shift"]), [0.001 / 0.02, 0.002 / 0.01], rtol=1e-6)
    names = [(joint["name"], joint["kind"], m.body(joint["body"]).name) for joint in marks.joints(model)]
    assert names == [("one", "hinge", "a"), ("turns", "ball", "b")]
