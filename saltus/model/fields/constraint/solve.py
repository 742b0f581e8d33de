"""Options, and work of the solvers of soft constraints and implicit forces."""

from saltus.model.enums import BAND
from saltus.number.structs import ints, lane_reals, reals

MODEL = {  # fixed
    # for the dual problem: a chain's degrees of freedom with all their ancestors, and kinematic trees (a single one
    # where islands are disabled)
    **ints("ntree"),
    # most unknowns of an island with a dense matrix; islands that are solved together, with their numbers of unknowns
    # and matrix entries
    **ints("ndense", "nproblem", "nitem", "nisland_A"),
    **ints("support_adr", "support_num", shape=("nsupport",)),
    **ints("support_dof", shape=("nsupportdof",)),
    **ints("dof_treeid", shape=("nv",)),
    **ints("table_of_orders", shape=("norderword",)),  # of Gauss-Seidel (see `saltus.number.permutation`)
    # worlds of many trees: number of trees; first degree of freedom and number of them, address of the tree's block of
    # the Hessian; the tree of each degree of freedom
    **ints("nsolvertree", "ndomaintree"),
    # most trees and degrees of freedom of an island whose Hessian is one dense matrix
    **ints("nfewtrees", "ndensedof"),
    **ints("tree_dofadr", "tree_dofnum", "tree_blockadr", shape=("nsolvertree",)),
    **ints("tree_of_dof", shape=("nv_trees",)),
    **ints("tree_coupledadr", shape=("nsolvertree_end",)),  # rows of each tree in M_coupled
    **ints("opt_cone", "opt_iterations", "opt_ls_iterations", "opt_warmstart"),
    **ints("opt_noslip_iterations", "opt_islands", "opt_refsafe"),
    **reals("opt_tolerance", "opt_ls_tolerance", "opt_impratio", "opt_scale"),  # scale: 1/(mean inertia nv)
    **reals("opt_noslip_tolerance"),
    # hard contact: tolerance of gaps (m) and speeds (m/s); height (m) below which bounces end; restitution law and
    # treatment of simultaneous impacts (see `saltus.solve.impact.law`)
    **reals("opt_gap_tolerance", "opt_speed_tolerance", "opt_bounce_height"),
    **reals("opt_dense_events", "opt_dense_time", "opt_dense_step"),
    **reals("opt_overlap_depth"),  # m, rad: bodies that overlap by less at the start are moved apart
    **ints("opt_impact_law", "opt_impact_treatment", "opt_dense"),
}

STATE = {  # state: kept from step to step
    **reals("qacc_warmstart", shape=("nv_constraint",)),  # warm start of the constraint solver
}

