/** Sliders of the scene, by group, each with a number that can be typed. */

import { byId, element, numberIn, short, show } from './dom.js';

const TITLES = { control: 'Controls', input: 'Inputs', joint: 'Joints', parameter: 'Parameters', servo: 'Servo' };
const SETTLE = 600;  // ms
const OPEN = ['control', 'input', 'servo'];

export class Sliders {
  /** @param {(id, value) => void} send called at most once per picture for each slider */
  constructor(send) {
    this.send = send;
    this.rows = new Map();
    this.waiting = new Map();
  }

  load(sliders) {
    this.rows.clear();
    this.waiting.clear();
    const groups = Map.groupBy ? Map.groupBy(sliders, ({ group }) => group) : grouped(sliders);
    byId('sliders').replaceChildren(...[...groups].map(([group, own]) => this.section(group, own)));
  }

  section(group, sliders) {
    const body = element('fieldset', { className: 'body' }, ...sliders.map((slider) => this.row(slider)));
    const title = element('summary', { textContent: TITLES[group] ?? group });
    const made = element('details', { open: OPEN.includes(group) || sliders.length <= 4 }, title, body);
    made.dataset.group = group;
    return made;
  }

  row({ id, label, min, max, value, unit, step }) {
    const range = element('input', { type: 'range', 'aria-label': `${label}${unit ? `, ${unit}` : ''}` });
    // any value may come from the server; the arrows move by the step
    Object.assign(range, { min, max, step: step || (max - min) / 1000, value });
    const number = element('input', { type: 'number', min, max, step: 'any', 'aria-label': `${label}, as a number` });
    const caption = element('span', { className: 'caption', textContent: label, title: label });
    const field = element('span', { className: 'with-unit' }, number, element('span', { textContent: unit ?? '', hidden: !unit }));
    range.oninput = () => this.change(id, range.valueAsNumber, number);
    number.onchange = () => this.typed(id, number, range);
    const row = element('div', { className: 'slider' }, caption, field, range);
    row.dataset.slider = id;
    this.rows.set(id, { range, number, changed: -SETTLE });
    this.set(id, value);
    return row;
  }

  typed(id, number, range) {
    const value = numberIn(number);
    if (value === null) number.value = short(this.rows.get(id).value);
    else this.change(id, value, range);
  }

  /** Send at most once per picture; values from the server are older meanwhile and ignored for a moment. */
  change(id, value, other) {
    other.value = short(value);
    if (!this.waiting.size) requestAnimationFrame(() => this.flush());
    this.waiting.set(id, value);
    Object.assign(this.rows.get(id), { value, changed: performance.now() });
  }

  flush() {
    for (const [id, value] of this.waiting) this.send(id, value);
    this.waiting.clear();
  }

  /** Show a slider's value from the server. */
  set(id, value) {
    const row = this.rows.get(id);
    if (!row || this.waiting.has(id) || performance.now() - row.changed < SETTLE) return;
    row.value = value;
    show(row.number, short(value));
    if (!row.range.matches(':active')) row.range.value = value;
  }
}

function grouped(sliders) {
  const groups = new Map();
  for (const slider of sliders) groups.set(slider.group, [...(groups.get(slider.group) ?? []), slider]);
  return groups;
}
