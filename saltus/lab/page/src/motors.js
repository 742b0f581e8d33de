/** Drawn over the mechanism for each motor: an arrow around its hinge for the torque, a mark for the target angle. */

import { ConeGeometry, Group, Matrix4, MeshBasicMaterial, Vector3 } from 'three';
import { poseMatrix } from './mechanism.js';
import { marker } from './overlays.js';
import { Rods } from './strands.js';

const TORQUE = '#7b3fb5';
const WANTED = '#1f8f9c';
const PARTS = 24;  // straight segments of a full arrow
const SWEEP = 1.5 * Math.PI;  // of an arrow at full torque
const look = (color) => new MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.85 });

export class Motors {
  /** @param main the mechanism, whose shapes determine the reach of a link */
  constructor(scene, main) {
    this.extent = scene.extent;
    this.motors = scene.motors.map(({ anchor, axis, ...motor }) => {
      const at = new Vector3(...anchor);
      return { ...motor, anchor: at, axis: new Vector3(...axis).normalize(), end: main.farthest(motor.body, at) };
    });
    this.group = new Group();
    this.arcs = new Rods(PARTS * this.motors.length, look(TORQUE));
    this.heads = new Rods(this.motors.length, look(TORQUE), new ConeGeometry(1, 1, 14));
    this.lines = new Rods(this.motors.length, look(WANTED));
    this.balls = this.motors.map(() => marker(WANTED, 0.022 * this.extent));
    this.rods = [this.arcs, this.heads, this.lines];
    for (const { mesh } of this.rods) mesh.renderOrder = 2;
    this.group.add(...this.rods.map(({ mesh }) => mesh), ...this.balls);
  }

  update(frame) {
    for (const rods of this.rods) rods.clear();
    this.motors.forEach((motor, i) => {
      const pose = poseMatrix(frame.bodies[0], motor.body, new Matrix4());
      const [torque, wanted] = frame.motors[i];
      const centre = motor.anchor.clone().applyMatrix4(pose);
      const axis = motor.axis.clone().transformDirection(pose);
      const arm = motor.end.clone().applyMatrix4(pose).sub(centre);
      if (Number.isFinite(torque)) this.arrow(centre, axis, arm, Math.max(-1, Math.min(torque / motor.full, 1)));
      this.mark(this.balls[i], centre, axis, arm, wanted - frame.dofs[0][2 * motor.dof]);
    });
  }

  /** From the link on, around the hinge, the way that the torque turns; as long as it is strong. */
  arrow(centre, axis, arm, strength) {
    const out = arm.clone().addScaledVector(axis, -arm.dot(axis));
    if (out.lengthSq() === 0) out.set(axis.y, axis.z, axis.x).cross(axis);
    out.setLength(0.13 * this.extent);
    const count = Math.round(PARTS * Math.abs(strength));
    const at = (k) => out.clone().applyAxisAngle(axis, (Math.sign(strength) * k * SWEEP) / PARTS).add(centre);
    for (let k = 0; k < count; k += 1) this.arcs.add(at(k), at(k + 1), 0.008 * this.extent);
    if (count) this.heads.add(at(count), at(count + 2), 0.025 * this.extent);
  }

  /** The end of the link at the target angle. */
  mark(ball, centre, axis, arm, missing) {
    ball.visible = Number.isFinite(missing);
    if (!ball.visible) return;
    ball.position.copy(arm).applyAxisAngle(axis, missing).add(centre);
    this.lines.add(centre, ball.position, 0.004 * this.extent);
  }

  dispose() {
    for (const rods of this.rods) rods.dispose();
    this.group.removeFromParent();
  }
}
