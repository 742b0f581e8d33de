"""Events that a page's worker keeps: bounded, however long it runs, and none is lost to the plots on the way.

Reference: a log of impacts at times 0, 1, 2, ... s, of which the plots ask for the first since they last asked.
"""

import json
import subprocess
from pathlib import Path

from saltus.bench.harness.page_process import node

WORKER = Path(__file__).parents[3] / "saltus" / "lab" / "page" / "src" / "worker"
SCRIPT = """
import { Simulation } from '%(worker)s/simulation.js';
import { Track } from '%(worker)s/track.js';

const log = new Float64Array([0, 5]);
let now = 0;
const sim = Object.assign(Object.create(Simulation.prototype), {
  events: [], forgotten: 0, program: { about: { eventWidth: 2 } }, enums: { LOGGED: 0, LOST: 1 },
  d: { int: () => 1, setInt() {}, get: (name) => (name === 'time' ? [now] : log), all: new Float64Array(0) },
});
const track = Object.assign(Object.create(Track.prototype), { page: { jumps: [5] }, seen: new Map() });
const [lengths, wrong] = [[], []];
let asked = 0;
for (let k = 0; k < 60_000; k += 1) {
  [log[0], now] = [k, k];
  sim.readEvents();
  lengths.push(sim.events.length);
  if (k %% 7 !== 6) continue;
  if (track.jump(sim) !== asked - k) wrong.push(k);
  asked = k + 1;
}
const none = track.jump(sim);
console.log(JSON.stringify({ most: Math.max(...lengths.slice(-30_000)), last: sim.events.at(-1)[0], wrong, none }));
"""


def test_the_list_of_events_is_bounded():
    script = SCRIPT % {"worker": WORKER.as_uri()}
    done = subprocess.run(
        [node(), "--input-type=module", "-"], input=script, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["most"] <= 10_000
    assert found["last"] == 59_999.0 and found["wrong"] == []
    assert found["none"] is not None  # the last three, which were not asked for yet
