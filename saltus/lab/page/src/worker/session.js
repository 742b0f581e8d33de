/**
 * A live session without a server: a simulated model controlled by the page's commands. Commands and messages are
 * those of saltus/lab/messages/protocol.py; the behaviour is that of saltus/lab/session.py.
 */

import { encodeFrame } from './frames.js';
import { applyLink, linkOf } from './link.js';
import { Motion } from './motion.js';
import { Recorder } from './recording.js';
import { Signals } from './signals.js';
import { AGAIN, Simulation, Trouble } from './simulation.js';
import { clipped, readHandle, writeHandle } from './sliders.js';
import { Track } from './track.js';

const LONGEST = 0.25;  // s of wall time simulated at once; the rest counts as late
const LATE = 0.2;  // fraction of the time that may be late before the user is warned
const PATIENCE = 2;  // s of lateness before the warning
const STATE_FIELDS = ['qpos', 'qvel', 'act', 'ctrl', 'mocap_pos', 'mocap_quat'];

export class Session {
  /**
   * @param {Program} program
   * @param {object} page description by saltus/lab/standalone/description.py
   */
  constructor(program, page) {
    Object.assign(this, { program, page, notices: [], changed: true, steps: 0, number: 0, follow: null, late: 0 });
    Object.assign(this, { playing: page.playing, speed: page.speed, gravity: page.gravity, known: new Map(), hard: { ...page.hard.values } });
    this.sliders = new Map(page.scene.sliders.map((slider) => [slider.id, slider]));
    const sim = this.simulation(page.integrator, page.contact, page.timestep);
    sim.start(page.starts['']);
    this.motion = new Motion(page, sim, (level, text) => this.notify(level, text));
    this.signals = this.motion.signals = new Signals(page);
    this.track = new Track(page);
    this.signals.follow(this.track, () => this.motion.runs(page.scene.ghosts.map(({ name }) => name)));
    this.recorded = null;
    this.starts = { ...page.starts };
    this.origin = this.state();  // of the present run
    if (page.ghosts) this.showGhosts(true);
    this.signals.begin(sim);
  }

  /** Apply a link, [[name, text], ...], before the first step. */
  open(link) {
    this.own = structuredClone(this.status());
    this.origin = this.state();
    applyLink(this, link);
  }

  /** What a link to this page holds; now: to the present state, else to the start of the run. */
  link(now) {
    return linkOf(this, now);
  }

  /** The present state by field, as lists; the parameters of controllers are those of the sliders. */
  state() {
    const names = Object.keys(this.page.starts['']).filter((name) => name !== 'control_prm');
    return Object.fromEntries(names.map((name) => [name, Array.from(this.sim.get(name)).slice(0, this.page.starts[''][name].length)]));
  }

  /** Make the present state the one that runs begin with, after a reset too. */
  beginHere() {
    this.origin = this.state();
    this.starts[''] = { ...this.page.starts[''], ...this.origin };
    this.afterJump();
    this.signals.begin(this.sim);
  }

  /** Field and index of a coordinate by the name that recordings give it, as qpos[theta]. */
  place(id) {
    let at = 0;
    for (const { field, count } of this.page.sources) {
      const k = this.page.signals.slice(at, at + count).findIndex((signal) => signal.id === id);
      if (k >= 0) return [field, k];
      at += count;
    }
    throw new Error(`there is no ${id}`);
  }

  get sim() {
    return this.motion.sim;
  }

  notify(level, text) {
    this.notices.push({ type: 'notice', level, text });
  }

  /** The simulation of an integrator under a law with a step; each gets its memory once. */
  simulation(integrator, contact, timestep) {
    const key = `${integrator} ${contact}`;
    if (!this.known.has(key)) {
      const loop = this.program.about.loops.find((one) => one.integrator === integrator && this.program.laws[one.law].contact === contact);
      if (!loop) throw new Error(`${integrator} does not support ${contact} contact on this page`);
      this.known.set(key, new Simulation(this.program, loop, timestep, (text) => this.notify('warning', text)));
    }
    const found = this.known.get(key);
    found.timestep = timestep;
    return found;
  }

