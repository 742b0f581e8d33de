"""Fluid forces."""

from saltus.number.structs import ints, reals

MODEL = {  # fixed
    # shapes for fluid forces, in ascending order of bodies: kind (see `saltus.model.compile.fluid`),
    # frame in the body; Stokes resistance (N s/m, N m s); quadratic drag (kg/m) and angular drag (kg m²); Kutta
    # (kg/m) and Magnus (kg) lift; added mass and inertia (kg, kg m²); shape of the sections
    **ints("nfluid"),
    **ints("fluid_body", "fluid_kind", shape=("nfluid",)),
    **reals("fluid_mat", shape=("nfluid", 9)),
    **reals(
        "fluid_pos",
        "fluid_drag",
        "fluid_swirl",
        "fluid_mass",
        "fluid_inertia",
        "fluid_section",
        shape=("nfluid", 3),
    ),
    **reals("fluid_stokes", "fluid_lift", shape=("nfluid", 2)),
    **reals("opt_density"),
    **reals("opt_wind", shape=(1, 3)),
}

VELOCITY = {  # depends on velocities and inputs
    **reals("qfrc_fluid", shape=("nv",)),
}

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("dynamics",),
    "VELOCITY": ("dynamics", "integrate"),
}
WRITTEN_BY = {
    "VELOCITY": ("dynamics",),
}
