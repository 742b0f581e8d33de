"""A state as Python text. Reference: what the text does when it is run, to the bit."""

from types import SimpleNamespace

import numpy as np

from saltus.lab.view.state_text import FIELDS, state_text


def test_the_text_puts_a_simulation_into_the_state():
    rng = np.random.default_rng(0)
    state = {name: rng.normal(size=(2, 4) if name.startswith("mocap") else 3) for name in FIELDS} | {"act": []}
    sim = SimpleNamespace(**{name: np.zeros_like(value) for name, value in state.items()})
    exec(state_text("a title\nraise SystemExit", 0.1 + 0.2, state), {"sim": sim})
    assert sim.time == 0.1 + 0.2
    for name, value in state.items():
        np.testing.assert_array_equal(getattr(sim, name), value)
