"""`evaluate`: returns of episodes of an environment under a policy, on this computer or a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import function, thread_count, whole_number
from saltus.env.environment import Environment
from saltus.env.interfaces.vector import VectorEnvironment
from saltus.env.made_for import made_for
from saltus.env.making import EnvironmentSource
from saltus.env.policy import Policy, Task
from saltus.errors import OptionError, SaltusError
from saltus.study.executors.executor import Executor, Workers, make_executor, results
from saltus.terminal.progress import Progress, ProgressChoice

SIDE_BY_SIDE = 64  # episodes per job
EPISODES = "finished {task.completed:.0f} of {task.total:.0f} episodes"

#: A policy, the path of its file, or a function from observations [n, nobservation] to actions [n, naction].
ActionsChoice: TypeAlias = Policy | str | os.PathLike[str] | Callable[[NDArray[np.floating]], ArrayLike]


@dataclass(frozen=True)
class Evaluation:
    """Results of episodes, in the order of their seeds.

    Attributes:
        returns [episodes]: undiscounted sums of rewards.
        lengths [episodes]: numbers of steps.
        terminated [episodes]: whether the environment ended the episode; otherwise it was truncated.
    """

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    terminated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean return; nan for one episode."""
        n = len(self)
        return float(self.returns.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")

    def __str__(self) -> str:
        r = self.returns
        return (
            f"return {self.mean:.4g} ± {self.standard_error:.2g} (mean of {len(self)} episodes; from {r.min():.4g} to "
            f"{r.max():.4g}), length {self.lengths.mean():.4g} steps, {self.terminated.mean():.0%} terminated"
        )


def evaluate(
    source: EnvironmentSource | Task | None = None,
    policy: ActionsChoice | None = None,
    episodes: int = 100,
    *,
    seed: int = 0,
    max_steps: int | None = None,
    workers: Workers = 1,
    reproducible: bool = True,
    progress: ProgressChoice = None,
    **parameters: object,
) -> Evaluation:
    """Run episodes under a policy.

    Episode k starts as `make(source).reset(seed=seed + k)`. Results are bitwise equal for any number of workers.

    Args:
        source: see `make_vec`; None: the environment that the policy was made for, with its changed parameters.
        policy: a `Policy`, the path of its file, or a stateless function from observations [n, nobservation] to actions
            [n, naction]. None: actions are zero, or the allowed values nearest to it.
        episodes: number of episodes.
        max_steps: most steps of an episode; required if the environment has no `max_episode_steps`.
        workers, reproducible, progress: see `saltus.sweep`; one worker uses all threads of this process.
        parameters: see `make_vec`.

    Raises:
        OptionError: an argument cannot be used, or cannot be sent to other processes.
        RecordError: the policy's file cannot be read.
    """
    given: Any = Policy.load(policy) if isinstance(policy, str | os.PathLike) else policy
    if given is not None:
        function("policy", given)
    count = whole_number("episodes", episodes, least=1)
    first = whole_number("seed", seed, least=0)
    environment = made_for(source, given, parameters)
    limit = environment.max_episode_steps
    if max_steps is not None:
        limit = min(whole_number("max_steps", max_steps, least=1), limit or max_steps)
    if limit is None:
        raise OptionError(f"{type(environment).__name__} has no max_episode_steps: give max_steps")
    threads = thread_count(None) if workers == 1 else 1
    jobs = [
        _Job(environment, given, range(first + k, first + min(k + SIDE_BY_SIDE, count)), limit, threads)
        for k in range(0, count, SIDE_BY_SIDE)
    ]
    with make_executor(workers, reproducible=reproducible) as executor, Progress(progress, count, EPISODES) as bar:
        found = _collected(executor, jobs, bar)
    parts = [found[k] for k in range(len(jobs))]
    return Evaluation(
        np.concatenate([part.returns for part in parts]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.terminated for part in parts]),
    )


@dataclass(frozen=True)
class _Job:
    """Episodes to run in one batch."""

    environment: Environment
    policy: Any
    seeds: range
    limit: int
    threads: int


def _collected(executor: Executor, jobs: list[_Job], bar: Progress) -> dict[int, Evaluation]:
    found: dict[int, Evaluation] = {}
    done = 0
    for k, result in results(executor, _run, jobs):
        if isinstance(result, SaltusError):
            raise result
        if isinstance(result, BaseException):
            raise OptionError(f"episodes {jobs[k].seeds[0]} and on: {result}") from result
        found[k] = result
        done += len(jobs[k].seeds)
        bar.update(done)
    return found


def _run(job: _Job) -> Evaluation:
    """Run the episodes of a job."""
    n = len(job.seeds)
    envs = VectorEnvironment(job.environment, n, threads=job.threads, info=False)
    space: Any = envs.single_action_space
    low, high = space.low, space.high
    still = np.broadcast_to(np.clip(0.0, low, high), (n, len(low)))
    observations, _ = envs.reset(seed=list(job.seeds))
    returns, lengths = np.zeros(n), np.zeros(n, np.int64)
    terminated, going = np.zeros(n, bool), np.ones(n, bool)
    for _ in range(job.limit):
        actions = still if job.policy is None else np.asarray(job.policy(observations))
        observations, rewards, ends, cut, _ = envs.step(actions)
        returns[going] += rewards[going]
        lengths[going] += 1
        terminated |= going & ends
        going &= ~(ends | cut)
        if not going.any():
            break
    return Evaluation(returns, lengths, terminated)
