/**
 * Dragging a body by a spring with critical damping; the formula is in saltus/lab/controls/drag.py.
 */

const PULL = 100;  // m/s², acceleration of a tree pulled from the distance l
const HOLD = 0.002;  // s that a force is held; one step if that is longer

export class Drag {
  /** A body held by a point (m, in its frame), pulled towards a target (m, world axes). treeMass: kg, extent: m. */
  constructor(body, point, target, treeMass, extent) {
    Object.assign(this, { body, point, target, treeMass, extent });
  }

  /** Number of steps during which a force is held constant. */
  steps(timestep) {
    return Math.max(1, Math.floor(HOLD / timestep));
  }

  /** Whether the point can move. */
  canMove(sim) {
    return this.lightest(sim) !== null;
  }

  /** Position of the point, its mobility and its Jacobian. */
  held(sim) {
    const view = sim.copy();
    view.pose(sim.get('qpos'), sim.get('qpos'), 1);
    const [at, turn] = [3 * this.body, 4 * this.body];
    const place = add(view.get('xpos').subarray(at, at + 3), rotated(view.get('xquat').subarray(turn, turn + 4), this.point));
    const centre = Array.from(view.get('xipos').subarray(at, at + 3));
    return { place, centre, ...view.mobility(place, this.body) };
  }

  lightest(sim) {
    const largest = largestEigenvalue(this.held(sim).matrix);
    return largest > 1e-12 ? 1 / largest : null;
  }

  /** Overwrite xfrc_applied with the spring force at the present state. */
  apply(sim) {
    const { place, centre, matrix, J } = this.held(sim);
    const largest = largestEigenvalue(matrix);
    sim.get('xfrc_applied').fill(0);
    if (!(largest > 1e-12)) return;
    const hold = this.steps(sim.timestep) * sim.timestep;
    const k = Math.min((this.treeMass * PULL) / Math.min(this.extent, 1), 1 / largest / (2 * hold) ** 2);
    const c = 2 * Math.sqrt(k / largest);
    const qvel = sim.get('qvel');
    const force = [0, 1, 2].map((i) => {
      let speed = 0;
      for (let j = 0; j < qvel.length; j += 1) speed += J[i * qvel.length + j] * qvel[j];
      return k * (this.target[i] - place[i]) - c * speed;
    });
    const torque = cross(place.map((x, i) => x - centre[i]), force);
    sim.get('xfrc_applied').set([...force, ...torque], 6 * this.body);
  }
}

/** Move a mocap body so that its point (m, in its frame) coincides with the target (m, world axes). */
export function moveMocap(sim, mocap, point, target) {
  const quat = sim.get('mocap_quat').subarray(4 * mocap, 4 * mocap + 4);
  const turned = rotated(quat, point);
  sim.get('mocap_pos').set(target.map((x, i) => x - turned[i]), 3 * mocap);
}

const add = (a, b) => b.map((x, i) => a[i] + x);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** Rotate a vector by a unit quaternion (w, x, y, z). */
export function rotated([w, ...v], a) {
  const t = cross(v, a).map((x) => 2 * x);
  const u = cross(v, t);
  return a.map((x, i) => x + w * t[i] + u[i]);
}

/** Of a symmetric matrix [9] that is not negative, by its characteristic polynomial (Smith 1961). */
export function largestEigenvalue(m) {
  const mean = (m[0] + m[4] + m[8]) / 3;
  const off = m[1] ** 2 + m[2] ** 2 + m[5] ** 2;
  const p = Math.sqrt(((m[0] - mean) ** 2 + (m[4] - mean) ** 2 + (m[8] - mean) ** 2 + 2 * off) / 6);
  if (!(p > 0)) return mean;
  const b = m.map((x, i) => (x - (i % 4 === 0 ? mean : 0)) / p);
  const half = (b[0] * (b[4] * b[8] - b[5] * b[7]) - b[1] * (b[3] * b[8] - b[5] * b[6]) + b[2] * (b[3] * b[7] - b[4] * b[6])) / 2;
  return mean + 2 * p * Math.cos(Math.acos(Math.min(1, Math.max(-1, half))) / 3);
}
