/** Sessions with a controller that keys switch, tune and disturb; as saltus/lab/scene/servo.py. */

import { Session } from './session.js';
import { clipped, readHandle, wrapped, writeHandle } from './sliders.js';

export class ServoSession extends Session {
  constructor(program, page) {
    super(program, page);
    this.held = new Map();  // frames since each pressed key went down
    this.switch(page.own.on);
  }

  servo() {
    return this.page.own.switches.every((place) => this.sim.get('control_prm')[place] > 0.5);
  }

  turnServo(on) {
    if (on !== this.servo()) this.switch(on);
  }

  /** Switch the servo on or off; its integrals and controls become zero. */
  switch(on) {
    for (const sim of [this.sim, ...this.motion.ghosts.map((ghost) => ghost.sim)]) {
      for (const place of this.page.own.switches) sim.get('control_prm')[place] = on ? 1 : 0;
      for (const place of this.page.own.controls) sim.get('ctrl')[place] = 0;
      const act = sim.get('act');
      act.fill(0, this.actCount(sim) - this.page.controlStates, this.actCount(sim));
    }
    this.changed = true;
  }

  actCount(sim) {
    return sim.law.int('nact');
  }

  knob(id) {
    return readHandle(this.sim, this.page.handles[id]);
  }

  desired(actuator) {
    const id = this.page.own.angles[actuator];
    return id === undefined ? NaN : this.knob(id);
  }

  // ------------------------------------------------------------ keys

  do_keydown({ key }) {
    const pressed = key.toLowerCase();
    if (!this.page.scene.keyboard.includes(pressed) || this.held.has(pressed)) return;
    this.held.set(pressed, 0);
    this.pressed(pressed);
  }

  /** Act on the first press of a key; a held key does not repeat. */
  pressed(key) {
    if (key === 'c' || key === 'x') this.switch(!this.servo());
    else if (key === 's') this.switch(false);
    else if (key in this.page.own.targets) this.moveTarget(key, 1);
  }

  do_keyup({ key }) {
    this.held.delete(key.toLowerCase());
  }

  do_blur() {
    this.held.clear();
  }

  beforeSteps(elapsed) {
    for (const [key, held] of this.held) {
      const now = held + elapsed / this.page.own.frame;
      this.held.set(key, now);
      // the first frame's change was made when the key went down
      if (key in this.page.own.targets) this.moveTarget(key, Math.floor(now) - Math.floor(held));
    }
    if (this.page.own.push) this.sim.get('qfrc_applied')[this.page.own.push[0]] = this.pushing();
  }

  /** Present force of the user's keys, N m or N. */
  pushing() {
    const size = this.page.own.push ? this.page.own.push[1] : 0;
    return size * (Number(this.held.has('d')) - Number(this.held.has('a')));
  }

  moveTarget(key, frames) {
    if (!frames) return;
    const [id, change] = this.page.own.targets[key];
    writeHandle(this.sim, this.page.handles[id], clipped(this.sliders.get(id), wrapped(this.knob(id) + frames * change)));
    this.changed = true;
  }

  // ------------------------------------------------------------ text

  hud() {
    return [...super.hud(), this.servoBlock(), ['Keys', this.page.own.keyLines]];
  }

  servoBlock() {
    const lines = this.page.own.knobs.map((id) => `${id} = ${this.knob(id).toFixed(2)}`);
    return [`Servo: ${this.servo() ? 'active' : 'disabled'}`, lines];
  }
}
