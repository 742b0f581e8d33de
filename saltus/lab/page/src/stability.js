/** Warning about an instability of integrator, step and gains while it lasts, with a stable step. */

import { byId, element } from './dom.js';
import { keepNotice } from './notices.js';

export class Stability {
  /** @param {(type, fields) => void} send */
  constructor(send) {
    this.send = send;
    this.text = null;
  }

  /** @param verdict {text, timestep} of a status, or null if stable */
  update(verdict) {
    const text = verdict?.text ?? null;
    if (text === this.text) return;
    this.text = text;
    byId('stability').hidden = !text;
    if (!text) return;
    keepNotice('warning', text);
    const close = element('button', { type: 'button', textContent: '×', 'aria-label': 'Dismiss' });
    close.onclick = () => (byId('stability').hidden = true);
    const use = element('button', { type: 'button', className: 'act', textContent: `Use ${verdict.timestep} s` });
    use.onclick = () => this.send('timestep', { value: verdict.timestep });
    byId('stability').replaceChildren(element('span', { textContent: text }), ...(verdict.timestep ? [use] : []), close);
  }
}
