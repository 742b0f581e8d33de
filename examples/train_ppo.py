"""Train a policy for an environment by proximal policy optimisation (PPO), on the processor: all in this one file.

    python examples/train_ppo.py PendulumSwingUp                   # a minute
    python examples/train_ppo.py HalfCheetah --out cheetah         # some minutes
    python examples/train_ppo.py HalfCheetah --out cheetah --resume --steps 10_000_000
    python examples/train_ppo.py HalfCheetah --backend gymnasium   # Gymnasium's SyncVectorEnv in Saltus's place

It needs PyTorch and Gymnasium: pip install 'saltus[train]'. The folder of --out then holds

- policy.npz: the policy, for `saltus.env.Policy.load`; NumPy alone can read and play it, too;
- curve.csv, curve.png: the return of the deterministic policy against steps and minutes, and where the time went;
- film.mp4: an episode of the policy;
- checkpoint.pt: everything that --resume needs. Whenever the policy is evaluated, a checkpoint is written and all
  episodes begin anew, so that it holds no state of a simulation. From there on, the numbers are those of a run that was
  not interrupted.

PPO: J. Schulman, F. Wolski, P. Dhariwal, A. Radford & O. Klimov, Proximal policy optimization algorithms (2017),
arXiv:1707.06347; advantages: J. Schulman et al., High-dimensional continuous control using generalized advantage
estimation (2016), arXiv:1506.02438.
"""

import argparse
import copy
import csv
import math
import os
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # PyTorch's threads sleep while the simulations have the cores

import gymnasium
import numpy as np
import torch
from torch import nn

import saltus.env

DEFAULTS = dict(
    n=128,  # environments
    horizon=64,  # steps of each in a rollout
    epochs=5,  # times that a rollout is learned from
    minibatches=8,  # in an epoch
    gamma=0.99,  # discount of a step
    lambda_=0.95,  # of generalised advantage estimation
    clip=0.2,  # of the ratio of probabilities
    kl=0.01,  # the Kullback-Leibler divergence of an update that the learning rate is adapted to
    rate=1e-3,  # learning rate of the first update
    entropy=0.0,  # weight of its bonus
    deviation=0.5,  # of actions about their mean in the first rollout; their range is -1 to 1
    hidden=(64, 64),  # widths of layers, of the policy as of the value
    every=20,  # updates from an evaluation to the next; longer than an episode
    steps=2_000_000,
)
WALKING = dict(n=1024, horizon=16, epochs=3, minibatches=4, kl=0.02, entropy=0.01, every=100)
SETTINGS = {  # what differs, by environment
    "CartPoleBalance": dict(n=64, horizon=50, steps=200_000, every=10),
    "PendulumSwingUp": dict(n=64, horizon=50, steps=500_000, every=10),
    "PendularmSwingUp": dict(deviation=0.8, entropy=0.003, epochs=4, minibatches=4),
    "HalfCheetah": dict(gamma=0.98, lambda_=0.92, deviation=0.3),
    "QuadrupedJoystick": WALKING | dict(steps=10_000_000),
    "HumanoidJoystick": WALKING | dict(steps=50_000_000),
}
CAMERAS = {"HalfCheetah": "track"}  # of films
PARTS = ("physics", "policy", "learning", "evaluation")
REMEMBERED = ("rate", "updates", "steps", "seconds", "spent", "curve")  # of a trainer, in checkpoints


# ---------------------------------------------------------------- environments


