"""The preconditioner along rods: their whole matrix, so that conjugate gradients end after one iteration or two.

Reference: the matrix of the operator that conjugate gradients apply, column by column, and NumPy's inverse.
"""

from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from helpers.plain_python import plain_python
from numpy.testing import assert_allclose

import saltus
from saltus.model.enums import BAND
from saltus.number.kernels import interpret
from saltus.solve.implicit import implicit_operator
from saltus.solve.implicit.implicit_operator import add_rows_times, metric_solve, metric_times
from saltus.solve.implicit.rod_band import factor_row

ROD = """<mujoco><option timestep="0.005" integrator="{integrator}" solver="CG"/><worldbody>
  <geom type="plane" size="5 5 .1"/>
  <flexcomp name="rod" type="{kind}" count="8 1 1" spacing=".05 .05 .05" dim="1" mass="1" radius=".005" pos="0 0 .0051"
    euler="0 0 30"><edge {edge}/><elasticity young="1e7" poisson="0.3" damping="0.01"/>{contact}{pin}</flexcomp>
</worldbody></mujoco>"""
NONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
RODS = {
    "closed, on the floor": dict(kind="circle", edge='equality="true"', contact='<contact selfcollide="none"/>'),
    "closed, by springs": dict(
        kind="circle", edge='stiffness="1e3"', contact=NONE, integrator="energy_momentum", pin=""
    ),
    "twisting": dict(kind="grid", edge='equality="true"', contact=NONE),
    "twisting, on the floor": dict(kind="grid", edge='equality="true"', contact='<contact selfcollide="none"/>'),
    "twisting and clamped": dict(kind="grid", edge='equality="true"', contact=NONE, pin='<pin id="0 1"/>'),
}


def moving(name):
    """A simulation of a rod that moves fast."""
    given = dict(pin="", integrator="discrete") | RODS[name]
    integrator = given["integrator"]
    text = ROD.format(**given | {"integrator": "Euler" if integrator == "energy_momentum" else integrator})
    sim = saltus.Simulation(saltus.load(text), integrator)
    sim.qvel = 0.3 * np.random.default_rng(1).normal(size=sim.model.nv)
    return sim


FACTOR, ERRORS = implicit_operator.metric_factor, []


def factor_and_compare(m, d):
    """The kernel, and how far its inverse times the operator is from the identity.

    One function for all cases: code in plain Python keeps the one that it has first called.
    """
    FACTOR(m, d)
    whole, inverse, held = np.zeros((3, m.nv, m.nv))
    for i, unit in enumerate(np.eye(m.nv)):
        metric_times(m, d, unit, held[i])
        d.band_fresh[0] = 1  # by the forces' own tangent
        metric_times(m, d, unit, whole[i])
        d.band_fresh[0] = 0
        assert np.abs(held[i] - whole[i]).max() < 1e-12 * np.abs(whole).max()
        add_rows_times(m, d, unit, whole[i])
        metric_solve(m, d, unit, inverse[i])
    ERRORS.append(np.abs(inverse @ whole - np.eye(m.nv)).max())


@plain_python()
@pytest.mark.parametrize("name", RODS)
def test_it_is_the_whole_matrix(name):
    """Rounding of factors of some hundred entries."""
    sim = moving(name)
    ERRORS.clear()
    with mock.patch.object(implicit_operator, "metric_factor", factor_and_compare):
        for _ in range(3):
            sim.step()
    assert len(ERRORS) > 2
    assert_allclose(ERRORS, 0.0, atol=1e-9)


def test_what_is_not_definite_falls_back_on_single_entries():
    """Contacts between distant parts can leave a pivot below zero; the row then stands alone."""
    m = SimpleNamespace(band_low=np.zeros(2, int), nband=2)
    band = np.zeros((2, BAND + 1))
    band[0, 0], band[1, 0], band[1, 1] = 1.0, 1.0, 2.0  # [[1, 2], [2, 1]]
    d = SimpleNamespace(metric_band=band)
    for p in range(2):
        interpret(factor_row)(m, d, p)
    assert_allclose(band[:, :2], [[1.0, 0.0], [1.0, 0.0]])
