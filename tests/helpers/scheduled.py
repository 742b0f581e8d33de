"""A state of a simulation whose accelerations several threads compute in plain Python, in the order of a seed."""

import saltus
from helpers.data_races import Clocks, WatchedStruct, watched
from helpers.schedules import Schedule
from saltus.contact.counts import NCON
from saltus.model.compile.constraints import broad, constraints, many_trees
from saltus.number.threads.team import HELPERS
from saltus.simulate.engine.threads.team import dismiss, help_out, helpers_of
from saltus.solve import acceleration

RESULTS = "qacc", "qfrc_constraint"
CONTACTS = "contact_dist", "contact_pos", "contact_frame"


def share_everything(monkeypatch):
    """However small a model is, its threads have work for all, and its pairs are found at run time."""
    monkeypatch.setattr(many_trees, "FEWEST_DOFS", 60)
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    monkeypatch.setattr(constraints, "SHARED", 1)
    monkeypatch.setattr("saltus.simulate.engine.threads.team.usable_cores", lambda: 8)


class Scheduled:
    """A state of a simulation, after compiled steps, whose accelerations several threads compute again and again."""

    def __init__(self, model, threads, steps=3):
        sim = saltus.Simulation(model, threads=threads)
        if steps:
            sim.step(steps)
        self.m, self.d, self.threads = sim.engine.m, sim.engine.d, threads
        self._sim, self._start = sim, (self.d.real.copy(), self.d.ints.copy())

    def alone(self):
        """Results of the leader without helpers."""
        return self._found(lambda: watched(Schedule(0))(acceleration.forward)(self.m, self.d))

    def together(self, seed):
        """Results of a team in the order of a seed, and the clocks that have watched it."""
        schedule = Schedule(seed)
        clocks, plain = Clocks(schedule, self.threads), watched(schedule)
        run, send_home, help_ = plain(acceleration.forward), plain(dismiss), plain(help_out)
        leader, *helpers = (
            WatchedStruct(d, clocks) for d in (self.d, *helpers_of(self.d, self.m, self.threads))
        )  # the helpers' memory is made anew: nothing of an earlier order is left in it

        def lead():
            run(self.m, leader)
            send_home(self.m, leader)

        def work():
            self.d.views["team"][HELPERS] = len(helpers)
            schedule.run([lead, *(lambda d=d: help_(self.m, d) for d in helpers)])

        return self._found(work), clocks

    def _found(self, work):
        self.d.real[...], self.d.ints[...] = self._start
        work()
        views, contacts = self.d.views, self.d.views["count"][NCON]
        found = {name: views[name].tobytes() for name in RESULTS}
        return found | {name: views[name][:contacts].tobytes() for name in CONTACTS}
