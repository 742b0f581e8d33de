"""`Policy`: a map from observations to actions, as a multilayer perceptron that needs only NumPy."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import PlainValue, flag, mapping, number, numbers, path_of, several
from saltus.env.making import BUNDLED, identifier
from saltus.errors import OptionError, RecordError, warn
from saltus.files.opening import open_regular
from saltus.record.files.atomic_write import reason_of, write_whole
from saltus.record.files.npz import read_arrays

FORMAT, VERSION = "saltus policy", 1
Numbers: TypeAlias = NDArray[np.floating]


def _elu(x: Numbers) -> Numbers:
    return np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))


def _relu(x: Numbers) -> Numbers:
    return np.maximum(x, 0.0)


def _silu(x: Numbers) -> Numbers:
    return x * (0.5 + 0.5 * np.tanh(0.5 * x))  # x / (1 + exp(-x)), without overflow


ACTIVATIONS: dict[str, Callable[[Numbers], Numbers]] = {"tanh": np.tanh, "elu": _elu, "relu": _relu, "silu": _silu}
MODULES = {"Tanh": "tanh", "ELU": "elu", "ReLU": "relu", "SiLU": "silu"}  # torch's names


class Task(Protocol):
    """An environment of `saltus.env`, single or vector, or a Gymnasium wrapper around one."""

    @property
    def unwrapped(self) -> object:
        """The environment itself."""
        ...


class Policy:
    """A deterministic policy: a multilayer perceptron on normalised observations.

    The input is x = (observation - mean) / scale, clipped to ±clip. Each layer but the last maps x to
    activation(weights[k] x + biases[k]); the last one is linear. The action is its output clipped to low and high, or
    with `squash` the tanh of its output, mapped from (-1, 1) to (low, high).

    Attributes:
        weights: [outputs, inputs] of each layer, as in torch.nn.Linear.
        biases: [outputs] of each layer.
        activation: "tanh", "elu", "relu" or "silu".
        mean, scale: normalisation of observations [nobservation].
        clip: largest magnitude of normalised observations; infinite: no limit.
        low, high: least and largest action [naction]; infinite: no limit.
        squash: whether tanh limits actions.
        environment: name of its environment, such as "saltus/CartPoleSwingUp-v0" or "module:Class"; None: not known.
        parameters: changed parameters of that environment, by name.
        nobservation, naction: sizes of an observation and an action.
    """

    def __init__(
        self,
        weights: Sequence[ArrayLike],
        biases: Sequence[ArrayLike],
        activation: str = "tanh",
        *,
        mean: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        clip: float | None = None,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        squash: bool = False,
        environment: Task | str | None = None,
        parameters: Mapping[str, PlainValue] | None = None,
    ):
        """Set the attributes; None: no normalisation, no limit, not known.

        Weights and biases are stored in float32 if all of them are, else in float64. `environment`: an environment made
        by `saltus.env.make` or `make_vec`, whose name, changed parameters, and, if they are None, low and high are
        taken over; or only a name. `parameters`: text and numbers; other parameters of an environment are left out with
        a warning. OptionError: sizes do not fit together, or a value is not valid.
        """
        if activation not in ACTIVATIONS:
            raise OptionError.unknown("activation", activation, ACTIVATIONS)
        self.activation, self.squash = activation, flag("squash", squash)
        self.weights, self.biases = _layers(several("weights", weights), several("biases", biases))
        self.nobservation, self.naction = self.weights[0].shape[1], len(self.biases[-1])
        changes: Mapping[str, object] = {} if parameters is None else mapping("parameters", parameters)
        if environment is None or isinstance(environment, str):
            self.environment = environment
        else:
            about = _about(environment)
            check_sizes(self, about.name, about.nobservation, about.naction)
            self.environment = about.name
            low, high = about.low if low is None else low, about.high if high is None else high
            changes = _kept(about) if parameters is None else parameters
        self.parameters: dict[str, PlainValue] = json.loads(_json(changes))
        self.mean = _row("mean", 0.0 if mean is None else mean, self.nobservation)
        self.scale = _row("scale", 1.0 if scale is None else scale, self.nobservation)
        self.clip = np.inf if clip is None else number("clip", clip)
        self.low = _row("low", -np.inf if low is None else low, self.naction)
        self.high = _row("high", np.inf if high is None else high, self.naction)
        self._check_ranges()

    def _check_ranges(self) -> None:
        if not (np.isfinite(self.mean) & np.isfinite(self.scale) & (self.scale > 0.0)).all():
            raise OptionError("mean must be finite, scale positive and finite")
        if not self.clip > 0.0:
            raise OptionError(f"clip must be positive, got {self.clip!r}")
        if not (self.low <= self.high).all():
            raise OptionError("low must not be above high")
        if self.squash and not np.isfinite([self.low, self.high]).all():
            raise OptionError("squash needs finite low and high")

    def __repr__(self) -> str:
        sizes = " -> ".join(str(n) for n in (self.nobservation, *(len(b) for b in self.biases)))
        return f"Policy({sizes}, {self.activation}" + (f", {self.environment})" if self.environment else ")")

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The precision of weights and actions: float32 or float64."""
        return self.weights[0].dtype

    def __call__(self, observations: ArrayLike) -> Numbers:
        """Compute actions [n, naction] for observations [n, nobservation], or one action for one observation."""
        seen = numbers("observations", observations)
        if seen.ndim not in (1, 2) or seen.shape[-1] != self.nobservation:
            raise OptionError(f"the policy takes observations of {self.nobservation} numbers, got shape {seen.shape}")
        x = (seen - self.mean) / self.scale
        x = np.clip(x, -self.clip, self.clip).astype(self.dtype)
        activate = ACTIVATIONS[self.activation]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = activate(x @ weight.T + bias)
        x = x @ self.weights[-1].T + self.biases[-1]
        if self.squash:
            x = self.low + (self.high - self.low) * (0.5 + 0.5 * np.tanh(x))
        return np.clip(x, self.low, self.high).astype(self.dtype)

    def check(self, environment: Task) -> None:
        """Raise OptionError if the sizes of an environment's observations or actions are not those of the policy."""
        about = _about(environment)
        check_sizes(self, about.name, about.nobservation, about.naction)

    @classmethod
    def from_torch(
        cls,
        module: object,
        mean: object = None,
        scale: object = None,
        *,
        clip: float | None = None,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        squash: bool = False,
        environment: Task | str | None = None,
        parameters: Mapping[str, PlainValue] | None = None,
    ) -> Policy:
        """Make a policy from a torch.nn.Sequential: Linear layers with Tanh, ELU, ReLU or SiLU between them.

        All numbers are copied; `mean` and `scale` may be tensors. A final Tanh counts as `squash`. For the other
        arguments see `Policy`. OptionError: a layer is of another kind.
        """
        weights, biases, activations = _torch_layers(module)
        if len(activations) == len(weights):
            if activations.pop() != "tanh":
                raise OptionError("from_torch: after the last Linear layer only Tanh is possible")
            squash = True
        if len(set(activations)) > 1:
            raise OptionError(f"from_torch: all activations must be the same, got {', '.join(activations)}")
        return cls(
            weights,
            biases,
            activations[0] if activations else "tanh",
            mean=None if mean is None else _copied(mean),
            scale=None if scale is None else _copied(scale),
            clip=clip,
            low=low,
            high=high,
            squash=squash,
            environment=environment,
            parameters=parameters,
        )

    # ------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file (.npz) with all attributes; RecordError if it cannot be written.

        The arrays are weight_0, bias_0, weight_1, ..., mean, scale, clip, low, high, squash and version; the texts are
        activation, environment ("" if not known), parameters (JSON) and format.
        """
        arrays: dict[str, Any] = {"format": FORMAT, "version": VERSION, "activation": self.activation}
        arrays |= {"environment": self.environment or "", "parameters": _json(self.parameters)}
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays |= {f"weight_{k}": weight, f"bias_{k}": bias}
        arrays |= {name: getattr(self, name) for name in ("mean", "scale", "clip", "low", "high", "squash")}
        content = BytesIO()
        np.savez(content, **arrays)
        write_whole(path_of("path", path), content.getbuffer(), what="policy")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a file written by `save`; RecordError if it is missing, damaged, too large unpacked, or not a policy."""
        given = _read(path_of("path", path))
        try:
            layers = range(sum(name.startswith("weight_") for name in given))
            return cls(
                [given[f"weight_{k}"] for k in layers],
                [given[f"bias_{k}"] for k in layers],
                str(given["activation"]),
                **{name: given[name] for name in ("mean", "scale", "low", "high")},
                clip=float(given["clip"]),
                squash=bool(given["squash"]),
                environment=str(given["environment"]) or None,
                parameters=json.loads(str(given["parameters"])),
            )
        except KeyError as error:
            raise _unreadable(path, f"damaged policy ({error.args[0]} is missing)") from error
        except (OptionError, ValueError, TypeError) as error:
            raise _unreadable(path, f"damaged policy ({error})") from error


