/** A simulation in the module of a model: the Data for steps, and another one for display. */

import { Data } from './program.js';

const NEAR = 0.03;  // of the model's extent: distance up to which open points are shown
const MOST_EVENTS = 10_000;  // that are kept: the older half of them is forgotten when there are more
const CARRIED = ['time', 'qpos', 'qvel', 'mocap_pos', 'mocap_quat', 'ctrl', 'qfrc_applied', 'xfrc_applied', 'control_prm', 'actuation_state'];

/** An error of steps; `status` is the name of the reason. */
export class Trouble extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

const TEXTS = {
  DIVERGED: 'diverged: a velocity is not a number, or beyond 1e10',
  STEP_TOO_SMALL: 'needs steps that are too small',
  CONTACTS_FULL: 'has more contacts at once than there is room for',
  JAMMED: 'has no accelerations that satisfy the contact laws (Painlevé paradox)',
  UNRESOLVED: 'has an impact that cannot be resolved',
  CHATTER: 'has events without progress in time',
  CROWDED: 'has more contacts closed at once than events can be located for',
  TOO_DENSE: 'has events too dense to be located',
};
const MILD = ['OK', 'NOT_CONVERGED', 'UNSOLVED', 'ENDED'];
export const AGAIN = ['DIVERGED', 'STEP_TOO_SMALL'];  // errors that a reset or a shorter step may resolve

export class Simulation {
  /**
   * @param {Program} program
   * @param {object} loop one of `program.about.loops`
   * @param {number} timestep s
   * @param {(text) => void} warn called once with a description of inaccurate steps
   */
  constructor(program, loop, timestep, warn) {
    Object.assign(this, { program, loop, timestep, warn, events: [], forgotten: 0, left: null, warned: false });
    this.enums = program.about.enums;
    this.d = new Data(program, loop);
    this.view = new Data(program, loop);
    this.law = this.d.law;
    this.integrator = loop.integrator;
    this.contact = this.law.contact;
  }

  get time() {
    return this.d.get('time')[0];
  }

  set time(value) {
    this.d.get('time')[0] = value;
  }

  get(name) {
    return this.d.get(name);
  }

  /** Set the state to these fields, without history. */
  start(fields) {
    const parameters = this.get('control_prm').slice();
    this.d.all.fill(0);
    for (const [name, values] of Object.entries(fields)) fit(this.get(name), values);
    this.get('control_prm').set(parameters);
    this.left = null;
    Object.assign(this, { events: [], forgotten: 0 });
  }

  /** Continue from the state of another simulation of the model; returns descriptions of what starts anew. */
  carry(from) {
    const lost = [];
    for (const name of CARRIED) fit(this.get(name), from.get(name));
    if (this.get('act').length === from.get('act').length) this.get('act').set(from.get('act'));
    else if (from.get('act').length) lost.push('the states of actuators and controllers');
    if (this.get('qacc_warmstart').length === from.get('qacc_warmstart').length) this.get('qacc_warmstart').set(from.get('qacc_warmstart'));
    const same = this.timestep === from.timestep;
    if (same) fit(this.get('history'), from.get('history'));
    this.left = null;
    if (same && this.integrator === from.integrator && this.contact === from.contact && !from.wasMoved()) {
      fit(this.get('memory'), from.get('memory'));
      this.left = this.d.all.slice();
    }
    return lost;
  }

  /** Whether positions or velocities were changed since the last step. */
  wasMoved() {
    return this.left === null || !same(this.d.all, this.left);
  }

  /** The number of the step's status by name, and back. */
  statusName(code) {
    return this.program.about.statuses[code] ?? `status ${code}`;
  }

  /** Take n steps. Throws Trouble on failure, leaving the last good state. */
  step(n) {
    this.prepare();
    const before = this.d.all.slice();
    const [taken, status] = this.advance(n);
    this.tell(status);
    if (MILD.includes(status)) {
      this.left = this.d.all.slice();
      return status === 'ENDED';
    }
    this.recover(before, AGAIN.includes(status) ? taken - (status === 'DIVERGED') : taken);
    throw new Trouble(status, `${this.integrator} at t = ${this.time.toPrecision(4)} s ${TEXTS[status] ?? status}.`);
  }

