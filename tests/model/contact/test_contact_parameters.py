"""The parameters of soft constraints, from a file's to the kernels': MuJoCo's clamps and formats.

Law: MuJoCo documentation, Modeling: Solver parameters. Reference: efc_KBIP of MuJoCo 4.0, which holds the stiffness and
damping that it uses, in the rows of single joints' limits. Tolerance: rounding of a few operations, 1e-14.
"""

import mujoco
import numpy as np
import pytest

from saltus.model.contact.contact_parameters import IMPEDANCE_RANGE, LawTable, reference, soft_law

SOLREF = [(0.02, 1), (0.3, 0.5), (1e-4, 2), (-500, -20), (-500, 0), (0, 0), (0, -3), (0.05, -1), (-100, 1), (0.05, 0)]
SOLIMP = [
    (0.9, 0.95, 0.001, 0.5, 2),
    (0, 1, 0.1, 0, 0.5),
    (1.5, -1, -0.1, 1, 1),
    (0.3, 0.3, 0.2, 0.3, 7),
]  # fmt: skip


def limits(flag=""):
    """One slide beyond its range for each of SOLREF and SOLIMP."""
    bodies = ""
    for solref in SOLREF:
        for solimp in SOLIMP:
            numbers = [" ".join(map(str, x)) for x in (solref, solimp)]
            joint = f'<joint type="slide" range="1 2" solreflimit="{numbers[0]}" solimplimit="{numbers[1]}"/>'
            bodies += f'<body>{joint}<geom size=".1" contype="0" conaffinity="0"/></body>'
    return f'<mujoco><option timestep="0.003">{flag}</option><worldbody>{bodies}</worldbody></mujoco>'


@pytest.mark.filterwarnings("ignore:mixed solref")
@pytest.mark.parametrize("safe", [True, False])
def test_stiffness_and_damping(safe):
    """In the standard and the direct format; of time constants under two steps; of mixed signs."""
    m = mujoco.MjModel.from_xml_string(limits("" if safe else '<flag refsafe="disable"/>'))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert d.nefc == len(SOLREF) * len(SOLIMP)
    laws = [soft_law(a, b, 2 * m.opt.timestep if safe else 0.0) for a in SOLREF for b in SOLIMP]
    KB = d.efc_KBIP.reshape(-1, 4)[:, :2]
    np.testing.assert_allclose([(law.stiffness, law.damping) for law in laws], KB, rtol=1e-14)


def test_the_impedance_is_clamped():
    low, high = IMPEDANCE_RANGE
    assert soft_law((0.02, 1), (0, 1, -0.1, 0, 0.5), 0).impedance == (low, high, 0, low, 1)
    assert soft_law((0.02, 1), (1.5, -1, 0.1, 1, 3), 0).impedance == (high, low, 0.1, high, 3)


def test_friction_has_a_format_of_its_own():
    """solreffriction gives the damping across the normal; zeros and mixed signs mean that it is the normal's."""
    solimp = (0.9, 0.8, 0.001, 0.5, 2)
    normal = reference((0.02, 1), 0.8, 0.004)[1]
    for given, wanted in (
        ((0, 0), normal),
        ((0.1, 1), 2 / (0.8 * 0.1)),
        ((0.001, 1), 2 / (0.8 * 0.004)),
        ((-7, -20), 20 / 0.8),
        ((-7, 0), 0.0),
        ((0, -20), 20 / 0.8),
        ((0.1, -1), normal),
        ((-0.1, 1), normal),
        ((0.1, 0), normal),
    ):
        law = soft_law((0.02, 1), solimp, 0.004, solreffriction=np.array(given, float))
        assert (law.damping, law.damping_tangent) == pytest.approx((normal, wanted), rel=1e-14)


def test_the_same_parameters_are_one_law():
    table = LawTable()
    laws = [soft_law(solref, SOLIMP[0], 0.004) for solref in ((0.02, 1), (0.3, 0.5), (0.02, 1), (0.001, 1), (0.004, 1))]
    assert [table.index(law) for law in laws] == [0, 1, 0, 2, 2]
    assert {len(column) for column in table.values().values()} == {3}
