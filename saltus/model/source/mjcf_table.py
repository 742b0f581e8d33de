"""Treatment of every attribute of MJCF: simulated, refused, or without effect on motion."""

from typing import NamedTuple

SIMULATED, REFUSED, IRRELEVANT = "simulated", "refused", "irrelevant"


class Row(NamedTuple):
    """Attributes of elements and their status; `kind`: the word for `ignore` that removes them."""

    elements: str
    attributes: str
    state: str
    why: str
    kind: str = ""


POSE = "pos quat axisangle euler xyaxes zaxis"
SOFT = "solref solimp"
OBJECT = "objtype objname reftype refname"
SCALAR_TARGET = "joint jointinparent tendon slidersite cranksite cranklength lengthrange gear armature damping"
TARGET = f"site refsite {SCALAR_TARGET}"
RANGES = "ctrllimited ctrlrange forcelimited forcerange"
DELAY = "delay nsample interp"
LABELS = "name user"
ACTUATORS = "general motor position velocity intvelocity pid damper cylinder muscle dcmotor"
COMPILED = "by MuJoCo's compiler, before simulation"
SEEN = "visual only"
NAMED = "names and user data"
OF_DRIVES = f"{NAMED}, except numbers of `saltus.drive`, `cam`, `capstan`, `static_friction`"
PLUGINS = "engine plugins"
SENSORS = (
    "touch accelerometer velocimeter gyro force torque magnetometer camprojection rangefinder jointpos jointvel"
    " tendonpos tendonvel actuatorpos actuatorvel actuatorfrc jointactuatorfrc tendonactuatorfrc ballquat ballangvel"
    " jointlimitpos jointlimitvel jointlimitfrc tendonlimitpos tendonlimitvel tendonlimitfrc framepos framequat"
    " framexaxis frameyaxis framezaxis framelinvel frameangvel framelinacc frameangacc subtreecom subtreelinvel"
    " subtreeangmom insidesite distance normal fromto contact e_potential e_kinetic clock tactile"
)


def _under(section: str, names: str) -> str:
    return " ".join(f"{section}/{name}" for name in names.split())


ELASTICITY = "body/flexcomp/elasticity deformable/flex/elasticity"
TOUCH = "body/flexcomp/contact deformable/flex/contact"
PLUGIN = "asset/mesh/plugin body/plugin body/geom/plugin body/flexcomp/plugin"
ACTUATED = _under("actuator", ACTUATORS)

