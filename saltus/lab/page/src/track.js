/**
 * The course of the run and of its ghosts, from the data of every step, as the energy and phase plots draw it: with the
 * jumps of impacts at their times.
 */

const NUMBERS = 4 * 2 ** 20;  // kept at most
const MOST = 100_000;  // samples
const HEAD = 3;  // columns of a run before its coordinates; see saltus/lab/data/track.py
const [POTENTIAL, KINETIC, JUMP] = [0, 1, 2];

export class Track {
  /** runs: the run itself and its ghosts; dofs: number of coordinates of each. */
  constructor(runs, dofs) {
    this.each = HEAD + 2 * dofs;
    this.runs = runs;
    const width = runs * this.each;
    this.room = Math.max(256, Math.min(MOST, Math.floor(NUMBERS / width)));
    this.times = new Float64Array(this.room);
    this.columns = Array.from({ length: width }, () => new Float32Array(this.room));
    this.count = 0;
  }

  clear() {
    this.count = 0;
  }

  /** Take over samples; see `decodeSamples`. */
  push({ anew, times, values }) {
    if (anew) this.clear();
    for (let i = 0; i < times.length; i += 1) {
      if (this.count === this.room) this.thin();
      this.times[this.count] = times[i];
      this.columns.forEach((column, c) => (column[this.count] = values[c][i]));
      this.count += 1;
    }
  }

  /** Make room: of the older half every second sample goes, but for those beside a jump or a break. */
  thin() {
    const half = this.count >> 1;
    const jumps = (i) => i < this.count && (Number.isNaN(this.times[i]) || this.hit(i));
    let kept = 0;
    for (let i = 0; i < this.count; i += 1) {
      if (i < half && i % 2 && !jumps(i) && !jumps(i + 1) && !jumps(i - 1)) continue;
      this.times[kept] = this.times[i];
      for (const column of this.columns) column[kept] = column[i];
      kept += 1;
    }
    this.count = kept === this.count ? half : kept;  // nothing but jumps: the newer half goes on
    if (kept === this.room) for (const column of [this.times, ...this.columns]) column.copyWithin(0, half, this.room);
  }

  hit(i) {
    for (let run = 0; run < this.runs; run += 1) if (Number.isFinite(this.columns[run * this.each + JUMP][i])) return true;
    return false;
  }

  column(run, quantity) {
    return this.columns[run * this.each + quantity];
  }

  /** Index of the first sample of the last seconds. */
  first(seconds) {
    if (!Number.isFinite(seconds) || !this.count) return 0;
    const start = this.times[this.count - 1] - seconds;
    let first = this.count - 1;
    while (first > 0 && !(this.times[first - 1] < start)) first -= 1;
    return first;
  }

  /** Time of the impact in the step to sample i of a run, or NaN. */
  impact(run, i, first) {
    return i > first ? this.times[i] + this.column(run, JUMP)[i] : NaN;
  }

  /** The values of a quantity just before and just after the impact at a time in the step to sample i. */
  sides(run, values, i, first, time) {
    const smooth = (k) => k > first && k < this.count && !Number.isFinite(this.impact(run, k, first)) && Number.isFinite(this.times[k]) && Number.isFinite(this.times[k - 1]);
    const slope = (k, other) => {
      const at = smooth(k) ? k : other;
      return smooth(at) ? (values[at] - values[at - 1]) / (this.times[at] - this.times[at - 1]) : 0;
    };
    const [before, after] = [slope(i - 1, i + 1), slope(i + 1, i - 1)];
    return [values[i - 1] + before * (time - this.times[i - 1]), values[i] - after * (this.times[i] - time)];
  }

  /** Energies of the last seconds: times, then potential and kinetic of each run; null at breaks, undefined where not known. */
  energies(seconds) {
    const first = this.first(seconds);
    const out = [[], ...Array.from({ length: 2 * this.runs }, () => [])];
    const known = (value) => (Number.isFinite(value) ? value : undefined);
    for (let i = first; i < this.count; i += 1) {
      const parts = Number.isNaN(this.times[i]);
      if (!parts) this.energyJumps(i, first, out);
      out[0].push(parts ? out[0].at(-1) ?? 0 : this.times[i]);
      for (let run = 0; run < this.runs; run += 1) {
        for (const part of [POTENTIAL, KINETIC]) out[1 + 2 * run + part].push(parts ? null : known(this.column(run, part)[i]));
      }
    }
    return out;
  }

  /** Two rows at the time of each impact in the step to sample i. */
  energyJumps(i, first, out) {
    const hits = [];
    for (let run = 0; run < this.runs; run += 1) {
      const time = this.impact(run, i, first);
      if (time >= this.times[i - 1] && time <= this.times[i]) hits.push([time, run]);
    }
    for (const [time, run] of hits.sort(([a], [b]) => a - b)) {
      const sides = [POTENTIAL, KINETIC].map((part) => this.sides(run, this.column(run, part), i, first, time));
      // positions do not jump, nor does what they store
      const mean = (sides[POTENTIAL][0] + sides[POTENTIAL][1]) / 2;
      sides[KINETIC] = sides[KINETIC].map((value, side) => value + sides[POTENTIAL][side] - mean);
      sides[POTENTIAL] = [mean, mean];
      for (const side of [0, 1]) {
        out[0].push(time);
        for (let k = 1; k < out.length; k += 1) out[k].push(undefined);
        for (const part of [POTENTIAL, KINETIC]) {
          const value = sides[part][side];
          out[1 + 2 * run + part][out[0].length - 1] = Number.isFinite(value) ? value : undefined;
        }
      }
    }
  }

  /** The orbit of a coordinate of a run in the last seconds: positions and velocities, null at breaks. */
  orbit(run, dof, seconds) {
    const first = this.first(seconds);
    const [x, y] = [0, 1].map((k) => this.column(run, HEAD + 2 * dof + k));
    const [a, b] = [[], []];
    for (let i = first; i < this.count; i += 1) {
      const time = this.impact(run, i, first);
      if (time >= this.times[i - 1] && time <= this.times[i]) {
        const speeds = this.sides(run, y, i, first, time);
        const from = x[i - 1] + ((time - this.times[i - 1]) * (y[i - 1] + speeds[0])) / 2;
        const to = x[i] - ((this.times[i] - time) * (y[i] + speeds[1])) / 2;
        a.push((from + to) / 2, (from + to) / 2);
        b.push(...speeds);
      }
      const there = Number.isFinite(this.times[i]) && Number.isFinite(x[i]) && Number.isFinite(y[i]);
      a.push(there ? x[i] : null);
      b.push(there ? y[i] : null);
    }
    return [a, b];
  }
}
