"""Counters of the constraint stage: indices into Data's field `count`."""

NCON = 0  # contacts
NBLOCK = 1  # blocks of constraint rows
NROW = 2  # constraint rows
NJ = 3  # entries of the constraint Jacobian
NITER = 4  # solver iterations
NFILL = 5  # blocks that couple degrees of freedom not coupled by the mass matrix: fill-in of the Hessian
NLOST = 6  # contacts lost, mostly for lack of memory
NPATTERN = 7  # 1 + number of blocks of the Hessian's sparsity pattern; 0: no pattern
NUNSOLVED = 8  # solves that did not converge, since the counter was last read
NFLEXDOF = 9  # entries of the lists of degrees of freedom that move contacts of deformable bodies, or found pairs
NEQUALITY = 10  # blocks of equality constraints, which come first
NEDGE = 11  # first block of the edge-length constraints; -1 if they are not all alike
NSIDE = 12  # bodies that move the current contact of a deformable body
NFOUND = 13  # pairs of geoms found near each other, if pairs are not listed
NISLAND = 14  # constraint islands, if they are solved separately
NSTAMP = 15  # upper bound of iterations of the solver of many trees so far, with which it marks changes
NCYCLED = 16  # 1: the last sweeps of a time step ended in a cycle because of contradictory equalities

# counters of a helper thread
NFIRST = 0  # the helper's first block of constraint rows
