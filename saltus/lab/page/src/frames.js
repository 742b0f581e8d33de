/** Axes drawn over the mechanism: of joints, frames of bodies, frames of contacts. Red, green, blue: x, y, z. */

import { ConeGeometry, Group, Matrix4, MeshBasicMaterial, Vector3 } from 'three';
import { CONTACT } from './frame.js';
import { poseMatrix } from './mechanism.js';
import { Rods } from './strands.js';

const COLORS = ['#d62728', '#2ca02c', '#1f77b4'];
const JOINT = '#e377c2';
const MOST_CONTACTS = 1000;
const cone = new ConeGeometry(1, 1, 12);
const look = (color) => new MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.9 });
const end = new Vector3();
const neck = new Vector3();

/** Arrows of one colour. */
class Arrows {
  constructor(most, color, thick) {
    this.thick = thick;
    this.parts = [new Rods(most, look(color)), new Rods(most, look(color), cone)];
    for (const { mesh } of this.parts) mesh.renderOrder = 3;
  }

  clear() {
    for (const part of this.parts) part.clear();
  }

  /** Place an arrow from a point along a unit vector. */
  add(from, direction, length) {
    neck.copy(from).addScaledVector(direction, length - 5 * this.thick);
    this.parts[0].add(from, neck, this.thick);
    this.parts[1].add(neck, end.copy(from).addScaledVector(direction, length), 2.2 * this.thick);
  }
}

/** Any number of frames of three arrows in three colours. */
class Triads {
  constructor(most, extent) {
    this.length = 0.12 * extent;
    this.arrows = COLORS.map((color) => new Arrows(most, color, 0.004 * extent));
  }

  clear() {
    for (const arrows of this.arrows) arrows.clear();
  }

  add(at, axes) {
    this.arrows.forEach((arrows, i) => arrows.add(at, axes[i], this.length));
  }
}

export class Frames {
  /** @param scene with lists bodies and joints */
  constructor(scene) {
    const { extent } = scene;
    this.extent = extent;
    this.joints = scene.joints ?? [];
    this.shown = { joints: false, bodies: false, contacts: false };
    this.axes = new Arrows(this.joints.length, JOINT, 0.006 * extent);
    this.balls = new Triads(this.joints.length, extent);
    this.bodies = new Triads(scene.bodies.length, extent);
    this.contacts = new Triads(MOST_CONTACTS, extent);
    this.all = [this.axes, this.balls, this.bodies, this.contacts];
    this.parts = this.all.flatMap((one) => (one.arrows ?? [one]).flatMap(({ parts }) => parts));
    this.group = new Group();
    this.group.add(...this.parts.map(({ mesh }) => mesh));
  }

  update(frame) {
    for (const one of this.all) one.clear();
    if (this.shown.joints) this.joints.forEach((joint, i) => this.joint(joint, frame.joints.subarray(6 * i), frame.bodies[0]));
    if (this.shown.bodies) {
      for (let i = 1; i < frame.bodies[0].length / 7; i += 1) this.triad(this.bodies, frame.bodies[0], i);
    }
    if (this.shown.contacts) this.contactFrames(frame);
  }

  triad(triads, poses, body, at = null) {
    const pose = poseMatrix(poses, body, new Matrix4());
    const axes = [new Vector3(), new Vector3(), new Vector3()];
    pose.extractBasis(...axes);
    triads.add(at ?? new Vector3().setFromMatrixPosition(pose), axes);
  }

  /** A hinge or a slide has an axis, a ball or a free joint the frame of its body. */
  joint({ kind, body }, numbers, poses) {
    const anchor = new Vector3().fromArray(numbers);
    if (kind === 'free' || kind === 'ball') return this.triad(this.balls, poses, body, anchor);
    const axis = new Vector3().fromArray(numbers, 3);
    const length = 0.16 * this.extent;
    return this.axes.add(anchor.addScaledVector(axis, -0.5 * length), axis, length);
  }

  /** The normal, towards the second geom, is blue: the z axis of a floor. */
  contactFrames({ contacts, axes }) {
    for (let i = 0; i < axes.length / 6; i += 1) {
      const normal = new Vector3().fromArray(axes, 6 * i);
      const tangent = new Vector3().fromArray(axes, 6 * i + 3);
      this.contacts.add(end.clone().fromArray(contacts, CONTACT * i), [tangent, new Vector3().crossVectors(normal, tangent), normal]);
    }
  }

  dispose() {
    for (const part of this.parts) part.dispose();
    this.group.removeFromParent();
  }
}
