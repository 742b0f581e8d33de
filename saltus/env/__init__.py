"""Reinforcement learning: environments whose whole step is one compiled call over many simulations.

    import saltus.env
    envs = saltus.env.make_vec("HalfCheetah", 1024)
    observations, infos = envs.reset(seed=0)
    observations, rewards, terminated, truncated, infos = envs.step(actions)

Requires Gymnasium: pip install 'saltus[env]'. Importing this package registers the bundled environments with Gymnasium,
as "saltus/HalfCheetah-v5" and so on; "saltus.env:saltus/HalfCheetah-v5" makes Gymnasium import it.
"""

from importlib import import_module

try:
    import_module("gymnasium")
    import_module("gymnasium.vector").AutoresetMode  # noqa: B018 (older ones lack it)
except Exception as error:  # whatever a broken installation raises
    absent = isinstance(error, ModuleNotFoundError) and error.name == "gymnasium"
    why = "" if absent else f" (version 1.4 or later; the one that is found gives {type(error).__name__}: {error})"
    raise ImportError(f"saltus.env needs Gymnasium: pip install 'saltus[env]'{why}", name="gymnasium") from error

from saltus.env.contacts import pressing, touching
from saltus.env.distributions import Distribution, choice, log_uniform
from saltus.env.disturb.pushes import Push
from saltus.env.disturb.randomize import Randomize
from saltus.env.environment import Environment
from saltus.env.evaluation import Evaluation, evaluate
from saltus.env.interfaces.single import SingleEnvironment
from saltus.env.interfaces.vector import VectorEnvironment
from saltus.env.live.opening import play
from saltus.env.making import environments, make, make_sb3, make_vec
from saltus.env.observation import observed
from saltus.env.policy import Policy
from saltus.env.random import normal, uniform
from saltus.env.registration import register
from saltus.env.terms import term

__all__ = [
    "Distribution",
    "Environment",
    "Evaluation",
    "Policy",
    "Push",
    "Randomize",
    "SingleEnvironment",
    "VectorEnvironment",
    "choice",
    "environments",
    "evaluate",
    "log_uniform",
    "make",
    "make_sb3",
    "make_vec",
    "normal",
    "observed",
    "play",
    "pressing",
    "term",
    "touching",
    "uniform",
]

register()
