/**
 * Samples of all signals since the reset, and messages with the plotted ones; see saltus/lab/data/signals.py.
 */

const RATE = 2000;  // most samples per second of wall time
const SHARE = 0.25;  // of wall time for computing samples
const MOST_SAMPLES = 100_000;
const MOST_BYTES = 64 * 2 ** 20;
const LEAST_PAST = 20;  // s of wall time covered by the samples
const MOST_CHOSEN = 24;
const SAMPLES = 128;  // the first byte of a message
const HEAD = 12;  // bytes
const ROOM_FOR_MORE = 1.25;

export class Signals {
  constructor(page) {
    Object.assign(this, { page, every: 1, since: 0, rate: 0, cost: 0, wait: 0, revision: 1 });
    this.places = new Map(page.signals.map(({ id }, k) => [id, k]));
    this.room = Math.max(2, Math.min(MOST_SAMPLES, Math.floor(MOST_BYTES / (ROOM_FOR_MORE * (8 + 4 * page.signals.length)))));
    let place = 0;
    const sources = page.sources.map((source) => ({ ...source, place: (place += source.count) - source.count }));
    // evaluating energies overwrites the last evaluation
    this.sources = [...sources.filter(({ field }) => field !== 'energy'), ...sources.filter(({ field }) => field === 'energy')];
    this.choose(page.preset);
    this.clear();
  }

  message() {
    const { signals, preset } = this.page;
    return { type: 'signals', revision: this.revision, preset, most: MOST_CHOSEN, room: this.room, signals };
  }

  /** Plot these signals. Throws if there is no such signal, or there are too many. */
  choose(ids) {
    const known = [...new Set(ids)];
    for (const id of known) if (!this.places.has(id)) throw new Error(`there is no signal ${id}`);
    if (known.length > MOST_CHOSEN) throw new Error(`${known.length} signals exceed the limit of ${MOST_CHOSEN}`);
    this.columns = known.map((id) => this.places.get(id));
    this.anew = true;
    this.wait = 0;
  }

  clear() {
    this.times = [];
    this.rows = [];
    this.sent = 0;
    this.anew = true;
    this.wait = 0;
    this.track?.clear();
  }

  /** Sample a track at the same times; runs: a function that returns the run and its ghosts. */
  follow(track, runs) {
    Object.assign(this, { track, runs });
  }

  // ------------------------------------------------------------ samples

  get stepsLeft() {
    return Math.max(1, this.every - this.since);
  }

  /** Set the time step (s) and the speed (simulated seconds per second). */
  pace(timestep, speed) {
    const rate = Math.min(RATE, this.room / LEAST_PAST, this.track?.rate ?? Infinity);
    this.every = Math.max(1, Math.ceil(speed / (timestep * rate) - 1e-9));
    this.rate = speed / (timestep * this.every);
  }

  after(sim, steps) {
    this.since += steps;
    if (this.since >= this.every) this.sample(sim);
  }

  begin(sim) {
    this.clear();
    this.sample(sim);
  }

  /** Break the curves at a jump of the state. */
  jump(sim) {
    const last = this.times.findLast(Number.isFinite);
    if (last !== undefined && sim.time < last) {
      this.begin(sim);
      return;
    }
    if (this.times.length && Number.isFinite(this.times.at(-1))) this.append(NaN, new Float32Array(this.page.signals.length).fill(NaN));
    this.track?.part();
    this.wait = 0;
    this.sample(sim);
  }

  sample(sim) {
    this.since = 0;
    const compute = this.wait <= 0;
    this.wait -= 1;
    const row = new Float32Array(this.page.signals.length).fill(NaN);
    const began = performance.now();
    if (compute) sim.evaluate();
    for (const source of this.sources) if (compute || !source.computed) row.set(read(sim, source), source.place);
    if (compute) {
      const spent = performance.now() - began;
      this.cost = this.cost ? Math.min(1.1 * this.cost, spent) : spent;
      this.wait = Math.max(1, Math.ceil((this.cost * this.rate) / 1e3 / SHARE)) - 1;
    }
    this.append(sim.time, row);
    this.track?.sample(this.runs(), this.rate);
  }

  append(time, row) {
    this.times.push(time);
    this.rows.push(row);
    if (this.times.length <= ROOM_FOR_MORE * this.room) return;
    const gone = this.times.length - this.room;
    this.times.splice(0, gone);
    this.rows.splice(0, gone);
    this.sent = Math.max(0, this.sent - gone);
  }

  /** A message with the samples that the page does not have yet; null if it has all. */
  news() {
    if (this.anew) this.sent = 0;
    const count = this.times.length - this.sent;
    if (!count && !this.anew) return null;
    const [columns, start] = [this.columns, 8 * Math.ceil((HEAD + 2 * this.columns.length) / 8)];
    const buffer = new ArrayBuffer(start + count * (8 + 4 * columns.length));
    const head = new DataView(buffer);
    head.setUint8(0, SAMPLES);
    head.setUint8(1, this.anew ? 1 : 0);
    head.setUint16(2, columns.length, true);
    head.setUint32(4, this.revision, true);
    head.setUint32(8, count, true);
    new Uint16Array(buffer, HEAD, columns.length).set(columns);
    new Float64Array(buffer, start, count).set(this.times.slice(this.sent));
    columns.forEach((column, i) => {
      const out = new Float32Array(buffer, start + 8 * count + 4 * i * count, count);
      for (let k = 0; k < count; k += 1) out[k] = this.rows[this.sent + k][column];
    });
    this.sent = this.times.length;
    this.anew = false;
    return buffer;
  }
}

/** The numbers of a source; computed ones are in the evaluated view. */
export function read(sim, { count, field, places, computed }) {
  if (field === 'energy') {
    const [potential, kinetic] = sim.energy();
    return [potential + kinetic, potential, kinetic];
  }
  if (field === 'contact_force') return contactForces(sim, count);
  if (field === 'torques') return sim.view.get('ctrl').map((u, k) => u + (sim.get('qfrc_applied')[k] ?? 0)).subarray(0, count);
  const numbers = (computed ? sim.view : sim.d).get(field);
  return places ? places.map((k) => numbers[k]) : numbers.subarray(0, count);
}

/** Magnitudes of the forces at contact points, then their components if there is room for them. */
function contactForces(sim, count) {
  const forces = sim.view.pointForces();
  const points = forces.length / 3;
  const strengths = Array.from({ length: points }, (_, k) => Math.hypot(...forces.subarray(3 * k, 3 * k + 3)));
  return [...strengths, ...forces].slice(0, count);
}
