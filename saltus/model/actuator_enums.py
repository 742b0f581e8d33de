"""Numeric codes of actuators: MuJoCo's types and bits, kinds of outputs, places of their states."""

# types of transmissions (mjtTrn)
TRN_JOINT, TRN_JOINTINPARENT, TRN_SLIDERCRANK, TRN_TENDON, TRN_SITE, TRN_BODY, TRN_SO3 = range(7)

# types of activation dynamics (mjtDyn)
DYN_NONE = 0  # no state: forces follow from controls
DYN_INTEGRATOR = 1  # the state's rate is the control
DYN_FILTER = 2  # first-order filter of the control
DYN_FILTEREXACT = 3  # first-order filter, integrated exactly
DYN_MUSCLE = 4  # activation that follows an excitation
DYN_DCMOTOR = 5  # states of a motor: see below
DYN_PID = 6  # states of a servo: see below
DYN_USER = 7  # a callback, not simulated; also for gains and biases
# types of gains (mjtGain): force per control or activation
GAIN_FIXED, GAIN_AFFINE, GAIN_MUSCLE, GAIN_DCMOTOR, GAIN_SO3, GAIN_PID, GAIN_USER = range(7)
# types of biases (mjtBias): force without control or activation
BIAS_NONE, BIAS_AFFINE, BIAS_MUSCLE, BIAS_DCMOTOR, BIAS_SO3, BIAS_USER = range(6)
# the law of `saltus.HillMuscle`, beyond MuJoCo's types of dynamics and gains
DYN_HILL = GAIN_HILL = 100

# inputs of servos and motors, bits in the order of the controls (mjtCtrlInput)
INPUT_POS, INPUT_VEL, INPUT_FF, INPUT_VOLTAGE = 1, 2, 4, 8
CHART_QUAT = 2  # the chart of an orientation's target (mjtCtrlChart): a quaternion

# targets of an actuator's output
SCALAR = 0  # a hinge or slide
BALL, BALL_IN_PARENT = 1, 2  # a ball joint, along its own axes or the parent's
FREE, FREE_IN_PARENT = 3, 4  # a free joint, along its own axes or the parent's
SLIDER_CRANK = 5
TENDON = 6
SITE, SITE_REFERENCE = 7, 8  # a site, along its axes; or along those of a reference site, with the reaction there
BODY = 9  # adhesion: the contacts of a body
ROTATION_OF_BALL, ROTATION_OF_SITE = 10, 11  # one of three axes of a servo on an orientation

# parameters of an actuator under `saltus.PID` in control_prm: gains, target (rad, m), limit of |u| (0: none), period of
# angles (0: none), inverse of the gear, 1 if the actuator is controlled, rate of the target (rad/s, m/s)
PID_KP, PID_KI, PID_KD, PID_TARGET, PID_LIMIT, PID_PERIOD, PID_INVERSE_GEAR, PID_ON, PID_RATE = range(9)
PID_PARAMETERS = PID_RATE + 1
# the same under `saltus.computed_torque` and `saltus.gravity_compensation`: gains, target (rad, m) with its rate and
# acceleration, inverse of gear times gain (0: the actuator is not controlled)
MBC_KP, MBC_KD, MBC_TARGET, MBC_RATE, MBC_ACCELERATION, MBC_INVERSE = range(6)
MBC_PARAMETERS = MBC_INVERSE + 1
# behind those of the actuators under `saltus.operational_space`, for six axes (x, y, z of the position, then rotations
# about them): gains, target position (m) and quaternion, their rates and accelerations, 1 for each axis that is
# controlled, and the share of the mean mobility below which an axis is damped
OSC_KP, OSC_KD, OSC_POSITION, OSC_QUATERNION = 0, 6, 12, 15
OSC_RATE, OSC_ACCELERATION, OSC_AXES, OSC_DAMPING = 19, 25, 31, 37
OSC_PARAMETERS = OSC_DAMPING + 1

# places of a motor's or servo's own states in actuator_slot
SLEW, INTEGRAL, TEMPERATURE, BRISTLE, CURRENT = range(5)
# places in actuator_slot of a Hill-type muscle's two states, and of its row of hill_prm
ACTIVATION, FIBRE, ROW = range(3)
