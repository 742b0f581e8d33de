"""A model with a bit of everything that has parameters, changes of its fields, and their derivatives by differences."""

import copy

import mujoco
import numpy as np

from saltus.model.vary.fields import value_of

#: Joints, tendons, muscles, servos, equalities, limits, dry friction and contacts; see `parametric_state`.
PARAMETRIC = """
<mujoco><option timestep="0.004" tolerance="0" iterations="100" ls_iterations="50" impratio="2" cone="elliptic"/>
<default><geom solref="0.03 0.9" solimp="0.8 0.9 0.01 0.4 2"/></default>
<worldbody>
  <geom name="floor" type="plane" size="9 9 .1" friction="0.6 0.01 0.001" pos="0 0 0.02"/>
  <site name="hook" pos="0.1 0 1.4"/>
  <body name="trunk" pos="0 0 .5"><freejoint/>
    <geom name="box" type="box" size=".2 .1 .05" mass="3" friction="0.9 0.02 0.002" quat="0.9 0.1 0.2 0.3"/>
    <inertial pos="0.01 0.02 0.03" quat="0.9 0.1 -0.2 0.05" mass="3" diaginertia="0.03 0.04 0.05"/>
    <site name="top" pos="0.05 0.02 0.05"/>
    <body name="leg" pos=".1 0.02 0" quat="0.95 0.05 0.02 0.01">
      <joint name="hip" axis="0.1 1 0" damping=".2" range="-20 20" margin="0.02" frictionloss="0.1" pos="0.01 0.02 0.03"
             stiffness="1" armature="0.01"/>
      <geom name="shin" type="capsule" fromto="0 0 0 0.02 0 -.35" size=".03" mass=".5"/>
      <site name="knee" pos="0.02 0.03 -.2"/>
      <body name="foot" pos="0 0 -.4"><joint name="ankle" type="ball" damping="0.05" range="0 30" stiffness="0.5"/>
        <geom name="ball" type="sphere" size="0.12" mass="0.4" friction="0.7 0.02 0.003" condim="6" margin="0.01"
              solref="0.04 0.8" gap="0.002" pos="0.01 0.01 -0.02"/>
        <site name="sole" pos="0.03 0.01 -0.1"/></body>
    </body>
    <body name="arm" pos="-.15 0 0.1">
      <joint name="slide" type="slide" axis="0.1 0.2 1" damping="0.3" frictionloss="0.2" range="-0.1 0.05"/>
      <joint name="turn" axis="1 0 0.2" damping="0.02"/>
      <geom name="fist" type="sphere" size="0.06" pos="0.02 0.05 -0.48" mass="0.3"/></body>
  </body>
  <body name="bob" pos="0.4 0.3 0.8"><joint name="b1" axis="1 0 0"/><joint name="b2" axis="0 1 0" pos="0 0 0.3"/>
    <geom name="bob" type="capsule" size="0.05 0.1" mass="0.7" pos="0 0.1 0"/><site name="bobsite" pos="0.05 0 0.03"/>
  </body>
  <body name="bab" pos="0.4 0.5 0.8"><joint name="c1" axis="1 0 0"/><joint name="c2" axis="0 1 0.3" pos="0 0 0.3"/>
    <geom name="bab" type="capsule" size="0.05 0.1" mass="0.5" pos="0 0.1 0" contype="0" conaffinity="0"/></body>
  <body name="bub" pos="0.4 0.7 0.8"><joint name="d1" type="ball"/>
    <geom name="bub" type="capsule" size="0.05 0.1" mass="0.5" pos="0 0.1 0" contype="0" conaffinity="0"/></body>
</worldbody>
<contact><pair geom1="fist" geom2="floor" condim="4" friction="0.5 0.6 0.01 0.001 0.001" margin="0.03" gap="0.001"
               solreffriction="0.04 1"/></contact>
<tendon>
  <fixed name="fix" stiffness="3" damping="0.2" springlength="0.02" limited="true" range="-0.3 0.05" margin="0.02"
         frictionloss="0.05"><joint joint="hip" coef="0.7"/><joint joint="turn" coef="-0.4"/></fixed>
  <spatial name="cord" stiffness="20" damping="0.5" springlength="0.1 0.2" frictionloss="0.3">
    <site site="hook"/><site site="top"/><pulley divisor="2"/><site site="top"/><site site="knee"/></spatial>
  <spatial name="rope" limited="true" range="0 0.3"><site site="bobsite"/><site site="hook"/></spatial>
  <fixed name="eq1"><joint joint="b1" coef="1"/></fixed><fixed name="eq2"><joint joint="b2" coef="1"/></fixed>
</tendon>
<equality>
  <joint joint1="b1" joint2="turn" polycoef="0.1 0.5 0.2 0 0"/><connect body1="bab" body2="bob" anchor="0.1 0.2 0.1"/>
  <weld body1="bub" body2="bab" solref="0.05 1"/><tendon tendon1="eq2" tendon2="eq1" polycoef="0.1 0.3 0 0 0"/>
</equality>
<actuator>
  <position name="servo" joint="hip" kp="20" kv="1" forcerange="-30 30"/><motor name="pull" tendon="fix" gear="2"/>
  <muscle name="muscle" tendon="cord" lengthrange="0.5 1.5" scale="150"/>
  <muscle name="mj" joint="turn" lengthrange="-1 1" scale="100" gear="1.5"/>
  <general name="gen" joint="slide" dyntype="filter" dynprm="0.1" gainprm="3" biastype="affine" biasprm="0.3 -1 -0.4"
           ctrlrange="-0.1 0.1" ctrllimited="true" actrange="-1 1" actlimited="true"/>
  <motor name="sitemotor" site="sole" gear="1 2 0 0.1 0 0"/>
  <general name="reference" site="sole" refsite="hook" gear="1 0.5 0 0.1 0 0.2" biastype="affine" biasprm="0 -2 -0.1"/>
  <motor name="damped" joint="b1" gear="2" armature="0.01" damping="0.2"/><motor joint="ankle" gear="0.2 0.3 0.1"/>
</actuator>
</mujoco>"""


