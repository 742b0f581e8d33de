"""Small robots with legs, and what the joystick tasks are, written out with NumPy and MuJoCo."""

import mujoco
import numpy as np

LEG = """
<body name="{n}_hip" pos="{x} {y} 0">
  <joint name="{n}_hip" axis="1 0 0" range="-0.8 0.8"/><geom size="0.03" mass="0.5"/>
  <body name="{n}_thigh" pos="0 {out} 0">
    <joint name="{n}_thigh" axis="0 1 0" range="-0.7 3"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="0.6"/>
    <body name="{n}_calf" pos="0 0 -0.2">
      <joint name="{n}_calf" axis="0 1 0" range="-2.7 -0.8"/>
      <geom type="capsule" size="0.012" fromto="0 0 0 0 0 -0.18" mass="0.15" contype="0" conaffinity="0"/>
      <geom name="{n}" class="foot" pos="0 0 -0.2"/>
    </body>
  </body>
</body>"""
FOOT = '<default class="foot"><geom {shape} mass="0.05" contype="0" conaffinity="1"/></default>'
SCENE = """
<mujoco model="{name}">
  <compiler angle="radian"/>
  <option timestep="0.005" iterations="{iterations}"/>
  <default>
    <joint armature="0.01" damping="0.5"/><geom type="sphere" contype="0" conaffinity="0"/>
    <position kp="{kp}" kv="2" inheritrange="1" forcerange="-{most} {most}"/>
    {foot}
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" contype="1" friction="0.8"/>
    <camera name="track" pos="0 -2 0.6" xyaxes="1 0 0 0 0.2 1"/>
    <body name="trunk" pos="0 0 {height}">
      <freejoint/>
      <geom type="box" size="{trunk}" mass="5" contype="0" conaffinity="1"/>
      {legs}
    </body>
  </worldbody>
  <actuator>{servos}</actuator>
  <keyframe><key name="home" qpos="0 0 {height} 1 0 0 0 {pose}" ctrl="{pose}"/></keyframe>
</mujoco>"""
LEGS = ("FR", -1.0), ("FL", 1.0), ("RR", -1.0), ("RL", 1.0)


def _servos(joints):
    return "".join(f'<position joint="{name}"/>' for name in joints)


def quadruped(shape='size="0.02"', iterations=100):
    """A robot with twelve servos on four feet of a shape."""
    legs = [LEG.format(n=n, x=0.2 if n[0] == "F" else -0.2, y=0.05 * side, out=0.08 * side) for n, side in LEGS]
    joints = [f"{n}_{part}" for n, _ in LEGS for part in ("hip", "thigh", "calf")]
    return SCENE.format(
        name="quadruped",
        iterations=iterations,
        kp=80,
        most=40,
        foot=FOOT.format(shape=shape),
        height=0.31,
        trunk="0.2 0.05 0.05",
        legs="".join(legs),
        servos=_servos(joints),
        pose=" ".join(["0 0.8 -1.6"] * 4),
    )


SIDE = """
<body name="{n}_hip_link" pos="0 {y} -0.05">
  <joint name="{n}_hip_roll" axis="1 0 0" range="-0.5 0.5"/>
  <joint name="{n}_hip_pitch" axis="0 1 0" range="-1.5 1.5"/>
  <geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.3" mass="2"/>
  <body name="{n}_shin" pos="0 0 -0.3">
    <joint name="{n}_knee" axis="0 1 0" range="0 2"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="1"/>
    <body name="{n}_sole" pos="0 0 -0.3" euler="0 0.09 0">
      <joint name="{n}_ankle_pitch" axis="0 1 0" range="-0.8 0.6"/>
      <geom name="{n}_foot" class="foot" pos="0.03 0 -0.03" euler="0.17 0 0"/>
    </body>
  </body>
</body>"""


def biped(shape='type="box" size="0.09 0.04 0.01"', iterations=100):
    """A robot with eight servos on two feet of a shape."""
    joints = [f"{n}_{part}" for n in ("left", "right") for part in ("hip_roll", "hip_pitch", "knee", "ankle_pitch")]
    return SCENE.format(
        name="biped",
        iterations=iterations,
        kp=100,
        most=80,
        foot=FOOT.format(shape=shape),
        height=0.7,
        trunk="0.05 0.1 0.1",
        legs="".join(SIDE.format(n=n, y=0.1 * side) for n, side in (("left", 1.0), ("right", -1.0))),
        servos=_servos(joints),
        pose=" ".join(["0 -0.2 0.4 -0.2"] * 2),
    )


