"""Figures of contact laws. Reference: the law that is drawn."""

import pytest
from numpy.testing import assert_allclose

import saltus


def test_figure(tmp_path):
    pytest.importorskip("matplotlib")
    law = saltus.contact_law()
    figure = law.plot(tmp_path / "law.png")
    impedance, force = figure.axes
    assert impedance.get_xlabel() == force.get_xlabel() == "penetration (mm)"
    assert impedance.get_ylabel() == "impedance d"
    assert force.get_ylabel() == "force on the mass (N)"
    depth, d = impedance.lines[0].get_data()
    assert_allclose(d, law.impedance(-depth / 1e3), rtol=1e-12)
    depth, still = force.lines[0].get_data()
    assert_allclose(still, law.force(-depth / 1e3), rtol=1e-12)
    assert_allclose(max(force.lines[1].get_xdata()), 1e3 * law.largest_penetration, rtol=1e-12)
    assert (tmp_path / "law.png").stat().st_size > 10_000
    with pytest.raises(saltus.OptionError, match="suffix"):
        law.plot(tmp_path / "law.gif")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("changes", [{"solref": (0, -5)}, {"gravity": 0, "solimp": (0.9, 0.9, 0)}])
def test_figures_of_odd_laws(tmp_path, changes):
    pytest.importorskip("matplotlib")
    saltus.contact_law(**changes).plot(tmp_path / "law.png")
    assert (tmp_path / "law.png").stat().st_size > 10_000