  // ------------------------------------------------------------ display

  hello() {
    return this.page.hello;
  }

  scene() {
    const values = this.sliderValues();
    return { ...this.page.scene, sliders: this.page.scene.sliders.map((slider) => ({ ...slider, value: values[slider.id] })) };
  }

  status() {
    const { sim, motion } = this;
    const { recorder } = motion;
    return {
      type: 'status', playing: this.playing, speed: this.speed, time: sim.time, building: false, compiling: null,
      wanted: this.integratorName(), integrator: this.integratorName(), timestep: sim.timestep, contact: sim.contact,
      restitution: this.hard.restitution ?? 0, friction: this.hard.friction ?? null, gravity: this.gravity,
      recording: recorder !== null, recorded: (recorder ?? this.recorded)?.seconds ?? 0, servo: this.servo(), hud: this.hud(),
      sliders: this.sliderValues(), follow: this.follow, ghosts: motion.ghosts.length > 0, can_ghost: this.page.scene.ghosts.length > 0,
      video: { state: 'none', done: 0, message: '' }, stability: null,
    };
  }

  sliderValues() {
    const { sim } = this;
    return Object.fromEntries(Object.entries(this.page.handles).map(([id, handle]) => [id, readHandle(sim, handle)]));
  }

  /** The present frame, or null if nothing has changed. */
  frame() {
    if (!this.changed) return null;
    this.changed = false;
    this.number += 1;
    const ghosts = this.page.scene.ghosts.map(({ name }) => name);
    return encodeFrame(this.page, this.motion, {
      number: this.number, playing: this.playing, ghosts, desired: (actuator) => this.desired(actuator),
    });
  }

  stateText() {
    const { sim } = this;
    const lines = [`# ${this.page.scene.name} at t = ${sim.time.toPrecision(6)} s, ${this.integratorName()}, timestep ${sim.timestep} s`];
    lines.push(`sim.time = ${sim.time}`);
    for (const name of STATE_FIELDS) {
      const values = Array.from(sim.get(name));
      const text = { mocap_pos: grouped(values, 3), mocap_quat: grouped(values, 4) }[name] ?? JSON.stringify(values);
      if (values.length) lines.push(`sim.${name}[:] = ${text}`);
    }
    return `${lines.join('\n')}\n`;
  }

  // ------------------------------------------------------------ overridden by kinds of sessions

  integratorName() {
    return this.sim.integrator;
  }

  desired() {
    return NaN;
  }

  servo() {
    return null;
  }

  turnServo() {
    throw new Error('this page has no servo');
  }

  hud() {
    const { sim } = this;
    return [['System', [`t = ${sim.time.toFixed(2)} dt = ${Number(sim.timestep.toPrecision(3))}`, `integrator = ${this.integratorName()}`]]];
  }

  beforeSteps() {}

  // ------------------------------------------------------------ time

  tick(elapsed) {
    const { motion } = this;
    this.signals.pace(this.sim.timestep, this.playing ? this.speed : 0);
    const lost = Math.max(0, elapsed - LONGEST);
    const passed = Math.min(elapsed, LONGEST);
    try {
      this.beforeSteps(passed);
      if (this.playing) {
        const late = this.play(passed);
        if (!lost) this.tellLateness(late, passed);
      } else if (this.steps) {
        this.steps -= motion.advance(this.steps);
        motion.shown = this.sim.time;
        this.changed = true;
      } else if (motion.glide(passed)) this.changed = true;
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      Object.assign(this, { playing: false, steps: 0, changed: true });
      motion.snap();
      this.notify(AGAIN.includes(error.status) ? 'diverged' : 'error', error.message);
    }
    if (motion.recorder?.stopped) this.endRecording('Recording stopped because it is full.');
  }

