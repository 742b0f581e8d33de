/** Space for the mechanism: covered parts of the view, so that the centre of the scene is not under them. */

import { byId } from './dom.js';

const AT_BOTTOM = ['actions', 'seek-bar'];
const FEW = 0.2;  // of the view's height: smaller elements may cover the scene

export class Room {
  /** @param {(left, bottom) => void} cover called with the covered pixels at the left and at the bottom of the view */
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
    view.style.setProperty('--taken', `${taken}px`);  // the readings end above
    const left = hud.hidden ? 0 : byId('readings').offsetLeft + hud.offsetWidth;
    this.cover(left, taken > FEW * view.clientHeight ? taken : 0);
  }
}
