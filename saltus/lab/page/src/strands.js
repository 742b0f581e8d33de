/** Deformable parts: tendons as tubes, flexes as surfaces, and straight rods between two points. */

import {
  BufferAttribute, BufferGeometry, CylinderGeometry, DoubleSide, InstancedMesh, Matrix4, Mesh, MeshPhongMaterial,
  Quaternion, Vector3,
} from 'three';
import { unpack } from './frame.js';
import { colour } from './mechanism.js';

const UP = new Vector3(0, 1, 0);
const rod = new CylinderGeometry(1, 1, 1, 10);
const along = new Vector3();
const middle = new Vector3();
const scale = new Vector3();
const turn = new Quaternion();

/** The matrix that lays a unit cylinder or cone (axis y, height 1) from a to b. */
export function between(a, b, radius, into) {
  along.subVectors(b, a);
  const length = along.length();
  turn.setFromUnitVectors(UP, length > 0 ? along.divideScalar(length) : UP);
  middle.addVectors(a, b).multiplyScalar(0.5);
  return into.compose(middle, turn, scale.set(radius, length, radius));
}

/** Any number of rods in one colour. */
export class Rods {
  constructor(most, look, geometry = rod) {
    this.mesh = new InstancedMesh(geometry, look, Math.max(most, 1));
    this.mesh.frustumCulled = false;
    this.mesh.count = 0;
    this.matrix = new Matrix4();
  }

  clear() {
    this.mesh.count = 0;
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  add(a, b, radius) {
    if (this.mesh.count >= this.mesh.instanceMatrix.count) return;
    this.mesh.setMatrixAt(this.mesh.count, between(a, b, radius, this.matrix));
    this.mesh.count += 1;
  }

  dispose() {
    this.mesh.removeFromParent();
    this.mesh.material.dispose();
    this.mesh.dispose();
  }
}

export class Tendon {
  constructor({ width, rgba, points }, extent) {
    this.radius = Math.max(width, 0.001 * extent);
    this.rods = new Rods(points - 1, new MeshPhongMaterial({ color: colour(rgba), specular: 0x1c1c1c }));
    this.rods.mesh.castShadow = true;
    this.mesh = this.rods.mesh;
  }

  update({ count, points }) {
    this.rods.clear();
    const a = new Vector3();
    const b = new Vector3();
    for (let i = 0; i + 1 < count && 3 * (i + 2) <= points.length; i += 1) {
      this.rods.add(a.fromArray(points, 3 * i), b.fromArray(points, 3 * i + 3), this.radius);
    }
  }

  dispose() {
    this.rods.dispose();
  }
}

/** A surface, or a cable: rods along its edges. */
export function makeFlex(flex, extent) {
  return flex.edges?.length ? new Cable(flex, extent) : new Surface(flex);
}

class Cable {
  constructor({ rgba, edges, radius }, extent) {
    this.edges = unpack(edges, Uint32Array);
    this.radius = Math.max(radius, 0.001 * extent);
    this.rods = new Rods(this.edges.length / 2, new MeshPhongMaterial({ color: colour(rgba), specular: 0x1c1c1c }));
    this.rods.mesh.castShadow = true;
    this.mesh = this.rods.mesh;
  }

  update(points) {
    this.rods.clear();
    const a = new Vector3();
    const b = new Vector3();
    for (let i = 0; i < this.edges.length; i += 2) {
      this.rods.add(a.fromArray(points, 3 * this.edges[i]), b.fromArray(points, 3 * this.edges[i + 1]), this.radius);
    }
  }

  dispose() {
    this.rods.dispose();
  }
}

class Surface {
  constructor({ rgba, nvert, faces }) {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * nvert), 3));
    geometry.setIndex(new BufferAttribute(unpack(faces, Uint32Array), 1));
    const [, , , alpha = 1] = rgba;
    const look = new MeshPhongMaterial({ color: colour(rgba), side: DoubleSide, transparent: alpha < 1, opacity: alpha });
    this.mesh = new Mesh(geometry, look);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
  }

  update(points) {
    const { position } = this.mesh.geometry.attributes;
    position.array.set(points);
    position.needsUpdate = true;
    this.mesh.geometry.computeVertexNormals();
  }

  dispose() {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
