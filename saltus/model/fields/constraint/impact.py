"""Fields for resolving an impact, beside those of the contact-space problem, and codes of impact laws."""

from saltus.model.fields.constraint import cone
from saltus.number.structs import Field, Layout

# laws of restitution and treatments of several contacts, with their names in `saltus.Hard`
NEWTON, POISSON = range(2)
IMPACT_LAWS = ("newton", "poisson")
SIMULTANEOUS, MOREAU, SEQUENTIAL = range(3)
TREATMENTS = ("simultaneous", "moreau", "sequential")
ENERGETIC, ROUNDS, LEFTOVER = range(3)  # places in impact_report

IMPACT_FIELDS = {
    "impact_report": Field("int", (3,)),  # 1 if energetic; successive impacts; 1 if leftovers
    "impact_member": Field("int", ("nhardblock",)),  # 1 for blocks that take part in the current impact
    "impact_state": Field("int", ("nhardblock",)),  # role of each block in the problem: ABSENT, FREE or GIVEN
    "impact_aim": Field("real", ("nhardblock",)),  # m/s, least normal velocity after the impact
    "impact_turn": Field("real", ("nhardrow",)),  # m/s, tangential velocity after a sticking impact
    "impact_push": Field("real", ("nhardblock",)),  # N s, normal impulse of the expansion
    "impact_given": Field("real", ("nhardblock",)),  # N s, normal impulse of GIVEN blocks
    "impact_before": Field("real", ("nhardrow",)),  # m/s, u before the first impact
    "impact_base": Field("real", ("nhardrow",)),  # m/s, u before the current one of successive impacts
    "impact_sum": Field("real", ("nhardrow",)),  # N s, sum over successive impacts
    "impact_mean": Field("real", ("nhardrow",)),  # N s, mean over series of impacts
    "impact_pressed": Field("real", ("nhardrow",)),  # N s, impulse of the compression
    "impact_closed": Field("real", ("nhardrow",)),  # m/s, u at the end of the compression
    "impact_r": Field("real", ("nhardrow",)),  # N s, impulse of the current impact
    "impact_u": Field("real", ("nhardrow",)),  # m/s, velocity after the current impact
    # the whole problem, while the hard_ fields hold parts of it
    "impact_count": Field("int", (2,)),
    "impact_kind": Field("int", ("nhardblock",)),
    "impact_row": Field("int", ("nhardblock",)),
    "impact_dim": Field("int", ("nhardblock",)),
    "impact_parent": Field("int", ("nhardblock",)),
    "impact_mu": Field("real", ("nhardblock",)),
    "impact_W": Field("real", ("nhardsquare",)),
    # each row of such a part: its place in the whole, its block there, and 1 if its impulse is given
    "impact_place": Field("int", ("nhardrow",)),
    "impact_block": Field("int", ("nhardrow",)),
    "impact_cut": Field("int", ("nhardrow",)),
}

IMPACT = Layout("ImpactProblem", cone.FIELDS | IMPACT_FIELDS)  # sizes: `cone.cone_sizes`

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "IMPACT_FIELDS": ("solve",),
}
WRITTEN_BY = {
    "IMPACT_FIELDS": ("solve",),
}
