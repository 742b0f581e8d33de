"""What sweeps may change, and what is refused by name. Reference: the model's own names."""

import pytest

from saltus.errors import OptionError
from saltus.study.sweep import sweep

SPRING = """<mujoco model="swing"><option timestep="0.01" integrator="RK4"/><worldbody><body name="b">
  <joint name="x" type="slide" axis="1 0 0" stiffness="4"/>
  <geom name="g" size="0.1" mass="1" contype="0" conaffinity="0"/>
  </body></worldbody><actuator><motor name="push" joint="x"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"body_mass[c]": [1.0]}, "unknown body in body_mass.c.: 'c'"),
        ({"body_mas[b]": [1.0]}, "did you mean 'body_mass'"),
        ({"body_mass[b]": [1.0, -1.0]}, "body_mass.b. must not be negative, got -1"),
        ({"joint[x]/stifness": [1.0]}, "stifness=1"),
        ({"joint[y]/stiffness": [1.0]}, "unknown joint in joint.y./stiffness"),
        ({"qpos[y]": [1.0]}, "unknown joint in qpos.y."),
        ({"qpos[x]": [[1.0, 2.0]]}, "takes 1 number, got 2"),
        ({"ctrl[pull]": [1.0]}, "unknown actuator in ctrl.pull."),
        ({"integrator": ["rk5"]}, "unknown integrator 'rk5'"),
        ({"contact": ["sticky"]}, "sticky"),
        ({"mass": [1.0]}, "'mass' is not a setting"),
        ({"body_mass[b]": 1.0}, "expected a list of values"),
        ({"body_mass[b]": []}, "no values given"),
        ({"body_mass[b]": [1.0, 1.0]}, "the same values twice"),
        ({}, "needs values"),
    ],
)
def test_values_that_cannot_be(values, message):
    with pytest.raises(OptionError, match=message):
        sweep(SPRING, values, "energy_drift", 1.0, workers=1)
