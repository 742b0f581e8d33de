"""A ghost: a second simulation displayed with the first."""

from collections.abc import Iterable

from saltus.simulate.simulation import Simulation

# told apart by colour-blind people too; of three times the light of a dark page, and a third of that of a light one
COLORS = ("#0f96e1", "#f04b0f", "#c31ea5", "#785aff", "#b4694b", "#876978")


def ghosts_message(names: Iterable[str]) -> list[dict[str, str]]:
    """Names and colours of ghosts in the `scene` message."""
    return [{"name": name, "color": COLORS[i % len(COLORS)]} for i, name in enumerate(names)]


class Ghost:
    """A copy of the main simulation under another integrator, with the same initial state and controls."""

    def __init__(self, name: str, sim: Simulation):
        self.name, self.sim = name, sim
        self.snap()
        self.alive = True

    def snap(self) -> None:
        """Make the previous state equal to the present one, so that nothing is interpolated between them."""
        self.before, self.before_rate = self.sim.qpos.copy(), self.sim.qvel.copy()

    def follow(self, main: Simulation) -> None:
        """Copy the inputs of the main simulation."""
        self.sim.qfrc_applied[:] = main.qfrc_applied
        self.sim.mocap_pos[:], self.sim.mocap_quat[:] = main.mocap_pos, main.mocap_quat
        self.sim.control_prm[:], self.sim.ctrl[:] = main.control_prm, main.ctrl
