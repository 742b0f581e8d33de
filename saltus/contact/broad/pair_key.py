"""Keys of pairs of geoms: integers that sort like the list of pairs, by bodies, then geoms."""

from saltus.contact.counts import NFOUND
from saltus.model.layout import DIGIT_BITS
from saltus.number.kernels import kernel

DIGITS = 1 << DIGIT_BITS
FEW = 100  # number of keys up to which insertion sort is faster than counting digits


@kernel(inline=True)
def pair_key(m, g1, g2):
    """The key of geoms g1 < g2: their bodies, and their positions among the geoms of these."""
    b1, b2 = m.geom_bodyid[g1], m.geom_bodyid[g2]
    most = m.broad_bodygeoms
    return ((b1 * m.nbody + b2) * most + g1 - m.broad_firstgeom[b1]) * most + g2 - m.broad_firstgeom[b2]


@kernel(inline=True)
def geoms_of_key(m, key):
    """The geoms g1 < g2 of a key."""
    most = m.broad_bodygeoms
    bodies = key // (most * most)
    b1, b2 = bodies // m.nbody, bodies % m.nbody
    return m.broad_firstgeom[b1] + key // most % most, m.broad_firstgeom[b2] + key % most


@kernel
def sort_keys(m, d):
    """Sort found_key [count[NFOUND]]: few keys by insertion, many by digits, the least first, each by counting."""
    if d.count[NFOUND] <= FEW:
        insert_keys(d)
        return
    for k in range(m.broad_digits):
        sort_by_digit(d, DIGIT_BITS * k)


@kernel
def insert_keys(d):
    """Sort found_key by insertion."""
    for k in range(1, d.count[NFOUND]):
        key, place = d.found_key[k], k
        while place > 0 and d.found_key[place - 1] > key:
            d.found_key[place] = d.found_key[place - 1]
            place -= 1
        d.found_key[place] = key


@kernel
def sort_by_digit(d, shift):
    """Sort found_key by one digit, keeping the order of equal digits."""
    n = d.count[NFOUND]
    for b in range(DIGITS):
        d.digit_count[b] = 0
    for k in range(n):
        b = (d.found_key[k] >> shift) & (DIGITS - 1)
        d.digit_count[b] = d.digit_count[b] + 1
    # end of each digit's part, which is filled backwards, the last key first
    total = 0
    for b in range(DIGITS):
        total = total + d.digit_count[b]
        d.digit_count[b] = total
    for k in range(n - 1, -1, -1):
        key = d.found_key[k]
        b = (key >> shift) & (DIGITS - 1)
        place = d.digit_count[b] - 1
        d.digit_count[b] = place
        d.sorted_key[place] = key
    for k in range(n):
        d.found_key[k] = d.sorted_key[k]
