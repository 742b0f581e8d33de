"""Registration of the bundled environments with Gymnasium, as "saltus/HalfCheetah-v5" and so on."""

from typing import Any

import gymnasium

from saltus.env.interfaces.single import SingleEnvironment
from saltus.env.interfaces.vector import VectorEnvironment
from saltus.env.making import BUNDLED, found, identifier, make, make_vec


def single(environment: str, **given: Any) -> SingleEnvironment:
    """Entry point of `gymnasium.make`, which limits episodes itself by a wrapper."""
    return make(environment, **{"max_episode_steps": None, **given})


def vector(environment: str, num_envs: int = 1, **given: Any) -> VectorEnvironment:
    """Entry point of `gymnasium.make_vec`."""
    return make_vec(environment, num_envs, **given)


def register() -> None:
    """Register all bundled environments that are not registered yet."""
    for name, bundled in BUNDLED.items():
        if identifier(name) not in gymnasium.registry:
            gymnasium.register(
                identifier(name),
                entry_point="saltus.env.registration:single",
                vector_entry_point="saltus.env.registration:vector",
                max_episode_steps=found(name, {}).max_episode_steps,
                reward_threshold=bundled.threshold,
                kwargs={"environment": name},
            )
