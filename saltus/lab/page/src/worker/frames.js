/** Frames of a motion in the binary format of saltus/lab/messages/protocol.py. */

import { rotated } from './drag.js';

const VERSION = 2;
const HEAD = 16;  // bytes

/** A growing list of numbers. */
class Numbers {
  constructor() {
    this.parts = [];
    this.count = 0;
  }

  put(values) {
    this.parts.push(values);
    this.count += values.length;
  }

  /** A buffer with the numbers after a number of free bytes. */
  buffer(head) {
    const out = new Float32Array(head / 4 + this.count);
    let at = head / 4;
    for (const part of this.parts) {
      out.set(part, at);
      at += part.length;
    }
    return out.buffer;
  }
}

/**
 * @param {object} page description of the model
 * @param {Motion} motion
 * @param {{number, playing, ghosts: [names], desired: (actuator) => number}} now
 * @returns {ArrayBuffer}
 */
export function encodeFrame(page, motion, { number, playing, ghosts, desired }) {
  const { sim } = motion;
  const runs = [run(page, motion, sim, motion), ...ghosts.map((name) => ghostRun(page, motion, name))];
  const poses = drawn(page, motion);  // the run itself is evaluated last
  const out = new Numbers();
  const energies = [sim.energy(), ...ghosts.map((name) => ghostOf(motion, name)?.sim.energy() ?? [NaN, NaN])];
  for (const energy of energies) out.put(energy);
  for (const { bodies } of runs) out.put(bodies);
  for (const { dofs } of runs) out.put(dofs);
  for (const part of [...poses.tendons, ...poses.flexes]) out.put(part);
  for (const motor of page.motors) out.put([torque(motor, sim), desired(motor.actuator)]);
  for (const camera of poses.cameras) out.put(camera);
  out.put(poses.joints);
  out.put(poses.com);
  const contacts = sim.law.most ? sim.look(page.scene.extent) : [];
  for (const contact of contacts) out.put(contact.subarray(0, 8));
  for (const contact of contacts) out.put(contact.subarray(8, 14));
  const buffer = out.buffer(HEAD);
  const head = new DataView(buffer);
  head.setUint8(0, VERSION);
  head.setUint8(1, (playing ? 1 : 0) | (contacts.length ? 4 : 0));
  head.setUint16(2, contacts.length, true);
  head.setUint32(4, number, true);
  head.setFloat64(8, motion.shown, true);
  return buffer;
}

const ghostOf = (motion, name) => motion.ghosts.find((ghost) => ghost.name === name && ghost.alive);

/** Poses of bodies and coordinates of a simulation, interpolated between its last two states. */
function run(page, motion, sim, { before, beforeRate }) {
  const { fraction } = motion;
  const qvel = sim.get('qvel').map((after, k) => beforeRate[k] + fraction * (after - beforeRate[k]));
  const view = sim.pose(before, sim.get('qpos').slice(), fraction);
  const [xpos, xquat, qpos] = [view.get('xpos'), view.get('xquat'), view.get('qpos')];
  const bodies = new Float32Array(7 * page.scene.bodies.length);
  for (let b = 0; b < page.scene.bodies.length; b += 1) {
    bodies.set(xpos.subarray(3 * b, 3 * b + 3), 7 * b);
    bodies.set(xquat.subarray(4 * b, 4 * b + 4), 7 * b + 3);
  }
  return { bodies, dofs: page.dofs.flatMap(([q, v]) => [qpos[q], qvel[v]]) };
}

function ghostRun(page, motion, name) {
  const ghost = ghostOf(motion, name);
  if (ghost) return run(page, motion, ghost.sim, ghost);
  return { bodies: new Float32Array(7 * page.scene.bodies.length).fill(NaN), dofs: page.dofs.flatMap(() => [NaN, NaN]) };
}

/** Poses of all other parts: tendons, deformable bodies, cameras, joints, the centre of mass. */
function drawn(page, motion) {
  const { sim, before, fraction } = motion;
  const view = sim.pose(before, sim.get('qpos').slice(), fraction);
  const { tendons, flexes, cameras } = page.drawn;
  const vertices = view.get('flexvert_xpos');
  const [anchors, axes] = [view.get('xanchor'), view.get('xaxis')];
  const table = tendons.length ? view.paths() : null;
  return {
    tendons: tendons.map(([first, count], k) => path(table, sim.program.about.pathWidth, first, count, page.scene.tendons[k].points)),
    flexes: flexes.map(([first, count]) => vertices.subarray(3 * first, 3 * (first + count))),
    cameras: cameras.map((camera) => cameraPose(view, camera)),
    joints: page.scene.joints.flatMap((_, j) => [...anchors.subarray(3 * j, 3 * j + 3), ...axes.subarray(3 * j, 3 * j + 3)]),
    com: centre(page, view),
  };
}

/** Points of a tendon: their number, then the largest possible number of points. */
function path(table, width, first, count, room) {
  const points = [];
  for (let e = first; e < first + count; e += 1) {
    const row = table.subarray(e * width, (e + 1) * width);
    for (let k = points.length ? 1 : 0; k < row[0]; k += 1) points.push(row.subarray(1 + 3 * k, 4 + 3 * k));
  }
  const out = new Float32Array(1 + 3 * room);
  out[0] = Math.min(points.length, room);
  points.slice(0, room).forEach((point, k) => out.set(point, 1 + 3 * k));
  return out;
}

function cameraPose(view, { body, pos, quat }) {
  const [w, x, y, z] = view.get('xquat').subarray(4 * body, 4 * body + 4);
  const [a, b, c, d] = quat;
  const turned = rotated([w, x, y, z], pos);
  const place = turned.map((value, i) => value + view.get('xpos')[3 * body + i]);
  return [...place, w * a - x * b - y * c - z * d, w * b + x * a + y * d - z * c, w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a];
}

function centre(page, view) {
  const [sum, places] = [[0, 0, 0], view.get('xipos')];
  let mass = 0;
  page.masses.forEach((m, b) => {
    mass += m;
    for (let i = 0; i < 3; i += 1) sum[i] += m * places[3 * b + i];
  });
  return mass > 0 ? sum.map((x) => x / mass) : sum;
}

/** Torque about a motor's hinge, N m: the motor's plus the user's force. */
function torque({ control, dof, range, factor }, sim) {
  let given = sim.get('ctrl')[control];
  if (range) given = Math.min(Math.max(given, range[0]), range[1]);
  return factor * given + sim.get('qfrc_applied')[dof];
}
