"""Thousands of cart-poles at once, each under its own controller: which gains keep the pole up?

A random search over the four gains of a linear feedback of the state. All candidates move at the same time, in the
lanes of SIMD registers and on all cores; between two decisions of their controllers each takes four steps of 5 ms.

    python examples/batch_rollouts.py [--n 4096]
"""

import argparse
import time

import numpy as np

import saltus

DURATION, DECISION, STEPS = 10.0, 0.02, 4  # s, s, steps between decisions
FALLEN, RAIL, STRONGEST = 0.5, 2.4, 20.0  # rad from upright, m from the middle, N


def rollouts(gains):
    """How long (s) each candidate keeps its pole up and its cart on the rail; gains [n, 4] of x, θ, x', θ'."""
    batch = saltus.Batch("cart_pole", len(gains), timestep=DECISION / STEPS)
    batch.qpos = [0.0, 0.2]
    alive, upright = np.ones(batch.n, bool), np.zeros(batch.n)
    for _ in range(round(DURATION / DECISION)):
        state = np.column_stack([batch.qpos, batch.qvel])
        alive &= (abs(state[:, 0]) < RAIL) & (abs(state[:, 1]) < FALLEN)
        upright += DECISION * alive
        force = np.clip((gains * state).sum(axis=1), -STRONGEST, STRONGEST)
        batch.ctrl = np.where(alive, force, 0.0)[:, None]
        batch.step(STEPS)
    return upright


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=4096, help="candidates")
    options = parser.parse_args()
    gains = np.random.default_rng(0).normal(size=(options.n, 4)) * [5, 50, 5, 10]
    rollouts(gains[:1])  # compiles
    begin = time.perf_counter()
    upright = rollouts(gains)
    seconds = time.perf_counter() - begin
    best = int(np.argmax(upright))
    kept = int((upright > DURATION - DECISION).sum())
    print(f"{options.n} cart-poles, {DURATION:g} s each, in {seconds:.2f} s")
    print(f"{kept} keep the pole up to the end; half of all lose it within {np.median(upright):.2f} s")
    print(f"one that keeps it {upright[best]:.2f} s: {', '.join(f'{g:.1f}' for g in gains[best])} for x, θ, x', θ'")


if __name__ == "__main__":
    main()
