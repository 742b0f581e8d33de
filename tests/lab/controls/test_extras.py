"""What users of Python add to a lab: sliders, buttons, plots, drawings, functions before each step.

Reference: `saltus.Simulation` by itself with the same done by hand, bit for bit; closed forms of a sliding mass.
"""

import threading

import numpy as np
import pytest
from helpers.lab import FRAME, SLIDE, do, notices, page, run, set_control, with_extras

import saltus
from saltus import lab
from saltus.errors import OptionError
from saltus.lab.controls.extras import Extras
from saltus.lab.view.drawings import MOST, messages

# ---------------------------------------------------------------- sliders


@pytest.mark.slow
def test_a_slider_that_moves_the_state_is_a_jump():
    """Curves part, ghosts begin anew, nothing lies between the states; after a reset it starts from there."""
    session, _ = with_extras(
        lambda extras: extras.slider("start", -3, 3, 1, "m", lambda sim, value: sim.qpos.fill(value)),
        ghosts=("rk4",),
    )
    assert session.signals.history.column("qpos[x]").tolist() == [1.0]
    do(session, "ghosts", on=True)
    do(session, "slider", id="user[start]", value=2.0)
    run(session, FRAME)
    assert session.motion.before[0] == 2.0 == session.motion.ghosts[0].sim.qpos[0]
    assert np.isnan(session.signals.history.times).sum() == 1
    do(session, "reset", key=None)
    assert session.sim.qpos[0] == 2.0 and session.signals.history.times.tolist() == [0.0]


def test_names_are_there_once():
    extras = Extras()
    extras.button("Push", print)
    with pytest.raises(OptionError, match="a button 'Push' exists already"):
        extras.button("Push", print)
    with pytest.raises(OptionError, match="a button needs a name"):
        extras.button("", print)


# ---------------------------------------------------------------- buttons, steps


def test_a_button_acts_once_a_press():
    session, _ = with_extras(lambda extras: extras.button("Push", lambda sim: sim.qvel.__iadd__(1.0)))
    for _ in range(2):
        do(session, "button", id="Push")
    run(session, FRAME)
    assert session.sim.qvel[0] == 2.0
    do(session, "button", id="Pusch")
    assert "did you mean 'Push'" in notices(session)[0]


def test_a_button_may_reset():
    """Plots begin anew, and a recording ends where it was."""
    session, _ = with_extras(lambda extras: extras.button("Back", lambda sim: sim.reset()), playing=True)
    run(session, 0.5)
    do(session, "record", on=True)
    run(session, 0.5)
    do(session, "button", id="Back")
    session.tick(0.0)
    assert session.sim.time == 0.0 and session.signals.history.times.tolist() == [0.0]
    assert "Recording stopped because time was set back." in notices(session)
    assert np.all(np.diff(session.downloads._trajectory.time) > 0) and session.downloads.seconds > 0.4


def test_a_function_before_each_step_is_called_before_each_step():
    """A spring of 8 N/m on 2 kg, by hand as well: the same bits."""

    def spring(sim):
        sim.qfrc_applied[0] = -8.0 * sim.qpos[0]

    session, _ = with_extras(lambda extras: extras.before_step(spring), playing=True)
    session.sim.qpos[0] = 0.5
    run(session, 1.0)
    alone = session.setup.simulation()
    alone.qpos[0] = 0.5
    for _ in range(round(session.sim.time / 0.01)):
        spring(alone)
        alone.step()
    assert session.sim.time > 0.9 and session.sim.qpos[0] == alone.qpos[0]


# ---------------------------------------------------------------- plots


def test_a_plot_is_read_at_every_sample():
    session, _ = with_extras(lambda extras: extras.plot("twice", lambda sim: 2 * sim.qpos[0], "m"), playing=True)
    session.sim.qvel[0] = 1.0
    run(session, 0.5)
    history = session.signals.history
    assert session.signals.chosen == ["qpos[x]", "ctrl[motor]", "user[twice]"]
    np.testing.assert_allclose(history.column("user[twice]"), 2 * history.column("qpos[x]"), rtol=1e-6)
    (signal,) = [s for s in session.signals.signals if s.id == "user[twice]"]
    assert (signal.label, signal.unit, signal.group) == ("twice", "m", "Yours")


