"""A contact as the search writes it: seven numbers, distance (m), position (m) and normal, in world axes."""

from saltus.contact.convex.memory import get3, get9, put, put3
from saltus.contact.convex.pair_area import AXES1, CENTRE1
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, matrix_times_vector

CONTACT_NUMBERS = 7
MOST_CONTACTS = 4


@kernel
def write_contact(p, at, dist, pos, normal):
    """Write a contact of pair p at an address; pos (m) and normal are in the frame of the first geom."""
    axes = get9(p, AXES1)
    put(at, 0, dist)
    put3(at, 1, add3(get3(p, CENTRE1), matrix_times_vector(axes, pos)))
    put3(at, 4, matrix_times_vector(axes, normal))


@kernel(inline=True)
def contact_at(found, k):
    """The address of contact k of those at an address."""
    return found + 8 * CONTACT_NUMBERS * k
