"""The report: one page that holds all it shows, says what it should, and escapes what users write."""

import re

import numpy as np
import pytest
from helpers.report_pages import Page, written

import saltus
from saltus.errors import OptionError, RecordError
from saltus.record import EVENT_DTYPE, Trajectory
from saltus.record.report.report import notes

SMALL = {"width": 160, "height": 120, "fps": 10}
LOADED = """new Promise(done => {
  const video = document.querySelector("video"), tell = () => done([video.videoWidth, video.duration]);
  if (video.readyState) tell(); else video.onloadedmetadata = tell;
})"""


@pytest.fixture(scope="module")
def swing():
    return saltus.Simulation("pendulum", "rk4", timestep=0.01).run(1.0, sample=0.05, certify=True)


def test_what_the_page_says(swing, tmp_path):
    content = written(swing, tmp_path, **SMALL)
    page = Page(content)
    said = ["pendulum", "rk4", "0.01 s", "Observed order", "declared 4", "Energy drift", "2 kg", "Positions", "Energy"]
    said += ["gravity", "0 0 -9.81", "Versions", saltus.__version__, "Options of the model", "impratio", "<mujoco"]
    for words in said:
        assert words in page.text, words
    assert f"{swing.certificate.final_error:.2g}" in page.text
    assert page.count["video"] == 1 and page.count["svg"] == 5  # with controls, and the error


def test_it_refers_to_nothing_outside_itself(swing, tmp_path):
    page = Page(written(swing, tmp_path, **SMALL))
    assert page.references and all(r.startswith(("data:", "#")) for r in page.references)
    assert not page.count.keys() & {"script", "link", "iframe", "object", "base"}
    assert "url(" not in re.sub(r"url\(#", "", written(swing, tmp_path, video=False))


def test_without_a_video(swing, tmp_path):
    assert "video" not in Page(written(swing, tmp_path, video=False)).count


def test_text_of_users_is_escaped(tmp_path):
    nasty = "<script>alert('x')</script>&\"<b>"
    t = Trajectory(
        np.arange(5.0),
        np.zeros((5, 1)),
        np.zeros((5, 1)),
        names={"qpos": [nasty], "qvel": ["$x_$"]},
        units={"qpos": [nasty], "qvel": [""]},
        events=np.array([(1.0, "<i>hit</i>")], dtype=[("time", "f8"), ("kind", "U16")]),
        attrs={
            "model_name": nasty, "integrator": nasty, "control": nasty, "ignored": [nasty], "diverged": nasty,
            "warnings": [nasty], "options": nasty, nasty.replace("/", ""): nasty, "saltus_version": nasty,
        },
    )  # fmt: skip
    content = written(t, tmp_path)
    page = Page(content)
    assert not page.count.keys() & {"script", "b", "i"}
    assert page.text.count(nasty) >= 8 and "<i>hit</i>" in page.text


def test_what_went_wrong_is_said_first(swing):
    t = Trajectory(swing.time, swing.qpos, swing.qvel, attrs={**swing.attrs, "interrupted_at": 1.5, "unconverged": 7})
    assert [kind for kind, _ in notes(t)] == ["warning", "warning"]
    assert "interrupted at t = 1.5 s" in notes(t)[0][1] and "in 7 steps" in notes(t)[1][1]
    t.attrs = {"diverged": "diverged at t = 2 s: joint 'x' ...", "ignored": ["limit: joint x"]}
    assert notes(t)[0] == ("warning", "The run diverged at t = 2 s: joint 'x' ...")
    assert notes(t)[1] == ("note", "Ignored on request: limit: joint x.")
    t.attrs = {"stopped": "event 'painleve' at t = 2 s: no accelerations"}
    assert notes(t) == [("warning", "The run stopped: event 'painleve' at t = 2 s: no accelerations")]
    assert notes(swing) == []


def test_a_bare_recording(tmp_path):
    """Without a model, names, energies, or more than one sample."""
    page = Page(written(Trajectory([0.0], np.zeros((1, 2)), np.zeros((1, 2))), tmp_path))
    assert "not checked" in page.text and "nq = 2" in page.text and "video" not in page.count


def test_events_are_counted_and_the_first_are_listed(tmp_path):
    events = np.zeros(250, EVENT_DTYPE)
    events["time"], events["kind"], events["name"] = np.arange(250) * 0.01 + 4.0637123456, "impact", "floor <ball>"
    events["kind"][:30], events["impulse"] = "slip", [1.5, -2.0, np.pi]
    for field in ("gap", "velocity", "energy_before"):
        events[field] = np.nan
    attrs = {"tolerances": {"step_relative": 1e-9, "event_time": 1e-12}, "contact": "hard"}
    attrs["contact_law"] = {"restitution": 0.5, "friction": None, "pairs": [["a", "b", 0.1]], "gap_tolerance": 1e-10}
    t = Trajectory([0.0, 1.0], np.zeros((2, 1)), np.zeros((2, 1)), events=events, attrs=attrs)
    page = Page(written(t, tmp_path))
    assert "220 impact, 30 slip" in page.text and "and 50 more" in page.text
    assert page.text.count("floor <ball>") == 200 and "ball" not in page.count
    assert "1.5 -2 3.14159" in page.text and "impulse (N s)" in page.text and "energy after (J)" in page.text
    assert "4.073712346" in page.text  # times near each other differ
    assert not any(field in page.text for field in ("gap (m)", "velocity (m/s)", "energy before"))  # hold nothing
    assert "step relative 1e-09, event time 1e-12" in page.text
    assert "hard: restitution 0.5, gap tolerance 1e-10, other numbers for 1 pair of geoms or bodies" in page.text


def test_bad_paths(swing, tmp_path):
    with pytest.raises(OptionError, match=r"suffix of a report must be \.html"):
        swing.report(tmp_path / "run.pdf")
    with pytest.raises(RecordError, match="cannot write report"):
        swing.report(tmp_path / "no" / "run.html", video=False)
    with pytest.raises(OptionError, match="no samples"):
        Trajectory([], np.zeros((0, 1)), np.zeros((0, 1))).report(tmp_path / "run.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_in_a_browser_it_opens_without_a_network_and_plays(swing, tmp_path, browser):
    """And its text stands out from its background, on light and on dark."""
    written(swing, tmp_path, **SMALL)
    seen = {}
    for scheme in ("light", "dark"):
        tab = browser.new_page(color_scheme=scheme)
        requests, complaints = [], []
        tab.on("request", lambda r, to=requests: to.append(r.url))
        tab.on("pageerror", lambda e, to=complaints: to.append(str(e)))
        tab.on("console", lambda m, to=complaints: to.append(m.text))
        tab.goto(f"file://{tmp_path}/run.html")
        assert tab.evaluate(LOADED) == [160, pytest.approx(1.0)]
        assert all(r.startswith(("file:", "data:", "blob:")) for r in requests) and complaints == []
        style = "e => [getComputedStyle(e).color, getComputedStyle(document.body).backgroundColor]"
        for element in ("body", "figure svg", "td", "th[scope=row]"):
            ink, paper = (luminance(c) for c in tab.eval_on_selector(element, style))
            assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 4.5, (scheme, element)  # WCAG 2.1, 1.4.3
        seen[scheme] = tab.eval_on_selector("body", style)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        tab.close()
    assert seen["light"] != seen["dark"]


def luminance(colour):
    """Relative luminance of "rgb(r, g, b)" (WCAG 2.1)."""
    parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))
