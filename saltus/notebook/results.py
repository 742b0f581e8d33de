"""Displays of single results: accuracy, energy balances, impacts, frictional contacts, solutions of equations."""

from __future__ import annotations

import math

import numpy as np

from saltus.notebook.html import Html, attempt, beside, display, facts, folded, note, table, title
from saltus.notebook.picture import figure_image
from saltus.record.plot.energy import plot_energy
from saltus.record.table.certificate import Certificate, bound_text, error_text
from saltus.record.table.energy_balance import EnergyBalance
from saltus.record.table.ledger import ACCOUNTS, ENERGIES
from saltus.simulate.analysis.friction_contact import FrictionContact
from saltus.simulate.analysis.impact_report import ImpactReport
from saltus.simulate.ode import OdeSolution
from saltus.terminal.display import count


def certificate_html(certificate: Certificate) -> Html:
    """Display the error of a run and how it was estimated."""
    return display(title("Accuracy"), facts(certificate_facts(certificate)), *map(note, certificate.warnings))


def certificate_facts(c: Certificate) -> dict[str, str]:
    """Facts of a certificate, by name."""
    known = {"accuracy": "certified" if c.ok else "uncertain"}
    if math.isnan(c.largest_error):
        known["position error"] = "unknown"
    else:
        final, largest = (error_text(c, error, 2).removeprefix("about ") for error in (c.final_error, c.largest_error))
        known["position error"] = f"{final} at the end, {largest} at its largest (rad, m)"
        known["error bound"] = f"{bound_text(c.final_bound)} at the end (rad, m)"
    observed = "not measurable" if math.isnan(c.observed_order) else f"{c.observed_order:.2f}"
    known["order"] = f"{observed} observed, {c.order:g} declared"
    if not math.isnan(c.timestep):
        known["compared with"] = "timesteps " + ", ".join(f"{h:.4g}" for h in c.timesteps if h != c.timestep) + " s"
    if not math.isnan(c.energy_drift) and not c.exchanges:
        known["energy drift"] = f"{c.energy_drift:.2g} of the energy in play"
    return known


def energy_html(balance: EnergyBalance) -> Html:
    """Display energies at start and end, the work in between, and the residual."""
    held, flows = balance.used(ENERGIES), balance.used(ACCOUNTS[len(ENERGIES) :])
    rows = [[name, *_ends(balance, balance[name])] for name in held]
    rows += [["in all", *_ends(balance, balance.total)]]
    work = [[name, _short(balance, balance[name][-1])] for name in flows]
    work += [["in all", _short(balance, balance.work[-1])], ["residual", f"{balance.residual[-1]:.4g}"]]
    worst = float(np.max(np.abs(balance.residual)))
    share = f", {100 * worst / balance.scale:.2g} % of the energy in play" if balance.scale > 0 else ""
    return display(
        title("Energy balance", balance.title),
        beside(
            table(["energy (J)", "start", "end", "change"], rows),
            table(["work since the start (J)", "at the end"], work),
        ),
        note(f"The residual, the error of the integrator, is at most {worst:.4g} J at a sample{share}."),
        folded("figure", attempt("figure", lambda: _energy_figure(balance)), unfolded=True),
    )


def _energy_figure(balance: EnergyBalance) -> Html:
    return figure_image(plot_energy(balance, None), "energies and work over time")


def _ends(balance: EnergyBalance, values: np.ndarray) -> list[str]:
    return [_short(balance, x) for x in (values[0], values[-1], values[-1] - values[0])]


def _short(balance: EnergyBalance, value: float) -> str:
    """Format a value with five digits; 0 if it is only rounding error."""
    return f"{value if abs(value) > 1e-13 * np.max(np.abs(balance.table)) else 0.0:.5g}"


def impact_html(report: ImpactReport) -> Html:
    """Display the outcome of an impact by each law and treatment."""
    rows = []
    for (law, treatment), outcome in report.outcomes.items():
        for name, i in zip(report.names, report.first, strict=True):
            numbers = [f"{x + 0.0:.5g}" for x in (report.before[i], outcome.after[i], outcome.impulse[i])]
            rows.append([law, treatment, name, *numbers, f"{outcome.energy_change + 0.0:.5g}"])
    head = ["law", "treatment", "contact", "before (m/s)", "after (m/s)", "impulse (N s)", "energy change (J)"]
    return display(title("Impact", count(len(report.names), "contact")), table(head, rows))


def friction_contact_html(found: FrictionContact) -> Html:
    """Display normal and tangential forces and relative motions of contacts."""
    r, u = found.r.reshape(-1, 3), found.u.reshape(-1, 3)
    rows = [
        [str(k), *(f"{x + 0.0:.5g}" for x in (r[k, 0], np.hypot(*r[k, 1:]), u[k, 0], np.hypot(*u[k, 1:])))]
        for k in range(len(r))
    ]
    head = ["contact", "normal r", "tangential |r|", "normal u", "tangential |u|"]
    return display(
        title("Contacts with friction", f"residual {found.residual:.2g}"),
        table(head, rows),
        note("r: forces (N) or impulses (N s); u = W r + q: accelerations (m/s²) or velocities (m/s)."),
    )


def solution_html(solution: OdeSolution) -> Html:
    """Display the method, the steps, and the values at start and end of a solution."""
    known = {
        "method": f"{solution.method}, order {solution.order}",
        "steps": f"{solution.steps}" + (f", {solution.rejected} rejected" if solution.rejected else ""),
        "status": solution.status,
    }
    rows = []
    for k in range(solution.y.shape[1]):
        numbers = [f"{x + 0.0:.6g}" for x in (solution.y[0, k], solution.y[-1, k])]
        error = [] if solution.error is None else [f"{solution.error[-1, k]:.2g}"]
        rows.append([f"y[{k}]", *numbers, *error])
    head = ["", "start", "end", *([] if solution.error is None else ["sum of error estimates"])]
    span = f"t = {solution.t[0]:g} to {solution.t[-1]:g}, {count(len(solution.t), 'value')}"
    return display(title("Solution", span), beside(facts(known), table(head, rows)))
