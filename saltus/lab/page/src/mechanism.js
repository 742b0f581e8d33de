/** One run of the model in the view: its bodies with their shapes; a ghost is the same in one colour, translucent. */

import {
  BackSide, CircleGeometry, Color, DoubleSide, FrontSide, Group, Matrix4, Mesh, MeshLambertMaterial, MeshPhongMaterial, Quaternion,
  ShadowMaterial, SRGBColorSpace, Vector3,
} from 'three';
import { POSE } from './frame.js';
import { plainFloor } from './floor.js';
import { checkerTexture, isEndless, layPattern, meshGeometry, shapeGeometry } from './geometry.js';

const GHOST_OPACITY = 0.42;
const [SPREAD, MARGIN] = [1.2, 0.3];  // size of a shadow relative to the bodies' bounding ball and to the area of the shadow map
const SHADE = 0.42;  // darkness of a shadow on a floor without lights
const ONE = new Vector3(1, 1, 1);
const at = new Vector3();
const turn = new Quaternion();

export const colour = ([r, g, b]) => new Color().setRGB(r, g, b, SRGBColorSpace);

/** A pose of seven numbers (position, quaternion w x y z) as a matrix. */
export function poseMatrix(poses, index, into) {
  const i = POSE * index;
  at.set(poses[i], poses[i + 1], poses[i + 2]);
  turn.set(poses[i + 4], poses[i + 5], poses[i + 6], poses[i + 3]);
  return into.compose(at, turn, ONE);
}

/** The geometries of a scene's shapes, made once and shared by the run and its ghosts; `segments` of round ones. */
export function sceneGeometries(scene, segments) {
  const meshes = scene.meshes.map(meshGeometry);
  const made = new Map();
  return scene.shapes.map((shape) => {
    const key = `${shape.kind} ${shape.size} ${shape.mesh} ${shape.checker?.cell}`;
    if (!made.has(key)) made.set(key, shapeGeometry(shape, meshes, scene.extent, segments));
    return made.get(key);
  });
}

function material(shape) {
  const [, , , alpha = 1] = shape.rgba;
  return new MeshPhongMaterial({
    color: colour(shape.rgba), specular: 0x1c1c1c, shininess: 50, transparent: alpha < 1, opacity: alpha,
    shadowSide: BackSide,  // lit faces cast no shadow on themselves
    side: shape.kind === 'mesh' || shape.kind === 'hfield' ? DoubleSide : FrontSide,
  });
}

/** Floors: checkered if the model says so; infinite ones fade out. */
function floorMaterial(shape, geometry, sharpness) {
  const [, , , alpha = 1] = shape.rgba;
  const endless = isEndless(shape);
  const made = new MeshLambertMaterial({ transparent: endless || alpha < 1, opacity: alpha, vertexColors: endless });
  if (!shape.checker) made.color = colour(shape.rgba);
  else {
    layPattern(geometry, shape.checker.cell);
    made.map = checkerTexture(shape.checker, sharpness);
  }
  return made;
}

/** Whether two lists of poses agree, lengths within a tolerance and quaternions within a thousandth. */
function alike(poses, other, tolerance) {
  for (let i = 0; i < poses.length; i += 1) {
    if (Math.abs(poses[i] - other[i]) > (i % POSE < 3 ? tolerance : 1e-3)) return false;
  }
  return true;
}

export class Mechanism {
  /**
   * @param {string|null} ghost the colour of a ghost, null for the run itself
   * @param {number} sharpness of the floor's pattern seen at a slant: samples a pixel
   * @param {boolean} plain floors are not lit, and shadows are drawn on them only where something is near
   */
  constructor(scene, geometries, { ghost = null, sharpness = 1, plain = false } = {}) {
    Object.assign(this, { sharpness, plain, shades: [] });
    this.root = new Group();
    this.bodies = scene.bodies.map(() => {
      const group = new Group();
      group.matrixAutoUpdate = false;
      this.root.add(group);
      return group;
    });
    this.floors = [];
    this.shapes = [];
    this.ghost = ghost && new MeshPhongMaterial({
      color: ghost, transparent: true, opacity: GHOST_OPACITY, depthWrite: false, specular: 0,
    });
    scene.shapes.forEach((shape, i) => this.add(shape, geometries[i]));
  }

  add(shape, geometry) {
    if (!geometry || (this.ghost && (shape.body === 0 || shape.source === 'site'))) return;
    const plane = shape.kind === 'plane';
    const mesh = new Mesh(geometry, this.ghost ?? (plane ? this.floor(shape, geometry) : material(shape)));
    mesh.position.fromArray(shape.pos);
    mesh.quaternion.set(shape.quat[1], shape.quat[2], shape.quat[3], shape.quat[0]);
    mesh.updateMatrix();
    mesh.matrixAutoUpdate = false;
    mesh.castShadow = !this.ghost && !plane && (shape.rgba[3] ?? 1) >= 1 && shape.source !== 'site';
    mesh.receiveShadow = !this.ghost && !(plane && this.plain);
    mesh.userData = { body: shape.body, source: shape.source };
    if (plane) mesh.renderOrder = -1;
    const shade = plane && this.plain && !this.ghost ? this.shade(mesh, isEndless(shape)) : null;
    if (isEndless(shape)) this.floors.push({ mesh, shade, home: mesh.matrix.clone(), cell: shape.checker?.cell ?? 1 });
    this.shapes.push(mesh);
    this.bodies[shape.body].add(mesh);
  }

