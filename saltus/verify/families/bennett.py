"""Bennett's linkage: a ring of four hinges that moves although every count of its freedoms says that it cannot."""

import math

import numpy as np

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family

benchmark = family("loops")

SHORT, TWIST, OTHER_TWIST = 1.0, math.radians(40), math.radians(75)  # m, rad
LONG = SHORT * math.sin(OTHER_TWIST) / math.sin(TWIST)
RATIO = math.sin((OTHER_TWIST + TWIST) / 2) / math.sin((OTHER_TWIST - TWIST) / 2)


def linkage() -> str:
    """Three links in a row; the last is attached at two points of the fourth hinge's axis, which is fixed."""

    def link(length: float, inner: str, before: float = 0.0, twist: float = 0.0) -> str:
        turn = f"{math.cos(twist / 2)!r} {math.sin(twist / 2)!r} 0 0"
        moment = length**3 / 12
        return (
            f'<body pos="{before!r} 0 0" quat="{turn}"><joint axis="0 0 1"/><inertial pos="{length / 2!r} 0 0" '
            f'mass="{length!r}" diaginertia="{0.01 * length!r} {moment!r} {moment!r}"/>{inner}</body>'
        )

    def sites(name: str, x: float, y: float, z: float) -> str:
        return "".join(f'<site name="{name}{k}" pos="{x!r} {k * y!r} {k * z!r}"/>' for k in (0, 1))

    end = sites("end", SHORT, -math.sin(TWIST), math.cos(TWIST))
    chain = link(SHORT, link(LONG, link(SHORT, end, LONG, OTHER_TWIST), SHORT, TWIST))
    ground = sites("ground", -LONG, math.sin(OTHER_TWIST), math.cos(OTHER_TWIST))
    return f"""<mujoco><option gravity="0 0 0"/><worldbody>{ground}{chain}</worldbody><equality>
      <connect site1="end0" site2="ground0"/><connect site1="end1" site2="ground1"/></equality></mujoco>"""


@benchmark(
    "bennett",
    "Bennett's linkage",
    source="closed form: tan(θ/2) tan(φ/2) = sin((β + α)/2)/sin((β - α)/2), third angle -θ; Bennett, 'A new "
    "mechanism', Engineering 76 (1903); conservation of energy",
    allowed="the integrator's tolerance, 1e-10 a step, over 5 s: 1e-8",
    slow=True,
)
def bennett(data: Data) -> Result:
    """Four hinges with twists of 40 and 75 degrees, lengths in the ratio of their sines, without gravity: six rows
    close the loop, two of which count. It turns round; 5 s from 2 rad/s, with dopri5 under hard contact's solver."""
    sim = saltus.Simulation(linkage(), contact="hard", tolerance=(1e-10, 1e-12))
    first = math.radians(70)
    second = 2 * math.atan(RATIO / math.tan(first / 2))
    sim.qpos[:] = first, second, -first
    sim.qvel[:] = 2.0, -2.0 * math.sin(second) / math.sin(first), -2.0
    run = sim.run(5.0, sample=0.05, progress=False)
    theta, phi, third = run.qpos.T
    energy = run.energy.sum(axis=1)
    closed = np.sin(theta / 2) * np.sin(phi / 2) - RATIO * np.cos(theta / 2) * np.cos(phi / 2)
    found = [
        Check("relation of the angles, largest error", float(np.max(np.abs(closed))), 0.0, 1e-8),
        Check("third angle, largest error", float(np.max(np.abs(third + theta))), 0.0, 1e-8, "rad"),
        Check("energy, largest change", float(np.max(np.abs(energy / energy[0] - 1))), 0.0, 1e-8),
        Check("turned by more than a turn (1: yes)", float(np.ptp(theta) > 2 * math.pi), 1.0, 0.0),
    ]
    wanted = 2 * np.arctan2(RATIO * np.cos(theta / 2), np.sin(theta / 2))
    curves = [Curve("reached", theta, phi), Curve("closed form", theta[::5], np.unwrap(wanted)[::5], "marks")]
    return Result(found, Figure("θ (rad)", "φ (rad)", curves))