  advance(n) {
    this.law.setTimestep(this.loop.adaptive ? 0 : this.timestep);
    if (!this.loop.adaptive) this.get('timestep')[0] = this.timestep;
    if (!this.logs) {
      const [taken, code] = this.d.advance(n, this.timestep);
      return [taken, this.statusName(code)];
    }
    this.d.setInt('event_count', 0, this.enums.UNDONE);
    let [all, status] = [0, 'EVENTS_FULL'];
    while (status === 'EVENTS_FULL' && all < n) {
      const [taken, code] = this.d.advance(n - all, this.timestep);
      [all, status] = [all + taken, this.statusName(code)];
      this.readEvents();
    }
    return [all, status === 'EVENTS_FULL' ? 'OK' : status];
  }

  get logs() {
    return this.loop.locates || this.loop.stepsOver;
  }

  /** Clear the integrator's memory of the last step after the state was changed. */
  prepare() {
    this.noteForces(this.d);
    const moved = this.wasMoved();
    if (this.loop.locates && moved) this.get('modes_known').fill(0);
    if (this.loop.stepsOver && moved) this.get('past_known').fill(0);
    if (this.loop.remembers && moved) this.get('memory').fill(0);
  }

  noteForces(d) {
    d.setInt('has_xfrc', d.get('xfrc_applied').some((value) => value !== 0) ? 1 : 0);
  }

  tell(status) {
    const failed = this.d.int('count', this.enums.NUNSOLVED);
    this.d.setInt('count', 0, this.enums.NUNSOLVED);
    if (this.warned || !(failed || ['NOT_CONVERGED', 'UNSOLVED'].includes(status))) return;
    this.warned = true;
    const what = status === 'NOT_CONVERGED' ? "Newton's method did not converge" : 'the constraint solver did not reach its tolerance';
    this.warn(`${this.integrator}: ${what} in some steps (timestep ${this.timestep} s).`);
  }

  recover(before, steps) {
    this.d.all.set(before);
    this.left = null;
    if (steps > 0) this.advance(steps);
    if (!this.d.all.every(Number.isFinite)) this.d.all.set(before);
  }

  readEvents() {
    const count = this.d.int('event_count', this.enums.LOGGED);
    const width = this.get('event_log').length && this.program.about.eventWidth;
    const gone = this.events.length + count - MOST_EVENTS;
    if (gone > 0) this.forgotten += this.events.splice(0, Math.max(gone, MOST_EVENTS / 2)).length;
    for (let k = 0; k < count; k += 1) this.events.push(Array.from(this.get('event_log').subarray(k * width, (k + 1) * width)));
    this.d.setInt('event_count', 0, this.enums.LOGGED);
    this.d.setInt('event_count', 0, this.enums.LOST);
  }

  // ------------------------------------------------------------ evaluation for display

  /** Copy the state to `view` for evaluation. */
  copy() {
    this.view.all.set(this.d.all);
    this.view.get('timestep').set(this.get('timestep'));
    this.noteForces(this.view);
    return this.view;
  }

  /** Evaluate the present state in `view`, forces included; returns the name of a status and the number of contacts. */
  evaluate() {
    const view = this.copy();
    if (this.loop.locates && this.wasMoved()) view.get('modes_known').fill(0);
    if (this.loop.locates && view.get('modes_known')[0] === 0) view.settle();
    const [status, count] = view.look();
    return [this.statusName(status), count];
  }

  /**
   * The contacts of the present state: rows of 14 numbers, see saltus/target/web/looking.py. extent: the model's, m.
   * Open contacts are found last, in the place of the closed ones, whose forces `view` no longer has.
   */
  look(extent) {
    const [status, count] = this.evaluate();
    const { view } = this;
    if (!this.loop.locates) return rows(view, count);
    const closed = MILD.includes(status) ? rows(view, count).filter((row) => row[7] !== this.enums.OPEN) : [];
    const near = this.law.most ? rows(view, view.gaps()).filter((row) => row[7] === this.enums.OPEN && row[6] < NEAR * extent) : [];
    for (const row of near) row.fill(0, 3, 6);
    return [...closed, ...near];
  }

  energy() {
    return this.copy().energy();
  }

  /** Compute all poses between two states in `view`. */
  pose(before, after, fraction) {
    this.copy().pose(before, after, fraction);
    return this.view;
  }
}

function rows(view, count) {
  const [table, width] = [view.contacts(count), view.law.width];
  return Array.from({ length: count }, (_, k) => table.slice(k * width, (k + 1) * width));
}

/** Copy numbers up to the shorter length. */
function fit(target, values) {
  const count = Math.min(target.length, values.length);
  for (let k = 0; k < count; k += 1) target[k] = values[k];
}

function same(one, other) {
  for (let k = 0; k < one.length; k += 1) if (one[k] !== other[k] && !(Number.isNaN(one[k]) && Number.isNaN(other[k]))) return false;
  return true;
}