  floor(shape, geometry) {
    if (!this.plain) return floorMaterial(shape, geometry, this.sharpness);
    if (shape.checker) layPattern(geometry, shape.checker.cell);
    return plainFloor(shape);
  }

  /** The shadow on a plain floor: a disc that goes along with the light where the floor has no end. */
  shade(floor, endless) {
    const made = new ShadowMaterial({ opacity: SHADE, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1 });
    const shade = new Mesh(endless ? new CircleGeometry(1, 32) : floor.geometry, made);
    shade.matrix.copy(floor.matrix);
    shade.matrixAutoUpdate = false;
    shade.receiveShadow = true;
    this.bodies[floor.userData.body].add(shade);
    this.shades.push(shade);
    return shade;
  }

  /** Hide a run whose poses are not finite, or that coincides with another. */
  pose(poses, other = null, tolerance = 0) {
    this.gone = (poses.length > POSE && !Number.isFinite(poses[POSE])) || (other && alike(poses, other, tolerance));
    this.root.visible = !this.gone && !this.off;
    if (this.gone) return;
    this.bodies.forEach((group, i) => {
      poseMatrix(poses, i, group.matrix);
      group.matrixWorldNeedsUpdate = true;
    });
  }

  show(on) {
    this.off = !on;
    this.root.visible = on && !this.gone;
  }

  showSites(on) {
    for (const mesh of this.shapes) if (mesh.userData.source === 'site') mesh.visible = on;
  }

  /** Bounding ball of the origins of all bodies: its centre and radius. */
  ball() {
    const middle = new Vector3();
    const places = this.bodies.slice(1).map(({ matrix }) => new Vector3().setFromMatrixPosition(matrix));
    for (const place of places) middle.addScaledVector(place, 1 / places.length);
    return { middle, radius: Math.max(0, ...places.map((place) => place.distanceTo(middle))) };
  }

  /**
   * Endless floors go along with the camera, by whole pairs of cells, so that the pattern stays where it is. A plain one's
   * shadow is drawn where the light `sun` (a direction) throws it, no farther than `reach`, the shadow's map, goes.
   */
  centreFloors(lookat, sun, reach) {
    const local = new Vector3();
    const inverse = new Matrix4();
    for (const { mesh, shade, home, cell } of this.floors) {
      local.copy(lookat).applyMatrix4(inverse.multiplyMatrices(mesh.parent.matrix, home).invert());
      const pair = 2 * cell;
      mesh.matrix.makeTranslation(pair * Math.round(local.x / pair), pair * Math.round(local.y / pair), 0).premultiply(home);
      mesh.matrixWorldNeedsUpdate = true;
      if (!shade) continue;
      const { middle, radius } = this.ball();
      const up = at.setFromMatrixColumn(mesh.parent.matrix, 2);
      local.copy(middle).addScaledVector(sun, -(middle.dot(up) - local.setFromMatrixPosition(home).dot(up)) / Math.max(sun.dot(up), 0.1));
      local.applyMatrix4(inverse);
      const size = Math.min(SPREAD * radius + MARGIN * reach, reach);
      shade.matrix.makeScale(size, size, 1).setPosition(local.x, local.y, 0).premultiply(home);
      shade.matrixWorldNeedsUpdate = true;
    }
  }

  /** Highlight one body, or none. */
  highlight(body) {
    for (const mesh of this.shapes) {
      const lit = body !== null && body > 0 && mesh.userData.body === body;
      mesh.material.emissive?.setHex(lit ? 0x2a4a55 : 0);
    }
  }

  /** The middle of a body's shapes in its own frame; its origin where it has none. */
  middle(body) {
    const own = this.shapes.filter((mesh) => mesh.userData.body === body && mesh.userData.source !== 'site');
    const mean = new Vector3();
    for (const mesh of own) mean.add(at.setFromMatrixPosition(mesh.matrix));
    return own.length ? mean.divideScalar(own.length) : mean;
  }

  /** The middle of that shape of a body that is farthest from a point in its frame; the point where it has none. */
  farthest(body, point) {
    const places = this.shapes.filter((mesh) => mesh.userData.body === body && mesh.userData.source !== 'site')
      .map((mesh) => new Vector3().setFromMatrixPosition(mesh.matrix));
    return places.reduce((far, place) => (place.distanceTo(point) > far.distanceTo(point) ? place : far), point.clone());
  }

  dispose() {
    for (const { material: used } of this.shapes) {
      used.map?.dispose();
      used.dispose();
    }
    for (const { geometry, material: used } of this.shades) {
      geometry.dispose();
      used.dispose();
    }
    this.root.removeFromParent();
  }
}
