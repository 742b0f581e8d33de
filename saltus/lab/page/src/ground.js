/** What tells up from down where a scene has no floor: a faint grid under the mechanism, and the world's axes in a corner. */

import { GridHelper, Vector3 } from 'three';
import { byId } from './dom.js';

const CELLS = 20;
const LOW = 0.82;  // of the way from the middle of the first view to its lower edge
const REACH = 17;  // pixels, of an axis

/** A round number of metres near a length: 1, 2 or 5 times a power of ten. */
function round(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const [best] = [1, 2, 5, 10].sort((a, b) => Math.abs(Math.log((a * power) / length)) - Math.abs(Math.log((b * power) / length)));
  return best * power;
}

/** The grid of a scene; null if it has a floor. */
export function groundGrid(scene) {
  if (scene.shapes.some(({ kind }) => kind === 'plane' || kind === 'hfield')) return null;
  const { lookat, distance, fovy = 45 } = scene.camera;
  const cell = round(Math.max(scene.extent, 1e-6) / 5);
  const grid = new GridHelper(CELLS * cell, CELLS, 0x7d888d, 0x9aa4a8);
  grid.rotation.x = Math.PI / 2;  // of three's own up, y
  const [x, y] = lookat.slice(0, 2).map((value) => cell * Math.round(value / cell));
  grid.position.set(x, y, lookat[2] - LOW * distance * Math.tan((fovy * Math.PI) / 360));
  Object.assign(grid.material, { transparent: true, opacity: 0.32, depthWrite: false });
  return grid;
}

/** The world's axes as the camera sees their directions, drawn in the page's corner. */
export class Gizmo {
  constructor() {
    this.lines = [...'xyz'].map((axis) => [byId(`gizmo-${axis}`), byId(`gizmo-${axis}-name`)]);
  }

  /** Turn as a camera of three has turned. */
  update(camera) {
    const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
    axes.forEach((axis, k) => {
      const seen = axis.transformDirection(camera.matrixWorldInverse);
      const [x, y] = [REACH * seen.x, -REACH * seen.y];
      const [line, name] = this.lines[k];
      for (const [key, value] of [['x2', x], ['y2', y]]) line.setAttribute(key, value.toFixed(1));
      for (const [key, value] of [['x', 1.4 * x], ['y', 1.4 * y]]) name.setAttribute(key, value.toFixed(1));
    });
  }
}
