"""Random mechanisms from a seed, as MJCF text."""

import numpy as np


def random_tree(seed, *, bodies=9, joints=("hinge", "slide", "ball", "free"), passive=True):
    """A forest of `bodies` bodies with random shapes, inertias and joints of the given types, several a body.

    `passive`: with springs (also polynomial ones), dampers and armature. Only bodies on the world have free joints.
    """
    rng = np.random.default_rng(seed)
    children = {b: [] for b in range(bodies + 1)}
    for b in range(1, bodies + 1):
        # mostly long branches, now and then a new tree
        parent = 0 if b == 1 or rng.random() < 0.15 else int(rng.integers(max(1, b - 3), b))
        children[parent].append(b)
    body = _bodies(rng, children, 0, joints, passive)
    return f'<mujoco><compiler angle="radian"/><option gravity="1 -2 -9"/><worldbody>{body}</worldbody></mujoco>'


def _bodies(rng, children, parent, joints, passive):
    return "".join(_body(rng, children, b, parent == 0, joints, passive) for b in children[parent])


def _body(rng, children, b, on_world, joints, passive):
    offset = rng.uniform(-0.4, 0.4, 3)
    text = f'<body name="b{b}" pos="{_row(offset)}" quat="{_row(rng.normal(size=4))}">'
    for k, kind in enumerate(_joints(rng, on_world, joints)):
        text += _joint(rng, f"j{b}_{k}", kind, passive)
    # moments of inertia that a real body can have
    spread = rng.uniform(0.005, 0.03, 3)
    mass, moments = rng.uniform(0.5, 2.0), spread.sum() - spread
    text += f'<inertial mass="{mass:.17g}" pos="{_row(rng.uniform(-0.2, 0.2, 3))}" quat="{_row(rng.normal(size=4))}" '
    text += f'diaginertia="{_row(moments)}"/><site name="s{b}" pos="{_row(rng.uniform(-0.2, 0.2, 3))}"/>'
    return text + _bodies(rng, children, b, joints, passive) + "</body>"


def _joints(rng, on_world, allowed):
    """Types of a body's joints: a free one alone, or one to three others, a ball last."""
    kinds = [k for k in allowed if k != "free"]
    if on_world and "free" in allowed and rng.random() < 0.5:
        return ["free"]
    chosen = list(rng.choice(kinds, size=rng.choice([1, 1, 2, 3])))
    if "ball" in chosen:
        # what turns after a ball joint is not allowed
        chosen = [k for k in chosen if k == "slide"] + ["ball"]
    return chosen


def _joint(rng, name, kind, passive):
    text = f'<joint name="{name}" type="{kind}"'
    if kind != "free":
        text += f' pos="{_row(rng.uniform(-0.1, 0.1, 3))}"'
    if kind in ("hinge", "slide"):
        text += f' axis="{_row(rng.normal(size=3))}" ref="{rng.uniform(-1, 1)!r}" springref="{rng.uniform(-1, 1)!r}"'
    if passive:
        text += f' stiffness="{_row(rng.uniform(0, 3, 3))}" damping="{_row(rng.uniform(0, 0.2, 3))}"'
        text += f' armature="{rng.uniform(0, 0.05)!r}"'
    return text + "/>"


def _row(values):
    return " ".join(f"{x:.17g}" for x in values)
