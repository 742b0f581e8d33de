"""Clamped parameters of soft constraints are said when a model is loaded, once, with the names of what has them.

Reference: MuJoCo 4.0's documentation (Solver parameters): impedances within 0.0001 and 0.9999, a power of at least 1,
the default for mixed signs of solref, and a time constant of at least two timesteps unless refsafe is off; that MuJoCo
acts so, too, is seen from its forces, which are those of the parameters named.
"""

import re
import warnings

import mujoco
import numpy as np
import pytest

import saltus
from saltus.model.contact.clamped import ClampedWarning, clamped

SCENE = """<mujoco model="scene"><option timestep="0.002">{flag}</option><worldbody>
  <geom name="floor" type="plane" size="1 1 1" {floor}/>
  <body pos="0 0 0.0999"><joint name="lift" type="slide" axis="0 0 1" range="-1 1" {limit}/>
    <geom name="ball" size="0.1" {ball}/></body></worldbody></mujoco>"""
DEFAULT = np.array([0.9, 0.95, 0.001, 0.5, 2.0])


def scene(floor="", ball="", limit="", flag=""):
    return SCENE.format(floor=floor, ball=ball, limit=limit, flag=flag)


CLAMPED = {
    "mixed signs": ('solref="0.02 -1"', "solref 0.02 -1 has mixed signs and acts as 0.02 1", 'solref="0.02 1"'),
    "a short time constant": ('solref="0.001 1"', "solref 0.001 1 acts as 0.004 1, two timesteps", 'solref="0.004 1"'),
    "no impedance": ('solimp="0 0.9"', "solimp 0 0.9 0.001 0.5 2 acts as 0.0001 0.9", 'solimp="0.0001 0.9"'),
    "all of it": ('solimp="0.9 1"', "solimp 0.9 1 0.001 0.5 2 acts as 0.9 0.9999", 'solimp="0.9 0.9999"'),
}


@pytest.mark.parametrize("case", CLAMPED)
def test_it_is_said_at_load(case):
    given, text, acting = CLAMPED[case]
    with pytest.warns(ClampedWarning) as caught:
        saltus.load(scene(floor=given, ball=given))
    (said,) = [str(w.message) for w in caught if issubclass(w.category, ClampedWarning)]
    assert f"geom 'floor', geom 'ball': {text}" in said and said.startswith("scene:") and said.count(text) == 1
    # MuJoCo acts so
    forces = []
    for values in (given, acting):
        m = mujoco.MjModel.from_xml_string(scene(floor=values, ball=values))
        data = mujoco.MjData(m)
        mujoco.mj_forward(m, data)
        forces.append(data.efc_force.copy())
    np.testing.assert_allclose(forces[0], forces[1], rtol=1e-12)


@pytest.mark.parametrize("values", ['solref="-1000 -10"', 'solref="0.004 1"', 'solimp="0.0001 0.9999 0.01 0.5 1"', ""])
def test_what_acts_as_given_is_not_said(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error", saltus.SaltusWarning)
        saltus.load(scene(floor=values, ball=values))


def test_what_does_not_act_is_not_said():
    short = 'solref="0.001 1"'
    silent = (
        scene(ball=f'{short} contype="0" conaffinity="0"'),
        scene(ball=short, flag='<flag contact="disable"/>'),
        scene(ball=short, flag='<flag refsafe="disable"/>'),
        scene(limit='solreflimit="0.001 1"', flag='<flag limit="disable"/>'),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", saltus.SaltusWarning)
        for text in silent:
            saltus.load(text)
        saltus.load(scene(ball=short), ignore=["contact"])


def test_limits_are_named():
    with pytest.warns(ClampedWarning, match=re.escape("limit of joint 'lift': solref 0.001 1 acts as 0.004 1")):
        saltus.load(scene(limit='solreflimit="0.001 1"'))


def test_both_are_said():
    solimp = DEFAULT.copy()
    solimp[4] = 0.5
    assert len(clamped(np.array([0.001, 1.0]), solimp, 0.004)) == 2
    assert clamped(np.array([0.001, 1.0]), DEFAULT, 0.0) == []
