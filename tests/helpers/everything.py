"""A model that holds every element of MJCF that is simulated or seen, and changes of its attributes one by one."""

import xml.etree.ElementTree as ET

import mujoco

XML = """
<mujoco model="everything">
  <compiler angle="radian" autolimits="true" eulerseq="xyz" boundmass="0.001" inertiagrouprange="0 3" meshdir=""
    texturedir="" assetdir="" discardvisual="false"><lengthrange mode="muscle" useexisting="true"/></compiler>
  <option timestep="0.003" gravity="0.1 0.2 -9.8" integrator="Euler" density="1.2" viscosity="0.002" wind="0.5 0 0.1"
    tolerance="1e-15" iterations="100" ls_iterations="50" ls_tolerance="1e-8" magnetic="0 -0.5 0.3"
    ccd_tolerance="1e-10" o_margin="0.001" o_solref="0.03 1" actuatorgroupdisable="9"><flag energy="enable"/></option>
  <size nuserdata="1"/>
  <statistic extent="2"/>
  <visual><global/><quality/><headlight/><map/><scale/><rgba/></visual>
  <default><default class="other"><geom friction="0.3 0.01 0.001"/><joint damping="0.4"/></default></default>
  <asset>
    <mesh name="wedge" vertex="0 0 0 0.2 0 0 0 0.2 0 0 0 0.3" scale="1 1 1"/>
    <mesh name="block" vertex="0 0 0 0.1 0 0 0 0.1 0 0 0 0.1 0.1 0.1 0.1"/>
    <hfield name="hills" nrow="2" ncol="2" size="0.5 0.5 0.1 0.1" elevation="0 1 0 1"/>
    <texture name="paint" type="2d" builtin="checker" width="8" height="8"/><texture name="sky" type="skybox"
     builtin="gradient" width="8" height="8"/>
    <material name="steel" texture="paint"/><material name="brass"><layer texture="paint" role="rgb"/></material>
    <skin name="hide" vertex="0 0 0 0.1 0 0 0 0.1 0" face="0 1 2"><bone body="arm" bindpos="0 0 0" bindquat="1 0 0 0"
     vertid="0 1 2" vertweight="1 1 1"/></skin>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 0.1" condim="3"/>
    <geom name="ground" type="hfield" hfield="hills" pos="5 5 0"/>
    <light name="lamp" pos="0 0 3"/><camera name="eye" pos="0 -3 1" xyaxes="1 0 0 0 0 1"/>
    <site name="wall" pos="0 0.3 1.5" size="0.02"/>
    <body name="arm" pos="0 0 1" quat="0.9 0.1 0.2 0.1" gravcomp="0.2">
      <joint name="hinge" type="hinge" axis="0 1 0" pos="0.01 0 0" ref="0.1" springref="0.2" stiffness="3" damping="0.3"
        armature="0.02" frictionloss="0.2" range="-0.4 0.05" margin="0.01" actuatorfrcrange="-3 3"
        actuatorgravcomp="true"/>
      <geom name="rod" type="capsule" size="0.04" fromto="0 0 0 0.4 0 0.05" density="900" fluidshape="ellipsoid"/>
      <geom name="knob" type="sphere" size="0.05" pos="0.2 0 0.2" mass="0.2"/>
      <site name="grip" type="box" size="0.1 0.1 0.1" pos="0.4 0 0.05" euler="0.1 0.2 0.3"/>
      <site name="side" pos="0.2 0.1 0.35" size="0.01"/>
      <camera name="palm" pos="0.4 0 0"/><light name="torch"/>
      <body name="hand" pos="0.45 0 0">
        <joint name="slide" type="slide" axis="1 0 0" damping="1" stiffness="20"/>
        <joint name="twist" type="ball" damping="0.01" frictionloss="0.01"/>
        <inertial pos="0.02 0 0.01" mass="0.4" diaginertia="0.002 0.003 0.004" quat="0.9 0.1 0 0.2"/>
        <geom name="palm" type="box" size="0.05 0.04 0.03"/>
        <site name="tip" pos="0.05 0.02 0" size="0.03"/>
      </body>
    </body>
    <body name="box" pos="1 0 0.095" euler="0.02 0.01 0"><freejoint name="float"/>
      <geom name="crate" type="box" size="0.1 0.12 0.1" friction="0.7 0.01 0.001" condim="4" solref="0.015 1.1"
       solimp="0.85 0.9 0.002 0.5 2" margin="0.01" gap="0.001"/></body>
    <body name="can" pos="-1 0 0.14"><freejoint/><geom name="tin" type="cylinder" size="0.08 0.15" priority="1"
       surfacevel="0.1 0 0 0 0 0"/><site name="lid" pos="0 0 0.15" size="0.2"/></body>
    <body name="rock" pos="0 2 0.05"><freejoint/><geom name="stone" type="mesh" mesh="wedge"/></body>
    <body name="swing" pos="2 2 1"><joint name="rope" axis="1 0 0"/><joint name="reel" axis="0 1 0"/><geom name="seat"
      size="0.1" pos="0 0 -0.5" mass="1"/><site name="seat" pos="0 0 -0.5"/></body>
    <body name="target" mocap="true" pos="2 2.6 0.5"><geom name="mark" size="0.05" contype="0" conaffinity="0"/></body>
    <body name="pin" pos="3 0 1"><joint name="door" axis="0 0 1"/><joint name="bolt" type="slide" axis="0 0 1"
      range="-1 1"/><geom name="leaf" type="ellipsoid" size="0.2 0.05 0.3" contype="0" conaffinity="0"/><site
      name="knob" pos="0.2 0 0"/></body>
    <body name="rack" pos="4 -4 1"><flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing="10 10 10"
      radius="0.01" mass="90"><edge damping="1"/><elasticity young="2000" poisson="0.1" thickness="0.01"
      damping="0.001" elastic2d="both"/><contact selfcollide="none" contype="0" conaffinity="0"/><pin
      id="0 2"/></flexcomp></body>
  </worldbody>
  <deformable><skin name="coat" vertex="0 0 0 0.1 0 0 0 0.1 0" face="0 1 2"><bone body="hand" bindpos="0 0 0"
     bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin>
    <flex name="badge" dim="2" body="arm" vertex="0 0 0 0.1 0 0 0 0.1 0" element="0 1 2"><contact selfcollide="none"
     contype="0" conaffinity="0"/></flex></deformable>
  <contact><pair name="pair" geom1="floor" geom2="tin" condim="3"/><exclude name="apart" body1="arm"
     body2="hand"/></contact>
  <tendon>
    <spatial name="cord" stiffness="30" damping="0.4" springlength="0.2 0.3" range="0 0.45" limited="true"
      frictionloss="0.1" margin="0.01" width="0.004"><site site="wall"/><geom geom="knob" sidesite="side"/><site
      site="tip"/><pulley divisor="2"/><site site="wall"/><site site="grip"/></spatial>
    <fixed name="mix" stiffness="2" damping="0.1" range="-0.1 0.1" actuatorfrcrange="-1 1"><joint
      joint="hinge" coef="0.5"/><joint joint="door" coef="-0.7"/></fixed>
    <fixed name="same" armature="0.02"><joint joint="rope" coef="0.4"/><joint joint="reel" coef="0.3"/></fixed>
  </tendon>
  <equality>
    <connect name="nail" body1="swing" body2="target" anchor="0 0.5 -0.4" solref="0.03 1"/>
    <weld name="glue" body1="box" body2="can" active="false"/>
    <weld name="tape" site1="lid" site2="wall" solref="0.2 1" torquescale="0.3"/>
    <joint name="gears" joint1="door" joint2="bolt" polycoef="0.1 0.5 0.1 0 0"/>
    <tendon name="belts" tendon1="mix" tendon2="same" polycoef="0 0.3 0 0 0"/>
  </equality>
  <actuator>
    <general name="general" joint="hinge" dyntype="filter" dynprm="0.1" gainprm="2" biastype="affine"
      biasprm="0.1 -2 -0.1" ctrlrange="-1 1" forcerange="-2 2" actlimited="true" actrange="-1 1" gear="1.5"
      armature="0.01" damping="0.02"/>
    <motor name="motor" joint="door" gear="2"/>
    <motor name="thrust" site="tip" refsite="wall" gear="1 0 0 0 0.1 0"/>
    <motor name="crank" cranksite="grip" slidersite="wall" cranklength="1.5"/>
    <position name="position" joint="slide" kp="30" kv="2" timeconst="0.1"/>
    <velocity name="velocity" joint="door" kv="0.4"/>
    <intvelocity name="intvelocity" joint="hinge" kp="4" kv="0.1" actrange="-1 1"/>
    <orientation name="orientation" joint="twist" kp="0.5" kv="0.02"/>
    <pid name="pid" joint="bolt" kp="30" kv="3" ki="2" imax="1" slewmax="5" input="pos vel ff"/>
    <damper name="damper" joint="rope" kv="0.3" ctrlrange="0 1"/>
    <cylinder name="cylinder" tendon="cord" timeconst="0.2" area="2" bias="0.1 0 0"/>
    <muscle name="muscle" tendon="cord" lengthrange="0.2 1" force="20"/>
    <adhesion name="adhesion" body="box" ctrlrange="0 5" gain="3"/>
    <dcmotor name="dcmotor" joint="reel" resistance="1.2" motorconst="0.3" inductance="0 0.01"
      thermal="3 20 0 0.004 25 20" cogging="0.1 5 0.2" lugre="5 0.1 0.2 0.3 0.1"
      controller="2 1 0.1 5 1 10" input="pos vel" saturation="0 3 100"/>
    <motor name="late" joint="reel" delay="0.006" nsample="3" interp="linear"/>
  </actuator>
  <sensor>{sensors}</sensor>
  <custom><numeric name="number" data="1 2"/><text name="text" data="hello"/><tuple name="tuple"><element objtype="body"
    objname="arm" prm="1"/></tuple></custom>
  <keyframe><key name="start" time="0.5"/></keyframe>
</mujoco>"""
SENSORS = {
    "site": "touch accelerometer velocimeter gyro force torque magnetometer rangefinder",
    "joint": "jointpos jointvel jointactuatorfrc jointlimitpos jointlimitvel jointlimitfrc",
    "tendon": "tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc",
    "actuator": "actuatorpos actuatorvel actuatorfrc",
    "body": "subtreecom subtreelinvel subtreeangmom",
    "objtype='site' objname": "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel framelinacc"
    " frameangacc",
    "geom1='palm' geom2": "distance normal fromto",
    "": "e_potential e_kinetic clock",
}
ON = {"site": "tip", "joint": "hinge", "tendon": "cord", "actuator": "motor", "body": "arm"}
ON |= {"objtype='site' objname": "grip", "geom1='palm' geom2": "seat"}