  /** Simulate seconds of wall time; returns the part for which the computer was too slow (s). */
  play(elapsed) {
    this.changed = true;
    return this.motion.run(elapsed * this.speed) / this.speed;
  }

  tellLateness(late, elapsed) {
    this.late = late > LATE * elapsed ? this.late + elapsed : 0;
    if (this.late < PATIENCE) return;
    this.late = -Infinity;  // once
    this.notify('warning', `This computer is too slow for ${this.speed} times real time with this step: it is slower on the screen.`);
  }

  // ------------------------------------------------------------ new simulations

  /** Continue with another integrator, law or step. */
  change({ integrator = this.sim.integrator, contact = this.sim.contact, timestep = this.sim.timestep }) {
    const { motion } = this;
    if (contact !== this.sim.contact) this.endRecording('Recording stopped because the contact law changed.');
    const sim = this.simulation(integrator, contact, timestep);
    const before = `${this.sim.integrator}, timestep ${this.sim.timestep} s`;
    const names = motion.ghosts.map(({ name }) => name);
    const lost = motion.takeOver(sim, this.ghosts(names, timestep));
    if (lost.length) this.notify('warning', `Begun anew: ${lost.join(', ')}.`);
    motion.recorder?.note(sim, `${before} became ${integrator}, timestep ${timestep} s`);
    this.changed = true;
  }

  /** Simulations of ghosts, each with its own memory. */
  ghosts(names, timestep) {
    return names.map((name) => {
      const key = `ghost ${name} ${this.sim.contact}`;
      if (!this.known.has(key)) {
        const loop = this.program.about.loops.find((one) => one.integrator === name && this.program.laws[one.law].contact === this.sim.contact);
        if (!loop) return null;
        this.known.set(key, new Simulation(this.program, loop, timestep, () => {}));
      }
      const sim = this.known.get(key);
      sim.timestep = timestep;
      return [name, sim];
    }).filter(Boolean);
  }

  showGhosts(on) {
    const names = on ? this.page.scene.ghosts.map(({ name }) => name) : [];
    this.motion.ghosts = [];
    this.motion.takeOver(this.sim, this.ghosts(names, this.sim.timestep));
    this.changed = true;
  }

  // ------------------------------------------------------------ commands

  /** Execute a command; a failure becomes a notice. */
  handle({ type, ...fields }) {
    const act = this[`do_${type}`];
    if (!act) {
      if (!['keydown', 'keyup', 'blur', 'release', 'ack'].includes(type)) this.notify('error', `${type} is not available on a page of its own; use saltus lab.`);
      return;
    }
    try {
      act.call(this, fields);
    } catch (error) {
      if (error instanceof TypeError || error instanceof ReferenceError) throw error;
      this.notify('error', error.message);
    }
  }

  do_play() {
    Object.assign(this, { playing: true, steps: 0 });
  }

  do_pause() {
    Object.assign(this, { playing: false, changed: true });
  }

  do_step({ n }) {
    this.playing = false;
    this.steps += n;
  }

  do_speed({ value }) {
    this.speed = value;
    this.late = 0;
  }

  do_reset({ key }) {
    this.endRecording('Recording stopped at the reset.');
    const start = this.starts[key ?? ''];
    if (!start) throw new Error(`no keyframe ${key}`);
    this.sim.start(start);
    this.origin = this.state();
    Object.assign(this, { steps: 0, late: 0 });
    this.signals.clear();
    this.afterJump();
  }

  /** Adapt display, ghosts and plots to a jump of the state; `smooth`: the curves of plots stay connected. */
  afterJump(smooth = false) {
    this.motion.jump();
    if (smooth) this.signals.sample(this.sim);
    else this.signals.jump(this.sim);
    this.changed = true;
  }

  do_integrator({ name }) {
    this.change({ integrator: name });
  }

  do_timestep({ value }) {
    this.change({ timestep: value });
  }