# ---------------------------------------------------------------- arguments


def _layers(weights: list[Any], biases: list[Any]) -> tuple[tuple[Numbers, ...], tuple[Numbers, ...]]:
    """Check and copy weights and biases of layers, in one precision."""
    if not weights or len(weights) != len(biases):
        raise OptionError(f"expected as many biases as weights, and at least one, got {len(biases)} and {len(weights)}")
    given = [np.asarray(x) for x in (*weights, *biases)]
    dtype = np.float32 if all(x.dtype == np.float32 for x in given) else np.float64
    w = tuple(numbers(f"weights[{k}]", x, dtype).copy() for k, x in enumerate(weights))
    b = tuple(numbers(f"biases[{k}]", x, dtype).copy() for k, x in enumerate(biases))
    for k, (weight, bias) in enumerate(zip(w, b, strict=True)):
        if weight.ndim != 2 or bias.shape != weight.shape[:1] or not weight.size:
            raise OptionError(f"weights[{k}] must be [outputs, inputs] and biases[{k}] [outputs]")
        if k and weight.shape[1] != len(b[k - 1]):
            raise OptionError(f"weights[{k}] takes {weight.shape[1]} numbers, the previous layer gives {len(b[k - 1])}")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise OptionError(f"weights[{k}] or biases[{k}] is not finite")
    return w, b


