"""Treatment of every field of MuJoCo's compiled model, its options and its statistics."""

from typing import NamedTuple

READ, DRAWN, REFUSED, UNUSED = "read", "drawn only", "refused", "no effect on motion"
DERIVED = "derived"  # MuJoCo computes it from other fields; a value that is written there does not act here
PASSED = "passed on"  # read by MuJoCo's functions that Saltus calls


class Fields(NamedTuple):
    """Fields of one owner with one treatment.

    `owner`: "MjModel", "MjOption" or "MjStatistic". `prefix`: the beginning of all names, "body_" or "". `kind`: the
    word for `ignore` that removes what is refused.
    """

    owner: str
    prefix: str
    names: str
    treatment: str
    why: str = ""
    kind: str = ""


SIZES = "length of arrays"
MEMORY = "memory of MuJoCo's own data"
NAMED = "names and user data"
PLUGINS = "engine plugins"
PLASTIC = "plastic springs"
PICTURE = "visual only"
GROUP = "groups are visual only, except those of `actuatorgroupdisable` and of the compiler"
ENTRIES = "where the entries of an object lie"
SPARSE = "how MuJoCo stores its matrices; Saltus has its own"
VOLUMES = "bounding volumes and distance fields, by which MuJoCo finds contacts; Saltus computes its own"
FRAMES = "marks equal frames, so that MuJoCo saves work"
INVERSE = "the constraint solver's estimate of inverse inertia"


def _model(prefix: str, names: str, treatment: str, why: str = "", kind: str = "") -> Fields:
    return Fields("MjModel", prefix, names, treatment, why, kind)


def _option(names: str, treatment: str, why: str = "", kind: str = "") -> Fields:
    return Fields("MjOption", "", names, treatment, why, kind)


