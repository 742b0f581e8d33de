"""Tendons."""

from saltus.model.fields.tree import NPOLY
from saltus.number.structs import ints, reals

MODEL = {  # fixed
    # tendons: path elements, and addresses of their degrees of freedom in tendon_dof, MuJoCo's order of ten_J;
    # tendon_common: the last degree of freedom that moves the tendon as a whole, -1 for none
    **ints("ntendon", "npath", "ntenJ", "nslip", "nslipJ"),
    **ints("tendon_adr", "tendon_num", "tendon_Jadr", "tendon_Jnum", "tendon_common", shape=("ntendon",)),
    **ints("tendon_dof", shape=("ntenJ",)),
    **reals("tendon_length0", shape=("ntendon",)),
    # tendon springs (N/m and more; no force within lengthspring), dampers, inertia (kg, kg m²), limits of the
    # actuators' force
    **reals("tendon_stiffness", "tendon_damping", "tendon_armature", shape=("ntendon",)),
    **reals("tendon_stiffnesspoly", "tendon_dampingpoly", shape=("ntendon", NPOLY)),
    **reals("tendon_lengthspring", "tendon_actfrcrange", shape=("ntendon", 2)),
    **ints("tendon_actfrclimited", shape=("ntendon",)),
    # path elements: a joint, or two sites with a wrapping geom or -1, and a side site or -1 (see
    # `saltus.model.compile.tendons`); path_factor: coefficient, or inverse of the pulley's divisor
    **ints("path_type", "path_obj1", "path_obj2", "path_geom", "path_side", shape=("npath",)),
    **reals("path_factor", shape=("npath",)),
}

CAPSTAN = {  # fields of the Model for friction on wrapped geoms: first and last path element around one, or -1; μ
    **ints("capstan_first", "capstan_last", shape=("ntendon",)),
    **reals("capstan_friction", shape=("ntendon",)),
}

POSITION = {  # depends on positions
    # tendons: length and velocity (m, m/s; rad, rad/s), and dL/dq along tendon_dof
    **reals("ten_length", "ten_velocity", shape=("ntendon",)),
    **reals("ten_J", shape=("ntenJ",)),
    # friction on wrapped geoms: gradient of the slip over them, along tendon_dof; coefficient times angle of wrap
    **reals("slip_J", shape=("nslipJ",)),
    **reals("slip_angle", shape=("nslip",)),
}

#: Fields of MODEL that may differ from simulation to simulation of a batch.
VARIES = (
    *(
        "tendon_length0",
        "tendon_stiffness",
        "tendon_damping",
        "tendon_stiffnesspoly",
        "tendon_dampingpoly",
    ),
    *(
        "tendon_lengthspring",
        "tendon_actfrcrange",
    ),
)

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "dynamics", "integrate", "sense"),
    "POSITION": ("contact", "dynamics", "integrate", "sense", "solve"),
    "CAPSTAN": ("contact", "dynamics", "sense"),
}
WRITTEN_BY = {
    "POSITION": ("dynamics", "integrate"),
}
