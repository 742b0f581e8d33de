/** Buttons for the keys of the scene: a press, or as long as they are held, by mouse, finger or keyboard. */

import { byId, element } from './dom.js';

export class Actions {
  /** @param {(type, fields) => void} send */
  constructor(send) {
    this.send = send;
    this.shown = [];
  }

  load(actions) {
    this.shown = actions.map((action) => ({ ...action, button: this.button(action) }));
    const groups = new Map(this.shown.map(({ group }) => [group, element('span', {})]));
    for (const { group, button } of this.shown) groups.get(group).append(button);
    byId('actions').replaceChildren(...groups.values());
  }

  button({ key, label, hold }) {
    const made = element('button', { type: 'button', textContent: label, title: `${label} (${key})`, 'aria-keyshortcuts': key });
    let down = false;
    const press = () => {
      if (down) return;
      down = true;
      this.send('keydown', { key });
    };
    const lift = () => {
      if (!down) return;
      down = false;
      this.send('keyup', { key });
    };
    if (!hold) {
      made.onclick = () => {
        press();
        lift();
      };
      return made;
    }
    made.onpointerdown = press;
    made.onkeydown = ({ key: pressed }) => [' ', 'Enter'].includes(pressed) && press();
    made.oncontextmenu = (event) => event.preventDefault();  // opened by a long touch
    for (const end of ['pointerup', 'pointerleave', 'pointercancel', 'keyup', 'blur']) made.addEventListener(end, lift);
    return made;
  }

  /** Show the state of toggling buttons. */
  update(status) {
    for (const { button, when } of this.shown) {
      if (!when) continue;
      const [field, value] = when;
      button.setAttribute('aria-pressed', String(status[field] === value));
      const wanted = field === 'integrator' && status.building && status.wanted === value;
      button.classList.toggle('pending', wanted && status[field] !== value);
    }
  }
}
