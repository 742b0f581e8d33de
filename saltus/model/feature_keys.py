"""Feature keys: parts of a model that change the compiled code, and the rooms that test for them.

A kernel is compiled without the code for features that the model lacks, and a compiled kernel is shared by all models
with equal results of its tests `has(m, feature)`. The features of the kernels' Model are in its layout.
"""

from typing import NamedTuple


class Feature(NamedTuple):
    """A feature: the part of a model that enables it, and the rooms whose kernels test for it."""

    on: str
    rooms: tuple[str, ...]


ALL_STEPS = ("integrate", "sense", "solve")

FEATURES = {
    # constraints
    "constraint": Feature("constraints: contacts, limits, dry friction, equalities", ("dynamics", *ALL_STEPS)),
    "contact": Feature("pairs that may touch", ("contact", *ALL_STEPS)),
    "broad": Feature(
        "so many pairs that may touch that those near each other are found at run time", ("contact", "integrate")
    ),
    "cylinder": Feature("pairs of planes with ellipsoids or cylinders, of spheres with cylinders", ("contact",)),
    "box": Feature("pairs of boxes with planes, spheres or capsules", ("contact",)),
    "boxes": Feature("pairs of boxes", ("contact",)),
    "ellipsoid": Feature("pairs of ellipsoids with other convex shapes", ("contact",)),
    "convex": Feature("pairs of meshes with convex shapes, of cylinders with capsules, cylinders, boxes", ("contact",)),
    "field": Feature("pairs of height fields with spheres, capsules, ellipsoids, cylinders", ("contact",)),
    "foreign": Feature("pairs that MuJoCo's functions collide", ("contact",)),
    "flexcontact": Feature("deformable bodies that may touch", ("contact",)),
    "flexrope": Feature("deformable bodies that may touch, of dimension 1", ("contact",)),
    "flexsheet": Feature("deformable bodies that may touch, of dimension 2", ("contact",)),
    "flexsolid": Feature("deformable bodies that may touch, of dimension 3", ("contact",)),
    "flexfew": Feature("contacts of deformable bodies with few nodes with geoms", ("contact",)),
    "flexflex": Feature("two deformable bodies that may touch each other", ("contact",)),
    "flexself": Feature("deformable bodies that may touch themselves", ("contact",)),
    "flexforeign": Feature("deformable bodies that MuJoCo's functions collide with geoms", ("contact",)),
    "flexequality": Feature("deformable bodies with edge-length constraints", ("contact",)),
    "cg": Feature("the solver CG", ("solve",)),
    "pgs": Feature("the solver PGS", ("solve",)),
    "many_trees": Feature("many small kinematic trees, whose Hessian is taken tree by tree", ("solve",)),
    "matrix_in_lanes": Feature("small kinematic trees, too few or too large for block methods in batches", ("solve",)),
    "noslip": Feature("iterations of the noslip solver", ("solve",)),
    "sleep": Feature("trees that may fall asleep", ("contact", "dynamics", "integrate", "solve")),
    "adhesive": Feature("geoms that stick", ("contact", "dynamics", *ALL_STEPS)),
    "cam": Feature("equalities of joints or tendons along a curve through points", ("contact",)),
    # forces
    "flex": Feature("deformable bodies", ("dynamics", "integrate", "solve")),
    "flexcell": Feature("deformable bodies interpolated between nodes", ("contact", "dynamics")),
    "flexrod": Feature("rods that bend", ("dynamics",)),
    "rodtwist": Feature("rods with joints that twist them", ("contact", "dynamics", "solve")),
    "dihedral": Feature("rods that are curved at rest in space and resist torsion", ("dynamics", "solve")),
    "rodband": Feature("rods whose matrix in implicit steps is factored as a band", ("dynamics", "integrate", "solve")),
    "tendon": Feature("tendons", ("contact", "dynamics", "integrate", "sense", "solve")),
    "wrap": Feature("tendons that wrap around geoms", ("dynamics", "integrate", "sense")),
    "capstan": Feature("tendons with friction on the geoms that they wrap", ("contact", "dynamics", "sense")),
    "tendon_force": Feature("tendons with springs or dampers", ("contact", "dynamics", "integrate", "sense")),
    "tendon_armature": Feature("tendons with inertia", ("dynamics", "integrate", "sense")),
    "actuation": Feature(
        "actuators beyond motors and affine servos on hinges and slides, or a controller", ("dynamics", "integrate")
    ),
    "transmission": Feature("actuators on other objects than hinges and slides", ("dynamics", "integrate")),
    "half_plane_sides": Feature("side sites of tendons as in MuJoCo before 4.0", ("dynamics",)),
    "uncorrected_rotations": Feature(
        "Runge-Kutta methods of order 2 on orientations, as in MuJoCo before 4.0", ("integrate",)
    ),
    "act": Feature("actuators or controllers with states", ("dynamics", "integrate")),
    "delay": Feature("controls with a delay", ("dynamics",)),
    "muscle": Feature("MuJoCo's muscles", ("dynamics",)),
    "hill": Feature("Hill-type muscles with an elastic tendon", ("dynamics",)),
    "torque_curve": Feature("motors whose torque is limited by speed", ("dynamics",)),
    "current_limit": Feature("dc motors whose current is limited", ("dynamics",)),
    "servo": Feature("servos with an integral part", ("dynamics",)),
    "dcmotor": Feature("dc motors", ("dynamics",)),
    "so3": Feature("servos of orientations", ("dynamics",)),
    "adhere": Feature("adhesion actuators", ("contact", "integrate", "solve")),
    "fluid": Feature("fluid forces", ("dynamics", "integrate")),
    "mocap": Feature("mocap bodies", ("dynamics", "integrate")),
    "movers": Feature(
        "mocap bodies under hard contact, which have velocities", ("contact", "dynamics", "integrate", "solve")
    ),
    # prescribed motions
    "prescribed": Feature("prescribed motions of joints", ("dynamics", "integrate", "solve")),
    "carriers": Feature("prescribed motions of mocap bodies", ("contact", "dynamics", "integrate", "solve")),
    # hard contact
    "drive": Feature("drives with losses, whose friction depends on velocity or load", ("contact", "dynamics")),
    "event": Feature("events located in time", ("contact", "integrate", "solve")),
    "loops": Feature("closed loops under `energy_momentum`, with events located in time", ("contact", "integrate")),
    "fieldgaps": Feature("pairs of height fields with convex shapes, with events located in time", ("contact",)),
    "stepping": Feature("time stepping over events", ("contact", "solve")),
    "stiction": Feature("static friction of contacts above that of sliding, under hard contact", ("solve",)),
    "thin": Feature("pairs of geoms that can pass each other within a step", ("integrate",)),
    "seams": Feature("geoms that touch others welded to them, under hard contact", ("contact", "integrate")),
    # batches
    "vary": Feature("fields of the model that differ from simulation to simulation", ()),
    "threads": Feature(
        "so many pairs or trees that several threads may share the work of a step", ("contact", "solve")
    ),
    # sensors
    "sense_limit": Feature("sensors of joint and tendon limits", ("sense",)),
    "sense_frame": Feature("sensors of frames", ("sense",)),
    "sense_motion": Feature("sensors of velocities", ("sense",)),
    "sense_body": Feature("sensors of accelerations and forces of bodies", ("sense",)),
    "sense_subtree": Feature("sensors of momenta", ("sense",)),
    "sense_touch": Feature("touch sensors", ("sense",)),
    "sense_geometry": Feature("sensors of distances, rays and cameras", ("sense",)),
    "sense_contact": Feature("contact sensors", ("sense",)),
    "sense_tactile": Feature("tactile sensors", ("sense",)),
    "rangefinder": Feature("rangefinders", ("sense",)),
    "foreign_ray": Feature("rangefinders whose rays MuJoCo's functions cast", ("contact",)),
    "distance": Feature("sensors of distances between geoms", ("sense",)),
    "camera": Feature("sensors that use cameras", ("sense",)),
    "sensor_delay": Feature("sensors with a delay or an interval", ("sense",)),
    # fields that a controller reads
    "reads_bodies": Feature("a controller that reads velocities of bodies", ()),
    "reads_frames": Feature("a controller that reads poses of geoms and sites", ("dynamics",)),
    "reads_centres": Feature("a controller that reads centres of mass", ("dynamics",)),
}

#: Keys of user-defined functions begin with one of these prefixes.
PREFIXES = {
    "control_": Feature("a controller, evaluated with every acceleration", ("dynamics",)),
    "hold_": Feature("a controller, evaluated once a step", ("dynamics",)),
    "equations_": Feature("equations of motion", ("dynamics", "integrate")),
    "touch_": Feature("contact forces", ("contact", "integrate", "sense", "solve")),
    "events_": Feature("events", ("integrate",)),
    "steps_": Feature("fixed steps of a method whose events are located", ("integrate",)),
}


def unknown_keys(features: frozenset[str]) -> list[str]:
    """The given words that are not features."""
    return sorted(key for key in features if key not in FEATURES and not key.startswith(tuple(PREFIXES)))
