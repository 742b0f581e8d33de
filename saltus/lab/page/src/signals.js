/** Plots of the chosen signals over time, with equal units on the same axes, and the list to choose from. */

import uPlot from 'uplot';
import { axis, beside, padded, style, tick } from './axes.js';
import { curve, markNow } from './curve.js';
import { byId, element } from './dom.js';
import { pace } from './quality.js';
import { firstFrom, Samples } from './samples.js';

const HEIGHT = 150;
const MOST_ROWS = 200;  // rows shown of a list
const TURN = 2 * Math.PI;
const QUANTITIES = {
  rad: 'angle', m: 'position', 'rad/s': 'velocity', 'm/s': 'velocity', 'N m': 'torque', N: 'force', J: 'energy', 'm/s²': 'acceleration',
  'rad/s²': 'acceleration',
};
const COLOURS = ['--main', '#d55e00', '#2b7fc2', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6d46'];

export class Signals {
  /** @param {(ids) => void} choose asks the server to plot these signals instead */
  constructor(choose) {
    this.ask = choose;
    this.window = byId('signal-window');
    this.filter = byId('signal-filter');
    this.window.addEventListener('change', () => this.redraw());
    this.filter.addEventListener('input', () => this.fillList());
    byId('signal-preset').onclick = () => this.ask(this.preset);
    byId('signal-none').onclick = () => this.ask([]);
    byId('choose-signals').addEventListener('toggle', () => this.fillList());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.build());
    new ResizeObserver(() => this.resize()).observe(byId('signal-plots'));
    this.clear();
  }

  /** Clear everything for another scene. */
  clear(replay = false) {
    Object.assign(this, { revision: -1, signals: [], preset: [], room: 1, hidden: new Set(), replay, now: null, built: '' });
    if (replay) this.window.value = 'all';
    this.samples = new Samples(1);
    this.filter.value = '';
    this.build();
    this.fillList();
  }

  /** Take over the list of signals. */
  list({ revision, signals, preset, room, most }) {
    Object.assign(this, { revision, signals, preset, room, most });
    this.byId = new Map(signals.map((signal) => [signal.id, signal]));
    byId('signals-section').hidden = signals.length === 0;
    this.fillList();
  }

  /** Take over samples of the chosen signals. */
  push(made) {
    if (made.revision !== this.revision) throw new Error(`samples of list ${made.revision}, where ${this.revision} is known`);
    if (made.anew) {
      this.samples = new Samples(this.room, made.places);
      const wanted = `${made.revision}: ${made.places}`;
      if (wanted !== this.built) {  // after a reset the plots stay
        this.built = wanted;
        this.build();
        this.markChosen();
      }
    }
    this.samples.push(made);
    this.soon();
  }

  /** Set the displayed time, which a mark shows in a recording. */
  time(now) {
    if (!this.replay || this.now === now) return;
    this.now = now;
    this.soon();
  }

  soon() {
    if (this.waiting) return;
    this.waiting = setTimeout(() => {
      this.waiting = 0;
      this.redraw();
    }, pace.plots);
  }

  /** Ids of the plotted signals. */
  get chosen() {
    return this.samples.places.map((place) => this.signals[place]?.id).filter((id) => id !== undefined);
  }

  // ------------------------------------------------------------ the plots

  build() {
    for (const { plot } of this.plots ?? []) plot.destroy();
    this.plots = [];
    const groups = new Map();
    for (const place of this.samples.places) {
      const { unit, group } = this.signals[place];
      const key = unit || group;
      groups.set(key, [...(groups.get(key) ?? []), place]);
    }
    const parts = [...groups].map(([key, places]) => this.part(key, places));
    byId('signal-plots').replaceChildren(...parts.flatMap(({ frame, legend }) => [frame, legend]));
    byId('no-signals').hidden = parts.length > 0;
    for (const part of parts) this.plots.push(this.plot(part));
    this.redraw();
  }

  /** The place of one plot and the legend under it. */
  part(key, places) {
    const own = places.map((place) => this.signals[place]);
    const unit = own[0].unit;
    const title = unit ? `${QUANTITIES[unit] ?? 'value'}, ${unit}` : key.toLowerCase();
    const frame = element('div', { className: 'plot signal', role: 'img', 'aria-label': `${own.map(({ label }) => label).join(', ')} over time: ${title}` });
    const legend = element('div', { className: 'legend', role: 'group', 'aria-label': `Lines of the plot of ${title}` });
    return { frame, legend, own: places, signals: own, title };
  }

  plot(part) {
    const colours = part.own.map((_, i) => COLOURS[i % COLOURS.length]).map((colour) => (colour.startsWith('--') ? style(colour) : colour));
    const made = { ...part, buttons: part.signals.map((signal, i) => this.legendButton(part, signal, colours[i])) };
    part.legend.replaceChildren(...made.buttons);
    made.plot = new uPlot({
      width: Math.max(part.frame.clientWidth, 100), height: HEIGHT, legend: { show: false }, padding: [6, 14, 0, 0],
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 }, sync: { key: 'signals' } },
      scales: {
        x: { time: false, range: (_, low, high) => (low < high ? [low, high] : [low ?? 0, (low ?? 0) + 1]) },
        y: { range: padded },
      },
      axes: [axis('time, s'), beside(part.title)],
      series: [{}, ...part.signals.map(({ id, label, turns }, i) => (
        { label, stroke: colours[i], width: 1.5, points: { show: false }, paths: curve, turns, show: !this.hidden.has(id) }
      ))],
      hooks: { setCursor: [() => this.showValues(made)], draw: [(plot) => this.now !== null && markNow(plot, this.now)] },
    }, [[], ...part.own.map(() => [])], part.frame);
    return made;
  }

  legendButton(part, { id, label, unit }, colour) {
    const swatch = element('i', {});
    swatch.style.background = colour;
    const button = element('button', { type: 'button', 'aria-pressed': String(!this.hidden.has(id)) }, swatch,
      element('span', { textContent: label }), element('span', { className: 'value' }));
    button.title = `${id}: show or hide; the newest value, or that under the mouse${unit ? `, in ${unit}` : ''}`;
    button.onclick = () => {
      if (!this.hidden.delete(id)) this.hidden.add(id);
      button.setAttribute('aria-pressed', String(!this.hidden.has(id)));
      const { plot } = this.plots.find(({ frame }) => frame === part.frame);
      plot.setSeries(1 + part.signals.findIndex((signal) => signal.id === id), { show: !this.hidden.has(id) });
    };
    return button;
  }

  resize() {
    for (const { plot, frame } of this.plots) if (frame.clientWidth) plot.setSize({ width: frame.clientWidth, height: HEIGHT });
    this.redraw();
  }

  redraw() {
    if (!byId('signal-plots').clientWidth) return;
    const [times, ...columns] = this.samples.recent(this.window.value === 'all' ? Infinity : Number(this.window.value));
    for (const part of this.plots) {
      const shown = part.own.map((place, i) => wrapped(columns[this.samples.places.indexOf(place)], part.signals[i]));
      part.plot.setData([times, ...shown]);
      this.showValues(part);
    }
  }

  /** The newest values, or those under the cursor, in the legend. */
  showValues({ plot, buttons }) {
    const [times, ...columns] = plot.data;
    const at = plot.cursor.idx ?? (this.now === null ? times.length - 1 : Math.min(firstFrom(times, this.now), times.length - 1));
    columns.forEach((column, i) => {
      let k = at;
      while (k > 0 && column[k] === undefined) k -= 1;
      buttons[i].lastChild.textContent = column[k] == null ? '' : tick(Number(column[k].toPrecision(3)));
    });
  }

  // ------------------------------------------------------------ the list

  fillList() {
    const list = byId('signal-list');
    if (!byId('choose-signals').open) return list.replaceChildren();
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.signals.filter(({ id, label, unit, group }) => (
      words.every((word) => `${id} ${label} ${unit} ${group}`.toLowerCase().includes(word))
    ));
    if (words.length) return list.replaceChildren(...this.rows(found));
    const groups = new Map();
    for (const signal of found) groups.set(signal.group, [...(groups.get(signal.group) ?? []), signal]);
    const few = found.length <= 40;
    list.replaceChildren(...[...groups].map(([group, own]) => {
      const made = element('details', { open: few }, element('summary', { textContent: `${group} (${own.length})` }));
      const fill = () => made.open && made.childElementCount === 1 && made.append(...this.rows(own));
      made.addEventListener('toggle', fill);
      fill();
      return made;
    }));
  }

  /** Check boxes of the signals, at most MOST_ROWS. */
  rows(signals) {
    const chosen = new Set(this.chosen);
    const made = signals.slice(0, MOST_ROWS).map(({ id, label, unit }) => {
      const box = element('input', { type: 'checkbox', checked: chosen.has(id) });
      box.dataset.signal = id;
      box.onchange = () => this.toggle(id, box);
      const name = label === id ? id : `${label} = ${id}`;
      return element('label', { className: 'check' }, box, element('span', { textContent: name }), element('span', { className: 'unit', textContent: unit }));
    });
    const more = signals.length - made.length;
    if (more > 0) made.push(element('p', { className: 'hint', textContent: `and ${more} more: type a part of the name` }));
    if (!signals.length) made.push(element('p', { className: 'hint', textContent: 'Nothing has such a name.' }));
    return made;
  }

  toggle(id, box) {
    const others = this.chosen.filter((other) => other !== id);
    this.ask(box.checked ? [...others, id] : others);
    box.checked = this.chosen.includes(id);  // until the server confirms
  }

  markChosen() {
    const chosen = new Set(this.chosen);
    for (const box of byId('signal-list').querySelectorAll('[data-signal]')) box.checked = chosen.has(box.dataset.signal);
  }

  /** All plotted data, for tests. */
  read() {
    return {
      chosen: this.chosen,
      times: this.samples.times,
      now: this.now,
      values: Object.fromEntries(this.chosen.map((id, i) => [id, this.samples.values[i]])),
      plots: this.plots.map(({ title, signals, plot }) => ({ title, labels: signals.map(({ label }) => label), data: plot.data })),
    };
  }
}

/** An angle that turned around at least once in (-π, π]; other signals as they are. */
function wrapped(column, { turns }) {
  if (!turns || !column.some((value) => Math.abs(value) > Math.PI)) return column;
  return column.map((value) => (value == null ? value : value - TURN * Math.ceil((value - Math.PI) / TURN)));
}
