"""Heights at which whatever falls rests under located hard contact: no pair of shapes is without a gap function.

Law: a body that has fallen 0.05 m without restitution rests with its lowest point at the highest of what is below it.
What carries it stands still, or lies on a plane itself; pairs are found by the geoms, or named by `<pair>`. Tolerance:
the gap tolerance of 1e-10 m, 1e-7 where a search ends at a relative 1e-13 of squared distances, and single precision in
vertices of meshes: 1e-6.
"""

import pytest
from helpers.hard_layout import share_layout
from numpy.testing import assert_allclose

import saltus


def corners(x, y, z):
    """Vertices of a box of these half sizes (m)."""
    return " ".join(f"{x * i} {y * j} {z * k}" for i in (-1, 1) for j in (-1, 1) for k in (-1, 1))


ASSET = f"""<asset><mesh name="small" vertex="{corners(0.1, 0.1, 0.1)}"/>
<mesh name="large" vertex="{corners(0.5, 0.5, 0.1)}"/>
<hfield name="field" nrow="3" ncol="3" size="1 1 1 .1" elevation="1 1 1 1 1 1 1 1 1"/></asset>"""
# the geom below, and how far its origin is under its highest point
BELOW = {
    "plane": ('type="plane" size="2 2 .1"', 0.0),
    "hfield": ('type="hfield" hfield="field"', 0.0),
    "sphere": ('size=".5"', 0.5),
    "capsule": ('type="capsule" size=".3 .4" euler="0 90 0"', 0.3),
    "ellipsoid": ('type="ellipsoid" size=".5 .6 .4"', 0.4),
    "cylinder": ('type="cylinder" size=".5 .1"', 0.1),
    "box": ('type="box" size=".5 .5 .1"', 0.1),
    "mesh": ('type="mesh" mesh="large"', 0.1),
}
ABOVE = {
    "sphere": 'size=".1"',
    "capsule": 'type="capsule" size=".1 .1" euler="0 90 0"',
    "ellipsoid": 'type="ellipsoid" size=".15 .12 .1"',
    "cylinder": 'type="cylinder" size=".1 .1"',
    "box": 'type="box" size=".1 .1 .1"',
    "mesh": 'type="mesh" mesh="small"',
}
FEATURES = ("boxes", "convex", "cylinder", "ellipsoid", "field", "fieldgaps", "foreign")


def rest_height(below, above, *, moves, named):
    """The height (m) of the body above over the place where it should rest, after half a second."""
    (lower, depth), upper = BELOW[below], ABOVE[above]
    off = 'contype="0" conaffinity="0"' if named else ""
    pairs = '<pair geom1="lower" geom2="upper"/>' + ('<pair geom1="ground" geom2="lower"/>' if moves else "")
    lower = f'<geom name="lower" {lower} mass="50" {off}/>'
    if moves:
        lower = f"""<geom name="ground" type="plane" size="3 3 .1" pos="0 0 {-2 * depth}" {off}/>
        <body pos="0 0 {-depth}"><joint type="slide" axis="0 0 1"/>{lower}</body>"""
    else:
        lower = f'<body pos="0 0 {-depth}">{lower}</body>'
    sim = saltus.Simulation(
        f"""<mujoco><option timestep="0.001"/>{ASSET}<worldbody>{lower}<body pos="0 0 .15">
        <joint type="slide" axis="1 0 0"/><joint name="height" type="slide" axis="0 0 1"/>
        <geom name="upper" {upper} mass="1" {off}/></body></worldbody>{f"<contact>{pairs}</contact>" if named else ""}
        </mujoco>""",
        contact="hard",
    )
    sim.step(500)
    return sim.qpos[-1] + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("below", BELOW)
def test_rest_heights(monkeypatch, below):
    share_layout(monkeypatch, *FEATURES)
    for above in ABOVE:
        for moves in (False, True) if below not in ("plane", "hfield") else (False,):
            for named in (False, True):
                height = rest_height(below, above, moves=moves, named=named)
                assert_allclose(height, 0.0, atol=1e-6, err_msg=f"{above} on {below}, {moves=}, {named=}")
