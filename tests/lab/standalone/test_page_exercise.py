"""A page with an exercise: links that start the simulation anew, several scenes, tasks that it checks and reports.

References: the states that the links name; the answer and tolerance of the task; the calls of SCORM 1.2's interface.
"""

import pytest
from helpers.browser import LabPage

import saltus
from saltus.errors import OptionError

TEXT = """# Periods

From [here](#qpos[theta]=0.25&integrator=rk4&timestep=0.01&playing=false), or
[two](#scene=double_pendulum&playing=false).

```task
question: How long is a period?
answer: 2.84
tolerance: 0.02
unit: s
hint: Small swings.
```
"""
PLATFORM = """
window.calls = [];
const note = (name) => (...given) => { window.calls.push([name, ...given]); return 'true'; };
const names = ['LMSInitialize', 'LMSSetValue', 'LMSCommit', 'LMSFinish'];
window.API = Object.fromEntries(names.map((name) => [name, note(name)]));"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exercise")
    (folder / "text.md").write_text(TEXT)
    return saltus.page(
        ["pendulum", "double_pendulum"],
        folder / "exercise.html",
        **{"integrators": [], "integrator": "rk4", "title": "Swings & roundabouts", "text": folder / "text.md"},
    )


@pytest.fixture
def page(browser, file):
    found = LabPage(browser, file.as_uri(), 1000, 700).opened()
    yield found
    assert found.complaints == [] and found.get("lab.error") is None
    found.close()


@pytest.mark.slow
def test_links_of_the_text_start_the_simulation_anew(page):
    assert page.tab.title() == "Swings & roundabouts"
    page.until("lab.status.time > 0.3")
    page.tab.click("#exercise a >> nth=0")
    page.until("lab.status.playing === false && lab.status.timestep === 0.01 && lab.status.time === 0")
    assert page.state()["qpos"].tolist() == [0.25]
    page.tab.click("#exercise a >> nth=1")
    page.until("lab.scene === 'double_pendulum' && lab.frame && lab.frame.dofs[0].length === 4")
    page.unfolded("view-section").locator("#share").click()
    page.wait(lambda: "scene=double_pendulum" in page.tab.evaluate("location.hash"))
    page.tab.select_option("#scene", "pendulum")
    page.until("lab.scene === 'pendulum' && lab.frame && lab.frame.dofs[0].length === 2 && lab.status.time > 0.1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "verdict"),
    [("2.85", "Right."), ("2,83", "Right."), ("2.87", "Not yet. Small swings."), ("long", "A number is asked for")],
)
def test_an_answer_is_checked(page, answer, verdict):
    page.tab.fill("#exercise .task input", answer)
    page.tab.keyboard.press("Enter")
    assert page.tab.inner_text("#exercise .task output").startswith(verdict)
    assert page.tab.locator(".task.right").count() == (verdict == "Right.")
    assert page.get("lab.status.playing")  # what is typed is text, not keys of the page


@pytest.mark.slow
def test_a_learning_platform_hears_of_right_answers(browser, file):
    alone = browser.new_context()
    alone.add_init_script(PLATFORM)
    tab = alone.new_page()
    tab.goto(file.as_uri())
    tab.fill("#exercise .task input", "2.84")
    tab.keyboard.press("Enter")
    calls = tab.evaluate("window.calls")
    assert calls[0] == ["LMSInitialize", ""]
    values = {call[1]: call[2] for call in calls if call[0] == "LMSSetValue"}
    assert values["cmi.core.score.raw"] == "100" and values["cmi.core.lesson_status"] == "passed"
    assert calls[-1] == ["LMSCommit", ""]
    alone.close()


def test_a_page_needs_scenes_of_different_names(tmp_path):
    with pytest.raises(OptionError, match="at least one scene"):
        saltus.page([], tmp_path / "a.html")
    with pytest.raises(OptionError, match="same name, pendulum"):
        saltus.page(["pendulum", "pendulum"], tmp_path / "a.html", integrator="rk4", integrators=[])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_up_is_seen_without_a_floor_and_pulling_is_hinted_at_until_a_body_was_pulled(page):
    """The world's z axis points up in the first view; the pendulum has no floor, so there is a grid."""
    assert float(page.tab.get_attribute("#gizmo-z", "y2")) < -10.0
    assert abs(float(page.tab.get_attribute("#gizmo-z", "x2"))) < 1.0
    page.unfolded("view-section")
    assert page.tab.locator("#show-grid").is_visible() and page.tab.locator("#show-grid").is_checked()
    assert page.tab.locator("#pull-hint").get_attribute("hidden") is None
    page.pause()
    at = page.get("lab.project('pendulum', [0, 0, -2])")
    page.tab.mouse.move(at["x"], at["y"])
    page.tab.mouse.down()
    page.tab.mouse.move(at["x"] + 20, at["y"])
    page.wait(lambda: page.tab.locator("#pull-hint").get_attribute("hidden") is not None)
    page.tab.mouse.up()
