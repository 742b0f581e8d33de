"""Inertial parameters. Reference: a cuboid's inertia in closed form; forces by them are compared with MuJoCo's beside.

Tolerance: rounding.
"""

import pytest

import saltus
from saltus.algorithms.inertial_parameters import inertial_parameters
from saltus.errors import OptionError


def test_a_cuboid_off_the_origin():
    """Sides 0.4, 0.2, 0.1 m, 3 kg, at (0.5, 0, 0): Iyy = m (0.4² + 0.1²) / 12 + m 0.5², Ixz = 0."""
    model = saltus.load(
        '<mujoco><worldbody><body name="b"><freejoint/>'
        '<geom type="box" size=".2 .1 .05" pos=".5 0 .25" mass="3"/></body></worldbody></mujoco>'
    )
    names, values = inertial_parameters(model)
    found = dict(zip(names, values, strict=True))
    assert names[10:] == tuple(f"{p}[b]" for p in ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"))
    assert found["m[b]"] == 3 and found["mx[b]"] == pytest.approx(1.5) and found["mz[b]"] == pytest.approx(0.75)
    assert found["Iyy[b]"] == pytest.approx(3 * (0.4**2 + 0.1**2) / 12 + 3 * (0.5**2 + 0.25**2), rel=1e-14)
    assert found["Ixx[b]"] == pytest.approx(3 * (0.2**2 + 0.1**2) / 12 + 3 * 0.25**2, rel=1e-14)
    assert found["Ixz[b]"] == pytest.approx(-3 * 0.5 * 0.25, rel=1e-14)
    with pytest.raises(OptionError, match=r"saltus\.load"):
        inertial_parameters("pendulum")
