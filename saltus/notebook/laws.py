"""Displays of contact laws, muscles and integrators."""

from __future__ import annotations

from dataclasses import fields

from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import Integrators
from saltus.integrate.tableau import ButcherTableau, coefficient
from saltus.model.compile.hill import HillMuscle
from saltus.notebook.html import Html, beside, display, facts, folded, note, table, title
from saltus.simulate.laws.contact import Compliant, Hard, Soft
from saltus.simulate.soft_contact.analysis import ContactLaw, law_heading, law_rows

LAW_UNITS = {"gap_tolerance": "m", "speed_tolerance": "m/s", "bounce_height": "m", "dense_time": "s", "dense_step": "s"}
LAW_UNITS |= {"overlap_depth": "m"}
MUSCLE_UNITS = {
    "max_isometric_force": "N",
    "optimal_fiber_length": "m",
    "tendon_slack_length": "m",
    "pennation_angle": "rad",
    "max_contraction_velocity": "optimal lengths/s",
    "activation_time_constant": "s",
    "deactivation_time_constant": "s",
    "length_offset": "m",
}


def contact_law_html(law: ContactLaw) -> Html:
    """Display the effects of soft-contact parameters on a mass."""
    heading, mass = law_heading(law)
    groups: dict[str, dict[str, str]] = {}
    for name, value in law_rows(law):
        if value:
            groups[[*groups][-1]][name.strip()] = value
        else:
            groups[name] = {}
    return display(
        title(heading, mass),
        beside(*(folded(name, facts(known), unfolded=True) for name, known in groups.items())),
        *(note(f"warning: {sentence}") for sentence in law.warnings),
    )


def soft_html(law: Soft) -> Html:
    """Display the soft contact law, whose parameters are the model's."""
    return display(title("Contact law soft"), facts({"parameters": "those that the model holds"}))


def hard_html(law: Hard) -> Html:
    """Display the parameters of a hard contact law."""
    known = {}
    for f in fields(law):
        value = getattr(law, f.name)
        if f.name != "pairs":
            text = "the model's" if value is None else _with_unit(value, LAW_UNITS.get(f.name, ""))
            known[f.name.replace("_", " ")] = text
    if law.pairs:
        known["pairs"] = "\n".join(f"{' and '.join(pair)}: {value}" for pair, value in law.pairs.items())
    return display(title("Contact law hard"), facts(known))


def compliant_html(law: Compliant) -> Html:
    """Display the force function of a user-defined contact law."""
    return display(title("User-defined contact law"), facts({"force": law.force.py_func.__name__}))


def muscle_html(muscle: HillMuscle) -> Html:
    """Display the parameters of a muscle."""
    known = {
        f.name.replace("_", " "): _with_unit(getattr(muscle, f.name), MUSCLE_UNITS.get(f.name, ""))
        for f in fields(muscle)
    }
    return display(title("Hill-type muscle"), facts(known))


def _with_unit(value: object, unit: str) -> str:
    return f"{value:g} {unit}".rstrip() if type(value) in (int, float) else str(value)


def integrator_html(integrator: Integrator) -> Html:
    """Display order, kind and reference of an integrator."""
    known = {"order": str(integrator.order), "kind": integrator.kind, "after": integrator.reference}
    return display(title(f"Integrator {integrator.name}"), facts(known))


def integrators_html(found: Integrators) -> Html:
    """Display a table of integrators."""
    rows = [[name, str(i.order), i.kind, i.reference] for name, i in found.items()]
    return display(title("Integrators"), table(["name", "order", "kind", "after"], rows))


def tableau_html(tableau: ButcherTableau) -> Html:
    """Display a tableau in its usual layout, c beside A over b."""
    kind = "explicit" if tableau.explicit else "implicit"
    rows = [[coefficient(x) for x in row] for row in tableau.table]
    rows[-1][0] = ""
    s = tableau.stages
    head = ["c", *(f"a<sub>i{k + 1}</sub>" for k in range(s))]
    return display(
        title(f"Tableau {tableau.name}", f"{kind}, {s} stages, order {tableau.order}"),
        table([Html(text) for text in head], [*rows[:-1], ["b", *rows[-1][1:]]]),
    )
