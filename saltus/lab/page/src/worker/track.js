/** The course of a run and of its ghosts after every step; see saltus/lab/data/track.py. */

const TRACK = 129;  // the first byte of a message
const MOST_SAMPLES = 50_000;
const MOST_NUMBERS = 8 * 2 ** 20;
const RATE = 250_000;  // most numbers a second of wall time
const SHARE = 0.1;  // of wall time for computing energies
const HEAD = 3;  // columns of a run before its coordinates
const FRONT = 12;  // bytes

export class Track {
  constructor(page) {
    Object.assign(this, { page, runs: 1 + page.scene.ghosts.length, cost: 0 });
    this.each = HEAD + 2 * page.dofs.length;
    this.width = this.runs * this.each;
    this.room = Math.max(2, Math.min(MOST_SAMPLES, Math.floor(MOST_NUMBERS / this.width)));
    this.jumps = null;
    this.clear();
  }

  /** Largest number of samples per second of wall time. */
  get rate() {
    return RATE / this.width;
  }

  clear() {
    Object.assign(this, { times: [], rows: [], sent: 0, anew: true, wait: 0, seen: new Map() });
  }

  /** No line connects the last sample to the next. */
  part() {
    if (this.times.length && Number.isFinite(this.times.at(-1))) this.append(NaN, new Float32Array(this.width).fill(NaN));
  }

  /** Take a sample of the run and its ghosts (null: removed); rate: samples per second of wall time. */
  sample(sims, rate) {
    const compute = this.wait <= 0;
    this.wait -= 1;
    const began = performance.now();
    const row = new Float32Array(this.width).fill(NaN);
    sims.forEach((sim, run) => {
      if (!sim) return;
      const at = run * this.each;
      if (compute) row.set(sim.energy(), at);
      row[at + 2] = this.jump(sim);
      const [qpos, qvel] = [sim.get('qpos'), sim.get('qvel')];
      this.page.dofs.forEach(([q, v], k) => row.set([qpos[q], qvel[v]], at + HEAD + 2 * k));
    });
    if (compute) {
      const spent = performance.now() - began;
      this.cost = this.cost ? Math.min(1.1 * this.cost, spent) : spent;
      this.wait = Math.floor((this.cost * rate) / 1e3 / SHARE);
    }
    this.append(sims[0].time, row);
  }

  /** Time of the first impact since the last sample, relative to now (s); NaN if there was none. */
  jump(sim) {
    const kinds = this.page.jumps;
    const count = sim.forgotten + sim.events.length;
    const fresh = sim.events.slice(Math.max(0, Math.min(this.seen.get(sim) ?? 0, count) - sim.forgotten));
    this.seen.set(sim, count);
    const hits = fresh.filter(([, kind]) => kinds.includes(kind)).map(([time]) => time);
    return hits.length ? Math.min(...hits) - sim.time : NaN;
  }

  append(time, row) {
    this.times.push(time);
    this.rows.push(row);
    const gone = this.times.length - this.room;
    if (gone < 0.25 * this.room) return;
    this.times.splice(0, gone);
    this.rows.splice(0, gone);
    this.sent = Math.max(0, this.sent - gone);
  }

  /** A message with the samples that the page does not have yet; null if it has all. */
  news() {
    const count = this.times.length - this.sent;
    if (!count && !this.anew) return null;
    const { width } = this;
    const start = 8 * Math.ceil((FRONT + 2 * width) / 8);
    const buffer = new ArrayBuffer(start + count * (8 + 4 * width));
    const head = new DataView(buffer);
    head.setUint8(0, TRACK);
    head.setUint8(1, this.anew ? 1 : 0);
    head.setUint16(2, width, true);
    head.setUint32(4, 1, true);
    head.setUint32(8, count, true);
    new Float64Array(buffer, start, count).set(this.times.slice(this.sent));
    const values = new Float32Array(buffer, start + 8 * count);
    for (let k = 0; k < count; k += 1) for (let c = 0; c < width; c += 1) values[c * count + k] = this.rows[this.sent + k][c];
    Object.assign(this, { sent: this.times.length, anew: false });
    return buffer;
  }
}
