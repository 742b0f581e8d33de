"""A ghost: a second simulation displayed with the first."""

from saltus.simulate.simulation import Simulation


class Ghost:
    """The same mechanism under another integrator, from the same state, with the same controls."""

    def __init__(self, name: str, sim: Simulation):
        self.name, self.sim = name, sim
        self.snap()
        self.alive = True

    def snap(self) -> None:
        """The present state is all there is: nothing lies between it and the one before."""
        self.before, self.before_rate = self.sim.qpos.copy(), self.sim.qvel.copy()

    def follow(self, main: Simulation) -> None:
        """Take over the inputs of the main simulation."""
        self.sim.qfrc_applied[:] = main.qfrc_applied
        self.sim.mocap_pos[:], self.sim.mocap_quat[:] = main.mocap_pos, main.mocap_quat
        self.sim.control_prm[:], self.sim.ctrl[:] = main.control_prm, main.ctrl
