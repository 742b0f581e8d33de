"""Counters of the constraint stage: indices into Data's field `count`."""

NCON = 0  # contacts
NBLOCK = 1  # blocks of constraint rows
NROW = 2  # constraint rows
NJ = 3  # entries of the constraint Jacobian
NITER = 4  # solver iterations
NFILL = 5  # blocks that couple degrees of freedom which the mass matrix does not: fill-in of the Hessian
NLOST = 6  # contacts lost, mostly for lack of room
NPATTERN = 7  # 1 + number of blocks that the Hessian's sparsity pattern was made for; 0: no pattern
NUNSOLVED = 8  # solves that did not converge, since the counter was last read
NFLEXDOF = 9  # entries of the lists of degrees of freedom that move contacts of deformable bodies, or found pairs
NEQUALITY = 10  # blocks of equality constraints, which come first
NEDGE = 11  # first block of the edge-length constraints; -1 if they are not all alike
NSIDE = 12  # bodies that move the current contact of a deformable body
NFOUND = 13  # pairs of geoms found near each other, where they are not listed
NISLAND = 14  # constraint islands, where they are solved by themselves
NSTAMP = 15  # iterations of the solver of many trees so far, at most: by them it marks what has changed
NCYCLED = 16  # 1: the last sweeps of a time step ended in a cycle through contradictory equalities

# of a helper of several threads
NFIRST = 0  # its first block of constraint rows