class Walking:
    """A joystick task on one simulation, computed from its parameters and MuJoCo's quantities.

    `step` takes the state that the step has reached, MuJoCo's data of the start of the last substep, and the action.
    """

    def __init__(self, model, parameters, feet, dt):
        self.model, self.p, self.dt = model, parameters, dt
        self.feet = [model.geom(name).id for name in feet]
        self.floor = model.geom("floor").id
        self.nu = model.nu
        self.steps, self.command, self.action = 0, np.zeros(3), np.zeros(model.nu)
        self.touched, self.air = np.zeros(len(feet), bool), np.zeros(len(feet))

    # ------------------------------------------------------------ parts

    def begin(self, data):
        """An episode begins; data of its first state."""
        self.steps, self.action = 0, np.zeros(self.nu)
        self.touched[:], self.air[:] = self._touching(data), 0.0
        self.places = data.geom_xpos[self.feet, :2].copy()

    def swing(self, time):
        """Height that each foot is to have, from 0 to 1."""
        turns = self.phase + self.p["gait_frequency"] * time + 0.5 * self.p["gait"]
        return np.maximum(np.sin(2.0 * np.pi * turns), 0.0) ** 2

    @property
    def moves(self):
        return np.linalg.norm(self.command) > 0.1

    def controls(self, action):
        """Targets of the servos."""
        lifts = self.p["lifts"].reshape(len(self.feet), self.nu)
        lift = self.swing(self.steps * self.dt) @ lifts if self.moves else 0.0
        return self.p["stand"] + self.p["action_scale"] * action + lift

    def observation(self, qpos, qvel):
        """Observation of the agent."""
        turn = _matrix(qpos[3:7])
        angle = 2.0 * np.pi * (self.phase + self.p["gait_frequency"] * self.steps * self.dt + 0.5 * self.p["gait"][0])
        parts = 2.0 * turn.T @ qvel[:3], 0.25 * qvel[3:6], turn.T @ [0.0, 0.0, -1.0], self.command
        clock = [np.sin(angle), np.cos(angle)]
        return np.concatenate([*parts, clock, qpos[7:] - self.p["stand"], 0.05 * qvel[6:], self.action])

    def fallen(self, qpos):
        """Whether the episode ends."""
        return np.arccos(_matrix(qpos[3:7])[2, 2]) > self.p["tilt_limit"] or qpos[2] < self.p["height_limit"]

    def step(self, qpos, qvel, data, action):
        """Rewards by name after a step; then what is remembered."""
        p, dt, command = self.p, self.dt, self.command
        self.steps += 1
        turn = _matrix(qpos[3:7])
        v, w, level = turn.T @ qvel[:3], qvel[3:6], turn[2]
        force, joints = data.actuator_force, qpos[7:] - p["stand"]
        middle, half = 0.5 * (p["joint_low"] + p["joint_high"]), 0.5 * (p["joint_high"] - p["joint_low"])
        touching, fallen, sigma = self._touching(data), float(self.fallen(qpos)), p["tracking_sigma"]
        rests, where = touching | self.touched, data.geom_xpos[self.feet, :2]
        velocity = (where - self.places) / dt
        rates = {
            "track_velocity": np.exp(-np.sum((v[:2] - command[:2]) ** 2) / sigma),
            "track_yaw": np.exp(-((w[2] - command[2]) ** 2) / sigma),
            "alive": 1.0 - fallen,
            "vertical_velocity": -(v[2] ** 2),
            "roll_pitch_rate": -np.sum(w[:2] ** 2),
            "tilt": -np.sum(level[:2] ** 2),
            "torques": -np.sum(force**2),
            "energy": -np.sum(np.abs(force * qvel[6:])),
            "action_rate": -np.sum((action - self.action) ** 2),
            "joint_limits": -np.sum(np.maximum(np.abs(qpos[7:] - middle) - p["limit_share"] * half, 0.0)),
            "pose": -np.sum(p["pose_weights"] * joints**2),
            "stand_still": 0.0 if self.moves else -np.sum(np.abs(joints)),
            "slip": -np.sum(rests[:, None] * velocity**2),
            "rhythm": np.exp(-np.sum((self._lowest(data) - self._heights()) ** 2) / p["rhythm_sigma"]),
        }
        found = {name: dt * p[f"{name}_weight"] * rate for name, rate in rates.items()}
        lands = rests & (self.air > 0.0)
        least, most = p["air_time_range"]
        found["landing"] = self.moves * p["landing_weight"] * np.sum(lands * (np.minimum(self.air, most) - least))
        found["fall"] = -p["fall_weight"] * fallen
        self.air = np.where(rests, 0.0, self.air + dt)
        self.touched, self.action, self.places = touching, np.array(action), where.copy()
        return found

    def _heights(self):
        return self.p["swing_height"] * self.swing(self.steps * self.dt) if self.moves else 0.0

    def _touching(self, data):
        """Mask of feet that MuJoCo has in contact with the floor."""
        pairs = {frozenset(pair) for pair in data.contact.geom[data.contact.dist < 0.0].tolist()}
        return np.array([frozenset((foot, self.floor)) in pairs for foot in self.feet])

    def _lowest(self, data):
        """Heights of the lowest points of feet, from corners and ends."""
        found = []
        for g in self.feet:
            size, kind = self.model.geom_size[g], self.model.geom_type[g]
            turn, z = data.geom_xmat[g].reshape(3, 3), data.geom_xpos[g, 2]
            if kind == mujoco.mjtGeom.mjGEOM_BOX:
                corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T * size
                found.append(z + (corners @ turn.T)[:, 2].min())
            else:
                half = size[1] if kind == mujoco.mjtGeom.mjGEOM_CAPSULE else 0.0
                found.append(min(z + end * turn[2, 2] for end in (-half, half)) - size[0])
        return np.array(found)


def _matrix(quat):
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quat)
    return matrix.reshape(3, 3)