def xml() -> str:
    """The text of the model, with a sensor of each kind."""
    sensors = [
        f"<{name} name='{name}' {f'{on}={chr(34)}{ON[on]}{chr(34)}' if on else ''}/>"
        for on, names in SENSORS.items()
        for name in names.split()
    ]
    sensors += ["<ballquat joint='twist'/><ballangvel joint='twist'/><camprojection site='tip' camera='eye'/>"]
    sensors += [
        "<insidesite site='grip' objtype='site' objname='tip'/><contact geom1='crate' data='found force' num='2'/>"
    ]
    sensors += ["<user dim='2' datatype='real' needstage='pos'/>"]
    return XML.format(sensors="".join(sensors))


# values to try for an attribute, in turn; what must go where another attribute comes, and what must come with it
NUMBERS = (
    "0.37",
    "0.013",
    "2",
    "3",
    "1",
    "0.2 0.3",
    "-0.3 0.4",
    "0.1 0.2 0.3",
    "0.9 0.1 0.2 0.3",
    "0 0 1 0.1 0 0.2",
    "5 3",
)
WORDS = (
    "true",
    "false",
    "enable",
    "disable",
    "auto",
    "other",
    "steel",
    "linear",
    "cubic",
    "quat",
    "elliptic",
    "targetbody",
)
NAMES = (
    "door",
    "cord",
    "grip",
    "hand",
    "palm",
    "affine",
    "filterexact",
    "integrator",
    "none",
    "slide",
    "ellipsoid",
    "pos vel",
)
VALUES = (*NUMBERS, *WORDS, *NAMES)
INSTEAD = (
    {"quat", "axisangle", "euler", "xyaxes", "zaxis"},
    {"joint", "jointinparent", "tendon", "site", "cranksite", "body"},
    {"kv", "dampratio"},
    {"diaginertia", "fullinertia"},
    {"area", "diameter"},
    {"ctrlrange", "inheritrange"},
)
COLLIDING = {"contype", "conaffinity", "condim", "friction", "priority", "solmix", "solref", "solimp"}
COLLIDING |= {"margin", "gap", "surfacevel"}
WITH = {"delay": ("nsample", "4"), "interp": ("nsample", "4"), "cranksite": ("slidersite", "wall")}


def changed(element: str, attribute: str, values=VALUES):
    """Texts of the model with another value of an attribute of the first element at a path such as "body/joint"."""
    tree = ET.fromstring(xml())
    found = _find(tree, element, attribute)
    if found is None:
        return
    before = found.get(attribute)
    for group in INSTEAD:
        for other in group - {attribute} if attribute in group else ():
            found.attrib.pop(other, None)
    if attribute in WITH:
        found.set(*WITH[attribute])
    for value in values:
        if value != before:
            found.set(attribute, value)
            yield value, ET.tostring(tree, encoding="unicode")


def _find(tree, element, attribute):
    section, *inside = element.split("/")
    path = "/".join(inside)
    if element == "mujoco":
        return tree
    if element == "body/geom" and attribute in COLLIDING:
        return tree.find(".//geom[@name='crate']")
    if section == "body":
        return tree.find(f".//body/{path}" if path else ".//body")
    return tree.find(element)


def compiled(text: str) -> mujoco.MjModel | None:
    """The model of a text, or None where the text is not MJCF."""
    try:
        return mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return None
