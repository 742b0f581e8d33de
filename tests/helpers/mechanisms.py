"""Mechanisms that between them hold every joint, force and option that is simulated."""

OFF = '<option><flag contact="disable"/></option>'

# one body on each joint, with its centre of mass off the joint and its principal axes turned
SLIDE = """
<mujoco><option gravity="1 -2 -9"/><worldbody>
  <body pos="0.1 0.2 0.3" quat="0.8 0.2 -0.4 0.4">
    <joint name="x" type="slide" axis="1 2 -1" pos="0.3 0 0.1"/>
    <inertial pos="0.1 -0.2 0.3" quat="0.9 0.1 0.3 -0.2" mass="1.5" diaginertia="0.03 0.02 0.04"/>
    <site name="s" pos="0.1 0.1 0.1" euler="10 20 30"/>
  </body>
</worldbody></mujoco>"""

HINGE = SLIDE.replace('"slide"', '"hinge"')
BALL = SLIDE.replace('type="slide" axis="1 2 -1"', 'type="ball"')
FREE = SLIDE.replace('type="slide" axis="1 2 -1" pos="0.3 0 0.1"', 'type="free"')

SEVERAL_JOINTS = """
<mujoco><worldbody>
  <body pos="0 0 1">
    <joint name="a" type="slide" axis="1 0 1" pos="0.1 0 0"/>
    <joint name="b" type="slide" axis="0 0 1"/>
    <joint name="c" type="hinge" axis="0 1 1" pos="0 0.2 0"/>
    <joint name="d" type="ball" pos="-0.1 0.1 0.05"/>
    <inertial pos="0.1 0 0.2" mass="1" fullinertia="0.04 0.05 0.03 0.01 -0.005 0.002"/>
    <body pos="0.3 0.1 0" euler="30 -20 50">
      <joint name="e" type="hinge" axis="1 0 0" pos="0 0 0.3"/>
      <joint name="f" type="slide" axis="1 0 1"/>
      <joint name="g" type="hinge" axis="0 1 0"/>
      <joint name="h" type="hinge" axis="0 0 1"/>
      <geom type="box" size="0.1 0.2 0.05" pos="0.1 0.1 0" euler="10 20 30" contype="0" conaffinity="0"/>
    </body>
  </body>
</worldbody></mujoco>"""

# bodies fixed to the world, to each other and to moving bodies, with mass and without
FIXED_AND_MASSLESS = """
<mujoco><worldbody>
  <body name="stand" pos="1 2 3" euler="10 20 30">
    <geom type="box" size="0.1 0.2 0.3" mass="5" contype="0" conaffinity="0"/>
    <body name="mount" pos="0.3 0 0" euler="0 40 0">
      <body name="arm" pos="0 0 0.2">
        <joint name="shoulder" axis="0 1 0"/>
        <body name="payload" pos="0.4 0 0" euler="5 0 0">
          <inertial pos="0.05 0 0" mass="2" diaginertia="0.01 0.02 0.03"/>
          <site name="tool" pos="0 0 0.1"/>
          <body name="frame" pos="0.1 0.1 0.1"/>
        </body>
        <body name="empty" pos="0 1 0" euler="0 0 77"/>
      </body>
      <site name="mark" pos="0.1 0.2 0.3" euler="0 0 45"/>
    </body>
  </body>
</worldbody></mujoco>"""

# a branching tree, a free body, a free tree with children, and a second tree of hinges
SEVERAL_TREES = """
<mujoco><worldbody>
  <body name="ball0"><freejoint/><inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.02 0.025"/></body>
  <body name="trunk" pos="0 0 2">
    <freejoint/><geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.1" contype="0" conaffinity="0"/>
    <body name="left" pos="0.2 0 0">
      <joint type="ball"/><geom type="capsule" fromto="0 0 0 0.1 0 -0.4" size="0.05" contype="0" conaffinity="0"/>
      <body pos="0.1 0 -0.4">
        <joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04" contype="0" conaffinity="0"/>
      </body>
      <body pos="0.1 0.2 -0.4">
        <joint type="slide" axis="0 1 1"/><geom type="sphere" size="0.1" contype="0" conaffinity="0"/>
      </body>
    </body>
    <body name="right" pos="-0.2 0 0">
      <joint axis="1 0 0"/><joint axis="0 1 0"/><geom type="box" size="0.1 0.1 0.2" contype="0" conaffinity="0"/>
    </body>
  </body>
  <body name="door" pos="2 0 0">
    <joint axis="0 0 1"/><geom type="box" size="0.5 0.05 1" pos="0.5 0 0" contype="0" conaffinity="0"/>
    <body pos="1 0 0"><joint axis="0 0 1"/><geom type="box" size="0.2 0.05 1" contype="0" conaffinity="0"/></body>
  </body>
</worldbody></mujoco>"""