def test_a_plot_that_comes_later_begins_then_and_others_go_on():
    session, extras = with_extras(lambda extras: None, playing=True)
    session.sim.qvel[0] = 1.0
    run(session, 0.3)
    before = session.signals.history.column("qpos[x]")
    extras.plot("time", lambda sim: sim.time, "s")
    extras.plot("energy", None, "")
    run(session, 0.3)
    history = session.signals.history
    np.testing.assert_array_equal(history.column("qpos[x]")[: len(before)], before)
    own = history.column("user[time]")
    assert np.isnan(own[: len(before)]).all() and np.isfinite(own[-10:]).all()
    assert session.signals.chosen[-2:] == ["user[time]", "energy"]


def test_a_signal_that_there_is_not_is_an_error_at_once():
    _, extras = with_extras(lambda extras: None)
    with pytest.raises(OptionError, match=r"no signal 'qpos\[y\]'; did you mean 'qpos\[x\]'"):
        extras.plot("qpos[y]", None, "")


# ---------------------------------------------------------------- errors


def fail(*arguments):
    raise ValueError("no such luck")


@pytest.mark.parametrize(
    ("what", "add"),
    [
        ("slider 's'", lambda extras: extras.slider("s", 0, 1, 0, "", fail)),
        ("button 'b'", lambda extras: extras.button("b", fail)),
        ("plot 'p'", lambda extras: extras.plot("p", fail, "")),
        ("draw", lambda extras: extras.draw(fail)),
        ("before_step", lambda extras: extras.before_step(fail)),
    ],
)
def test_an_error_is_told_once_and_all_else_goes_on(what, add):
    session, extras = with_extras(add, playing=True)
    session.sim.qvel[0] = 1.0
    for _ in range(3):
        if what.startswith("button"):
            do(session, "button", id="b")
        run(session, 0.1)
        session.drawings()
    said = [text for text in notices(session) if what in text]
    assert len(said) == 1 and said[0].startswith(f"{what}: ValueError: no such luck (test_extras.py, line ")
    assert said[0].endswith("It is disabled.")
    assert session.playing and session.sim.qpos[0] == pytest.approx(session.sim.time, abs=1e-9)
    shown = extras.message()
    assert all(one["off"] for one in [*shown["sliders"], *shown["buttons"]])


@pytest.mark.parametrize("value", [None, "high", [1, 2]])
def test_a_plot_that_gives_no_number_is_switched_off(value):
    session, _ = with_extras(lambda extras: extras.plot("p", lambda sim: value, ""), playing=True)
    run(session, 0.1)
    (said,) = notices(session)
    assert said.startswith("plot 'p': TypeError" if not isinstance(value, str) else "plot 'p': ValueError")


# ---------------------------------------------------------------- drawings


def test_drawings_are_of_the_present_state():
    def draw(sim):
        at = sim.data.xpos[1]
        return [lab.arrow(at, at + [1, 0, 0], color="green"), lab.text([0, 0, 1], f"{sim.time:.2f}", body="cart")]

    session, _ = with_extras(lambda extras: extras.draw(draw))
    session.sim.qpos[0] = 0.25
    arrow, words = session.drawings()
    assert (arrow["kind"], arrow["color"], arrow["body"]) == ("arrow", "#2ca02c", 0)
    assert arrow["points"] == [0.25, 0, 0, 1.25, 0, 0]
    assert (words["text"], words["body"], words["points"]) == ("0.00", 1, [0, 0, 1])


def test_a_single_drawing_or_none_will_do():
    session, extras = with_extras(lambda extras: extras.draw(lambda sim: lab.sphere([0, 0, 1], 0.5)))
    extras.draw(lambda sim: None)
    assert [(one["kind"], one["size"]) for one in session.drawings()] == [("sphere", 0.5)]


