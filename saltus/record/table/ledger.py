"""The accounts of an energy ledger: energies and kinds of work."""

#: Energies that are held (J): of motion, of weights, of springs of joints and tendons, of deformable bodies.
ENERGIES = ("kinetic", "gravity", "springs", "stretch", "bending")

#: Kinds of work of forces, in the order of `saltus.integrate.work`.
WORKS = (
    *("actuators", "applied", "dampers", "elastic damping", "medium", "gravity compensation"),
    *("contact", "limits", "dry friction", "equalities"),
)

#: Columns of a ledger: these energies, and the work since the run's start (J), positive where it brought energy in.
#: Impacts are those whose events are located; equations those of the user's (see `saltus.Dynamics`), beside the inertia
#: and the weights of the bodies: damping in their bias, or that they are another mechanism's; motions the forces that
#: prescribed motions of joints need.
ACCOUNTS = (*ENERGIES, *WORKS, "impacts", "equations", "motions")
WITHOUT_MOTIONS = len(ACCOUNTS) - 1  # columns of runs without prescribed motions

ATTRIBUTE = "ledger"  # attribute of the recording: method by which work was found
