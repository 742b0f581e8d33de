/** A ruler: two points clicked on the mechanism, which stay on their bodies, and their distance. */

import { Vector3 } from 'three';
import { byId } from './dom.js';
import { Spring } from './overlays.js';

export class Ruler {
  constructor(stage) {
    this.stage = stage;
    this.on = false;
    this.points = [];
    this.distance = null;
  }

  load(scene) {
    this.mark?.group.removeFromParent();
    this.mark = new Spring(scene.extent, '#1f6f78');
    this.stage.three.add(this.mark.group);
    this.points = [];
    this.update();
  }

  toggle(on) {
    this.on = on;
    this.points = [];
    this.update();
    this.stage.canvas.classList.toggle('measuring', on);
    this.stage.ask();
  }

  /** A click at a place on the page, or so many pixels around it: the first point, the second, or the first of another pair. */
  click(clientX, clientY, around) {
    const hit = this.stage.pick(clientX, clientY, around);
    if (!hit) return;
    if (this.points.length === 2) this.points = [];
    this.points.push({ body: hit.body, point: this.stage.bodyPoint(hit.body, hit.point) });
    this.update();
    this.stage.ask();
  }

  /** Update the positions of the points. */
  update() {
    const label = byId('ruler-label');
    label.hidden = !this.on;
    if (!this.mark) return;
    const places = this.points.map(({ body, point }) => this.stage.worldPoint(body, point));
    if (!this.on || !places.length) this.mark.hide();
    else this.mark.between(places[0], places.at(-1));
    this.distance = places.length === 2 ? places[0].distanceTo(places[1]) : null;
    const next = ['Pick the first point', 'Pick the second point'][places.length];
    label.textContent = next ?? `${Number(this.distance.toPrecision(4))} m`;
    this.place(label, places);
  }

  /** The label beside the middle of the line; at the top while there is none. */
  place(label, places) {
    if (places.length < 2) return label.removeAttribute('style');
    const { left, top, right } = this.stage.canvas.getBoundingClientRect();
    const { x, y } = this.stage.pixel(new Vector3().addVectors(...places).multiplyScalar(0.5));
    return label.setAttribute('style', `left: ${Math.min(x, right - label.offsetWidth - 20) - left}px; top: ${y - top}px; translate: 10px -50%`);
  }
}