def _row(name: str, value: ArrayLike, size: int) -> NDArray[np.float64]:
    """Return `size` numbers, given one by one or as one for all; OptionError for another shape."""
    found = numbers(name, value)
    if found.shape not in ((), (1,), (size,)):
        raise OptionError(f"{name} must have {size} numbers, got shape {found.shape}")
    return np.broadcast_to(found, (size,)).copy()


def _plain(value: object) -> object:
    """Convert arrays and paths to values of JSON; return other values unchanged."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _is_plain(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _json(parameters: Mapping[str, object]) -> str:
    """Encode parameters as JSON; OptionError if one is not text or numbers."""
    plain = {name: _plain(value) for name, value in parameters.items()}
    for name, value in plain.items():
        if not _is_plain(value):
            raise OptionError(f"a policy can keep text and numbers of its environment, not {name} = {value!r}")
    return json.dumps(plain, sort_keys=True)


def _kept(about: About) -> dict[str, object]:
    """Changed parameters of an environment; those that files cannot hold are left out with a warning."""
    found = {name: _plain(value) for name, value in about.parameters.items()}
    for name in [name for name, value in found.items() if not _is_plain(value)]:
        warn(f"the policy does not keep {name} = {found.pop(name)!r} of {about.name}, which is not text or numbers")
    return found


def check_sizes(policy: Policy, name: str, nobservation: int, naction: int) -> None:
    """Raise OptionError if the sizes of an environment's observations or actions are not those of a policy."""
    sizes = {"observations": (nobservation, policy.nobservation), "actions": (naction, policy.naction)}
    for what, (its, mine) in sizes.items():
        if its != mine:
            raise OptionError(f"{name} has {what} of {its} numbers, the policy of {mine}")


