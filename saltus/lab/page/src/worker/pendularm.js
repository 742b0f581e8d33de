/** The lecture's pendulum with a motor and a servo, and its keys; as saltus/lab/scene/pendularm.py. */

import { ServoSession } from './servo.js';
import { wrapped } from './sliders.js';

export class Pendularm extends ServoSession {
  get joints() {
    return this.page.own.joints;
  }

  // ------------------------------------------------------------ integrators, "none" included

  integratorName() {
    return this.kinematic ? 'none' : super.integratorName();
  }

  /** Choose an integrator; "none" stops the dynamics, and any other then starts from rest. */
  do_integrator({ name }) {
    if (name === 'none') {
      this.kinematic = true;
      this.sim.get('qvel').fill(0);
      this.afterJump();
      return;
    }
    super.do_integrator({ name });
    this.kinematic = false;
  }

  play(elapsed) {
    if (!this.kinematic) return super.play(elapsed);
    this.turn(elapsed / this.page.own.frame, elapsed * this.speed);
    return 0;
  }

  do_step({ n }) {
    if (!this.kinematic) {
      super.do_step({ n });
      return;
    }
    this.playing = false;
    this.turn(n, n * this.sim.timestep);
  }

  /** Turn the links in opposite directions, without dynamics. */
  turn(frames, seconds) {
    const qpos = this.sim.get('qpos');
    for (let k = 0; k < this.joints; k += 1) qpos[k] += this.page.own.turn * frames * (k ? -1 : 1);
    this.sim.time += seconds;
    this.afterJump(true);
  }

  // ------------------------------------------------------------ keys and text

  pressed(key) {
    if (this.joints === 1 && key in this.page.own.integrators) this.handle({ type: 'integrator', name: this.page.own.integrators[key][0] });
    else super.pressed(key);
  }

  hud() {
    return [this.system(), this.servoBlock(), this.page.own.pendulum, ['Keys', this.page.own.keyLines]];
  }

  get numbers() {
    return this.joints === 1 ? [''] : ['1', '2'];
  }

  system() {
    const { sim } = this;
    const name = this.integratorName();
    const lines = [`t = ${sim.time.toFixed(2)} dt = ${Number(sim.timestep.toPrecision(3))}`, `integrator = ${this.page.own.labels[name] ?? name.replaceAll('_', ' ')}`];
    this.numbers.forEach((i, k) => {
      lines.push(`x${i} = ${wrapped(sim.get('qpos')[k]).toFixed(2)}`, `x${i}_dot = ${sim.get('qvel')[k].toFixed(2)}`);
    });
    if (this.joints > 1) lines.push('x2 is relative to the first link');
    for (const i of this.numbers) lines.push(`x${i}_desired = ${this.knob(`target ${i}`.trim()).toFixed(2)}`);
    return ['System', lines];
  }

  servoBlock() {
    const title = `Servo: ${this.servo() ? 'active' : 'disabled'}`;
    const torque = Array.from(this.sim.get('ctrl'));
    torque[0] += this.pushing();
    const two = (value) => value.toFixed(2);
    const gains = ['kp', 'kd', 'ki'];
    if (this.joints === 1) return [title, [`u = ${two(torque[0])}`, ...gains.map((gain) => `${gain} = ${two(this.knob(gain))}`)]];
    const both = gains.map((gain) => `${gain} = ${two(this.knob(`${gain} 1`))}, ${two(this.knob(`${gain} 2`))}`);
    return [title, [`u1 = ${two(torque[0])}`, `u2 = ${two(torque[1])}`, ...both]];
  }
}
