"""Small scenes with odd states and parameters under each contact law and integrator: finite, or a named error."""

import functools
import random
from pathlib import Path

import numpy as np

import saltus
from helpers.soaking.calls import described
from helpers.soaking.outcomes import Kind, Other
from saltus.errors import OptionError

MODELS = ("pendulum", "double_pendulum", "bouncing_ball", "bouncy_disc", "cart_pole", "free_body")
STATES = (0.0, -0.0, 1e-320, 1e-12, 1.0, -3.0, 50.0, 1e4, 1e9, 1e100, 1e308, np.nan, np.inf)
STEPS = (1e-9, 1e-4, 1e-3, 0.01, 0.1, 1.0, 1e3)
LONGEST = 0.01  # s, a step of a sheet by adaptive methods: they take as many as its fastest waves need
LAWS = ("soft", "hard", "compliant")
INTEGRATORS = tuple(sorted(saltus.integrators()))


def spring(m, d, gap, velocity):
    """A spring along the normal."""
    return -1e4 * gap, 0.0, 0.0


@functools.cache
def compliant() -> saltus.Compliant:
    """One law for all mutants, so that it is compiled once."""
    return saltus.Compliant(spring)


def law_of(name: str, rng: random.Random):
    """A contact law by its name; restitution and friction of the hard one are drawn."""
    if name == "hard":
        return saltus.Hard(restitution=rng.choice([0.0, 0.5, 1.0]), friction=rng.choice([None, 0.0, 0.5, 10.0]))
    return compliant() if name == "compliant" else "soft"


def try_scene(rng: random.Random, folder: Path, models=MODELS, laws=LAWS, integrators=INTEGRATORS) -> None:
    """Take some steps of a scene, from an odd state, with a step of any length."""
    model, integrator, law = rng.choice(models), rng.choice(integrators), rng.choice(laws)
    timestep = rng.choice(STEPS)
    if model == "bouncy_disc" and saltus.integrators()[integrator].adaptive:
        timestep = min(timestep, LONGEST)
    contact = law_of(law, rng)
    with described(f"{model}, {integrator}, {law}, timestep {timestep}"):
        sim = saltus.Simulation(model, integrator, contact=contact, timestep=timestep)
        for name in ("qpos", "qvel", "ctrl", "qfrc_applied"):
            values = getattr(sim, name)
            if values.size and rng.random() < 0.6:
                values[rng.randrange(values.size)] = rng.choice(STATES) * rng.choice([1, 1, -1])
        with described(f"qpos {sim.qpos}, qvel {sim.qvel}, ctrl {sim.ctrl}, qfrc_applied {sim.qfrc_applied}"):
            sim.step(rng.choice([1, 5, 20]))
            if not (np.isfinite(sim.qpos).all() and np.isfinite(sim.qvel).all()):
                raise Other(f"not finite after steps: qpos {sim.qpos}, qvel {sim.qvel}")


def prepare() -> None:
    """See to it that the names above are known."""
    if unknown := {*MODELS} - {*saltus.models()}:
        raise OptionError(f"no bundled models: {unknown}")


KINDS = (Kind("scene", try_scene, prepare),)