  do_contact({ name }) {
    const loops = this.program.about.loops.filter(({ law }) => this.program.laws[law].contact === name);
    if (!loops.length) throw new Error(`this page has no ${name} contact`);
    const found = loops.find(({ integrator }) => integrator === this.sim.integrator) ?? loops.find(({ locates }) => locates) ?? loops[0];
    if (found.integrator !== this.sim.integrator) {
      this.notify('info', `${found.integrator} is used: ${this.sim.integrator} has no ${name} contact.`);
    }
    this.change({ integrator: found.integrator, contact: name });
  }

  do_restitution({ value }) {
    this.setHard('restitution', value);
  }

  do_friction({ value }) {
    this.setHard('friction', value);
  }

  /** Set a coefficient of hard contact; null: the model's. */
  setHard(name, value) {
    const places = this.page.hard.places?.[name] ?? [];
    if (!places.length) throw new Error(`${name} cannot be changed on this page`);
    for (const law of this.program.laws.filter(({ contact }) => contact === 'hard')) {
      places.forEach((place) => (law.all[place] = value ?? law.given[place]));
    }
    this.hard[name] = value;
    this.changed = true;
  }

  do_gravity({ value }) {
    for (const law of this.program.laws) law.get('opt_gravity').set(value);
    this.gravity = [...value];
    this.changed = true;
  }

  do_slider({ id, value }) {
    const [handle, slider] = [this.page.handles[id], this.sliders.get(id)];
    if (!handle || !slider) throw new Error(`there is no slider ${id}`);
    const bounded = clipped(slider, value);
    writeHandle(this.sim, handle, bounded);
    this.changed = true;
    if (slider.group === 'joint') {
      this.afterJump();
      this.origin = this.state();
    } else if (handle.field === 'ctrl' && !this.page.controlled) this.origin.ctrl = Array.from(this.sim.get('ctrl'));
    if (bounded !== value) this.notify('warning', `${id} was set to its bound, ${bounded}.`);
  }

  do_drag({ body, point, target }) {
    const there = this.motion.pull(body, point, target);
    this.changed = this.changed || there;
  }

  do_release() {
    this.motion.letGo();
  }

  do_ghosts({ on }) {
    if (!this.page.scene.ghosts.length) throw new Error('there are no ghosts in this scene');
    this.showGhosts(on);
  }

  do_follow({ body }) {
    this.follow = body;
  }

  do_plot({ signals }) {
    this.signals.choose(signals);
    this.changed = true;
  }

  do_record({ on }) {
    if (on && !this.motion.recorder) {
      this.motion.recorder = new Recorder(this.labels(), this.sim);
      this.notify('info', 'Recording; at most 60 min of simulated time.');
    } else if (!on) this.endRecording();
  }

  /** Names and units of the state's numbers, by field, as the signals have them. */
  labels() {
    const found = {};
    let at = 0;
    for (const { field, count } of this.page.sources) {
      if (['qpos', 'qvel', 'ctrl', 'act'].includes(field)) {
        found[field] = this.page.signals.slice(at, at + count).map(({ id, unit }) => (unit ? `${id} (${unit})` : id));
      }
      at += count;
    }
    return found;
  }

  endRecording(why = '') {
    const { recorder } = this.motion;
    this.motion.recorder = null;
    if (!recorder) return;
    this.recorded = recorder;
    if (why) this.notify('info', why);
  }

  /** The last recording as a table. */
  table() {
    if (!this.recorded) throw new Error('nothing was recorded');
    const { name, title } = this.page.scene;
    return this.recorded.table([`${name}: ${title}`, `Saltus ${this.page.hello.version}`, `${this.sim.integrator}, timestep ${this.sim.timestep} s, ${this.sim.contact} contact`]);
  }
}

const grouped = (values, width) => JSON.stringify(Array.from({ length: values.length / width }, (_, k) => values.slice(k * width, (k + 1) * width)));
