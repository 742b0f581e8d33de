/** Mouse and fingers in the view: pull a body, turn, move and zoom the camera. */

import { Plane, Vector3 } from 'three';

const TURN = 0.35;  // degrees per pixel
const CLICK = 4;  // pixels: less is no drag
const FINGER = { drag: 8, around: 24, again: 30 };  // pixels: shorter moves are no drag; reach around a body; distance between two taps
const AGAIN = 350;  // ms between the two taps of a double tap

export class Pointer {
  /**
   * @param {{mayPull: () => boolean, drag, release, select}} to
   *   drag(body, point in the body's frame, target in the world), release(), select(body or null)
   */
  constructor(stage, to) {
    this.stage = stage;
    this.to = to;
    this.pull = null;
    this.fingers = new Map();
    this.touch = false;
    this.tapped = null;
    const { canvas } = stage;
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      canvas.addEventListener(name, (event) => this.up(event));
    }
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('dblclick', (event) => this.touch || this.centre(event));
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  down(event) {
    const { stage } = this;
    stage.canvas.focus({ preventScroll: true });
    stage.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.touch = event.pointerType === 'touch';
    if (this.fingers.size > 1) {
      this.start.moved = true;  // no longer a tap
      return this.letGo();
    }
    this.start = { x: event.clientX, y: event.clientY, moved: false };
    this.panning = event.button !== 0 || event.shiftKey;
    if (this.panning || event.ctrlKey || event.altKey || stage.ruler.on) return;
    const hit = this.pick(event);
    if (!hit || !stage.moves(hit.body)) return;
    this.to.select(hit.body);
    if (!this.to.mayPull()) return;
    const plane = new Plane().setFromNormalAndCoplanarPoint(stage.camera.forward(), hit.point);
    const { x, y } = this.touch ? stage.pixel(hit.point) : { x: event.clientX, y: event.clientY };
    this.pull = {
      body: hit.body, point: stage.bodyPoint(hit.body, hit.point), plane, target: hit.point.clone(),
      beside: [x - event.clientX, y - event.clientY],
    };
    stage.canvas.classList.add('pulling');
    this.sendPull();
  }

  pick({ clientX, clientY }) {
    return this.stage.pick(clientX, clientY, this.touch ? FINGER.around : 0);
  }

  move(event) {
    const last = this.fingers.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    if (this.fingers.size === 2) this.pinch(event, last, dx, dy);
    last.x = event.clientX;
    last.y = event.clientY;
    if (this.fingers.size > 1) return;
    this.start.moved ||= Math.hypot(event.clientX - this.start.x, event.clientY - this.start.y) > (this.touch ? FINGER.drag : CLICK);
    const { camera, canvas } = this.stage;
    if (this.pull) {
      const [dx, dy] = this.pull.beside;
      if (this.stage.ray(event.clientX + dx, event.clientY + dy).intersectPlane(this.pull.plane, this.pull.target)) this.sendPull();
    } else if (this.panning) camera.pan(-dx / canvas.clientHeight, dy / canvas.clientHeight);
    else camera.turn(-TURN * dx, -TURN * dy);
    this.stage.ask();
  }

  /** Two fingers: their middle moves the camera, their distance zooms. */
  pinch(event, last, dx, dy) {
    const { camera, canvas } = this.stage;
    const [other] = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    if (before > 0 && after > 0) camera.zoom(before / after);
    camera.pan(-dx / 2 / canvas.clientHeight, dy / 2 / canvas.clientHeight);
    this.stage.ask();
  }

  up(event) {
    if (!this.fingers.delete(event.pointerId)) return;
    const still = this.start && !this.start.moved && event.type === 'pointerup' && event.button === 0;
    const clicked = !this.pull && still;
    if (clicked && this.stage.ruler.on) this.stage.ruler.click(event.clientX, event.clientY, this.touch ? FINGER.around : 0);
    else if (clicked) {
      const hit = this.pick(event);
      if (!hit || !this.stage.moves(hit.body)) this.to.select(null);
    }
    this.letGo();
    if (this.touch && still) this.tap(event);
  }

  /** A double tap at a place looks at it. Browsers' own double-tap events differ. */
  tap(event) {
    const first = this.tapped;
    const { clientX: x, clientY: y, timeStamp: time } = event;
    const again = first && time - first.time < AGAIN && Math.hypot(x - first.x, y - first.y) < FINGER.again;
    this.tapped = again ? null : { x, y, time };
    if (again) this.centre(event);
  }

  /** Send one message per picture, with the newest target. */
  sendPull() {
    if (this.pull.asked) return;
    this.pull.asked = true;
    requestAnimationFrame(() => {
      if (!this.pull) return;
      this.pull.asked = false;
      this.to.drag(this.pull.body, this.pull.point, this.pull.target);
    });
  }

  letGo() {
    if (!this.pull) return;
    this.pull = null;
    this.stage.canvas.classList.remove('pulling');
    this.to.release();
  }

  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 20 : 1;
    this.stage.camera.zoom(Math.exp(0.0012 * lines * event.deltaY));
    this.stage.ask();
  }

  centre(event) {
    const hit = this.pick(event);
    if (!hit || this.stage.ruler.on) return;
    this.stage.camera.release();
    this.stage.camera.lookAt(hit.point);
    this.stage.ask();
  }

  /** Arrows turn or, with Shift, move; plus and minus zoom; Home is the default view. */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { camera } = this.stage;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (arrow && event.shiftKey) camera.pan(0.03 * arrow[0], 0.03 * arrow[1]);
    else if (arrow) camera.turn(4 * arrow[0], -4 * arrow[1]);
    else if (event.key === '+' || event.key === '=') camera.zoom(0.9);
    else if (event.key === '-') camera.zoom(1 / 0.9);
    else if (event.key === 'Home') camera.goHome();
    else return;
    event.preventDefault();
    this.stage.ask();
  }
}

/** World positions of both ends of a pull's spring, or null. */
export function springEnds(stage, { body, point, target }) {
  const from = stage.worldPoint(body, point);
  return from && { from, to: new Vector3().copy(target) };
}
