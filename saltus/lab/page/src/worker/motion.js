/**
 * Several simulations side by side, and the displayed time, which follows wall time and lies between the last two
 * states. JavaScript version of saltus/lab/motion.py.
 */

import { Drag, moveMocap } from './drag.js';
import { Trouble } from './simulation.js';

/** A copy of the main simulation under another integrator, with the same initial state and controls. */
class Ghost {
  constructor(name, sim) {
    Object.assign(this, { name, sim, alive: true });
    this.snap();
  }

  snap() {
    this.before = this.sim.get('qpos').slice();
    this.beforeRate = this.sim.get('qvel').slice();
  }

  follow(main) {
    for (const name of ['qfrc_applied', 'mocap_pos', 'mocap_quat', 'control_prm', 'ctrl']) this.sim.get(name).set(main.get(name));
  }
}

export class Motion {
  /** @param {object} page description of the model, see saltus/lab/standalone/description.py */
  constructor(page, sim, warn) {
    Object.assign(this, { timing: page.timing, page, sim, warn, ghosts: [], drag: null, recorder: null, signals: null, cost: 0.1 });
    this.snap();
  }

  /** Continue with other simulations; ghosts: [[name, simulation], ...]. Returns descriptions of what starts anew. */
  takeOver(sim, ghosts) {
    const lost = sim === this.sim ? [] : sim.carry(this.sim);
    const there = new Map(this.ghosts.filter(({ alive }) => alive).map((ghost) => [ghost.name, ghost.sim]));
    this.ghosts = ghosts.map(([name, other]) => {
      if (there.get(name) !== other) other.carry(there.get(name) ?? sim);
      return new Ghost(name, other);
    });
    const [shown, before, rate] = [this.shown, this.before, this.beforeRate];
    const same = sim.timestep === this.sim.timestep;
    this.sim = sim;
    this.snap();
    if (same) Object.assign(this, { shown, before, beforeRate: rate });
    return lost;
  }

  /** The simulation, then the ghosts of these names; null for one that does not run. */
  runs(names) {
    return [this.sim, ...names.map((name) => this.ghosts.find((ghost) => ghost.name === name && ghost.alive)?.sim ?? null)];
  }

  /** After a jump of the state: restart all ghosts from it. */
  jump() {
    for (const ghost of this.ghosts) {
      ghost.sim.carry(this.sim);
      ghost.alive = true;
    }
    this.snap();
  }

  /** Show the present state without interpolation from the previous one. */
  snap() {
    this.shown = this.sim.time;
    this.before = this.sim.get('qpos').slice();
    this.beforeRate = this.sim.get('qvel').slice();
    for (const ghost of this.ghosts) ghost.snap();
  }

  get fraction() {
    const behind = (this.sim.time - this.shown) / this.sim.timestep;
    return behind < this.timing.rounding ? 1 : Math.max(0, 1 - behind);
  }

  /** Pull a body; returns whether it was moved to the target. Throws if it cannot move. */
  pull(body, point, target) {
    const { mocap, root } = this.page.bodyIds;
    if (mocap[body] >= 0) {
      moveMocap(this.sim, mocap[body], point, target);
      return true;
    }
    if (this.drag?.body === body && String(this.drag.point) === String(point)) {
      this.drag.target = target;
      return false;
    }
    const drag = new Drag(body, point, target, this.page.subtreeMasses[body], this.page.scene.extent);
    if (root[body] === 0 && body === 0) throw new Error('the world cannot move');
    if (!drag.canMove(this.sim)) throw new Error(`this point of ${this.page.scene.bodies[body]} cannot move`);
    this.drag = drag;
    return false;
  }

  letGo() {
    this.drag = null;
    this.sim.get('xfrc_applied').fill(0);
  }

  /** Advance the displayed time by simulated seconds; returns the part for which the computer was too slow (s). */
  run(seconds) {
    const h = this.sim.timestep;
    const until = this.shown + seconds;
    const wanted = Math.ceil((until - this.sim.time) / h - this.timing.rounding);
    if (wanted > 0 && this.advance(wanted) < wanted) {
      const late = until - this.sim.time;
      this.shown = this.sim.time;
      return late;
    }
    this.shown = until;
    return 0;
  }

  /** Move the displayed time to the end of the step; returns whether it had to move. */
  glide(elapsed) {
    const rest = this.sim.time - this.shown;
    if (rest <= this.timing.rounding * this.sim.timestep) return false;
    const way = (Math.max(rest, this.sim.timestep) * elapsed) / this.timing.glide;
    this.shown = way >= rest * (1 - this.timing.rounding) ? this.sim.time : this.shown + way;
    return true;
  }

  /** Take n steps, or as many as there is time for; returns the number taken. Throws Trouble at the last good step. */
  advance(n) {
    const began = performance.now();
    let [clock, taken] = [began, 0];
    try {
      while (taken < n && (taken === 0 || clock - began < this.timing.budget)) {
        const k = this.chunk(n - taken);
        this.take(k);
        taken += k;
        const now = performance.now();
        this.cost = 0.8 * this.cost + (0.2 * (now - clock)) / k;
        clock = now;
      }
    } catch (error) {
      if (error instanceof Trouble) this.snap();
      throw error;
    }
    return taken;
  }

  /** Number of steps to take in one call; the last step is taken singly, for interpolation. */
  chunk(n) {
    let most = Math.max(1, Math.floor(this.timing.chunk / Math.max(this.cost, 1e-6)));
    if (this.drag) most = Math.min(most, this.drag.steps(this.sim.timestep));
    if (this.recorder) most = Math.min(most, this.recorder.stepsLeft);
    if (this.signals) most = Math.min(most, this.signals.stepsLeft);
    return n === 1 ? 1 : Math.min(n - 1, most);
  }

  take(k) {
    const { sim } = this;
    this.drag?.apply(sim);
    this.before.set(sim.get('qpos'));
    this.beforeRate.set(sim.get('qvel'));
    sim.step(k);
    for (const ghost of this.ghosts) if (ghost.alive) this.takeGhost(ghost, k);
    this.signals?.after(sim, k);
    this.recorder?.after(sim, k);
  }

  takeGhost(ghost, k) {
    ghost.follow(this.sim);
    ghost.before.set(ghost.sim.get('qpos'));
    ghost.beforeRate.set(ghost.sim.get('qvel'));
    try {
      ghost.sim.step(k);
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      ghost.alive = false;
      this.warn('warning', `The ghost ${ghost.name} was removed: ${error.message}`);
    }
  }
}
