/** Additions from Python: buttons and sliders, in their own section. */

import { byId, element } from './dom.js';

export class Extras {
  /**
   * @param {(type, fields) => void} send
   * @param sliders the sliders of the page, which also make these rows
   */
  constructor(send, sliders) {
    this.send = send;
    this.sliders = sliders;
  }

  load({ sliders, buttons }) {
    byId('extras-section').hidden = sliders.length + buttons.length === 0;
    const made = buttons.map(({ id, label, off }) => element('button', {
      type: 'button', textContent: label, disabled: off, title: off ? 'Switched off after an error' : label,
      onclick: () => this.send('button', { id }),
    }));
    const row = element('div', { className: 'buttons', role: 'group', 'aria-label': 'Buttons' }, ...made);
    const rows = sliders.map((slider) => {
      const own = this.sliders.row(slider);
      if (slider.off) for (const field of own.querySelectorAll('input')) field.disabled = true;
      return own;
    });
    byId('extras').replaceChildren(...(made.length ? [row] : []), ...rows);
  }
}
