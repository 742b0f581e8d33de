"""A contact record of the search: seven numbers in the first geom's frame: distance (m), position (m), normal."""

from saltus.number.intrinsics.memory import put, put3
from saltus.number.kernels import kernel

CONTACT_NUMBERS = 7
MOST_CONTACTS = 4


@kernel(inline=True)
def write_contact(at, dist, pos, normal):
    """Write a contact at an address."""
    put(at, 0, dist)
    put3(at, 1, pos)
    put3(at, 4, normal)


@kernel(inline=True)
def contact_at(found, k):
    """The address of contact k of those at an address."""
    return found + 8 * CONTACT_NUMBERS * k
