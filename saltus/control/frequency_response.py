"""Frequency responses about a state, of the steps that a simulation takes.

    H(ω) = C (exp(i ω h) 1 - A)⁻¹ B + D

with controls held over each step (Åström & Wittenmark, Computer-Controlled Systems (1997), 3.6). Each frequency is a
linear system of its own: polynomials of transfer functions lose digits with the number of states.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, words
from saltus.control.outputs import output_matrices
from saltus.control.tangent_states import check_simulation
from saltus.errors import OptionError
from saltus.record.files.atomic_write import write_whole
from saltus.record.plot.trajectory import COLOURS, STYLES, figure_format, rendered
from saltus.simulate.derivatives.linearize import check_chain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from saltus.simulate.simulation import Simulation

POINTS, DECADES = 400, 4  # frequencies by default, below the Nyquist frequency


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Responses of outputs to controls that swing about the present ones.

    Attributes:
        frequency [n]: Hz.
        response [n, m, k]: complex gain of each output by each control.
        outputs, inputs: their names, m and k.
        stable: whether the state is asymptotically stable, so that the response is one that settles.
    """

    frequency: NDArray[np.float64]
    response: NDArray[np.complex128]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    stable: bool

    @property
    def magnitude(self) -> NDArray[np.float64]:
        """Gains [n, m, k] in decibels, 20 log10 |H|."""
        with np.errstate(divide="ignore"):
            return 20.0 * np.log10(abs(self.response))

    @property
    def phase(self) -> NDArray[np.float64]:
        """Phases [n, m, k] in degrees, without jumps from frequency to frequency."""
        return np.degrees(np.unwrap(np.angle(self.response), axis=0))

    def __repr__(self) -> str:
        low, high = self.frequency[[0, -1]]
        return f"FrequencyResponse({', '.join(self.outputs)} by {', '.join(self.inputs)}, {low:.3g} to {high:.3g} Hz)"

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the Bode diagram: gains and phases over frequency; write it to `path` (.png, .svg or .pdf)."""
        from matplotlib.figure import Figure

        file_format = None if path is None else figure_format(path)
        figure = Figure(figsize=(9.0, 6.0), dpi=150, layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        for j, control in enumerate(self.inputs):
            for i, output in enumerate(self.outputs):
                how = {"color": COLOURS[i % len(COLOURS)], "linestyle": STYLES[j % len(STYLES)]}
                above.semilogx(self.frequency, self.magnitude[:, i, j], label=f"{output} by {control}", **how)
                below.semilogx(self.frequency, self.phase[:, i, j], **how)
        above.set_ylabel("gain (dB)")
        below.set_ylabel("phase (°)")
        below.set_xlabel("frequency (Hz)")
        for axes in (above, below):
            axes.grid(True, which="both", alpha=0.3)
        above.legend(fontsize="small")
        if not self.stable:
            above.set_title("about a state that is not stable", fontsize="small")
        if path is not None:
            write_whole(path, rendered(figure, file_format), what="figure")
        return figure


def bode(
    sim: Simulation,
    outputs: Sequence[str] | str | None = None,
    *,
    inputs: Sequence[str] | str | None = None,
    frequencies: ArrayLike | None = None,
) -> FrequencyResponse:
    """Frequency response about the present state and controls of a simulation, which should be an equilibrium.

    Derivatives of a step are exact, so that the response is that of the simulation itself with its integrator,
    controller in the time loop and contacts, which count as staying as they are. `outputs`: degrees of freedom (their
    positions: rad, m), components of the state such as "velocity of knee", or sensors; None: positions of all degrees
    of freedom. `inputs`: actuators with one control each (None: all controls). `frequencies` [n]: Hz, below the Nyquist
    frequency 1/(2 timestep); None: 400 over four decades up to it. `response.plot()` draws the Bode diagram.

    Raises:
        OptionError: no controls, no such output or input, frequencies that are not between 0 and Nyquist's, a
            simulation or sensor without derivatives.
    """
    check_simulation(sim)
    check_chain(sim.engine, "bode")
    A, B = sim.linearize()
    C, D, named = output_matrices("bode", sim, outputs, len(A))
    places, controls = _inputs(sim, inputs)
    nyquist = 0.5 / sim.timestep
    if frequencies is None:
        given = np.geomspace(10.0**-DECADES * nyquist, nyquist, POINTS, endpoint=False)
    else:
        given = np.atleast_1d(numbers("frequencies", frequencies))
        if given.ndim != 1 or not len(given) or not ((given > 0) & (given < nyquist)).all():
            raise OptionError(f"bode: frequencies must be between 0 and {nyquist:g} Hz, half of one in a timestep")
    turned = np.exp(2j * np.pi * given * sim.timestep)
    solved = np.linalg.solve(turned[:, None, None] * np.eye(len(A)) - A, B[:, places])
    stable = bool(abs(np.linalg.eigvals(A)).max(initial=0.0) < 1.0)
    response = (C @ solved + D[:, places]).astype(complex)
    return FrequencyResponse(given, response, tuple(named), tuple(controls), stable)


def _inputs(sim: Simulation, inputs: Sequence[str] | str | None) -> tuple[list[int], list[str]]:
    """Places and names of chosen controls."""
    model = sim.model
    known: dict[str, int] = {}
    for k, name in enumerate(model.names("actuator")[: model.nactuator]):
        first, count = int(model.actuator_ctrladr[k]), int(model.actuator_ctrlnum[k])
        label = name or f"control {first}"
        known |= {label: first} if count == 1 else {f"{label}[{i}]": first + i for i in range(count)}
    if not known:
        raise OptionError("bode: the model has no controls")
    chosen = list(known) if inputs is None else words("inputs", inputs)
    for name in chosen:
        if name not in known:
            raise OptionError.unknown("bode: input", name, known)
    if not chosen:
        raise OptionError("bode: no inputs; name actuators")
    return [known[name] for name in chosen], chosen
