"""What a Data counts while constraints are found: places in its field count."""

NCON = 0  # contacts
NBLOCK = 1  # blocks of rows
NROW = 2  # rows
NJ = 3  # entries of the rows' Jacobian
NITER = 4  # iterations of the solver
NFILL = 5  # blocks that couple what inertia does not
NLOST = 6  # contacts that there was no room for
NPATTERN = 7  # 1 + blocks that the pattern of the Hessian was made for; 0 for none
NUNSOLVED = 8  # how often the solver has not converged, until someone asks
NFLEXDOF = 9  # entries of the lists of what moves contacts of deformable bodies
NEQUALITY = 10  # blocks of equalities, which come first
NEDGE = 11  # the first block of edges that keep their lengths, -1 where these are not all alike
NSIDE = 12  # bodies that move with the contact of a deformable body that is at work
