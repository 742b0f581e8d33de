"""Warnings of Saltus in the lab: in the page once each, and where they go without a lab.

Reference: the texts that the package warns with, caught by `pytest.warns` where no lab is.
"""

import threading
import warnings

import pytest
from helpers.lab import do, notices, page

import saltus
from saltus import lab
from saltus.errors import SaltusWarning
from saltus.lab.data.recording import Downloads
from saltus.lab.making.setup import LabStart
from saltus.lab.messages.ear import Ear
from saltus.lab.session import LiveSession

ROLLING = """
<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="ball" pos="0 0 .2"><freejoint/><geom name="ball" size=".1"/></body></worldbody>
  <contact><pair geom1="floor" geom2="ball" friction="1 .5"/></contact></mujoco>"""
LEFT_OUT = "the friction between floor and ball is that of the first tangent in all directions"
ROBOT = """
<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
  <transmission name="t"><joint name="j"/></transmission></robot>"""


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    """What reaches the terminal."""
    shown = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *rest, **more: shown.append(str(message))
        yield shown


def test_a_warning_is_told_once_and_passed_on_each_time(terminal):
    told = []
    with Ear(told.append) as ear:
        for _ in range(2):
            warnings.warn("of Saltus", SaltusWarning, stacklevel=1)
        warnings.warn("of others", UserWarning, stacklevel=1)
    warnings.warn("outside", SaltusWarning, stacklevel=1)
    ear.hear("of Saltus")
    assert told == ["of Saltus"]
    assert terminal == ["of Saltus", "of Saltus", "of others", "outside"]


def test_threads_hear_their_own():
    """However their beginnings and ends lie."""
    told = {name: [] for name in "abcd"}
    together = threading.Barrier(len(told))

    def work(name):
        with Ear(told[name].append):
            for k in range(20):
                together.wait(30)
                warnings.warn(f"{name}{k}", SaltusWarning, stacklevel=1)

    threads = [threading.Thread(target=work, args=[name]) for name in told]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == {name: [f"{name}{k}" for k in range(20)] for name in told}


def test_it_listens_again_where_somebody_else_has_put_back_what_was_there():
    told = []
    with pytest.warns(SaltusWarning, match="first"), Ear(told.append):
        warnings.warn("first", SaltusWarning, stacklevel=1)
    with pytest.warns(SaltusWarning, match="second"), Ear(told.append):
        warnings.warn("second", SaltusWarning, stacklevel=1)
    assert told == ["first", "second"]


@pytest.mark.slow
def test_another_contact_law_in_the_lab_warns_in_the_page():
    session = LiveSession(LabStart("test", "Test", saltus.load(ROLLING)), Downloads())
    do(session, "step", n=1)
    assert notices(session) == []
    do(session, "contact", name="hard")
    assert sum(LEFT_OUT in text for text in notices(session)) == 1
    do(session, "timestep", value=0.001)
    assert not any(LEFT_OUT in text for text in notices(session))


@pytest.mark.slow
def test_steps_in_the_lab_warn_in_the_page(terminal):
    """One iteration is not enough for a ball that is pressed into a floor."""
    poor = ROLLING.replace("<worldbody>", '<option iterations="1" tolerance="1e-15" timestep="0.01"/><worldbody>', 1)
    said = "the constraint solver did not reach its tolerance in 1 iterations in some steps"
    with lab.open(poor.replace("0 0 .2", "0 0 .09"), browser=False) as opened, page(opened) as client:
        client.until(lambda: any(said in text for text in client.notices), 200)
        time = client.status["time"]
        client.until(lambda: client.status["time"] > time + 0.5)
        assert sum(said in text for text in client.notices) == 1
    assert any(said in text for text in terminal)


def test_what_a_file_holds_beyond_is_told_in_the_page_and_on_the_terminal(terminal):
    with lab.open(ROBOT, browser=False, playing=False) as opened, page(opened) as client:
        client.until(lambda: any("transmission" in text for text in client.notices))
    assert sum("transmission" in text for text in terminal) == 1


def test_a_scene_that_warns_while_it_opens():
    with lab.open(saltus.load(ROLLING), contact="hard", browser=False) as opened, page(opened) as client:
        client.until(lambda: any(LEFT_OUT in text for text in client.notices))
        run_on = client.status.get("time", 0.0)
        client.until(lambda: client.status.get("time", 0.0) >= run_on)
        assert sum(LEFT_OUT in text for text in client.notices) == 1
