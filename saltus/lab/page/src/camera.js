/** The camera in MuJoCo's parameters: target point, distance, azimuth and elevation in degrees; z is up. */

import { MathUtils, Matrix4, PerspectiveCamera, Vector3 } from 'three';

const STEEP = 89.5;
const FAR_AWAY = 100;  // extents: distance of an orthographic camera, from which rays are nearly parallel

export class OrbitCamera {
  constructor() {
    this.three = new PerspectiveCamera(45, 1, 0.01, 1000);
    this.three.up.set(0, 0, 1);
    this.lookat = new Vector3();
    this.home = { lookat: [0, 0, 0], distance: 3, azimuth: 90, elevation: -20, fovy: 45 };
    this.extent = 1;
    this.widened = 1;
    this.mounted = null;
    this.left = () => {};
    this.goHome();
  }

  /**
   * Look through one of the model's cameras, {fovy, height, shift} of the scene, from now on (`carry` says where it is), or
   * by hand again (null). By hand it begins where that camera was.
   */
  mount(camera) {
    if (!camera && this.mounted) {
      const forward = this.three.getWorldDirection(new Vector3());
      this.lookat.copy(this.three.position).addScaledVector(forward, this.distance);
      this.azimuth = MathUtils.radToDeg(Math.atan2(forward.y, forward.x));
      this.elevation = MathUtils.clamp(MathUtils.radToDeg(Math.asin(forward.z)), -STEEP, STEEP);
    }
    this.mounted = camera;
    this.reframe();
  }

  /** Turning, moving or zooming switches to the manual camera. */
  release() {
    if (!this.mounted) return;
    this.mount(null);
    this.left();
  }

  /** Set the pose of the model's camera: a matrix whose axes are right, up and back. */
  carry(pose) {
    const { three } = this;
    three.position.setFromMatrixPosition(pose);
    three.quaternion.setFromRotationMatrix(new Matrix4().extractRotation(pose));
    if (this.mounted.height !== null) {
      const away = FAR_AWAY * this.extent;
      three.position.addScaledVector(new Vector3().setFromMatrixColumn(pose, 2), away);
      three.fov = 2 * MathUtils.radToDeg(Math.atan(this.mounted.height / 2 / away));
      [three.near, three.far] = [0.5 * away, 2 * away];
    } else {
      three.fov = this.mounted.fovy;
      [three.near, three.far] = [0.002 * this.extent, 60 * this.extent];
    }
    // what is lit and where the floor is drawn: in front of it
    this.lookat.copy(three.position).addScaledVector(three.getWorldDirection(new Vector3()), this.mounted.height !== null
      ? FAR_AWAY * this.extent : this.distance);
    three.updateProjectionMatrix();
    three.updateMatrixWorld();
  }

  goHome() {
    this.release();
    const { lookat, distance, azimuth, elevation, fovy } = this.home;
    this.lookat.fromArray(lookat);
    Object.assign(this, { distance, azimuth, elevation });
    this.fovy = fovy ?? 45;
    this.update();
  }

  /** Look from elsewhere: x, y, z of the target (m), the distance to it (m), azimuth and elevation (degrees). */
  place([x, y, z, distance, azimuth, elevation]) {
    this.release();
    this.lookat.set(x, y, z);
    Object.assign(this, { distance, azimuth, elevation: MathUtils.clamp(elevation, -STEEP, STEEP) });
    this.update();
  }

  /** The numbers of `place` as a text; empty where it looks as at first, or through a camera of the model. */
  get text() {
    const { lookat, distance, azimuth, elevation } = this.home;
    const now = [...this.lookat.toArray(), this.distance, this.azimuth, this.elevation];
    const away = now.some((value, k) => value !== [...lookat, distance, azimuth, elevation][k]);
    return away && !this.mounted ? now.map((value) => Number(value.toPrecision(7))).join(',') : '';
  }

  /** Direction of view: a unit vector. */
  forward(into = new Vector3()) {
    const azimuth = MathUtils.degToRad(this.azimuth);
    const elevation = MathUtils.degToRad(this.elevation);
    return into.set(
      Math.cos(elevation) * Math.cos(azimuth), Math.cos(elevation) * Math.sin(azimuth), Math.sin(elevation),
    );
  }

  update() {
    const { three } = this;
    if (this.mounted) return;
    three.position.copy(this.lookat).addScaledVector(this.forward(), -this.distance);
    three.lookAt(this.lookat);
    three.fov = 2 * MathUtils.radToDeg(Math.atan(this.widened * Math.tan(MathUtils.degToRad(this.fovy) / 2)));
    three.near = 0.01 * Math.min(this.distance, this.extent);
    three.far = 20 * this.distance + 40 * this.extent;
    three.updateProjectionMatrix();
    three.updateMatrixWorld();
  }

  /**
   * The size of what it draws on (CSS pixels), of which so much at the left and at the bottom is covered: the middle moves
   * aside. The field of view fits into what is free; it is that of the height where this is the smaller side.
   */
  frame(width, height, { left, bottom }) {
    this.framed = [width, height, { left, bottom }];
    this.three.aspect = width / height;
    if (this.mounted) {
      const [right, down] = this.mounted.shift;
      this.three.setViewOffset(width, height, -right * width, -down * height, width, height);
      return;
    }
    const [aside, below] = [Math.min(left, 0.5 * width), Math.min(bottom, 0.75 * height)];
    this.widened = height / Math.min(height - below, width - aside);
    this.three.setViewOffset(width, height, -aside / 2, below / 2, width, height);
    this.update();
  }

  reframe() {
    if (this.framed) this.frame(...this.framed);
    else this.update();
  }

  /** Degrees. */
  turn(azimuth, elevation) {
    this.release();
    this.azimuth += azimuth;
    this.elevation = MathUtils.clamp(this.elevation + elevation, -STEEP, STEEP);
    this.update();
  }

  /** Move sideways and up, in parts of the view's height. */
  pan(right, up) {
    this.release();
    const height = 2 * this.distance * Math.tan(MathUtils.degToRad(this.three.fov) / 2);
    const side = new Vector3().setFromMatrixColumn(this.three.matrixWorld, 0);
    const top = new Vector3().setFromMatrixColumn(this.three.matrixWorld, 1);
    this.lookat.addScaledVector(side, right * height).addScaledVector(top, up * height);
    this.update();
  }

  zoom(factor) {
    this.release();
    this.distance = MathUtils.clamp(this.distance * factor, 0.02 * this.extent, 60 * this.extent);
    this.update();
  }

  /** Look at a point without turning. */
  lookAt(point) {
    this.lookat.copy(point);
    this.update();
  }
}
