"""Union-find of trees that are joined, directly or through others (Cormen et al., Introduction to Algorithms).

A field contains for each tree a lower one that it is joined with, or the tree itself if it is the lowest of its set.
"""

from saltus.number.kernels import kernel


@kernel
def lowest(joined, t):
    """The lowest tree of the set of tree t; shortens the path to it by halving."""
    while joined[t] != t:
        joined[t] = joined[joined[t]]
        t = joined[t]
    return t
