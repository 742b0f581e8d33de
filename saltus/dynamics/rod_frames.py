"""Reference frames of rods that twist, over a step: found at its start and kept at its end.

During the step they follow from those that were kept before (see `saltus.dynamics.flex.twist_frames`).
"""

from saltus.dynamics.flex.twist_frames import note_twist_frames
from saltus.dynamics.motions import prescribe
from saltus.dynamics.tree.kinematics import kinematics
from saltus.number.kernels import kernel, only_with


@only_with("rodtwist")
@kernel
def note_frames(m, d):
    """plastic_next ← the reference frames and twists of rods at the present positions, at the start of a step."""
    prescribe(m, d)
    kinematics(m, d, m.keep_bodies)
    note_twist_frames(m, d)


@only_with("rodtwist")
@kernel
def keep_frames(m, d):
    """`plastic` ← what `note_frames` found at the start of the step that has been taken."""
    for i in range(m.nplastic):
        d.plastic[i] = d.plastic_next[i]
