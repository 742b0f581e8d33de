"""Pages inside notebooks: the frame, and what the options say. Reference: the file that `saltus.page` writes."""

import pytest
from helpers.displayed import Displayed

import saltus
from saltus.errors import OptionError, RecordError
from saltus.terminal.inline_page import Page

ODD = '<p class="a">&amp;</p><script>"x" & 1</script>'


def test_the_frame_holds_the_text():
    page = Displayed(Page("<b>", ODD, 300)._repr_html_())
    (frame,) = page.frames
    assert page.tags == ["iframe"] and page.addresses == []
    assert frame["srcdoc"] == ODD and frame["title"] == "<b>" and "height:300px" in frame["style"]
    assert repr(Page("a", ODD)) == "Page(title='a', height=520)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"height": 10}, "page: height must be at least 120"),
        ({"height": "tall"}, "page: height must be a whole number"),
        ({"integrator": "rk5"}, "rk5"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(OptionError, match=message):
        saltus.load("pendulum").page(**options)
    with pytest.raises(TypeError, match="colour"):
        saltus.load("pendulum").page(colour="red")


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(RecordError):
        saltus.load("pendulum").page(tmp_path / "none" / "page.html")


@pytest.mark.slow
def test_a_page_is_the_file_that_is_written(tmp_path):
    sim = saltus.Simulation("pendulum", "explicit_euler")
    sim.qpos[:] = 0.25
    options = {"integrators": ["explicit_euler"], "playing": False}
    page = sim.page(tmp_path / "a.html", height=400, **options)
    saltus.page(sim, tmp_path / "b.html", **options)
    assert page.html == (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    assert page.height == 400 and page.title == "pendulum: a live simulation"
    assert sim.page(**options).html == page.html
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]