TABLE = (
    Row("mujoco", "model", IRRELEVANT, "the model's name, kept in recordings"),
    # compiler
    Row(
        "compiler",
        "alignfree angle autolimits balanceinertia boundinertia boundmass conflict coordinate eulerseq fitaabb"
        " fusestatic inertiafromgeom inertiagrouprange settotalmass assetdir meshdir",
        SIMULATED,
        COMPILED,
    ),
    Row(
        "compiler",
        "discardvisual passthrough savecanonical savecompiled saveinertial strippath texturedir usethread",
        IRRELEVANT,
        "files and threads",
    ),
    Row(
        "compiler/lengthrange",
        "accel interval inttotal maxforce mode timeconst timestep tolrange useexisting uselimit",
        SIMULATED,
        "the compiler measures the range of actuator lengths, which muscles use",
    ),
    # option
    Row("option", "timestep gravity", SIMULATED, "timestep: unless given to the simulation"),
    Row(
        "option",
        "integrator",
        SIMULATED,
        "Euler, RK4, implicit, implicitfast and discrete, unless given to the simulation; discrete not with"
        " fluids, noslip, servos, or springs, dampers and inertia of tendons",
    ),
    Row("option", "density viscosity wind", SIMULATED, "fluid forces", "fluid"),
    Row("option", "actuatorgroupdisable", SIMULATED, ""),
    Row(
        "option",
        "cone impratio solver iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance",
        SIMULATED,
        "the constraint solver",
    ),
    Row("option", "o_friction o_margin o_solimp o_solref", SIMULATED, "with the flag `override`"),
    Row("option", "ccd_iterations ccd_tolerance", SIMULATED, "for pairs that MuJoCo's functions collide"),
    Row("option", "magnetic", SIMULATED, "read by magnetometers"),
    Row("option", "jacobian", IRRELEVANT, "how MuJoCo stores matrices"),
    Row("option", "sdf_initpoints sdf_iterations", IRRELEVANT, "geoms of engine plugins, which are refused"),
    Row("option", "sleep_tolerance", SIMULATED, "with the flag `sleep`"),
    Row(
        "option/flag",
        "actuation clampctrl constraint contact damper equality eulerdamp filterparent frictionloss gravity island"
        " limit override refsafe sensor spring warmstart",
        SIMULATED,
        "",
    ),
    Row("option/flag", "multiccd", SIMULATED, "for pairs with several contacts on edges and faces of convex shapes"),
    Row(
        "option/flag",
        "nativeccd",
        SIMULATED,
        "for pairs that MuJoCo's functions collide; others as if it were on",
    ),
    Row("option/flag", "diagexact", REFUSED, "constraint inertias computed at each state", "diagexact"),
    Row("option/flag", "speculative", REFUSED, "contacts of bodies that would touch within the step", "speculative"),
    Row(
        "option/flag",
        "sleep",
        SIMULATED,
        "in single simulations with soft contact; not with PGS, noslip, deformable bodies and equalities of tendons",
        "sleep",
    ),
    Row("option/flag", "ipc", REFUSED, "a mode of the integrator `discrete`"),
    Row("option/flag", "energy fwdinv invdiscrete", IRRELEVANT, "additional quantities"),
    Row("option/flag", "midphase", IRRELEVANT, "affects how pairs are found, not which"),
    Row("option/flag", "autoreset", IRRELEVANT, "a diverging simulation stops and is never reset"),
    # size, statistic, visual
    Row(
        "size",
        "memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor"
        " nuser_site nuser_tendon nuserdata",
        IRRELEVANT,
        "memory",
    ),
    Row("statistic", "center extent meaninertia meanmass meansize", IRRELEVANT, f"{SEEN}, or no longer read"),
    Row(
        "visual/global",
        "azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth offheight offwidth orthographic"
        " realtime",
        IRRELEVANT,
        SEEN,
    ),
    Row("visual/quality", "numquads numslices numstacks offsamples shadowsize", IRRELEVANT, SEEN),
    Row("visual/headlight", "active ambient diffuse specular", IRRELEVANT, SEEN),
    Row(
        "visual/map",
        "actuatortendon alpha fogend fogstart force haze shadowclip shadowscale stiffness stiffnessrot torque zfar"
        " znear",
        IRRELEVANT,
        f"{SEEN}, or for mouse perturbations",
    ),
    Row(
        "visual/scale",
        "actuatorlength actuatorwidth camera com connect constraint contactheight contactwidth forcewidth framelength"
        " framewidth frustum jointlength jointwidth light selectpoint slidercrank",
        IRRELEVANT,
        SEEN,
    ),
    Row(
        "visual/rgba",
        "actuator actuatornegative actuatorpositive bv bvactive camera com connect constraint contactforce"
        " contactfriction contactgap contactpoint contacttorque crankbroken fog force frustum haze inertia joint"
        " light rangefinder selectpoint slidercrank",
        IRRELEVANT,
        SEEN,
    ),
    Row("default", "class", SIMULATED, COMPILED),
    # extension
    Row("extension/plugin", "plugin", REFUSED, PLUGINS, "plugin"),
    Row("extension/plugin/instance", "name", REFUSED, PLUGINS, "plugin"),
    Row("extension/plugin/instance/config", "key value", REFUSED, PLUGINS, "plugin"),
    # asset
    Row(
        "asset/mesh",
        "builtin class content_type face file inertia maxhullvert params refpos refquat scale vertex",
        SIMULATED,
        f"{COMPILED}, and for collision",
    ),
    Row("asset/mesh", "name material normal smoothnormal texcoord", IRRELEVANT, SEEN),
    Row("asset/hfield", "content_type elevation file ncol nrow size", SIMULATED, "for collision"),
    Row("asset/hfield", "name", IRRELEVANT, NAMED),
    Row("asset/skin deformable/skin", "face file group inflate material name rgba texcoord vertex", IRRELEVANT, SEEN),
    Row("asset/skin/bone deformable/skin/bone", "bindpos bindquat body vertid vertweight", IRRELEVANT, SEEN),
    Row(
        "asset/texture",
        "builtin class colorspace content_type embed file fileback filedown filefront fileleft fileright fileup"
        " gridlayout gridsize height hflip mark markrgb name nchannel random rgb1 rgb2 type vflip width",
        IRRELEVANT,
        SEEN,
    ),
    Row(
        "asset/material",
        "class emission metallic name reflectance rgba roughness shininess specular texrepeat texture texuniform",
        IRRELEVANT,
        SEEN,
    ),
    Row("asset/material/layer", "role texture", IRRELEVANT, SEEN),
    Row("asset/model", "content_type file name", SIMULATED, f"its attached parts, {COMPILED}"),
    Row(PLUGIN, "instance plugin", REFUSED, PLUGINS, "plugin"),
    Row(" ".join(f"{p}/config" for p in PLUGIN.split()), "key value", REFUSED, PLUGINS, "plugin"),
    # bodies
    Row("body", f"{POSE} childclass fuse gravcomp", SIMULATED, ""),
    Row("body", "mocap", SIMULATED, "moved by the user, not by dynamics"),
    Row("body", "sleep", SIMULATED, "with the flag `sleep`"),
    Row("body", "simple", IRRELEVANT, "how MuJoCo stores matrices"),
    Row("body", LABELS, IRRELEVANT, NAMED),
    Row("body/inertial", f"mass diaginertia fullinertia {POSE}", SIMULATED, ""),
    Row(
        "body/joint",
        "type pos axis ref springref stiffness springdamper damping armature frictionloss solreffriction"
        " solimpfriction limited range margin solreflimit solimplimit actuatorfrclimited actuatorfrcrange"
        " actuatorgravcomp class",
        SIMULATED,
        "",
    ),
    Row("body/joint", "springyield", REFUSED, "plastic springs", "plasticity"),
    Row("body/joint", f"group {LABELS}", IRRELEVANT, f"{SEEN}, {NAMED}"),
    Row("body/freejoint", "align", SIMULATED, COMPILED),
    Row("body/freejoint", "group name", IRRELEVANT, f"{SEEN}, {NAMED}"),
    Row(
        "body/geom",
        f"type size fromto {POSE} mass density shellinertia fitscale mesh hfield class",
        SIMULATED,
        "",
    ),
    Row(
        "body/geom",
        f"contype conaffinity condim friction priority solmix {SOFT} margin gap surfacevel",
        SIMULATED,
        "for collision",
    ),
    Row("body/geom", "group", SIMULATED, "with `inertiagrouprange`; otherwise visual only"),
    Row("body/geom", "fluidshape fluidcoef", SIMULATED, "fluid forces", "fluid"),
    Row("body/geom contact/pair", "adhesion", SIMULATED, "adhesive contacts, under the soft law", "adhesion"),
    Row("body/geom", f"castshadow material rgba {LABELS}", IRRELEVANT, f"{SEEN}, {NAMED}"),
    Row("body/site", f"{POSE} fromto class", SIMULATED, "location of tendons, actuators, equalities and sensors"),
    Row("body/site", "type size mesh", SIMULATED, "used by sensors and inside wrapping of tendons"),
    Row("body/site", f"group material rgba {LABELS}", IRRELEVANT, f"{SEEN}, {NAMED}"),
    Row(
        "body/camera",
        f"class {POSE} fovy focal focalpixel ipd mode output principal principalpixel projection resolution"
        f" sensorsize target {LABELS}",
        IRRELEVANT,
        f"{SEEN}, or used by sensors",
    ),
    Row(
        "body/light",
        "active ambient attenuation bulbradius castshadow class cutoff diffuse dir directional exponent intensity"
        " mode name pos range softness specular target texture type",
        IRRELEVANT,
        SEEN,
    ),
    Row("body/attach", "body frame model prefix", SIMULATED, COMPILED),
    # deformable bodies
    Row(
        "body/flexcomp",
        f"{POSE} cellcount count dim dof element file inertiabox mass mesh origin point radius rigid scale spacing"
        " type",
        SIMULATED,
        "shells on interpolated nodes are refused",
        "flex",
    ),
    Row("body/flexcomp", "flatskin group material name rgba texcoord", IRRELEVANT, f"{SEEN}, {NAMED}"),
    Row(
        "body/flexcomp/edge",
        f"damping equality stiffness {SOFT}",
        SIMULATED,
        "strain constraints are refused",
        "flex",
    ),
    Row("deformable/flex/edge", "damping stiffness", SIMULATED, "", "flex"),
    Row(ELASTICITY, "damping elastic2d poisson thickness young", SIMULATED, "", "flex"),
    Row(
        ELASTICITY,
        "section sectionsize shear",
        SIMULATED,
        "contacts of rods that twist with the section of a box are refused",
        "flex",
    ),
    Row(ELASTICITY, "yield", REFUSED, "plasticity", "flex"),
    Row(
        TOUCH,
        f"activelayers conaffinity condim contype friction gap margin priority selfcollide solmix {SOFT}",
        SIMULATED,
        "",
        "flex",
    ),
    Row(TOUCH, "passive", REFUSED, "penalty contact", "flex"),
    Row("body/flexcomp/pin", "grid gridrange id range", SIMULATED, "", "flex"),
    Row("deformable/flex", "body cellcount dim dof element node nodecoord radius vertex", SIMULATED, "", "flex"),
    Row("deformable/flex", "elemtexcoord flatskin group material name rgba texcoord", IRRELEVANT, f"{SEEN}, {NAMED}"),
    # contact
    Row("contact/pair", f"geom1 geom2 condim friction margin gap solreffriction {SOFT} class", SIMULATED, ""),
    Row("contact/exclude", "body1 body2", SIMULATED, ""),
    Row("contact/pair contact/exclude", "name", IRRELEVANT, NAMED),
    # tendons
    Row(
        "tendon/spatial tendon/fixed",
        "stiffness springlength damping armature frictionloss solreffriction solimpfriction limited range margin"
        " solreflimit solimplimit actuatorfrclimited actuatorfrcrange class",
        SIMULATED,
        "",
        "tendon",
    ),
    Row("tendon/spatial tendon/fixed", "springyield", REFUSED, "plastic springs", "plasticity"),
    Row("tendon/spatial", f"group material rgba width {LABELS}", IRRELEVANT, f"{SEEN}, {NAMED}"),
    Row("tendon/fixed", f"group {LABELS}", IRRELEVANT, f"{SEEN}, {NAMED}"),
    Row("tendon/spatial/site", "site", SIMULATED, ""),
    Row("tendon/spatial/geom", "geom sidesite", SIMULATED, ""),
    Row("tendon/spatial/pulley", "divisor", SIMULATED, ""),
    Row("tendon/fixed/joint", "joint coef", SIMULATED, ""),
    # equalities
    Row("equality/connect", f"body1 body2 site1 site2 anchor active {SOFT} class", SIMULATED, ""),
    Row("equality/weld", f"body1 body2 site1 site2 anchor relpose torquescale active {SOFT} class", SIMULATED, ""),
    Row("equality/joint", f"joint1 joint2 polycoef active {SOFT} class", SIMULATED, ""),
    Row("equality/tendon", f"tendon1 tendon2 polycoef active {SOFT} class", SIMULATED, ""),
    Row("equality/flex", f"flex active {SOFT} class", SIMULATED, ""),
    Row("equality/flexstrain", f"flex cell name active {SOFT} class", REFUSED, "strain constraints", "equality"),
    Row(_under("equality", "connect weld joint tendon flex"), "name", IRRELEVANT, NAMED),
    # actuators
    Row(
        ACTUATED.replace("actuator/muscle ", ""),
        f"{TARGET} {RANGES} {DELAY} group class",
        SIMULATED,
        "group: with `actuatorgroupdisable`",
    ),
    Row("actuator/muscle", f"{SCALAR_TARGET} {RANGES} {DELAY} group class", SIMULATED, ""),
    Row(
        "actuator/orientation",
        f"joint site refsite ctrlrange forcelimited forcerange {DELAY} group class",
        SIMULATED,
        "",
    ),
    Row("actuator/adhesion", f"body gain ctrlrange forcelimited forcerange {DELAY} group class", SIMULATED, ""),
    Row(
        "actuator/general",
        "dyntype gaintype biastype",
        SIMULATED,
        'all but "user" (callbacks), which are refused',
        "actuator",
    ),
    Row(
        "actuator/general",
        "body dynprm gainprm biasprm actdim actearly actlimited actrange velrange ffrange input inheritrange",
        SIMULATED,
        "",
    ),
    Row("actuator/position", "kp kv dampratio timeconst inheritrange", SIMULATED, ""),
    Row("actuator/velocity actuator/damper", "kv", SIMULATED, ""),
    Row("actuator/intvelocity", "kp kv dampratio actlimited actrange inheritrange", SIMULATED, ""),
    Row("actuator/orientation", "kp kv dampratio input", SIMULATED, ""),
    Row(
        "actuator/pid",
        "kp kv ki dampratio imax slewmax input posrange velrange ffrange inheritrange",
        SIMULATED,
        "",
    ),
    Row("actuator/cylinder", "timeconst area diameter bias", SIMULATED, ""),
    Row("actuator/muscle", "timeconst tausmooth range force scale lmin lmax vmax fpmax fvmax", SIMULATED, ""),
    Row(
        "actuator/dcmotor",
        "resistance motorconst nominal inductance thermal saturation cogging lugre input controller",
        SIMULATED,
        "",
    ),
    Row(f"{ACTUATED} actuator/orientation actuator/adhesion", LABELS, IRRELEVANT, NAMED),
    Row(
        "actuator/plugin",
        f"plugin instance site {SCALAR_TARGET} {RANGES} {DELAY} actdim actearly actlimited actrange dyntype dynprm"
        f" group class {LABELS}",
        REFUSED,
        PLUGINS,
        "plugin",
    ),
    Row("actuator/plugin/config sensor/plugin/config", "key value", REFUSED, PLUGINS, "plugin"),
    # sensors
    Row(
        _under("sensor", SENSORS),
        f"{OBJECT} site joint tendon actuator body camera geom mesh body1 body2 geom1 geom2 subtree1 subtree2"
        f" enclosed data num reduce cutoff interval {DELAY}",
        SIMULATED,
        "readings; sensors do not affect motion",
    ),
    Row(_under("sensor", SENSORS), f"noise {LABELS}", IRRELEVANT, f"{NAMED}; noise is not added, as in MuJoCo"),
    Row(
        "sensor/user",
        f"objtype objname cutoff datatype dim needstage noise {LABELS}",
        IRRELEVANT,
        "user-defined: reads zero",
    ),
    Row("sensor/plugin", f"plugin instance {OBJECT} cutoff {LABELS}", REFUSED, PLUGINS, "plugin"),
    # custom, keyframe
    Row("custom/numeric", "data name size", IRRELEVANT, OF_DRIVES),
    Row("custom/text", "data name", IRRELEVANT, NAMED),
    Row("custom/tuple", "name", IRRELEVANT, OF_DRIVES),
    Row("custom/tuple/element", "objname objtype prm", IRRELEVANT, OF_DRIVES),
    Row("keyframe/key", "time qpos qvel act ctrl mpos mquat", SIMULATED, "an initial state"),
    Row("keyframe/key", "plastic", SIMULATED, "frames of rods that twist; plastic springs are refused", "plasticity"),
    Row("keyframe/key", "name", IRRELEVANT, NAMED),
)
