/** A recording: samples of the state every 1/60 s, or every step if those are longer, as a table to download. */

const RATE = 60;  // samples per simulated second
const MOST_SAMPLES = 216_000;  // an hour
const FIELDS = { qpos: 'qpos', qvel: 'qvel', act: 'act', ctrl: 'ctrl' };

export class Recorder {
  /** labels: names of columns by field, [[name, unit], ...]. */
  constructor(labels, sim) {
    Object.assign(this, { labels, began: sim.time, rows: [], changes: [], stopped: false });
    this.restart(sim);
    this.append(sim);
  }

  /** Adapt to a new time step: the next sample follows one whole period later. */
  restart(sim) {
    this.every = Math.max(1, Math.round(1 / (RATE * sim.timestep)));
    this.stepsLeft = this.every;
  }

  after(sim, steps) {
    this.stepsLeft -= steps;
    if (this.stepsLeft > 0 || this.stopped) return;
    this.stepsLeft = this.every;
    this.append(sim);
    this.stopped = this.rows.length >= MOST_SAMPLES;
  }

  append(sim) {
    const [potential, kinetic] = sim.energy();
    const fields = Object.keys(FIELDS).filter((name) => this.labels[name]?.length);
    this.rows.push([sim.time, ...fields.flatMap((name) => [...sim.get(name).subarray(0, this.labels[name].length)]), potential, kinetic]);
  }

  note(sim, change) {
    this.changes.push(`t = ${sim.time.toPrecision(6)} s: ${change}`);
    this.restart(sim);
  }

  get seconds() {
    return this.rows.at(-1)[0] - this.rows[0][0];
  }

  /** The table as text: lines that begin with # say what it is, then names with units, then numbers with all digits. */
  table(about) {
    const fields = Object.keys(FIELDS).filter((name) => this.labels[name]?.length);
    const names = ['time (s)', ...fields.flatMap((name) => this.labels[name]), 'potential (J)', 'kinetic (J)'];
    const quoted = names.map((name) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
    const notes = [...about, ...this.changes].map((line) => `# ${line}\n`).join('');
    return `${notes}${quoted.join(',')}\n${this.rows.map((row) => row.join(',')).join('\n')}\n`;
  }
}
