"""`made_for`: find an environment by its name, class or object, or by the policy made for it."""

from collections.abc import Mapping
from typing import Any

from saltus.env.environment import Environment
from saltus.env.making import found, kind_of
from saltus.env.policy import Policy, environment_name
from saltus.errors import OptionError


def made_for(source: Any, policy: Any, parameters: Mapping[str, object]) -> Environment:
    """The environment of `source`, or if that is None the one that the policy was made for; OptionError if unknown."""
    made = getattr(getattr(source, "unwrapped", None), "environment", None)
    if made is not None:
        return found(made, parameters)
    known = policy.environment if isinstance(policy, Policy) else None
    if source is None:
        if known is None:
            raise OptionError("give an environment: the policy does not say which it was made for")
        if ":" in known:  # a file must not decide what is imported
            raise OptionError(f"the policy was made for {known}; give that environment, too")
        source = known
    if isinstance(source, Environment):
        return found(source, parameters)
    kind = kind_of(source)
    own = policy.parameters if known == environment_name(kind) else {}
    return found(kind, {**own, **parameters})
