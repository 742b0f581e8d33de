"""A film of two runs over each other: a standing man who is pushed, gently and hard.

The servos of the humanoid hold its joints at their angles; nothing balances. A push of 0.2 s against its chest that
changes its momentum little makes it sway, a harder one makes it fall.

    python examples/film.py [film.mp4]
"""

import sys

import saltus

model = saltus.load("humanoid")
chest, head = model.id("body", "chest"), model.id("body", "head")


def pushed(force):
    """Three seconds, pushed forwards with so many newtons between 0.5 and 0.7 s; where the head is at the end."""
    sim = saltus.Simulation(model)

    def push(sim):
        sim.xfrc_applied[chest, 0] = force if 0.5 <= sim.time < 0.7 else 0.0

    run = sim.run(3, control=push)
    print(f"pushed with {force} N: the head ends {sim.data.xpos[head, 2]:.2f} m above the floor")
    return run


gently, hard = pushed(100), pushed(300)
film = sys.argv[1] if len(sys.argv) > 1 else "film.mp4"
gently.video(film, fps=30, ghosts=[hard])
print(f"wrote {film}")
