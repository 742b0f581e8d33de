"""What `saltus.env.play` takes: environments, policies, files, and which of them fit together."""

import numpy as np
import pytest
from helpers.steered import Steered

import saltus.env
from saltus.env import Policy
from saltus.env.made_for import made_for
from saltus.errors import ModelError, OptionError, RecordError

OWN = "helpers.steered:Steered"


def policy(no, na, **given):
    return Policy([np.zeros((na, no))], [np.zeros(na)], **given)


def test_the_policy_says_what_it_was_made_for():
    made = saltus.env.make("PendulumSwingUp", largest_torque=7.0)
    known = policy(3, 1, environment=made)
    for source in (None, "PendulumSwingUp", "saltus/PendulumSwingUp-v0"):
        found = made_for(source, known, {})
        assert type(found).__name__ == "PendulumSwingUp" and found.values["largest_torque"] == 7.0
    assert made_for(None, known, {"largest_torque": 5.0}).values["largest_torque"] == 5.0
    assert made_for("CartPoleSwingUp", known, {}).changes == {}
    assert made_for(made, known, {}) is made.environment


def test_environments_of_ones_own():
    made = saltus.env.make(Steered, wind=0.5)
    known = policy(4, 1, environment=made)
    for source in (Steered, OWN):
        assert made_for(source, known, {}).values["wind"] == 0.5
        assert made_for(source, None, {}).values["wind"] == 0.01
    with pytest.raises(OptionError, match=f"the policy was made for {OWN}; give that environment, too"):
        made_for(None, known, {})
    with pytest.raises(OptionError, match="does not say which it was made for"):
        made_for(None, policy(4, 1), {})
    with pytest.raises(OptionError, match=r"no environment helpers\.steered:Stered"):
        made_for("helpers.steered:Stered", None, {})
    with pytest.raises(OptionError, match="no environment nowhere:Steered"):
        made_for("nowhere:Steered", None, {})
    with pytest.raises(OptionError, match="expected a name, 'module:Class' or a subclass"):
        made_for("helpers.steered:saltus", None, {})


def test_what_does_not_fit_is_refused_before_a_page_opens(tmp_path):
    policy(3, 1).save(tmp_path / "p.npz")
    with pytest.raises(OptionError, match="Steered has observations of 4 numbers, the policy of 3"):
        saltus.env.play(Steered, tmp_path / "p.npz", browser=False)
    with pytest.raises(RecordError, match="cannot read policy"):
        saltus.env.play(Steered, tmp_path / "q.npz", browser=False)
    with pytest.raises(OptionError, match="policy must be a function"):
        saltus.env.play(Steered, 3, browser=False)
    with pytest.raises(OptionError, match="speed must be between"):
        saltus.env.play(Steered, speed=0.0, browser=False)
    with pytest.raises(OptionError, match="unknown parameter of Steered 'wnd'"):
        saltus.env.play(Steered, wnd=3.0, browser=False)
    with pytest.raises((OptionError, ModelError), match="no_such"):
        saltus.env.play(Steered, model="no_such", browser=False)
