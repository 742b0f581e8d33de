"""Moment arms of adhesion actuators, which pull on the contacts of a body.

The force acts along the normals of all contacts of the body, including those within the gap, in equal shares (MuJoCo
documentation, XML reference, "adhesion").
"""

from saltus.contact.counts import NCON
from saltus.contact.pairs import pair_geom1, pair_geom2, pair_law
from saltus.dynamics.actuator.transmission import add_moment_arm
from saltus.dynamics.awake.walks import awake_outputs
from saltus.model.actuator_enums import BODY
from saltus.number.functions import maximum, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import scale3


@only_with("adhere")
@kernel
def adhesion_moments(m, d):
    """moment [nmoment] of outputs on bodies: minus the mean of the contacts' normal Jacobians. Reads the contacts."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    for o in awake_outputs(m, d):
        if m.out_kind[o] == BODY:
            first, last = m.moment_adr[o], m.moment_adr[o] + m.moment_num[o]
            for k in range(first, last):
                d.moment[k] = zero
            # sum of normal Jacobians over contacts within the gap
            touching = zero
            for n in range(d.count[NCON]):
                c = d.contact_collision[n]
                if pair_geom2(m, d, c) < 0:
                    continue  # as in MuJoCo, no adhesion on deformable bodies
                b1, b2 = m.geom_bodyid[pair_geom1(m, d, c)], m.geom_bodyid[pair_geom2(m, d, c)]
                if b1 == m.out_obj1[o] or b2 == m.out_obj1[o]:
                    found = d.contact_dist[n] < m.law_reach[pair_law(m, d, c)]
                    share = where(found, zero + 1.0, zero)
                    touching = touching + share
                    f = d.contact_frame[n]
                    pull = scale3(share, (f[0], f[1], f[2]))
                    add_moment_arm(m, d, o, b1, d.contact_pos[n], pull, none)
                    add_moment_arm(m, d, o, b2, d.contact_pos[n], scale3(-1.0, pull), none)
            # mean
            inverse = 1.0 / maximum(touching, zero + 1.0)
            for k in range(first, last):
                d.moment[k] = inverse * d.moment[k]
