"""An environment's declaration, resolved for its model: terms as kernels, their inputs and sizes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import function, mapping, numbers
from saltus.env.disturb.disturbances import Disturbances
from saltus.env.disturb.pushes import pushes_of
from saltus.env.environment import Environment, declared
from saltus.env.observation import field_name, field_rows, parts
from saltus.env.run.gathered_terms import action_is_control, gathered, never, nothing
from saltus.env.run.loop import take_next, take_nothing
from saltus.env.run.quantities import Quantities
from saltus.env.run.stages import HIGH, LOW, NOISE, NSHAPING, SCALE, Program
from saltus.env.terms import term_kernel, value_count
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.number.cache.fingerprint import names_in
from saltus.number.structs import Struct

# shaping of observations that are not changed
PLAIN = np.zeros(NSHAPING)
PLAIN[[LOW, HIGH, SCALE, NOISE]] = -np.inf, np.inf, 1.0, 0.0


class Declaration:
    """The resolved declaration of an environment.

    `dt`: length of a step (s); `nmemory`: count of numbers that the integrator keeps between substeps.

    `names`: all names that terms and observation read. `quantities`: quantities computed for them after a step.
    `action_low`, `action_high` [naction]. `reward_range`: least and largest reward. After `measure`: `spans`, indices
    of rewards and infos among values; `nvalue`, `nobservation`; `field_rows` [fields, 2], indices in the observation
    and in Data; `shaping` [NSHAPING, nobservation]; `shaped`, whether shaping changes anything.
    """

    def __init__(self, environment: Environment, model: Model, dt: float, nmemory: int):
        self.environment, self.model = environment, model
        self._name = type(environment).__name__
        self._parts = parts(declared(environment, "observation"))
        self.rewards, self.infos = environment.terms("rewards"), environment.terms("infos")
        before = {name: environment.term(name) for name in ("before_step", "reset")}
        after = {name: environment.term(name) for name in ("terminated", "remember")}
        self.terms = before | after
        seen = [term_kernel(part.source) for part in self._parts if not isinstance(part.source, str)]
        fields = {field_name(part.source) for part in self._parts if isinstance(part.source, str)}
        reading = [*after.values(), *self.rewards.values(), *self.infos.values(), *seen]
        late = fields.union(*[names_in(kernel.py_func) for kernel in reading if kernel])
        early = {name: names_in(kernel.py_func) for name, kernel in before.items() if kernel}
        self.names = late.union(*early.values())
        for name, found in early.items():
            if any(word.startswith("contact_") for word in found):
                raise OptionError(
                    f"{self._name}: {name} cannot read contacts, which are found after it; let the term `remember` "
                    "keep what it needs in memory"
                )
        self.quantities = Quantities(late, declared(environment, "quantities"))
        self.action_low, self.action_high = self._action_range()
        self.reward_range = self._reward_range()
        where = f"{self._name}: python_rewards"
        self.python_rewards = {
            name: function(f"{where}[{name!r}]", value)
            for name, value in mapping(where, declared(environment, "python_rewards")).items()
        }
        self.disturbances = self._disturbances(dt, nmemory)
        self._check_names()

    def _disturbances(self, dt: float, nmemory: int) -> Disturbances:
        env, late = self.environment, any(part.delay[1] for part in self._parts)
        noise, delay, pushes = (declared(env, name) for name in ("action_noise", "action_delay", "pushes"))
        count = len(self.action_low)
        return Disturbances(noise, delay, late, pushes_of(pushes), count, self.model, dt, nmemory)

    def _check_names(self) -> None:
        clash = self.rewards.keys() & self.infos.keys()
        if clash:
            raise OptionError(f"{self._name}: {', '.join(sorted(clash))} is both a reward and an info")
        twice = self.python_rewards.keys() & (self.rewards.keys() | self.infos.keys() | self.disturbances.infos.keys())
        if twice:
            raise OptionError(f"{self._name}: {', '.join(sorted(twice))} is a Python reward and something else")
        pushed = self.disturbances.infos
        taken = pushed.keys() & (self.rewards.keys() | self.infos.keys())
        if taken:
            raise OptionError(f"{self._name}: {', '.join(sorted(taken))} is both a push and a reward or info")
        for name in declared(self.environment, "reset_infos"):
            if name not in self.infos and name not in pushed:
                raise OptionError.unknown("info at a reset", name, [*self.infos, *pushed])

    def _action_range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest actions."""
        given, m = declared(self.environment, "action_range"), self.model
        if given is None:
            limited = np.asarray(m.actuator_ctrllimited, bool)
            low, high = m.actuator_ctrlrange.T
            return np.where(limited, low, -np.inf), np.where(limited, high, np.inf)
        wrong = OptionError(f"{self._name}: action_range must be (least, largest), got {given!r}")
        try:
            low, high = given
        except (TypeError, ValueError):
            raise wrong from None
        low, high = numbers("action_range", low), numbers("action_range", high)
        try:
            low, high = np.broadcast_arrays(low, high)
        except ValueError:
            raise wrong from None
        if low.ndim > 1 or not np.all(low <= high):
            raise wrong
        size = low.shape or (m.nu,)
        return np.broadcast_to(low, size).astype(float), np.broadcast_to(high, size).astype(float)

    def _reward_range(self) -> tuple[float, float]:
        """Least and largest reward of a step."""
        given = declared(self.environment, "reward_range")
        if given is None:
            return -np.inf, np.inf
        found = numbers(f"{self._name}: reward_range", given)
        if found.shape != (2,) or not found[0] <= found[1]:
            raise OptionError(f"{self._name}: reward_range must be (least, largest), got {given!r}")
        return float(found[0]), float(found[1])

    # ------------------------------------------------------------ sizes

    def measure(self, typed: tuple[Struct, Struct, Struct]) -> None:
        """Determine the sizes of terms by compiling them for structs of these types: Model, Data, episode."""
        self._measure_values(typed)
        self._measure_observation(typed)

    def _measure_values(self, typed: tuple[Struct, Struct, Struct]) -> None:
        self.spans: dict[str, slice | int] = {}
        self._values: list[tuple[Any, int, int]] = []
        self.nvalue = 0
        for name, kernel in {**self.rewards, **self.infos}.items():
            size = value_count(f"{self._name}: {name}", kernel, typed)
            if name in self.rewards and size:
                raise OptionError(f"{self._name}: reward {name} must be one number, not {size}")
            self._values.append((kernel, self.nvalue, size))
            self.spans[name] = slice(self.nvalue, self.nvalue + size) if size else self.nvalue
            self.nvalue += size or 1
        for name, size in self.disturbances.infos.items():
            self.spans[name] = slice(self.nvalue, self.nvalue + size)
            self.nvalue += size
        for name in self.python_rewards:  # their values are stored after the loop
            self.spans[name] = self.nvalue
            self.nvalue += 1

    def _measure_observation(self, typed: tuple[Struct, Struct, Struct]) -> None:
        rows: list[tuple[int, int]] = []
        shaping: list[NDArray[np.float64]] = []
        self._sightings: list[tuple[Any, int, int]] = []
        delays: list[tuple[int, int]] = []
        at = 0
        for part in self._parts:
            if isinstance(part.source, str):
                found = field_rows(part.source, self.model, typed[1])
                rows += [(at + k, int(row)) for k, row in enumerate(found)]
                count = len(found)
            else:
                size = value_count(f"{self._name}: observation", term_kernel(part.source), typed)
                self._sightings.append((term_kernel(part.source), at, size))
                count = size or 1
            column = PLAIN.copy()
            column[[LOW, HIGH]] = part.clip or (-np.inf, np.inf)
            column[[SCALE, NOISE]] = part.scale, part.noise
            shaping += [column] * count
            delays += [part.delay] * count
            at += count
        if not at:
            raise OptionError(f"{self._name}: the observation is empty")
        self.nobservation = at
        self.disturbances.see(delays)
        self.field_rows = np.array(rows, np.int64).reshape(-1, 2)
        self.shaping = np.ascontiguousarray(np.array(shaping).T)
        self.shaped = bool((self.shaping != PLAIN[:, None]).any())

    def program(self, drawn: bool) -> Program:
        """The kernels called by the loop; `drawn`: whether anything is drawn for new episodes."""
        return Program(
            before_step=self.terms["before_step"] or action_is_control,
            after_step=self.quantities.after_step(),
            terminated=self.terms["terminated"] or never,
            values=gathered(tuple(self._values), "values"),
            observation=gathered(tuple(self._sightings), "observation"),
            remember=self.terms["remember"] or nothing,
            reset=self.terms["reset"] or nothing,
            after_reset=self.quantities.after_reset(),
            take=take_next if drawn else take_nothing,
            disturbances=self.disturbances.kernels(),
        )
