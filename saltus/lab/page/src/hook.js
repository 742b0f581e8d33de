/**
 * window.saltusLab: the state of the page, read only; for tests and for use in the console.
 *
 *   ready      a scene and a frame have been drawn
 *   role       "writer" or "viewer"
 *   scene      the name of the scene
 *   frames     frames received
 *   drawn      pictures drawn
 *   fps        pictures drawn in the last whole second
 *   firstDraw  ms from the page's start to the first picture, or null
 *   error      the last message that could not be understood, or null
 *   hud        the readings as text
 *   status     a copy of the last status
 *   frame      the last frame: {number, time, playing, energy: [[potential, kinetic], ...] J, dofs: [[position,
 *              velocity, ...], ...], bodies: [[7 numbers a body], ...], contacts, com, cop (null: none), motors: [[torque, target angle], ...],
 *              joints: [6 numbers a joint], axes: [6 numbers a contact]};
 *              run 0, then the ghosts
 *   phase      the points of the phase plot of the run itself: [[position, ...], [velocity, ...]]
 *   energy     the energy plot: [[time, ...], [total, ...], [kinetic, ...], [potential, ...], the totals of ghosts ...]
 *   measured   distance measured by the ruler, m, or null
 *   camera     the camera of the view: {position, forward, up} in world axes, and its vertical field of view (degrees)
 *   signals    plotted signals: {chosen: [ids], times: [s], values: {id: [...]}, plots: [{title, labels, data}],
 *              now: of the mark in a recording, s, or null}
 *   drawings   the user's drawings: the objects of the last `drawings` message
 *   project(body, point)   position of a point on the page: {x, y} in CSS pixels; body by name or number, point in its
 *              frame, by default the centre of its shapes
 */

import { Vector3 } from 'three';
import { byId } from './dom.js';

const SECOND = 1000;

export function expose(lab) {
  let fps = 0;
  let firstDraw = null;
  let [before, beforeAt] = [0, performance.now()];
  const drawn = () => lab.stage?.drawn ?? 0;
  setInterval(() => {
    const now = performance.now();
    fps = ((drawn() - before) * SECOND) / (now - beforeAt);
    [before, beforeAt] = [drawn(), now];
    byId('figures').textContent = `${Math.round(fps)} pictures/s · ${lab.received} frames`;
  }, SECOND);
  const watch = () => {
    if (lab.frame && drawn()) firstDraw = performance.now();
    else requestAnimationFrame(watch);
  };
  watch();

  window.saltusLab = Object.freeze({
    get ready() { return firstDraw !== null && Boolean(lab.frame); },
    get role() { return lab.role; },
    get scene() { return lab.scene?.name ?? null; },
    get frames() { return lab.received; },
    get drawn() { return drawn(); },
    get fps() { return fps; },
    get firstDraw() { return firstDraw; },
    get error() { return lab.error; },
    get hud() { return lab.hudText(); },
    get status() { return structuredClone(lab.controls.status); },
    get phase() { return structuredClone(lab.plots.phasePlot?.data[1] ?? null); },
    get energy() { return structuredClone(lab.plots.energyPlot?.data ?? null); },
    get measured() { return lab.stage?.ruler.distance ?? null; },
    get camera() { return lab.stage && eye(lab.stage.camera.three); },
    get signals() { return structuredClone(lab.signals.read()); },
    get drawings() { return structuredClone(lab.drawings?.objects ?? []); },
    get frame() { return lab.frame && copy(lab.frame); },
    project(body, point) {
      const index = typeof body === 'string' ? lab.scene.bodies.indexOf(body) : body;
      const local = point ? new Vector3(...point) : lab.stage.main.middle(index);
      return lab.stage.pixel(lab.stage.worldPoint(index, local));
    },
  });
}

function eye(camera) {
  const axis = (k) => new Vector3().setFromMatrixColumn(camera.matrixWorld, k);
  return { position: camera.position.toArray(), forward: axis(2).negate().toArray(), up: axis(1).toArray(), fovy: camera.fov };
}

function copy({ number, time, playing, energy, dofs, bodies, contacts, com, cop, motors, joints, axes }) {
  const lists = (runs) => runs.map((run) => Array.from(run));
  return {
    number, time, playing, energy: lists(energy), dofs: lists(dofs), bodies: lists(bodies),
    contacts: Array.from(contacts), com: Array.from(com), cop: cop && Array.from(cop), motors: lists(motors), joints: Array.from(joints), axes: Array.from(axes),
  };
}