REFERENCES_AND_SPRINGS = """
<mujoco><compiler angle="radian"/>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody>
  <body pos="0 0 1">
    <joint name="a" type="slide" axis="1 0 0" ref="0.3" springref="-0.2" stiffness="12 3 4" damping="0.5 0.2 0.1"/>
    <joint name="b" type="hinge" axis="0 1 0" ref="0.7" springref="0.4" stiffness="7 -1 2" damping="0.1 0.3 0.05"
           armature="0.02"/>
    <geom size="0.1" pos="0.2 0 0"/>
    <body pos="0.3 0 0">
      <joint name="c" type="ball" stiffness="2 0.5 0.25" damping="0.3 0.1 0.2" armature="0.01"/>
      <geom type="box" size="0.1 0.2 0.05" pos="0.1 0.1 0"/>
    </body>
  </body>
  <body pos="1 1 1" euler="0.3 0.2 0.1">
    <joint name="d" type="free" stiffness="5 1 1" damping="0.2 0.1 0.3" armature="0.03"/>
    <geom type="ellipsoid" size="0.1 0.2 0.3" pos="0.05 0 0"/>
  </body>
</worldbody></mujoco>"""

GRAVITY_COMPENSATION = """
<mujoco><option gravity="0.5 1 -9.81"/>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody>
  <body gravcomp="0.6">
    <joint name="a" axis="0 1 0" damping="0.1"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
    <body pos="0.5 0 0" gravcomp="1.2">
      <joint name="b" axis="0 1 0" actuatorgravcomp="true" actuatorfrcrange="-2 3"/>
      <joint name="c" axis="1 0 0" actuatorgravcomp="true"/>
      <geom type="capsule" fromto="0 0 0 0.4 0.1 0" size="0.05"/>
    </body>
  </body>
  <body pos="0 2 0" gravcomp="1"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/></body>
  <body pos="0 4 0" gravcomp="0.7">
    <joint type="ball" actuatorgravcomp="true"/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0.2"/>
  </body>
</worldbody>
<actuator><motor joint="b" gear="3"/></actuator>
</mujoco>"""

ACTUATORS = """
<mujoco><compiler angle="radian"/>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody>
  <body>
    <joint name="a" axis="0 1 0" actuatorfrcrange="-5 4" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
    <body pos="0.5 0 0">
      <joint name="b" type="slide" axis="1 0 0"/><joint name="c" axis="0 1 0" armature="0.05" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.05"/>
      <body pos="0.4 0 0">
        <joint name="d" axis="0 0 1"/><joint name="e" axis="1 0 0"/><geom type="box" size="0.1 0.2 0.05" pos="0.1 0 0"/>
      </body>
    </body>
  </body>
</worldbody>
<actuator>
  <motor name="limited" joint="a" gear="7" ctrlrange="-0.5 0.8"/>
  <motor name="weak" joint="a" gear="-2" forcerange="-1 0.5"/>
  <position name="servo" joint="b" kp="30" kv="4" gear="0.5"/>
  <velocity name="speed" joint="c" kv="3" gear="2" ctrlrange="-1 1"/>
  <general name="affine" joint="d" gaintype="affine" gainprm="2 0.5 0.25" biastype="affine" biasprm="0.3 -1 -0.4"
           gear="1.5" forcerange="-3 3"/>
  <general name="heavy" joint="e" gear="6" armature="0.002" damping="0.01 0.02 0.03" group="3"/>
  <general name="light" joint="c" gear="2" armature="0.1" damping="0.3"/>
</actuator>
</mujoco>"""

FLAGS = ("gravity", "spring", "damper", "actuation", "clampctrl")


def with_option(xml, option):
    """The model with one <option> element more."""
    return xml.replace("<mujoco>", f"<mujoco>{option}", 1)


def _switched(xml):
    return {flag: with_option(xml, f'<option><flag {flag}="disable"/></option>') for flag in FLAGS}


MECHANISMS = {
    "slide": SLIDE,
    "hinge": HINGE,
    "ball": BALL,
    "free": FREE,
    "several joints": SEVERAL_JOINTS,
    "fixed and massless": FIXED_AND_MASSLESS,
    "several trees": SEVERAL_TREES,
    "references and springs": REFERENCES_AND_SPRINGS,
    "gravity compensation": GRAVITY_COMPENSATION,
    "actuators": ACTUATORS,
    "actuators, no group 3": with_option(ACTUATORS, '<option actuatorgroupdisable="3"/>'),
    **{
        f"actuators, no {f}": xml
        for f, xml in _switched(ACTUATORS).items()
        if f in ("actuation", "clampctrl", "damper")
    },
    **{f"references and springs, no {f}": xml for f, xml in _switched(REFERENCES_AND_SPRINGS).items()},
    **{f"gravity compensation, no {f}": xml for f, xml in _switched(GRAVITY_COMPENSATION).items()},
    "gravity compensation, no spring, no damper": with_option(
        GRAVITY_COMPENSATION, '<option><flag spring="disable" damper="disable"/></option>'
    ),
    "gravity compensation, no motor": GRAVITY_COMPENSATION.replace('<motor joint="b" gear="3"/>', ""),
    "empty world": "<mujoco/>",
}