SIZE_FIELDS = (
    _model(
        "n",
        "q v u a out actuator body jnt tree geom site cam flex flexedge flexvert flexelem flexnode mat pair eq"
        " tendon key mocap sensor sensordata userdata history C Jten",
        READ,
        SIZES,
    ),
    _model("n", "plastic", READ, f"frames of rods that twist; {PLASTIC} are refused"),
    _model("n", "plugin", REFUSED, PLUGINS, "plugin"),
    _model("n", "pluginattr pluginstate", DERIVED, f"{SIZES}; {PLUGINS} are refused"),
    _model(
        "n",
        "B D M Jfe Jmom bvh bvhdynamic bvhstatic oct efm0L efm0dof efmCvert emax flexbending flexelemdata flexelemedge"
        " flexshelldata flexstiffness flextexcoord gravcomp hfielddata meshface meshgraph meshnormal meshpoly"
        " meshpolymap meshpolyvert meshtexcoord meshvert skinbone skinbonevert skinface skintexvert skinvert texdata"
        " textdata tupledata numericdata wrap exclude hfield light mesh skin tex names names_map paths",
        DERIVED,
        f"{SIZES}, which have it themselves",
    ),
    _model("n", "meshdegmax polygonmax conmax arena", READ, "memory for the pairs that MuJoCo's functions collide"),
    _model("n", "buffer jmax", UNUSED, MEMORY),
    _model("n", "numeric", UNUSED, NAMED),
    _model("n", "text tuple", READ, SIZES),
    _model("nuser_", "actuator body cam geom jnt sensor site tendon", UNUSED, NAMED),
)
OBJECT_FIELDS = (
    _model("", "opt", READ, "the fields of MjOption"),
    _model("", "stat", READ, "the fields of MjStatistic"),
    _model("", "vis", DRAWN, PICTURE),
    _model("", "qpos0 qpos_spring", READ, ""),
    _model("flg_", "adhesion gravcomp surfacevel", DERIVED, "marks models that have a feature"),
    _model("", "signature", DERIVED, "a number of MuJoCo's compiler"),
    _model("", "plugin", REFUSED, PLUGINS, "plugin"),
    _model("plugin_", "attr attradr stateadr statenum", DERIVED, f"{PLUGINS}, which are refused"),
    _model("", "names", UNUSED, f"{NAMED}; read through MuJoCo's functions"),
    _model("", "names_map paths", UNUSED, "names and files"),
    _model(
        "name_",
        "actuatoradr bodyadr camadr eqadr excludeadr flexadr geomadr hfieldadr jntadr keyadr lightadr matadr meshadr"
        " numericadr pairadr pluginadr sensoradr siteadr skinadr tendonadr texadr textadr tupleadr",
        UNUSED,
        NAMED,
    ),
    _model("numeric_", "adr data size", READ, f"torques of motors by speed, curves of cams; else {NAMED}"),
    _model("text_", "adr data size", READ, f"the release whose semantics a model has; else {NAMED}"),
    _model("tuple_", "adr objid objprm objtype size", READ, f"losses of drives; else {NAMED}"),
)
TREE_FIELDS = (
    _model(
        "body_",
        "parentid rootid weldid mocapid jntnum jntadr dofnum dofadr geomnum geomadr treeid pos quat ipos iquat mass"
        " inertia gravcomp contype conaffinity",
        READ,
    ),
    _model("body_", "invweight0", READ, INVERSE),
    _model("body_", "subtreemass", READ, ""),
    _model("body_", "sameframe", READ, FRAMES),
    _model("body_", "simple", READ, "marks bodies whose inertia matrix is diagonal"),
    _model("body_", "margin bvhadr bvhnum", DERIVED, VOLUMES),
    _model("body_", "plugin", DERIVED, f"{PLUGINS}, which are refused"),
    _model("body_", "user", UNUSED, NAMED),
    _model("bvh_", "aabb child depth nodeid", DERIVED, VOLUMES),
    _model("oct_", "aabb child coeff depth", DERIVED, VOLUMES),
    _model(
        "jnt_",
        "type qposadr dofadr bodyid limited actfrclimited actgravcomp solref solimp pos axis stiffness stiffnesspoly"
        " range actfrcrange margin",
        READ,
    ),
    _model("jnt_", "springyield plasticadr", REFUSED, PLASTIC, "plasticity"),
    _model("jnt_", "actuatorid", DERIVED, ENTRIES),
    _model("jnt_", "group", DRAWN, GROUP),
    _model("jnt_", "user", UNUSED, NAMED),
    _model(
        "dof_",
        "bodyid jntid parentid treeid solref solimp frictionloss armature damping dampingpoly",
        READ,
    ),
    _model("dof_", "invweight0", READ, INVERSE),
    _model("dof_", "length", READ, "the scale of velocities below which a tree sleeps"),
    _model("dof_", "M0", READ, "inertia at the reference position"),
    _model("dof_", "simplenum", READ, SPARSE),
    _model("dof_", "Madr", DERIVED, SPARSE),
    _model("tree_", "bodyadr bodynum dofadr dofnum sleep_policy", READ),
    _model("M_", "rownnz rowadr colind", READ, "sparsity of the inertia matrix"),
    _model("B_", "rownnz rowadr colind", DERIVED, SPARSE),
    _model("D_", "rownnz rowadr colind diag", DERIVED, SPARSE),
    _model("map", "D2M M2D M2M", DERIVED, SPARSE),
    _model("efm0_", "L L_colind L_rowadr L_rownnz dofid", DERIVED, SPARSE),
    _model("", "efmC_perm", DERIVED, SPARSE),
)
GEOM_FIELDS = (
    _model(
        "geom_",
        "type contype conaffinity condim bodyid dataid priority solmix solref solimp size rbound pos quat friction"
        " margin gap fluid surfacevel aabb",
        READ,
    ),
    _model("geom_", "adhesion", READ, "", "adhesion"),
    _model("geom_", "sameframe", READ, FRAMES),
    _model("geom_", "matid rgba", READ, "visual, and read by range finders, which pass through what is invisible"),
    _model("geom_", "group castshadow", DRAWN, GROUP),
    _model("geom_", "plugin", DERIVED, f"{PLUGINS}, which are refused"),
    _model("geom_", "user", UNUSED, NAMED),
    _model("site_", "type bodyid size pos quat", READ),
    _model("site_", "sameframe", READ, FRAMES),
    _model("site_", "dataid", DERIVED, "the mesh of a site"),
    _model("site_", "group matid rgba", DRAWN, PICTURE),
    _model("site_", "user", UNUSED, NAMED),
    _model("mesh_", "vertadr vertnum vert graphadr graph", READ),
    _model("mesh_", "polynum polyadr polynormal polyvertadr polyvertnum polyvert polymapadr polymapnum polymap", READ),
    _model("mesh_", "normal normaladr normalnum", READ, "visual, and read by tactile sensors"),
    _model("mesh_", "octadr", READ, "refused where a tactile sensor would read a distance field"),
    _model("mesh_", "octnum bvhadr bvhnum", DERIVED, VOLUMES),
    _model("mesh_", "extrema", DERIVED, VOLUMES),
    _model("mesh_", "face faceadr facenum facenormal", DRAWN, "collision and tactile sensors go by hull and polygons"),
    _model("mesh_", "facetexcoord texcoord texcoordadr texcoordnum", DRAWN, PICTURE),
    _model("mesh_", "pos quat scale", DERIVED, "what the compiler did to the mesh in the file"),
    _model("mesh_", "pathadr", UNUSED, "files"),
    _model("hfield_", "size nrow ncol adr data", READ),
    _model("hfield_", "pathadr", UNUSED, "files"),
    _model("pair_", "dim geom1 geom2 solref solreffriction solimp margin gap friction", READ),
    _model("pair_", "adhesion", READ, "", "adhesion"),
    _model("pair_", "signature", DERIVED, "bodies of the pair in one number"),
    _model("exclude_", "signature", READ),
)
FLEX_FIELDS = (
    _model(
        "flex_",
        "contype conaffinity condim priority solmix solref solimp friction margin gap dim vertadr vertnum nodeadr"
        " nodenum edgeadr edgenum elemadr elemnum elemdataadr stiffnessadr bendingadr interp cellnum selfcollide"
        " activelayers vertbodyid nodebodyid edge elem edgeflap vert vert0 node stiffness bending radius"
        " damping edgestiffness edgedamping rigid edgeequality elemedge elemedgeadr elemlayer",
        READ,
    ),
    _model("flex_", "passive", REFUSED, "penalty contact", "flex"),
    _model("flex_", "plasticmode", REFUSED, "plasticity", "flex"),
    _model("flex_", "plasticadr", READ, "frames of rods that twist"),
    _model("flex_", "yield", DERIVED, "plasticity, which is refused"),
    _model("flex_", "node0", READ),
    _model("flex_", "centered vertcell size", DERIVED, "how MuJoCo places vertices"),
    _model("flex_", "bvhadr bvhnum", DERIVED, VOLUMES),
    _model("flex_", "shell shelldataadr shellnum", DRAWN, "visual; the compiler finds the shell"),
    _model("flex_", "elemtexcoord texcoord texcoordadr flatskin group matid rgba", DRAWN, PICTURE),
    _model("flexedge_", "length0 rigid", READ),
    _model("flexedge_", "invweight0", READ, INVERSE),
    _model("flexedge_", "J_rownnz J_rowadr J_colind", DERIVED, SPARSE),
)
LINK_FIELDS = (
    _model(
        "tendon_",
        "adr num limited actfrclimited solref_lim solimp_lim solref_fri solimp_fri range actfrcrange margin stiffness"
        " stiffnesspoly damping dampingpoly armature frictionloss lengthspring length0 treenum treeid",
        READ,
    ),
    _model("tendon_", "invweight0", READ, INVERSE),
    _model("tendon_", "springyield plasticadr", REFUSED, PLASTIC, "plasticity"),
    _model("tendon_", "actuatorid type", DERIVED, ENTRIES),
    _model("tendon_", "group matid rgba width", DRAWN, PICTURE),
    _model("tendon_", "user", UNUSED, NAMED),
    _model("ten_", "J_rownnz J_rowadr J_colind", READ, "sparsity of the derivatives of lengths"),
    _model("wrap_", "type objid prm", READ),
    _model("eq_", "type obj1id obj2id objtype active0 solref solimp data", READ),
)
ACTUATOR_FIELDS = (
    _model(
        "actuator_",
        "trntype dyntype gaintype biastype trnid actadr actnum ctrladr ctrlnum outadr outnum ctrllimited forcelimited"
        " actlimited ctrlspec dynprm gainprm biasprm actearly ctrlrange forcerange actrange gear cranklength acc0"
        " lengthrange delay history historyadr damping dampingpoly armature",
        READ,
    ),
    _model("actuator_", "group", READ, "with `actuatorgroupdisable`"),
    _model("actuator_", "length0", DERIVED, "the compiler uses it for the range of lengths"),
    _model("actuator_", "plugin", REFUSED, PLUGINS, "plugin"),
    _model("actuator_", "user", UNUSED, NAMED),
)
SENSOR_FIELDS = (
    _model(
        "sensor_",
        "type datatype objtype objid reftype refid intprm dim adr cutoff delay interval history historyadr",
        READ,
        "readings; sensors do not affect motion",
    ),
    _model("sensor_", "needstage", READ, "whether derivatives of a reading are those of forces, too"),
    _model("sensor_", "noise", UNUSED, "noise is not added, as in MuJoCo"),
    _model("sensor_", "plugin", DERIVED, f"{PLUGINS}, which are refused"),
    _model("sensor_", "user", UNUSED, NAMED),
    _model("cam_", "bodyid mode targetbodyid pos quat poscom0 pos0 mat0", READ, "visual, and read by sensors"),
    _model("cam_", "projection fovy resolution sensorsize intrinsic", READ, "visual, and read by sensors"),
    _model("cam_", "ipd output", DRAWN, PICTURE),
    _model("cam_", "user", UNUSED, NAMED),
    _model("key_", "time qpos qvel act ctrl mpos mquat", READ, "an initial state"),
    _model("key_", "plastic", READ, f"frames of rods that twist; {PLASTIC} are refused"),
)
SCENE_FIELDS = (
    _model(
        "light_",
        "active ambient attenuation bodyid bulbradius castshadow cutoff diffuse dir dir0 exponent intensity mode pos"
        " pos0 poscom0 range softness specular targetbodyid texid type",
        DRAWN,
        PICTURE,
    ),
    _model("mat_", "rgba", READ, "visual, and read by range finders, which pass through what is invisible"),
    _model(
        "mat_",
        "emission metallic reflectance roughness shininess specular texid texrepeat texuniform",
        DRAWN,
        PICTURE,
    ),
    _model("tex_", "adr colorspace data height nchannel pathadr type width contenttypeadr", DRAWN, PICTURE),
    _model(
        "skin_",
        "boneadr bonebindpos bonebindquat bonebodyid bonenum bonevertadr bonevertid bonevertnum bonevertweight face"
        " faceadr facenum group inflate matid pathadr rgba texcoord texcoordadr vert vertadr vertnum",
        DRAWN,
        PICTURE,
    ),
)
OPTION_FIELDS = (
    _option("timestep gravity", READ),
    _option("density viscosity wind", READ, "fluid forces", "fluid"),
    _option("magnetic", READ, "read by magnetometers"),
    _option("integrator", READ, "unless given to the simulation"),
    _option("cone impratio solver iterations tolerance ls_iterations ls_tolerance", READ, "the constraint solver"),
    _option("noslip_iterations noslip_tolerance", READ, "the constraint solver", "noslip"),
    _option("ccd_iterations ccd_tolerance", PASSED, "for pairs that MuJoCo's functions collide"),
    _option("o_friction o_margin o_solimp o_solref", READ, "with the flag `override`"),
    _option("disableactuator", READ),
    _option("disableflags enableflags", READ, "flag by flag: see the table of MJCF"),
    _option("sleep_tolerance", READ, "with the flag `sleep`", "sleep"),
    _option("jacobian", UNUSED, "how MuJoCo stores matrices"),
    _option("sdf_initpoints sdf_iterations", UNUSED, f"geoms of {PLUGINS}, which are refused"),
)
STATISTIC_FIELDS = (
    Fields("MjStatistic", "", "meaninertia", READ, "the scale of the solver's tolerance"),
    Fields("MjStatistic", "", "extent", READ, "the length by which diverging runs are recognised; visual, too"),
    Fields("MjStatistic", "", "center", DRAWN, PICTURE),
    Fields("MjStatistic", "", "meanmass meansize", UNUSED, "no longer read by MuJoCo"),
)
TABLE = (
    *(OBJECT_FIELDS + SIZE_FIELDS + TREE_FIELDS + GEOM_FIELDS + FLEX_FIELDS + LINK_FIELDS),
    *(ACTUATOR_FIELDS + SENSOR_FIELDS + SCENE_FIELDS + OPTION_FIELDS + STATISTIC_FIELDS),
)