def environment_name(kind: type) -> str:
    """Name of an environment's class in files: its id in Gymnasium's registry, or "module:Class"."""
    bundled = kind.__module__.startswith("saltus.env.bundled.") and kind.__name__ in BUNDLED
    return identifier(kind.__name__) if bundled else f"{kind.__module__}:{kind.__qualname__}"


class About(NamedTuple):
    """Name, changed parameters, sizes and range of actions of an environment."""

    name: str
    parameters: Mapping[str, object]
    nobservation: int
    naction: int
    low: Numbers
    high: Numbers


def _about(made: Task) -> About:
    env: Any = getattr(made, "unwrapped", None)
    task = getattr(env, "environment", None)
    if task is None:
        raise OptionError(f"expected an environment of saltus.env.make or make_vec, got {made!r}")
    seen = getattr(env, "single_observation_space", env.observation_space)
    acts = getattr(env, "single_action_space", env.action_space)
    changes = {key: value for key, value in task.changes.items() if value is not None}
    return About(environment_name(type(task)), changes, seen.shape[0], acts.shape[0], acts.low, acts.high)


# ---------------------------------------------------------------- torch


def _torch_layers(module: Any) -> tuple[list[Any], list[Any], list[str]]:
    """Weights, biases and activations of a Sequential, possibly nested."""
    weights: list[Any] = []
    biases: list[Any] = []
    activations: list[str] = []
    for layer in _flat(module):
        kind = type(layer).__name__
        if kind == "Linear" and len(activations) == len(weights):
            weights.append(_copied(layer.weight))
            biases.append(np.zeros_like(weights[-1][:, 0]) if layer.bias is None else _copied(layer.bias))
        elif kind in MODULES and len(activations) == len(weights) - 1 and getattr(layer, "alpha", 1.0) == 1.0:
            activations.append(MODULES[kind])
        else:
            known = "Linear layers with one of Tanh, ELU (alpha = 1), ReLU and SiLU between them"
            raise OptionError(f"from_torch: expected {known}, got {layer!r} in layer {len(weights)}")
    if not weights:
        raise OptionError(f"from_torch: expected a torch.nn.Sequential with Linear layers, got {module!r}")
    return weights, biases, activations


def _flat(module: Any) -> list[Any]:
    """Layers of a possibly nested Sequential in order, without identities."""
    if type(module).__name__ == "Sequential":
        return [layer for part in module for layer in _flat(part)]
    return [] if type(module).__name__ == "Identity" else [module]


def _copied(tensor: Any) -> NDArray[Any]:
    """Copy a tensor or an array to an array; half precisions become float32."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        tensor = tensor if tensor.element_size() >= 4 else tensor.float()
        tensor = tensor.numpy()
    return np.array(tensor)


# ---------------------------------------------------------------- files


def _read(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read the arrays of a policy's file; RecordError if it is not one or its version is newer than known."""
    try:
        with open_regular(os.fspath(path)) as file:
            given = read_arrays(file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise _unreadable(path, reason_of(error)) from error
    except Exception as error:  # readers of broken files may raise any error
        raise _unreadable(path, f"not a policy, or a damaged one ({reason_of(error)})") from error
    if str(given.get("format", "")) != FORMAT:
        raise _unreadable(path, "not a policy")
    try:
        version = int(given["version"])
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(path, "damaged policy (version)") from error
    if version > VERSION:
        raise _unreadable(path, f"written by a newer Saltus (format {version}, known {VERSION})")
    return given


def _unreadable(path: str | os.PathLike[str], reason: str) -> RecordError:
    return RecordError(path, reason, action="read", what="policy")
