/** The 3-D view: lights, one shadow, the mechanism, its ghosts and overlays. Draws only when something changed. */

import {
  BasicShadowMap, DirectionalLight, HemisphereLight, Matrix4, Object3D, PCFShadowMap, Raycaster, Scene, Vector2,
  Vector3, WebGLRenderer,
} from 'three';
import { OrbitCamera } from './camera.js';
import { Frames } from './frames.js';
import { Gizmo, groundGrid } from './ground.js';
import { Mechanism, poseMatrix, sceneGeometries } from './mechanism.js';
import { Motors } from './motors.js';
import { centreOfMass, centreOfPressure, Contacts, Spring } from './overlays.js';
import { Ruler } from './ruler.js';
import { drawsInSoftware, Quality } from './quality.js';
import { sky } from './sky.js';
import { makeFlex, Tendon } from './strands.js';

Object3D.DEFAULT_UP.set(0, 0, 1);
const SUN = new Vector3(-0.45, -0.6, 1.3).normalize();  // towards the light
const [FINE, COARSE] = [32, 16];  // segments of a circle; without a graphics processor every corner counts
const RING = 6;  // pixels between the rings searched around a finger
const SAME = 1e-3;  // of the extent: distance within which a ghost is hidden

export class Stage {
  /** Throws if the browser has no WebGL. */
  constructor(canvas) {
    this.software = drawsInSoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, alpha: this.software, powerPreference: 'high-performance' });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = this.software ? BasicShadowMap : PCFShadowMap;
    this.canvas = canvas;
    this.camera = new OrbitCamera();
    this.three = new Scene();
    this.light();
    this.quality = new Quality(this.renderer, this.sun.shadow, this.software, () => this.draw());
    this.sky = sky(() => this.ask());
    // without a graphics processor, the page shows the same sky behind the canvas at no cost
    this.three.background = this.software ? null : this.sky;
    canvas.classList.toggle('before-sky', this.software);
    this.scene = null;
    this.frame = null;
    this.following = null;
    this.drawn = 0;
    this.note = [];
    this.asked = false;
    this.covered = { left: 0, bottom: 0 };
    this.raycaster = new Raycaster();
    this.ruler = new Ruler(this);
    this.gizmo = new Gizmo();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    canvas.addEventListener('webglcontextrestored', () => this.ask());
  }

  light() {
    this.sun = new DirectionalLight(0xfff4e6, 2.0);
    this.sun.castShadow = true;
    this.sun.shadow.radius = 3;
    // a weak light from the camera, so that nothing is dark from any direction
    const lamp = new DirectionalLight(0xffffff, 0.7);
    lamp.position.set(0, 0, 1);
    this.camera.three.add(lamp, lamp.target);
    const around = new HemisphereLight(0xf4f8ff, 0x8a8378, 1.5);
    this.three.add(around, this.sun, this.sun.target, this.camera.three);
  }

  /** Show a scene in place of the last one. */
  load(scene) {
    this.clear();
    const geometries = sceneGeometries(scene, this.software ? COARSE : FINE);
    this.geometries = new Set(geometries);
    this.main = new Mechanism(scene, geometries, { sharpness: this.software ? 1 : 8, plain: this.software });
    this.ghosts = scene.ghosts.map(({ color }) => new Mechanism(scene, geometries, { ghost: color }));
    this.tendons = scene.tendons.map((tendon) => new Tendon(tendon, scene.extent));
    this.flexes = scene.flexes.map((flex) => makeFlex(flex, scene.extent));
    this.contacts = new Contacts(scene.extent);
    this.com = centreOfMass(scene.extent);
    this.cop = centreOfPressure(scene.extent);
    this.motors = new Motors(scene, this.main);
    this.spring = new Spring(scene.extent);
    this.frames = new Frames(scene);
    this.grid = groundGrid(scene);
    if (this.grid) this.three.add(this.grid);
    this.ruler.load(scene);
    this.three.add(
      this.main.root, ...this.ghosts.map((ghost) => ghost.root), ...this.tendons.map((tendon) => tendon.mesh),
      ...this.flexes.map((flex) => flex.mesh), this.contacts.group, this.com.ball, this.cop.ball, this.spring.group,
      this.motors.group, this.frames.group,
    );
    this.scene = scene;
    this.camera.mount(null);
    this.camera.extent = scene.extent;
    this.camera.home = scene.camera;
    this.camera.goHome();
    this.ask();
  }

  clear() {
    if (!this.scene) return;
    for (const part of [this.main, ...this.ghosts, ...this.tendons, ...this.flexes, this.contacts, this.motors, this.frames]) part.dispose();
    this.com.ball.removeFromParent();
    this.cop.ball.removeFromParent();
    this.grid?.removeFromParent();
    this.grid?.dispose();
    this.spring.group.removeFromParent();
    for (const geometry of this.geometries) geometry?.dispose();
    this.scene = this.frame = this.following = null;
  }

  /** Show a frame of the present scene. */
  show(frame) {
    this.frame = frame;
    this.main.pose(frame.bodies[0]);
    this.ghosts.forEach((ghost, i) => ghost.pose(frame.bodies[i + 1], frame.bodies[0], SAME * this.scene.extent));
    this.tendons.forEach((tendon, i) => tendon.update(frame.tendons[i]));
    this.flexes.forEach((flex, i) => flex.update(frame.flexes[i]));
    this.com.update(frame.com);
    this.cop.update(frame.cop);
    this.motors.update(frame);
    this.frames.update(frame);
    this.note = this.contacts.group.visible ? this.contacts.update(frame.contacts) : [];
    this.follow();
    this.look();
    this.ask();
  }

  /** Look through a camera of the model, by its number, or by hand (null). */
  mount(index) {
    this.mounted = index;
    this.camera.mount(index === null ? null : this.scene.cameras[index]);
    this.look();
    this.ask();
  }

  look() {
    if (!this.camera.mounted || !this.frame) return;
    this.camera.carry(poseMatrix(this.frame.cameras[this.mounted], 0, new Matrix4()));
  }

  /** Update the view after a toggle. */
  refresh() {
    if (this.frame) this.show(this.frame);
  }

  showGhosts(on) {
    for (const ghost of this.ghosts ?? []) ghost.show(on);
    this.ask();
  }

  /** Keep a body in the centre of the view, or none (null). */
  setFollow(body) {
    this.following = body;
    this.follow();
    this.ask();
  }

  follow() {
    if (this.following === null || !this.frame || this.camera.mounted) return;
    const point = this.worldPoint(this.following, this.main.middle(this.following));
    if (point && Number.isFinite(point.x)) this.camera.lookAt(point);
  }

  /** A point in a body's frame, in the world; null before the first frame. */
  worldPoint(body, point) {
    if (!this.frame) return null;
    return new Vector3().copy(point).applyMatrix4(poseMatrix(this.frame.bodies[0], body, new Matrix4()));
  }

  /** A point of the world in a body's frame. */
  bodyPoint(body, point) {
    return point.clone().applyMatrix4(poseMatrix(this.frame.bodies[0], body, new Matrix4()).invert());
  }

  /** Whether a body can move. */
  moves(body) {
    return body > 0 && (this.scene.moving?.[body] ?? true);
  }

  /** Position of a world point on the page: {x, y} in CSS pixels. */
  pixel(point) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const seen = point.clone().project(this.camera.three);
    return { x: left + (0.5 + 0.5 * seen.x) * width, y: top + (0.5 - 0.5 * seen.y) * height };
  }

  /** The ray through a place on the page. */
  ray(clientX, clientY) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const place = new Vector2((2 * (clientX - left)) / width - 1, 1 - (2 * (clientY - top)) / height);
    this.raycaster.setFromCamera(place, this.camera.three);
    return this.raycaster.ray;
  }

  /**
   * What is under a place on the page: {body, point} of the run itself, or null. A finger hides what it points at: if no
   * body that moves is under the place, the nearest one not farther than `around` pixels is meant.
   */
  pick(clientX, clientY, around = 0) {
    if (!this.frame) return null;
    this.main.root.updateMatrixWorld(true);
    const shapes = this.main.shapes.filter((mesh) => mesh.visible);
    const at = (x, y) => {
      this.ray(x, y);
      const [hit] = this.raycaster.intersectObjects(shapes, false);
      return hit ? { body: hit.object.userData.body, point: hit.point } : null;
    };
    const under = at(clientX, clientY);
    if (under && this.moves(under.body)) return under;
    for (let radius = RING; radius <= around; radius += RING) {
      for (let angle = 0; angle < 2 * Math.PI; angle += Math.PI / 6) {
        const near = at(clientX + radius * Math.cos(angle), clientY + radius * Math.sin(angle));
        if (near && this.moves(near.body)) return near;
      }
    }
    return under;
  }

  /** Set the pixels covered at the left by readings and at the bottom by buttons. */
  cover(left, bottom) {
    if (left === this.covered.left && bottom === this.covered.bottom) return;
    this.covered = { left, bottom };
    this.resize();
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    if (!clientWidth || !clientHeight) return;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.frame(clientWidth, clientHeight, this.covered);
    this.look();
    this.draw();  // at once: a resized canvas is empty
  }

  /** Draw in the browser's next animation frame. */
  ask() {
    this.quality.active();
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  /** The view as a PNG. The canvas keeps a picture only until the browser has shown it. */
  picture() {
    const { background } = this.three;
    this.three.background = this.sky;
    this.draw();
    this.three.background = background;
    return new Promise((take) => this.canvas.toBlob(take, 'image/png'));
  }

  draw() {
    if (!this.scene) return;
    this.ruler.update();
    this.quality.before();
    this.main.centreFloors(this.camera.lookat, SUN, this.aimSun());
    this.renderer.render(this.three, this.camera.three);
    this.gizmo.update(this.camera.three);
    this.drawn += 1;
  }

  /** Fit the shadow map to the visible part of the scene; returns its reach, m. */
  aimSun() {
    const { extent, distance, lookat } = this.camera;
    const reach = Math.min(Math.max(0.9 * distance, 0.5 * extent), 2.5 * extent);
    this.sun.target.position.copy(lookat);
    this.sun.position.copy(lookat).addScaledVector(SUN, 4 * reach);
    const { camera } = this.sun.shadow;
    // offset by a pixel of the map, so that surfaces do not shade themselves
    this.sun.shadow.normalBias = (4 * reach) / this.sun.shadow.mapSize.x;
    if (camera.right !== reach) {
      Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.5 * reach, far: 9 * reach });
      camera.updateProjectionMatrix();
    }
    return reach;
  }
}
