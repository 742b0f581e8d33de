/** Room for the mechanism: what lies over the view, so that the middle of the scene stands beside it, not under it. */

import { byId } from './dom.js';

const AT_BOTTOM = ['actions', 'seek-bar'];
const FEW = 0.2;  // of the view's height: what takes less may stand over the scene

export class Room {
  /** @param {(left, bottom) => void} cover told how many pixels of the view are covered at its left and at its bottom */
  constructor(cover) {
    this.cover = cover;
    const watch = new ResizeObserver(() => this.make());
    for (const id of ['view', 'hud', ...AT_BOTTOM]) watch.observe(byId(id));
  }

  make() {
    const [view, hud] = [byId('view'), byId('hud')];
    const end = view.getBoundingClientRect().bottom;
    const shown = AT_BOTTOM.map(byId).filter((part) => part.offsetHeight);
    const taken = Math.max(0, ...shown.map((part) => end - part.getBoundingClientRect().top));
    view.style.setProperty('--taken', `${taken}px`);  // the readings end above it
    const left = hud.hidden ? 0 : byId('readings').offsetLeft + hud.offsetWidth;
    this.cover(left, taken > FEW * view.clientHeight ? taken : 0);
  }
}
