/** The Butcher tableau of a Runge-Kutta method, and the slopes k of its last step. */

import { byId, element, short } from './dom.js';

const DIGITS = 5;
const cell = (text, tag = 'td') => element(tag, { textContent: text });
const row = (...cells) => element('tr', {}, ...cells);

export class Method {
  constructor() {
    this.known = '';
  }

  /** @param {?{name, order, dofs, c, a, b, slopes}} method of a status; null for a method without a tableau */
  update(method) {
    byId('method-section').hidden = !method;
    if (!method) return;
    const { name, order, c, a, b } = method;
    const tableau = JSON.stringify([name, c, a, b]);
    if (tableau !== this.known) {
      this.known = tableau;
      byId('method-name').textContent = `${name.replaceAll('_', ' ')}, order ${order}`;
      byId('tableau').replaceChildren(
        ...c.map((node, i) => row(cell(node, 'th'), ...a[i].map((value) => cell(value === '0' ? '' : value)))),
        row(cell('', 'th'), ...b.map((value) => cell(value))),
      );
    }
    if (byId('method-section').open) this.slopes(method);
  }

  slopes({ slopes, dofs }) {
    byId('slopes').hidden = !slopes;
    const rest = slopes && dofs > slopes.length ? ` The first ${slopes.length} of ${dofs} coordinates.` : '';
    byId('slopes-note').textContent = slopes
      ? `kᵢ of the last step: rates and accelerations at t + cᵢ h. The step adds h Σ bᵢ kᵢ.${rest}`
      : 'kᵢ: take a step. They are kept for explicit methods of fixed steps.';
    if (!slopes) return;
    const head = row(cell('', 'th'), ...slopes.flatMap(({ name }) => [cell(`${name}′`, 'th'), cell(`${name}″`, 'th')]));
    const stages = slopes[0].rates.map((_, i) => row(cell(`k${i + 1}`, 'th'),
      ...slopes.flatMap(({ rates, accelerations }) => [cell(short(rates[i], DIGITS)), cell(short(accelerations[i], DIGITS))])));
    byId('slopes').replaceChildren(head, ...stages);
  }
}