def make(arguments, n):
    """n environments whose episodes begin anew within the step that ends them."""
    if arguments.backend == "saltus":
        options = dict(threads=arguments.threads, precision=arguments.precision, info=False)
        return saltus.env.make_vec(arguments.environment, n, autoreset_mode="SameStep", **options, **arguments.changes)
    name, mode = f"{arguments.environment}-v5", arguments.backend.removeprefix("gymnasium-")
    options = dict(autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
    return gymnasium.make_vec(name, n, "async" if mode == "async" else "sync", vector_kwargs=options)


# ---------------------------------------------------------------- policy


def layers(widths, last_gain):
    """A network with tanh between its layers, whose weights begin orthogonal."""
    found = []
    for inputs, outputs in pairwise(widths):
        found += [nn.Linear(inputs, outputs), nn.Tanh()]
        nn.init.orthogonal_(found[-2].weight, math.sqrt(2.0))
        nn.init.zeros_(found[-2].bias)
    nn.init.orthogonal_(found[-2].weight, last_gain)
    return nn.Sequential(*found[:-1])


class Moments(nn.Module):
    """Mean and variance of all rows [..., size] so far."""

    def __init__(self, size):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))
        self.register_buffer("mean", torch.zeros(size, dtype=torch.float64))
        self.register_buffer("variance", torch.ones(size, dtype=torch.float64))

    def update(self, rows):
        """Take rows into account, by the pairwise formulas of Chan, Golub & LeVeque (1979)."""
        rows = rows.reshape(-1, len(self.mean)).double()
        total = self.count + len(rows)
        delta, share = rows.mean(0) - self.mean, len(rows) / total
        self.variance = rows.var(0, correction=0) * share + (self.variance + delta**2 * share) * (1.0 - share)
        self.mean, self.count = self.mean + delta * share, total

    def scale(self):
        """One over the standard deviation."""
        return (self.variance + 1e-8).rsqrt()


class Agent(nn.Module):
    """The policy, normal about the mean that a network gives, and the value of observations by another network.

    Observations are shifted and scaled by their moments. Actions are in units of their range: -1 to 1.
    """

    def __init__(self, observations, actions, hidden, deviation):
        super().__init__()
        self.seen, self.returned = Moments(observations), Moments(1)
        self.policy = layers((observations, *hidden, actions), 0.01)
        self.value = layers((observations, *hidden, 1), 1.0)
        self.log_deviation = nn.Parameter(torch.full((actions,), math.log(deviation)))

    def normalised(self, observations):
        return ((observations - self.seen.mean.float()) * self.seen.scale().float()).clamp(-10.0, 10.0)

    def log_probability(self, actions, mean):
        """Of actions about a mean, less the constant."""
        z = (actions - mean) * torch.exp(-self.log_deviation)
        return -0.5 * (z * z).sum(-1) - self.log_deviation.sum()


def action_range(space):
    """Middle and half width of the actions' ranges, 0 and 1 where they are not limited."""
    limited = np.isfinite(space.low) & np.isfinite(space.high)
    low, high = np.where(limited, space.low, -1.0), np.where(limited, space.high, 1.0)
    return torch.as_tensor(0.5 * (low + high)).float(), torch.as_tensor(0.5 * (high - low)).float()


def as_policy(agent, space, environment):
    """The deterministic policy without PyTorch; actions are in the environment's own units."""
    middle, half = action_range(space)
    network = copy.deepcopy(agent.policy)
    network[-1].weight.data *= half[:, None]
    network[-1].bias.data = network[-1].bias * half + middle
    seen = dict(mean=agent.seen.mean, scale=1.0 / agent.seen.scale(), clip=10.0)
    return saltus.env.Policy.from_torch(network, **seen, low=space.low, high=space.high, environment=environment)


# ---------------------------------------------------------------- PPO


