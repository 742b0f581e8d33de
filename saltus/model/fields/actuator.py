"""Actuators, their controls and states, and controllers."""

from saltus.number.structs import ints, reals

NPRM = 10  # parameters of an actuator's dynamics, gain or bias

MODEL = {  # fixed
    # actuators: laws, and addresses of controls, activation states and outputs; actuator_slot: addresses of the
    # states of DC motors and servos in act, -1 for none (see `saltus.model.compile.actuators`); actuator_period:
    # of setpoints that are angles, 0 for none
    **ints(
        *["actuator_dyntype", "actuator_gaintype", "actuator_biastype", "actuator_ctrladr", "actuator_ctrlnum"],
        *["actuator_ctrlspec", "actuator_actadr", "actuator_actnum", "actuator_outadr", "actuator_outnum"],
        *["actuator_enabled", "actuator_actearly", "actuator_actlimited", "actuator_forcelimited"],
        shape=("nactuator",),
    ),
    **ints("actuator_slot", shape=("nactuator", 5)),
    **reals("actuator_dynprm", "actuator_gainprm", "actuator_biasprm", shape=("nactuator", NPRM)),
    **reals("actuator_forcerange", "actuator_actrange", shape=("nactuator", 2)),
    **reals("actuator_period", shape=("nactuator",)),
    # delayed controls: samples in the history (0: no delay), interpolation, address in the history, delay (s)
    **ints("actuator_nsample", "actuator_interp", "actuator_historyadr", shape=("nactuator",)),
    **reals("actuator_delay", shape=("nactuator",)),
    # outputs of actuators: kind of transmission, objects that it acts on, degrees of freedom of its moment arms
    **ints("nout", "nmoment"),
    # out_axis: index among the actuator's outputs
    **ints("out_kind", "out_obj1", "out_obj2", "out_axis", "moment_adr", "moment_num", shape=("nout",)),
    **ints("moment_dof", shape=("nmoment",)),
    **reals("actuator_gear", shape=("nout", 6)),
    **reals("actuator_cranklength", "actuator_acc0", shape=("nout",)),
    **reals("actuator_lengthrange", shape=("nout", 2)),
    # activation states: MuJoCo's, then those of muscles and controllers; history of delayed controls and sensors
    **ints("nact", "nhistory"),
    **ints("nuserdata"),
    # states of a controller in the time loop, the last of act
    **ints("ncontrol_state"),
    **ints("actuator_ctrllimited", shape=("nu",)),
    **reals("actuator_ctrlrange", shape=("nu", 2)),
}

STATE = {  # state: kept from step to step
    **reals("act", shape=("nact_room",)),
    **reals("history", shape=("nhistory",)),  # values of delayed controls and sensors
}

INPUTS = {  # inputs
    **reals("userdata", shape=("nuserdata",)),
    **reals("control_prm", shape=("ncontrol_prm",)),  # parameters of a controller in the time loop
    **reals("ctrl", shape=("nu",)),
}

VELOCITY = {  # depends on velocities and inputs
    **reals("actuator_length", "actuator_velocity", "actuator_force", shape=("nout",)),
    **reals("moment", shape=("nmoment",)),  # dL/dq of the actuators' lengths, along moment_dof
    **reals("act_dot", shape=("nact_room",)),
    **reals("input", shape=("nu",)),  # controls after delay, limits and slew
}

HILL = {  # fields of the Model for Hill-type muscles with an elastic tendon
    **reals("hill_prm", shape=("nhill", 8)),
    # segments of curves, as polynomials of a parameter from 0 to 1: x and y, six coefficients each
    **reals("hill_segment", shape=("nhillsegment", 12)),
}

CURVES = {  # fields of the Model for motors whose torque is limited by speed: points of each one's curve
    **ints("curve_num", "curve_adr", shape=("nactuator",)),
    **reals("curve_speed", "curve_torque", shape=("ncurvepoint",)),
}

CURRENTS = {  # field of the Model for dc motors whose current is limited, and falls as they warm
    **reals("actuator_currentlimit", shape=("nactuator", 3)),
}

#: Fields of MODEL that may differ from simulation to simulation of a batch.
VARIES = (
    *(
        "actuator_dynprm",
        "actuator_gainprm",
        "actuator_biasprm",
        "actuator_forcerange",
        "actuator_actrange",
    ),
    *(
        "actuator_ctrlrange",
        "actuator_gear",
        "actuator_acc0",
        "actuator_lengthrange",
    ),
)

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "dynamics", "integrate", "sense"),
    "STATE": ("dynamics", "integrate", "sense"),
    "INPUTS": ("dynamics", "integrate"),
    "VELOCITY": ("contact", "dynamics", "integrate", "sense"),
    "HILL": ("dynamics",),
    "CURVES": ("dynamics",),
    "CURRENTS": ("dynamics",),
}
WRITTEN_BY = {
    "STATE": ("dynamics", "integrate", "sense"),
    "INPUTS": ("dynamics", "integrate"),
    "VELOCITY": ("contact", "dynamics"),
}
