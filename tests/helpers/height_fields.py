"""Bodies of all shapes on height fields."""

import numpy as np

G = 9.81
SHAPES = {
    "sphere": 'size=".1"',
    "capsule": 'type="capsule" size=".1 .1" euler="0 90 0"',
    "ellipsoid": 'type="ellipsoid" size=".15 .12 .1"',
    "cylinder": 'type="cylinder" size=".1 .1"',
    "box": 'type="box" size=".1 .1 .1"',
    "mesh": 'type="mesh" mesh="cube"',
}
CORNERS = " ".join(f"{x} {y} {z}" for x in (-0.125, 0.125) for y in (-0.125, 0.125) for z in (-0.0625, 0.0625))


def scene(heights, shape, start, friction=0.0, height=0.5):
    """A body on a field [rows, columns] of some height (m) from (-1, -1) to (1, 1)."""
    rows, columns = np.shape(heights)
    numbers = " ".join(repr(float(x)) for x in np.ravel(heights))
    mesh = f'<mesh name="cube" vertex="{CORNERS}"/>' if "mesh" in shape else ""
    return f"""<mujoco><asset>{mesh}
    <hfield name="field" nrow="{rows}" ncol="{columns}" size="1 1 {height} .1" elevation="{numbers}"/></asset>
    <worldbody><geom name="ground" type="hfield" hfield="field" friction="{friction}"/>
    <body name="body" pos="{start[0]} {start[1]} {start[2]}"><freejoint/>
    <geom name="shape" mass="1" friction="{friction}" {shape}/></body></worldbody></mujoco>"""


def flat(rows=12, columns=9):
    """MuJoCo takes equal heights as the lowest: z = 0."""
    return np.ones((rows, columns))


def hills():
    """Hills in a bowl, of 0 to 1."""
    x, y = np.meshgrid(np.linspace(-1, 1, 12), np.linspace(-1, 1, 12))
    return 0.5 + 0.25 * np.sin(3 * x) * np.cos(2.5 * y) + 0.125 * (x**2 + y**2)


def half_height(shape):
    """Half the height of a shape that lies on the ground, m."""
    return 0.0625 if shape == "mesh" else 0.1