class Trainer:
    """A run of PPO: its environments, its agent, and what it remembers between updates."""

    def __init__(self, arguments):
        self.arguments = arguments
        torch.manual_seed(arguments.seed)
        self.envs, self.eval_envs = make(arguments, arguments.n), make(arguments, arguments.episodes)
        for envs in (self.envs, self.eval_envs):  # compile what they need
            envs.reset(seed=0)
            envs.step(np.zeros(envs.action_space.shape, np.float32))
        self.name = self.envs if arguments.backend == "saltus" else f"saltus/{arguments.environment}-v5"
        self.space = self.envs.single_action_space
        self.middle, self.half = action_range(self.space)
        (observations,), (actions,) = self.envs.single_observation_space.shape, self.space.shape
        self.agent = Agent(observations, actions, arguments.hidden, arguments.deviation)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=arguments.rate, eps=1e-5, fused=True)
        self.rate = arguments.rate
        self.updates, self.steps, self.seconds = 0, 0, 0.0
        self.spent = dict.fromkeys(PARTS, 0.0)
        self.curve = []
        shape = (arguments.horizon, arguments.n)
        self.observations, self.actions = torch.zeros(*shape, observations), torch.zeros(*shape, actions)
        self.rewards, self.ends = torch.zeros(shape), torch.zeros(shape, dtype=torch.bool)

    @contextmanager
    def timed(self, part):
        began = time.perf_counter()
        yield
        self.spent[part] += time.perf_counter() - began

    def begin(self):
        """Begin all episodes anew, with random numbers that depend on the seed and the number of updates alone."""
        seed = int(np.random.SeedSequence((self.arguments.seed, self.updates)).generate_state(1)[0])
        with self.timed("physics"):
            self.current = self.envs.reset(seed=seed)[0]
        self.discounted = torch.zeros(self.arguments.n)
        self.score, self.length = np.zeros(self.arguments.n), np.zeros(self.arguments.n, int)
        self.finished = []

    def to_range(self, actions):
        """Actions as environments take them."""
        return (self.middle + self.half * actions.clamp(-1.0, 1.0)).numpy()

    def rollout(self):
        """Fill the rollout with steps of all environments; the last observations of episodes that were cut short."""
        cut = []
        deviation = torch.exp(self.agent.log_deviation)
        for t in range(self.arguments.horizon):
            with self.timed("policy"):
                self.observations[t] = torch.as_tensor(self.current)
                mean = self.agent.policy(self.agent.normalised(self.observations[t]))
                self.actions[t] = mean + deviation * torch.randn(mean.shape)
                actions = self.to_range(self.actions[t])
            with self.timed("physics"):
                self.current, rewards, terminated, truncated, infos = self.envs.step(actions)
            with self.timed("policy"):
                self.rewards[t] = torch.as_tensor(rewards)
                ended = terminated | truncated
                self.ends[t] = torch.as_tensor(ended)
                self.score += rewards
                self.length += 1
                if ended.any():
                    self.finished += zip(self.score[ended], self.length[ended], strict=True)
                    self.score[ended], self.length[ended] = 0.0, 0
                    cut += [(t, i, infos["final_obs"][i]) for i in np.flatnonzero(truncated & ~terminated)]
        self.steps += self.rewards.numel()
        return cut

    def advantages(self, x, cut):
        """Generalised advantage estimates, and what values are to become [horizon, n]."""
        a, agent = self.arguments, self.agent
        sums = torch.empty_like(self.rewards)  # of rewards until each step, earlier ones discounted
        for t in range(a.horizon):
            sums[t] = self.discounted = self.rewards[t] + a.gamma * self.discounted
            self.discounted = self.discounted * ~self.ends[t]
        agent.returned.update(sums[..., None])
        rewards = self.rewards * agent.returned.scale().float()
        values, last = (
            agent.value(x)[..., 0],
            agent.value(agent.normalised(torch.as_tensor(self.current).float()))[:, 0],
        )
        following = torch.cat([values[1:], last[None]]) * ~self.ends
        if cut:  # an episode that was cut short goes on in its value
            times, places, final = zip(*cut, strict=True)
            final = torch.as_tensor(np.array(final)).float()
            following[list(times), list(places)] = agent.value(agent.normalised(final))[:, 0]
        delta = rewards + a.gamma * following - values
        keep = a.gamma * a.lambda_ * ~self.ends
        found, running = torch.empty_like(delta), torch.zeros(a.n)
        for t in reversed(range(a.horizon)):
            running = delta[t] + keep[t] * running
            found[t] = running
        return found, found + values

    def learn(self, cut):
        """One update of policy and value from the rollout."""
        a, agent = self.arguments, self.agent
        with torch.no_grad():
            x = agent.normalised(self.observations)
            advantages, targets = self.advantages(x, cut)
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            before = agent.log_probability(self.actions, agent.policy(x))
            rows = torch.cat([x, self.actions, torch.stack([before, advantages, targets], -1)], -1).flatten(0, 1)
            sizes = (x.shape[-1], self.actions.shape[-1], 3)
        for _ in range(a.epochs):
            change = 0.0
            for chosen in torch.randperm(len(rows)).chunk(a.minibatches):
                x, actions, rest = rows.index_select(0, chosen).split(sizes, dim=-1)
                before, advantages, targets = rest.unbind(-1)
                log_ratio = agent.log_probability(actions, agent.policy(x)) - before
                ratio = log_ratio.exp()
                gain = torch.minimum(ratio * advantages, ratio.clamp(1.0 - a.clip, 1.0 + a.clip) * advantages).mean()
                error = 0.5 * ((agent.value(x)[:, 0] - targets) ** 2).mean()
                loss = error - gain - a.entropy * agent.log_deviation.sum()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
                self.optimizer.step()
                with torch.no_grad():
                    change += (ratio - 1.0 - log_ratio).mean().item() / a.minibatches
        self.rate *= 1.0 / 1.5 if change > 2.0 * a.kl else 1.5 if change < 0.5 * a.kl else 1.0
        self.rate = min(max(self.rate, 1e-5), 1e-2)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate
        with torch.no_grad():
            agent.seen.update(self.observations)

    def evaluate(self):
        """Mean return and length of episodes of the deterministic policy, one in each of its environments."""
        envs, n = self.eval_envs, self.arguments.episodes
        current, _ = envs.reset(seed=self.arguments.seed + 1_000_000)
        total, length, alive = np.zeros(n), np.zeros(n), np.ones(n, bool)
        while alive.any():
            mean = self.agent.policy(self.agent.normalised(torch.as_tensor(current).float()))
            current, rewards, terminated, truncated, _ = envs.step(self.to_range(mean))
            total, length = total + rewards * alive, length + alive
            alive &= ~(terminated | truncated)
        return total.mean(), length.mean()

    def train(self):
        """Update until steps or minutes are over."""
        a, began, before = self.arguments, time.perf_counter(), self.seconds
        over = False
        self.begin()
        while not over:
            with torch.no_grad():
                cut = self.rollout()
            with self.timed("learning"):
                self.learn(cut)
            self.updates += 1
            self.seconds = before + time.perf_counter() - began
            over = self.steps >= a.steps or self.seconds >= 60.0 * a.minutes
            if over or self.updates % a.every == 0:
                with torch.no_grad(), self.timed("evaluation"):
                    returned, length = self.evaluate()
                self.seconds = before + time.perf_counter() - began
                self.report(returned, length)
                self.checkpoint()
                self.begin()

    # ------------------------------------------------------------ files

    def report(self, returned, length):
        """A row of the learning curve, on the screen too."""
        done = np.mean(self.finished, axis=0) if self.finished else (math.nan, math.nan)
        row = dict(steps=self.steps, minutes=self.seconds / 60.0, evaluated=returned, length=length)
        row |= dict(training=done[0], training_length=done[1], rate=self.rate)
        row |= dict(deviation=torch.exp(self.agent.log_deviation).mean().item()) | self.spent
        last = self.curve[-1] if self.curve else dict.fromkeys(row, 0.0)
        self.curve.append({name: float(value) for name, value in row.items()})
        passed = {name: row[name] - last[name] for name in ("steps", "minutes", *PARTS)}
        seconds = 60.0 * passed["minutes"]
        line = f"{self.steps:10,} {row['minutes']:8.2f} {returned:9.1f} {length:7.0f} {done[0]:9.1f}"
        line += f"{passed['steps'] / seconds:9,.0f}"
        print(line, *(f"{passed[part]:6.2f} s {passed[part] / seconds:4.0%}" for part in PARTS), flush=True)

    def checkpoint(self):
        """Write what --resume continues from, the policy and the curve."""
        out = self.arguments.out
        state = dict(agent=self.agent.state_dict(), optimizer=self.optimizer.state_dict(), random=torch.get_rng_state())
        state["settings"] = {name: getattr(self.arguments, name) for name in ("environment", "seed", *DEFAULTS)}
        state |= {name: getattr(self, name) for name in REMEMBERED}
        torch.save(state, out / "checkpoint.new")
        os.replace(out / "checkpoint.new", out / "checkpoint.pt")
        as_policy(self.agent, self.space, self.name).save(out / "policy.npz")
        with open(out / "curve.csv", "w", newline="") as file:
            table = csv.DictWriter(file, self.curve[0])
            table.writeheader()
            table.writerows(self.curve)

    def resume(self, state):
        """Continue from a checkpoint."""
        self.agent.load_state_dict(state["agent"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        for name in REMEMBERED:
            setattr(self, name, state[name])


def draw_curve(curve, path, title):
    """Return against steps and against minutes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    steps, minutes = [1e-6 * row["steps"] for row in curve], [row["minutes"] for row in curve]
    for axis, x, label in zip(axes, (steps, minutes), ("million steps", "minutes"), strict=True):
        axis.plot(x, [row["training"] for row in curve], color="0.7", label="while training")
        axis.plot(x, [row["evaluated"] for row in curve], ".-", label="deterministic policy")
        axis.set(xlabel=label)
    axes[0].set(ylabel="return", title=title)
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=120)


def film(arguments, path):
    """An episode of the policy that was saved, 20 s of it at most; it plays without PyTorch."""
    import av

    policy = saltus.env.Policy.load(arguments.out / "policy.npz")
    view = dict(render_mode="rgb_array", width=640, height=400, camera=CAMERAS.get(arguments.environment))
    env = saltus.env.make(arguments.environment, precision=arguments.precision, **view, **arguments.changes)
    current, _ = env.reset(seed=arguments.seed)
    fps = env.metadata["render_fps"]
    skip = math.ceil(fps / 50)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=round(fps / skip))
        stream.width, stream.height, stream.pix_fmt = 640, 400, "yuv420p"
        for step in range(20 * fps):
            if step % skip == 0:
                container.mux(stream.encode(av.VideoFrame.from_ndarray(env.render(), format="rgb24")))
            current, _, terminated, truncated, _ = env.step(policy(current))
            if terminated or truncated:
                break
        container.mux(stream.encode())


def parsed():
    """The command line and the checkpoint to resume from, or None.

    A setting is that of the command line, else of the checkpoint, else of the environment, else the default.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", help=", ".join(saltus.env.environments()))
    parser.add_argument("--model", help="the model file of an environment that comes without one")
    parser.add_argument("--out", type=Path, help="folder for the results (default: the environment's name)")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="stop when so many have passed, even before --steps"
    )
    parser.add_argument("--resume", action="store_true", help="continue from the checkpoint in the folder")
    parser.add_argument("--backend", choices=("saltus", "gymnasium", "gymnasium-async"), default="saltus")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--precision", choices=("float32", "float64"), default="float32", help="of the simulations")
    parser.add_argument("--episodes", type=int, default=16, help="in an evaluation")
    parser.add_argument("--no-film", action="store_true")
    parser.add_argument("--seed", type=int)
    for name, value in DEFAULTS.items():  # what they mean stands there
        kind = int if isinstance(value, tuple) else type(value)
        parser.add_argument(f"--{name.strip('_')}", dest=name, type=kind, nargs="+" if name == "hidden" else None)
    arguments = parser.parse_args()
    arguments.out = arguments.out or Path(arguments.environment)
    arguments.changes = {"model": arguments.model} if arguments.model else {}
    settings, state = {"seed": 0} | DEFAULTS | SETTINGS.get(arguments.environment, {}), None
    if arguments.resume:
        state = torch.load(arguments.out / "checkpoint.pt")
        if state["settings"]["environment"] != arguments.environment:
            parser.error(f"the checkpoint in {arguments.out} is of {state['settings']['environment']}")
        settings |= {name: value for name, value in state["settings"].items() if name != "steps"}
        if state["steps"] >= (arguments.steps or settings["steps"]):
            parser.error(f"the checkpoint in {arguments.out} has {state['steps']} steps; give --steps for more")
    for name, value in settings.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    return arguments, state


def main():
    arguments, state = parsed()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(arguments.threads)
    began = time.perf_counter()
    trainer = Trainer(arguments)
    if state is not None:
        trainer.resume(state)
    print(f"{arguments.environment}: built in {time.perf_counter() - began:.1f} s")
    print("     steps  minutes    return  length  training  steps/s", *(f"{part:>13}" for part in PARTS))
    trainer.train()
    draw_curve(trainer.curve, arguments.out / "curve.png", arguments.environment)
    if not arguments.no_film:
        film(arguments, arguments.out / "film.mp4")
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
