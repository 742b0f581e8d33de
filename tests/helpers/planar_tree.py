"""Random mechanisms in a plane from a seed, as MJCF text: where absolute angles and planar coordinates differ most."""

import numpy as np


def planar_tree(seed, *, bodies=4, normal=1, floating=False):
    """A tree of hinges about a coordinate axis, both ways round, and slides across it, with springs and dampers.

    `normal`: 0, 1 or 2, the axis. `floating`: bodies on the world have two slides and a hinge, else one joint each.
    Joints have references and anchors off their bodies' origins; frames are turned, some to the plane's other side.
    """
    rng = np.random.default_rng(seed)
    parents = [0, *(int(rng.integers(max(0, b - 2), b)) for b in range(2, bodies + 1))]
    unit = np.roll(np.eye(3), normal, axis=0)  # along the normal, then the two axes in the plane

    def body(b):
        on_world = parents[b - 1] == 0
        text = f'<body name="b{b}" pos="{_row(rng.uniform(-0.4, 0.4, 3))}" quat="{_row(turned(on_world))}">'
        if floating and on_world:
            text += f'<joint name="x{b}" type="slide" axis="{_row(unit[1])}" ref="0.1"/>'
            text += f'<joint name="y{b}" type="slide" axis="{_row(-unit[2])}"/>'
            text += f'<joint name="j{b}" type="hinge" axis="{_row(-unit[0])}" {forces()}/>'
        elif rng.random() < 0.3:
            across = rng.normal(size=2) @ unit[1:]
            text += f'<joint name="j{b}" type="slide" axis="{_row(across)}" {forces()}/>'
        else:
            text += f'<joint name="j{b}" type="hinge" axis="{_row(rng.choice([-1, 1]) * unit[0])}" {forces()}/>'
        text += f'<inertial mass="{rng.uniform(0.5, 2):.3f}" pos="{_row(rng.uniform(-0.2, 0.2, 3))}" '
        text += f'quat="{_row(rng.normal(size=4))}" diaginertia="0.03 0.02 0.04"/>'
        return text + "".join(body(c) for c in range(1, bodies + 1) if parents[c - 1] == b) + "</body>"

    def turned(on_world):
        if on_world:
            return [1, 0, 0, 0]
        if rng.random() < 0.3:
            return [0, *unit[1]]  # half around an axis in the plane
        angle = rng.uniform(-1.5, 1.5)
        return [np.cos(angle), *(np.sin(angle) * unit[0])]

    def forces():
        stiffness, rest, damping, armature, ref = rng.uniform(0, 1, 5).round(2)
        text = f'stiffness="{stiffness}" springref="{rest}" damping="{damping}" armature="{armature}" ref="{ref}"'
        return f'{text} pos="{_row(rng.uniform(-0.2, 0.2, 3))}"'

    world = "".join(body(b) for b in range(1, bodies + 1) if parents[b - 1] == 0)
    return f'<mujoco><compiler angle="radian"/><option gravity="1 -2 -9"/><worldbody>{world}</worldbody></mujoco>'


def _row(values):
    return " ".join(f"{x:.4g}" for x in values)
