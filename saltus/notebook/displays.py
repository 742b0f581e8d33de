"""Displays of classes; each is loaded when an object of its class is shown."""

from __future__ import annotations

from importlib import import_module

from saltus.notebook.html import display, escaped, note, reason

#: Module and function of the display by the name of the class; the function returns HTML of an object.
DISPLAYS = {
    "Model": ("model", "model_html"),
    "Simulation": ("state", "simulation_html"),
    "Batch": ("state", "batch_html"),
    "TrajectoryTable": ("trajectory", "trajectory_html"),
    "Certificate": ("results", "certificate_html"),
    "EnergyBalance": ("results", "energy_html"),
    "EventTable": ("trajectory", "events_html"),
    "ComparisonTable": ("studies", "comparison_html"),
    "SweepTable": ("studies", "sweep_html"),
    "SweepSoFar": ("studies", "so_far_html"),
    "NumericEquations": ("equations", "equations_html"),
    "ContactLaw": ("laws", "contact_law_html"),
    "Soft": ("laws", "soft_html"),
    "Hard": ("laws", "hard_html"),
    "Compliant": ("laws", "compliant_html"),
    "HillMuscle": ("laws", "muscle_html"),
    "Integrator": ("laws", "integrator_html"),
    "Integrators": ("laws", "integrators_html"),
    "ButcherTableau": ("laws", "tableau_html"),
    "ImpactReport": ("results", "impact_html"),
    "FrictionContact": ("results", "friction_contact_html"),
    "OdeSolution": ("results", "solution_html"),
}


def html_of(thing: object) -> str | None:
    """HTML of an object for notebooks; its repr with a remark if the display fails, None if it has no display."""
    for kind in type(thing).__mro__:
        if kind.__name__ in DISPLAYS and kind.__module__.startswith("saltus."):
            module, function = DISPLAYS[kind.__name__]
            break
    else:
        return None
    try:
        return getattr(import_module(f"saltus.notebook.{module}"), function)(thing)
    except Exception as error:
        return display(f"<pre>{escaped(repr(thing))}</pre>", note(f"The display failed. {reason(error)}"))
