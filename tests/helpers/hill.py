"""Hill-type muscles by OpenSim's curves."""

import numpy as np

import saltus
from saltus.dynamics.actuator.hill_curves import curve_value
from saltus.model.compile import hill
from saltus.number.kernels import Entry

# a slide joint pulled by the muscle; lengths in m, the path as long as a taut tendon and the optimal fibre
FORCE, OPTIMAL, SLACK, PENNATION = 500.0, 0.12, 0.24, 0.3
PATH = float(1.02 * SLACK + OPTIMAL * np.cos(PENNATION))
MUSCLE = saltus.HillMuscle(FORCE, OPTIMAL, SLACK, PENNATION)


def load(muscle=MUSCLE, mass=20.0, stiffness=0.0, law="general"):
    xml = f"""
    <mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody><site name="origin"/>
      <body><joint type="slide" axis="1 0 0" stiffness="{stiffness!r}" springref="{PATH!r}"/>
        <geom size="0.02" mass="{mass!r}"/><site name="insertion"/></body></worldbody>
      <tendon><spatial name="path"><site site="origin"/><site site="insertion"/></spatial></tendon>
      <actuator><{law} name="muscle" tendon="path"/></actuator></mujoco>"""
    return saltus.load(xml, muscles={"muscle": muscle})


CURVE = Entry(
    "muscle_curve",
    "first, count, x, y, slope",
    "for i in range(len(x)):\n    y[i], slope[i] = curve_value(m, first, count, x[i])",
    short=("m",),
    curve_value=curve_value,
)


ROWS = {
    "active": (hill.ACTIVE, hill.NACTIVE),
    "velocity": (hill.VELOCITY, hill.NVELOCITY),
    "passive": (hill.PASSIVE, hill.NPASSIVE),
    "tendon": (hill.TENDON_CURVE, hill.NTENDON),
}


def curve(model, name, x):
    """Value and derivative."""
    x = np.atleast_1d(np.asarray(x, float))
    y, slope = np.empty(len(x)), np.empty(len(x))
    CURVE(model.struct(), *ROWS[name], x, y, slope)
    return y, slope
