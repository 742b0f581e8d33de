"""Touch sensors: the sum of normal forces of contacts in a site's volume."""

from saltus.contact.counts import NCON
from saltus.contact.flex.contact_elements import contact_bodies
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.sense.forces import carries_force, contact_force
from saltus.sense.ray import ray_shape
from saltus.spatial.vectors import scale3


@only_with("sense_touch", otherwise="0.0 * d.time")
@kernel
def touch(m, d, site):
    """Sum (N) of the normal forces on the site's body of contacts in the site's shape or directed towards it."""
    return zone_force(m, d, site, m.site_bodyid[site])


@only_with("contact", otherwise="0.0 * d.time")
@kernel
def zone_force(m, d, site, body):
    """Normal forces (N) of contacts on a body in a site's shape, or whose ray along the force hits the shape."""
    zero = 0.0 * d.time
    total = zero
    for k in range(d.count[NCON]):
        b1, b2 = contact_bodies(m, d, k)
        second = b2 == body
        if carries_force(m, d, k) and (second or b1 == body):
            # ray from the contact point along the normal force on the body
            force, _ = contact_force(m, d, k)
            frame = d.contact_frame[k]
            normal = (frame[0], frame[1], frame[2])
            if second:
                normal = scale3(-1.0, normal)
            distance, _ = ray_shape(
                m.site_type[site],
                m.site_size[site],
                d.site_xpos[site],
                d.site_xmat[site],
                d.contact_pos[k],
                normal,
            )
            # compressive forces whose ray hits the site
            total = total + where((force[0] > 0.0) & (distance >= 0.0), force[0], zero)
    return total
