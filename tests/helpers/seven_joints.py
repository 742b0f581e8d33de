"""An arm with seven hinges in ranges, like many industrial ones, and targets that it can reach."""

import mujoco
import numpy as np

LENGTHS = (0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081)  # m
AXES = ("0 0 1", "0 1 0", "0 0 1", "0 -1 0", "0 0 1", "0 1 0", "0 0 1")
RANGES = (170, 120, 170, 120, 170, 120, 175)  # degrees

_LINKS = "".join(
    f'<body name="link{k}" pos="0 0 {length}"><joint name="joint{k}" axis="{axis}" range="-{most} {most}"/>'
    f'<geom type="capsule" fromto="0 0 0 0 0 .05" size=".04" contype="0" conaffinity="0"/>'
    for k, (length, axis, most) in enumerate(zip(LENGTHS, AXES, RANGES, strict=True))
)
SEVEN_JOINTS = f"""
<mujoco><worldbody>{_LINKS}<site name="hand" pos="0 0 .045"/><camera name="eye" pos="0 .05 0" euler="20 0 0"/>
{"</body>" * len(LENGTHS)}</worldbody></mujoco>"""


def site_pose(m, qpos, site="hand"):
    """Position and quaternion of a site by MuJoCo."""
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_forward(m, d)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, d.site(site).xmat)
    return d.site(site).xpos.copy(), quat


def reachable_poses(m, count, seed=0):
    """Positions [n, 3] and quaternions [n, 4] of the hand at configurations [n, nq], uniform in the ranges."""
    random = np.random.default_rng(seed)
    states = random.uniform(m.jnt_range[:, 0], m.jnt_range[:, 1], (count, m.nq))
    poses = [site_pose(m, qpos) for qpos in states]
    return np.array([pos for pos, _ in poses]), np.array([quat for _, quat in poses]), states
