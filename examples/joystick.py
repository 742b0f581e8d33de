"""How well a policy walks by command, and a film of it.

    python examples/train_ppo.py QuadrupedJoystick --model scene.xml --out go1
    python examples/joystick.py go1/policy.npz --model scene.xml --film walk.mp4

Many robots get a command each, drawn from the ranges of the environment, and keep it. Their mean velocities from one
second on are compared with it.
"""

import argparse

import numpy as np

import saltus.env

RANGES = ("forward_range", "lateral_range", "yaw_range")
DRIVE = [(0.0, 0.0, 0.0), (0.8, 0.0, 0.0), (0.5, 0.0, 0.8), (0.0, 0.3, 0.0), (-0.5, 0.0, 0.0)]  # 2 s each


def velocities(seen):
    """Forward and lateral velocity (m/s) and yaw rate (rad/s) of the base, from observations [n, nobservation]."""
    return np.stack([seen[:, 0] / 2.0, seen[:, 1] / 2.0, 4.0 * seen[:, 5]], axis=1)


def judge(policy, name, n=256, seconds=10.0, seed=0, **changes):
    """Commands [n, 3], mean velocities [n, 3] from one second on, and which robots fell [n]."""
    envs = saltus.env.make_vec(
        name, n, autoreset_mode="NextStep", standing_share=0.0, command_seconds=1e6, max_episode_steps=None, **changes
    )
    rng = np.random.default_rng(seed)
    least, most = np.array([envs.parameters[key][0] for key in RANGES]).T
    commands = rng.uniform(least, most, (n, 3))
    for key, column in zip(RANGES, commands.T, strict=True):
        envs.parameters[key] = np.stack([column, column], axis=1)
    seen, _ = envs.reset(seed=seed)
    fell, total = np.zeros(n, bool), np.zeros((n, 3))
    rate = envs.metadata["render_fps"]
    steps = round(seconds * rate)
    for step in range(steps):
        seen, _, terminated, *_ = envs.step(policy(seen))
        fell |= terminated
        total += velocities(seen) * (step >= rate)
    return commands, total / (steps - rate), fell


def report(commands, reached, fell):
    """Errors by direction of those that did not fall, and the share of those that did."""
    errors = np.abs(reached - commands)[~fell]
    print(f"{100 * fell.mean():.1f} % of {len(fell)} fell")
    for k, (what, unit) in enumerate([("forward", "m/s"), ("lateral", "m/s"), ("yaw", "rad/s")]):
        if len(errors):
            print(f"{what:8s} mean error {errors[:, k].mean():.3f} {unit}, largest {errors[:, k].max():.3f} {unit}")


def film(policy, name, path, **changes):
    """Drive one robot by a list of commands."""
    import av

    view = dict(render_mode="rgb_array", width=640, height=400)
    env = saltus.env.make(name, standing_share=0.0, command_seconds=2.0, max_episode_steps=None, **view, **changes)
    rate = env.metadata["render_fps"]
    with av.open(path, "w") as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = 640, 400, "yuv420p"
        for k, command in enumerate(DRIVE):
            for key, value in zip(RANGES, command, strict=True):
                env.parameters[key] = (value, value)
            if k == 0:
                seen, _ = env.reset(seed=0)
            for _ in range(2 * rate):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(env.render(), format="rgb24")))
                seen, _, terminated, *_ = env.step(policy(seen))
                if terminated:
                    seen, _ = env.reset()
        container.mux(stream.encode())
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policy", help="file that examples/train_ppo.py has written")
    parser.add_argument("--model", help="MJCF file of the robot on a floor")
    parser.add_argument("--n", type=int, default=256, help="robots")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--precision", choices=("float32", "float64"), default="float32")
    parser.add_argument("--film", help="file (.mp4) to write")
    given = parser.parse_args()
    policy = saltus.env.Policy.load(given.policy)
    changes = {"precision": given.precision} | ({"model": given.model} if given.model else {})
    name = policy.environment or "QuadrupedJoystick"
    report(*judge(policy, name, given.n, given.seconds, **changes))
    if given.film:
        film(policy, name, given.film, **changes)


if __name__ == "__main__":
    main()
