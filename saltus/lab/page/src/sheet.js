/** The panel as a sheet under the view in narrow windows: its grip is dragged, tapped, or moved by the arrow keys. */

import { byId } from './dom.js';

const [USUAL, TALL, MOST] = [44, 70, 85];  // % of the height of view and panel
const FOLDS = 12;  // %: a sheet that is dragged lower is folded
const STEP = 8;  // % by an arrow
const TAP = 6;  // pixels: less is no drag

export class Sheet {
  constructor() {
    this.grip = byId('grip');
    this.panel = byId('panel');
    byId('fold').onclick = () => this.fold(!document.body.classList.contains('folded'));
    this.grip.onpointerdown = (event) => this.down(event);
    this.grip.onpointermove = (event) => this.start && this.move(event);
    this.grip.onpointerup = (event) => this.up(event);
    this.grip.onpointercancel = (event) => this.up(event);
    this.grip.onkeydown = (event) => this.key(event);
    this.resize(USUAL);
  }

  fold(folded) {
    document.body.classList.toggle('folded', folded);
    byId('fold').setAttribute('aria-expanded', String(!folded));
  }

  /** Set the height in percent. */
  resize(height) {
    this.height = Math.min(Math.max(height, 0), MOST);
    this.panel.style.setProperty('--sheet', `${this.height}%`);
    this.grip.setAttribute('aria-valuenow', Math.round(this.height));
  }

  /** Fold a sheet that is too low to be useful; it unfolds to the usual height. */
  settle() {
    if (this.height >= FOLDS) return;
    this.fold(true);
    this.resize(USUAL);
  }

  down(event) {
    event.preventDefault();  // no click on elements that move under the finger
    this.grip.setPointerCapture(event.pointerId);
    this.start = { y: event.clientY, height: this.height, moved: false };
  }

  move(event) {
    const up = this.start.y - event.clientY;
    this.start.moved ||= Math.abs(up) > TAP;
    if (this.start.moved) this.resize(this.start.height + (100 * up) / this.panel.parentElement.clientHeight);
  }

  up(event) {
    if (!this.start) return;
    const tapped = !this.start.moved && event.type === 'pointerup';
    this.start = null;
    if (tapped) this.resize(this.height < TALL ? TALL : USUAL);
    else this.settle();
  }

  key(event) {
    const step = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    this.resize(this.height + step);
    this.settle();
  }
}