def parametric_state(m):
    """Positions, velocities, controls and activations of PARAMETRIC in which a foot, a shin and a fist touch."""
    rng = np.random.default_rng(1)
    qpos, move = m.qpos0.copy(), 0.05 * rng.normal(size=m.nv)
    move[:6] *= 0.3
    mujoco.mj_integratePos(m, qpos, move, 1.0)
    qpos[2] -= 0.12
    speed, ctrl, act = rng.normal(size=m.nv), rng.uniform(size=m.nu), rng.uniform(size=m.na)
    return {"qpos": qpos, "qvel": 0.3 * speed, "ctrl": 0.5 * ctrl, "act": 0.3 * act}


def with_field(model, field, value):
    """The model with another value of a field, and the constants that MuJoCo derives from it."""
    m = copy.copy(model.mj_model)
    if field == "opt.impratio":
        m.opt.impratio = float(value)
    else:
        value_of(m, field)[...] = _unit(field, np.asarray(value))
    mujoco.mj_setConst(m, mujoco.MjData(m))
    return model.with_values_of(m, {})


def _unit(field, value):
    """Quaternions and axes of length 1."""
    return value / np.linalg.norm(value, axis=-1, keepdims=True) if field.endswith(("quat", "axis")) else value


def direction_of(model, field, seed=0):
    """A random change of a field, as large as its values but for what must keep its sign, without what is refused."""
    base = np.asarray(value_of(model.mj_model, field), float)
    change = np.random.default_rng(seed).normal(size=base.shape)
    change *= np.where(base != 0, np.minimum(abs(base), 1.0), 1e-3 if "armature" in field else 0.1)
    if field in ("body_mass", "geom_size") or field.endswith("frictionloss"):
        change *= base != 0
    if "solimp" in field:
        change[..., 4] = 0.0  # the power
    if field in ("body_ipos", "body_iquat"):
        change[0] = 0.0  # the world's, which coincides with its frame
    if field == "geom_size":
        change[model.mj_model.geom_type == 0] = 0.0
    if field == "actuator_armature":
        change[model.mj_model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON.value] = 0.0
    return base, change


def richardson(function, h):
    """The derivative of a function at 0 by central differences with steps h, h/2, h/4, extrapolated to O(h⁶)."""
    first, second, third = ((function(x) - function(-x)) / (2 * x) for x in (h, h / 2, h / 4))
    return (16 * (4 * third - second) / 3 - (4 * second - first) / 3) / 15


def ridders(function, h, count=7):
    """The derivative of a function at 0, and an estimate of its error, by differences with steps h, h/2, h/4, ...

    Of all extrapolations the one whose neighbours agree best (Ridders, Accurate computation of F'(x) and F'(x) F''(x),
    Advances in Engineering Software 4 (1982), 75-76).
    """
    rows: list[list[np.ndarray]] = []
    best, error = np.zeros(0), np.inf
    for i in range(count):
        x = h / 2**i
        row = [(function(x) - function(-x)) / (2 * x)]
        for j in range(1, i + 1):
            row.append(row[-1] + (row[-1] - rows[-1][j - 1]) / (4**j - 1))
            apart = max(np.abs(row[j] - row[j - 1]).max(), np.abs(row[j] - rows[-1][j - 1]).max())
            if apart < error:
                best, error = row[j], apart
        rows.append(row)
    return best, error
