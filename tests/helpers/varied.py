"""Values of the fields in which simulations of a batch may differ, and a model that reads nearly all of them."""

import numpy as np

from saltus.errors import OptionError
from saltus.model.features import name_of
from saltus.model.vary.fields import KIND_OF, value_of

ARMS = """
<mujoco><option impratio="2"><flag refsafe="enable"/></option><worldbody>
<geom name="floor" type="plane" size="5 5 .1" friction=".8 .01 .001"/>
<geom name="pulley" type="cylinder" size=".05 .2" pos="0 .3 1" quat="1 1 0 0" contype="0" conaffinity="0"/>
<site name="wall" pos="0 0 1.3"/><camera name="eye" pos="0 -2 1" mode="trackcom"/>
<body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" pos=".01 0 0" range="-1 1" damping=".1"
  frictionloss=".05" stiffness="1" armature=".01" actuatorfrcrange="-5 5"/>
 <geom name="arm" type="capsule" size=".05 .2" pos=".2 0 0" quat="1 0 1 0"/><site name="elbow" pos=".2 0 .06"/>
 <body name="lower" pos=".4 0 0"><joint name="wrist" type="ball" damping=".1" range="0 1"/>
  <geom name="hand" type="box" size=".1 .05 .05" pos=".1 .02 0" quat="1 .1 0 0"/><site name="tip" pos=".2 0 0"/>
 </body></body>
<body name="ball" pos="1 0 .3"><freejoint/><inertial pos=".01 0 0" mass="1" diaginertia=".01 .02 .025"/>
 <geom name="round" type="ellipsoid" size=".1 .08 .12" priority="1" solref="-500 -20"/><site name="mark"/></body>
<body name="post" pos="2 0 .5"><joint name="lift" type="slide" axis="0 0 1" damping="1" range="-1 1"/>
 <geom name="head" size=".1" margin=".01" gap=".002"/></body></worldbody>
<contact><pair name="own" geom1="head" geom2="round" friction=".5 .4 .01 .001 .002" solreffriction=".01 1"/></contact>
<tendon><spatial name="cord" stiffness="5" damping=".1" range=".1 .9" frictionloss=".01"><site site="wall"/>
 <geom geom="pulley"/><site site="elbow"/></spatial>
<fixed name="sum" damping=".2"><joint joint="shoulder" coef="1"/><joint joint="lift" coef=".5"/></fixed></tendon>
<actuator><motor joint="shoulder" gear="2" ctrlrange="-1 1"/><position joint="lift" kp="30" kv="2" forcerange="-9 9"/>
<muscle tendon="cord" lengthrange=".2 .8"/><velocity tendon="sum" kv="1"/>
<intvelocity joint="lift" kp="3" actrange="-1 1"/></actuator>
<equality><connect body1="ball" body2="post" anchor="0 0 .1"/><joint joint1="shoulder" joint2="lift"/></equality>
</mujoco>
"""


def drawn(m, name, rng, n):
    """Values of a field for n simulations, near the model's."""
    own = np.asarray(value_of(m, name), float)
    values = own * rng.uniform(0.8, 1.2, size=(n, *own.shape))
    if name.endswith(("quat", "axis")):
        values = own + 0.1 * rng.normal(size=(n, *own.shape))
        values /= np.linalg.norm(values, axis=-1, keepdims=True)
    elif name.endswith("pos"):
        values = own + 0.02 * rng.normal(size=(n, *own.shape))
    return values


def given(varied, name, values):
    """Writes the values, but for objects whose values are refused; whether there is anything left to vary."""
    m = varied.model.mj_model
    for _ in range(1 + values.shape[1] if values.ndim > 1 else 1):
        varied.fields[name][:] = values
        try:
            varied.update()
            return True
        except OptionError as error:
            if "cannot vary" not in str(error):
                assert "compiled as simple" in str(error)  # MuJoCo's own limit
                return False
            kind = KIND_OF[name.split("_")[0]].upper()
            names = [name_of(m, kind, i) for i in range(values.shape[1])]
            k = names.index(str(error).split("[")[1].split("]")[0])
            values[:, k] = value_of(m, name)[k]
    raise AssertionError(name)