def test_nothing_is_drawn_where_a_coordinate_is_no_number():
    assert messages([lab.line([[0, 0, 0], [np.nan, 0, 0]])], saltus.load(SLIDE)) == []


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        (lambda: ["ball"], "expected lab.arrow, lab.sphere, lab.line or lab.text"),
        (lambda: [lab.sphere([0, 0, 0], 1)] * (MOST + 1), "at most 500"),
        (lambda: [lab.sphere([0, 0, 0], 1, body="wagon")], "wagon"),
        (lambda: [lab.sphere([0, 0, 0], 1, body=7)], "there is no body 7"),
    ],
)
def test_what_a_drawing_may_not_return(drawn, message):
    session, _ = with_extras(lambda extras: extras.draw(lambda sim: drawn()))
    assert session.drawings() == []
    (said,) = notices(session)
    assert said.startswith("draw: ") and message in said


# ---------------------------------------------------------------- the lab


def test_what_is_added_before_and_after_a_page_comes_is_on_every_page():
    """Functions are called in one thread, which is not the caller's; scenes of others have nothing of it."""
    threads = set()
    pushed = threading.Event()

    def push(sim):
        threads.add(threading.get_ident())
        sim.qvel[0] += 1.0
        pushed.set()

    sim = saltus.Simulation(SLIDE)
    with lab.open(sim, browser=False) as view:
        view.button("Push", push)
        with page(view) as first:
            first.until(lambda: "extras" in first.boards and first.frame is not None)
            assert [button["id"] for button in first.boards["extras"]["buttons"]] == ["Push"]
            made = view.slider("force", 0, 10, value=1, unit="N", on_change=set_control)
            view.plot("speed", lambda sim: sim.qvel[0], unit="m/s")
            view.draw(lambda sim: lab.text([0, 0, 0], f"{sim.qvel[0]:.0f}"))
            view.before_step(lambda sim: threads.add(threading.get_ident()))
            first.until(lambda: first.status["sliders"].get("user[force]") == 1)
            first.until(lambda: first.samples is not None and len(first.samples["places"]) == 3)
            first.until(lambda: "drawings" in first.boards)
            first.send("slider", id="user[force]", value=50.0)
            first.until(lambda: first.status["sliders"]["user[force]"] == 10)
            assert any("set to its bound, 10" in text for text in first.notices) and made.value == 10
            first.send("button", id="Push")
            first.until(pushed.is_set)
            with page(view) as second:
                second.until(lambda: "extras" in second.boards and "drawings" in second.boards)
                assert second.boards["extras"]["buttons"] == first.boards["extras"]["buttons"]
                assert [s["id"] for s in second.boards["extras"]["sliders"]] == ["user[force]"]
            assert len(threads) == 1 and threads != {threading.get_ident()}
            first.send("reset", key=None)
            first.until(lambda: first.frame["time"] < 0.1)
            assert "force" in str(first.boards["extras"])
            first.send("scene", name="spring")
            first.until(lambda: first.scene["name"] == "spring" and "signals" in first.boards)
            assert "extras" not in first.boards
            first.send("scene", name=view._stage.scenes[0]["name"])
            first.until(lambda: "extras" in first.boards)
            assert [button["id"] for button in first.boards["extras"]["buttons"]] == ["Push"]
            first.until(lambda: first.status["sliders"].get("user[force]") == 10)


def test_a_slow_function_is_no_deadlock():
    """Adding and reading go on in the caller's thread while a function in the lab's waits."""
    begun, go_on, ended, released = threading.Event(), threading.Event(), threading.Event(), []

    def slow(sim, value):
        begun.set()
        released.append(go_on.wait(60))
        ended.set()

    with lab.open(SLIDE, browser=False) as view, page(view) as client:
        client.until(lambda: client.frame is not None)
        made = view.slider("slow", 0, 1, on_change=slow)
        assert begun.wait(30)
        view.button("b", lambda sim: None)
        assert made.value == 0
        go_on.set()
        assert ended.wait(90) and released == [True]


def test_a_recording_takes_nothing():
    trajectory = saltus.Simulation(SLIDE).run(0.1)
    with lab.open(trajectory, browser=False) as view, pytest.raises(OptionError, match="a recording cannot have"):
        view.button("Push", print)