SCRATCH = {  # scratch
    # implicit steps by conjugate gradients, A = M + weighted stiffness and damping: weights of stiffness (s²), of
    # damping (s), of reference twists of rods (s²), of what couples these with turns; residual forces (N, N m), Newton
    # step (m/s², rad/s²) and its product with A, gradient, search direction and its product with A; of the conjugate
    # gradients: residual, preconditioned residual, direction, product with A; blocks of the preconditioner, lower
    # triangles by rows, and its bands along rods, whole and without constraint rows
    **reals("metric_stiffness", "metric_damping", "metric_reference", "metric_coupling"),
    **reals(
        *["metric_force", "metric_change", "metric_product", "metric_gradient", "metric_search", "metric_image"],
        *["pcg_residual", "pcg_Mresidual", "pcg_search", "pcg_product"],
        shape=("nv_pcg",),
    ),
    **reals("metric_block", shape=("nv_pcg", 3)),
    **reals("metric_band", "metric_held", shape=("nband_pcg", BAND + 1)),
    **reals("band_solution", "band_product", shape=("nband_pcg",)),
    **ints("band_fresh", shape=("nband_flag",)),  # 1 where metric_held is that of another matrix
    **ints("band_dirty", shape=("nband_pcg",)),  # 1 at the first position of rods whose factor is another matrix's
    **reals("row_curvature", shape=("nrow_band", 6)),  # curvatures W of blocks at the last factor of such models
    **reals("qfrc_spring_slope", shape=("nv_pcg",)),  # -d(forces of springs and servos)/dq, N/m, N m
    **reals("constrained"),  # 1 where any row is active, else 0
    **reals("qfrc_constraint", shape=("nv_constraint",)),
    **reals("solve_Ma", "solve_gradient", "solve_search", "solve_Msearch", "solve_edge", shape=("nv_constraint",)),
    **reals("solve_least", "solve_least_before", shape=("nv_constraint",)),
    **ints("edge_mark", shape=("nv_constraint",)),
    **reals("hessian", "hessian_before", shape=("nhessian",)),  # lower triangles, row by row
    # sparsity pattern of each row without its diagonal: as bits, as lists; the chains that determine it
    **ints("hessian_bits", shape=("nhessian_bits",)),
    **ints("hessian_num", shape=("nv_hessian",)),
    **ints("hessian_col", shape=("nhessian",)),
    **ints("hessian_chain", shape=("nblockmax",)),
    # worlds of many trees (see `saltus.solve.soft.trees.tree_pairs`): first pair of each upper tree, and one past
    # the last; lower tree of each pair and address of its block; for each block of rows: its pair, the number of its
    # degrees of freedom in the lower tree, its trees; counts and orders for sorting; marks of changes since the last
    # assembly, which last from solve to solve and begin with zeros
    **ints("near_adr", "near_count", shape=("nsolvertree_end",)),
    **ints("near_tree", "near_place", "pair_fresh", shape=("ntreepair",)),
    **ints("tree_fresh", shape=("nsolvertree",)),
    **ints("block_pair", "block_split", shape=("nblock_trees",)),
    **ints("block_trees", "block_order", shape=("nblock_trees", 2)),
    # constraint islands (see `saltus.solve.soft.trees.islands`): the island of each tree; first tree of each island in
    # the list of trees, and one past the last; first block of rows of each, and one past the last; first degree of
    # freedom of each tree in the order of that list
    **ints("island_of_tree", "island_tree", "island_dofadr", shape=("nsolvertree",)),
    **ints("island_treeadr", "island_blockadr", shape=("nsolvertree_end",)),
    # runs of adjacent trees, and of adjacent blocks: first run of each island; the first of each run, and one past the
    # last
    **ints("island_treerunadr", "island_blockrunadr", shape=("nsolvertree_end",)),
    **ints("tree_run", shape=("nsolvertree", 2)),
    **ints("block_run", shape=("nblock_trees", 2)),
    **ints("island_block", shape=("nblock_trees",)),
    # domains of large islands (see `saltus.solve.soft.trees.domains`): starts of groups of trees, from the island's
    # first tree on; the groups of each phase; whether trees touch only those of adjacent slabs; the group of each tree,
    # and whether it is in a separator; scratch for sorting
    **ints("group_adr", shape=("nsolvertree_end",)),
    **ints("phase_adr", shape=("nsolvertree", 4)),
    **ints("slabs_near", shape=("nsolvertree",)),
    **ints("tree_group", "separates", "sorted_tree", shape=("nsolvertree",)),
    **ints("bin_count", shape=("nbin",)),
    # pairs of trees of two groups, by lower trees; upper tree of each
    **ints("outer_adr", "outer_num", shape=("nsolvertree",)),
    **ints("outer_pair", "pair_upper", shape=("ntreepair",)),
    # blocks of rows of each tree; partial sums of runs of trees, of runs of blocks, and of groups
    **ints("row_treeadr", "row_treenum", shape=("nsolvertree",)),
    **ints("row_treeblock", shape=("nblock_twice",)),
    **reals("tree_sum", shape=("nsolvertree", 4)),
    **reals("row_sum", shape=("nblock_trees", 4)),
    **reals("group_sum", shape=("nsolvertree", 8)),  # sums of two groups are in different cache lines
    # blocks of the Hessian by columns: of trees, and of pairs, a column for each degree of freedom of the lower tree;
    # factors (see `saltus.solve.soft.trees.block_factor`)
    **reals("tree_hessian", "tree_factor", "tree_rest", shape=("ntreeblock",)),
    **reals("pair_hessian", "pair_factor", shape=("npairblock",)),
    **reals("block_scratch", shape=("nlargestblock",)),
    # conjugate gradients, in the order of islands: solution, residual, direction, its product with the matrix, halfway
    # to it
    **reals(
        *["block_solution", "block_residual", "block_direction", "block_product", "block_half"],
        shape=("nv_trees",),
    ),
    # conjugate gradients: M⁻¹ gradient, and the gradients of the previous iteration
    **reals("solve_Mgradient", "cg_gradient", "cg_Mgradient", shape=("nv_cg",)),
    # the dual problem: G = J L⁻¹ D^-½ (by dof of the support, all rows of a block contiguous) and its address, the
    # blocks G Gᵀ, y = Gᵀ force; forces of the unknowns (see `saltus.solve.soft.dual.problem`)
    **reals("dual_G", shape=("nG",)),
    **ints("dual_place", shape=("nblock_dual",)),
    **reals("dual_A", shape=("nrow_dual", 6)),
    **reals("dual_y", shape=("nv_dual",)),
    **reals("dual_force", shape=("ndual",)),
    # the island of each tree, by the number of its first tree; items, as block, index in it and number of the unknown
    **reals("tree_island", shape=("ntree",)),
    **ints("dual_item", shape=("nitem", 3)),
    # islands that are solved together, each in one lane (see `saltus.solve.soft.dual.island`): state of the random
    # number generator, iterations since the restart of the extrapolation, scale and improvement of the cost; the order
    # of updates
    **ints("problem", shape=("nproblem", 5)),
    **ints("problem_random", "problem_momentum", shape=("nproblem",)),
    **lane_reals("problem_scale", "problem_improvement", shape=("nproblem",)),
    **ints("dual_order", shape=("nitem",)),
    # unknowns of these islands, in columns named in that module; b and gradients of the cost; matrices A + R; Gᵀ of the
    # island that was added last, row by row
    **lane_reals("unknown", shape=("nitem", 8)),
    **lane_reals("island_b", shape=("nitem",)),
    **lane_reals("island_gap", shape=("nitem",)),
    **lane_reals("island_A", shape=("nisland_A",)),
    **lane_reals("island_G", shape=("nisland_G",)),
    # address of the row of each degree of freedom, and whether the row has entries
    **ints("island_row", "island_touched", shape=("nv_dual",)),
}

#: Fields of MODEL that may differ from simulation to simulation of a batch.
VARIES = (
    *(
        "opt_impratio",
        "opt_scale",
    ),
)

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "integrate", "solve"),
    "STATE": ("integrate", "sense", "solve"),
    "SCRATCH": ("contact", "dynamics", "integrate", "solve"),
}
WRITTEN_BY = {
    "STATE": ("dynamics", "integrate", "sense", "solve"),
    "SCRATCH": ("contact", "dynamics", "integrate", "solve"),
}
