/** The energy over time, and velocity over position, of the run and of its ghosts. */

import uPlot from 'uplot';
import { axis, beside, padded, style, tick } from './axes.js';
import { byId, element } from './dom.js';
import { History } from './history.js';
import { pace } from './quality.js';

const RECENT = 20;  // s
const HEIGHT = 190;
const TURN = 2 * Math.PI;
const LOST = 8;  // times the usual time between samples
const look = { main: '--main', kinetic: '--kinetic', potential: '--potential' };

/** A column with null for numbers that are not finite, where a line breaks. */
const plain = (column) => Array.from(column, (value) => (Number.isFinite(value) ? value : null));

/** Positions with the angles in (-π, π], and velocities. */
function wrapped([angles, velocities]) {
  return [plain(angles.map((angle) => angle - TURN * Math.ceil((angle - Math.PI) / TURN))), plain(velocities)];
}

/** For each gap between samples, whether frames are missing: it is many times the usual one. */
function missed(times) {
  const waits = Array.from(times.subarray(1), (time, i) => time - times[i]);
  const usual = waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)];
  return waits.map((wait) => wait > LOST * usual);
}

/** An orbit with a gap where frames are missing, and where the position jumps by more than it may. */
function broken([x, y], lost, jump) {
  const [a, b] = [[], []];
  x.forEach((place, i) => {
    if (i > 0 && (lost[i - 1] || Math.abs(place - x[i - 1]) > jump)) {
      a.push(null);
      b.push(null);
    }
    a.push(place);
    b.push(y[i]);
  });
  return [a, b];
}

export class Plots {
  constructor() {
    this.window = byId('window');
    this.dof = byId('dof');
    this.window.addEventListener('change', () => this.rescale());
    this.dof.addEventListener('change', () => this.build());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.scene && this.build());
    new ResizeObserver(() => this.resize()).observe(byId('energy-plot'));
  }

  load(scene) {
    this.scene = scene;
    this.hidden = new Set();
    this.ghosts = true;
    const columns = (1 + scene.ghosts.length) * (2 + 2 * scene.dofs.length);
    this.histories = { recent: new History(columns, RECENT), all: new History(columns) };
    this.dof.replaceChildren(...scene.dofs.map(({ name }, i) => element('option', { value: i, textContent: name })));
    byId('phase-section').hidden = scene.dofs.length === 0;
    this.build();
  }

  /** Column of a quantity: 0 potential, 1 kinetic, then position and velocity of each coordinate; run 0 is the main one. */
  column(run, quantity) {
    return 1 + run * (2 + 2 * this.scene.dofs.length) + quantity;
  }

  push(frame) {
    const row = frame.energy.flatMap((energy, run) => [...energy, ...frame.dofs[run]]);
    for (const history of Object.values(this.histories)) history.push(frame.time, row);
    this.last = frame;
    this.ask();
  }

  /** Lines of the energy plot: the total of each run, and the parts of the main one. */
  lines() {
    const parts = [
      { name: 'Total', color: style(look.main), width: 2, value: ([v, t]) => v + t, run: 0 },
      { name: 'Kinetic', color: style(look.kinetic), width: 1, dash: [4, 3], value: ([, t]) => t, run: 0 },
      { name: 'Potential', color: style(look.potential), width: 1, dash: [4, 3], value: ([v]) => v, run: 0 },
    ];
    const ghosts = this.scene.ghosts.map(({ name, color }, i) => (
      { name, color, width: 1.5, value: ([v, t]) => v + t, run: i + 1 }
    ));
    return [...parts, ...ghosts];
  }

  build() {
    this.energyPlot?.destroy();
    this.phasePlot?.destroy();
    this.energyLines = this.lines();
    this.buildLegend();
    const width = Math.max(byId('energy-plot').clientWidth, 100);
    const common = { width, height: HEIGHT, legend: { show: false }, padding: [6, 14, 0, 0] };
    this.energyPlot = new uPlot({
      ...common,
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 } },
      scales: { x: { time: false, range: (_, low, high) => (low < high ? [low, high] : [low ?? 0, (low ?? 0) + 1]) } },
      axes: [axis('time, s'), beside('energy, J')],
      series: [{}, ...this.energyLines.map(({ name, color, width: thick, dash }) => (
        { label: name, stroke: color, width: thick, dash, points: { show: false } }
      ))],
      hooks: { setCursor: [() => this.showValues()] },
    }, [[], ...this.energyLines.map(() => [])], byId('energy-plot'));
    if (this.scene.dofs.length) this.buildPhase(common);
    this.showGhosts(this.ghosts);
    this.redraw();
  }

  buildPhase(common) {
    const { name, unit, relative } = this.scene.dofs[this.dof.value || 0];
    const against = relative ? ` relative to ${relative}` : '';
    const colours = [style(look.main), ...this.scene.ghosts.map(({ color }) => color)];
    this.phasePlot = new uPlot({
      ...common,
      mode: 2,
      cursor: { show: false },
      scales: { x: { time: false, range: padded }, y: { range: padded } },
      axes: [axis(`${name}${against}, ${unit}`), beside(`velocity, ${unit}/s`)],
      series: [{}, ...colours.map((stroke, i) => (
        { stroke, width: i ? 1.25 : 1.75, facets: [{ scale: 'x', auto: true }, { scale: 'y', auto: true }], paths: path }
      ))],
    }, [null, ...colours.map(() => [[], []])], byId('phase-plot'));
  }

  buildLegend() {
    const buttons = this.energyLines.map(({ name, color, run }, i) => {
      const swatch = element('i', {});
      swatch.style.background = color;
      const button = element('button', { type: 'button', 'aria-pressed': String(!this.hidden.has(i)) }, swatch,
        element('span', { textContent: name.replaceAll('_', ' ') }), element('span', { className: 'value' }));
      button.title = 'Show or hide; the newest value, or that under the mouse, in J';
      button.dataset.run = run;
      button.onclick = () => {
        if (!this.hidden.delete(i)) this.hidden.add(i);
        button.setAttribute('aria-pressed', String(!this.hidden.has(i)));
        this.showGhosts(this.ghosts);
      };
      return button;
    });
    byId('energy-legend').replaceChildren(...buttons);
    this.legend = buttons;
  }

  showGhosts(on) {
    this.ghosts = on;
    this.energyLines.forEach(({ run }, i) => {
      this.legend[i].hidden = run > 0 && !on;
      this.energyPlot.setSeries(i + 1, { show: !this.hidden.has(i) && (run === 0 || on) });
    });
    this.scene.ghosts.forEach((_, i) => this.phasePlot?.setSeries(i + 2, { show: on }));
  }

  resize() {
    const width = byId('energy-plot').clientWidth;
    if (!width) return;
    this.energyPlot?.setSize({ width, height: HEIGHT });
    this.phasePlot?.setSize({ width, height: HEIGHT });
  }

  rescale() {
    if (this.scene) this.redraw();
  }

  ask() {
    if (this.asked) return;
    this.asked = setTimeout(() => {
      this.asked = 0;
      this.redraw();
    }, pace.plots);
  }

  redraw() {
    const rows = this.histories[this.window.value].rows();
    const energyOpen = byId('energy-plot').clientWidth > 0;
    if (energyOpen) {
      const lines = this.energyLines.map(({ run, value }) => {
        const [v, t] = [rows[this.column(run, 0)], rows[this.column(run, 1)]];
        return plain(v.map((_, i) => value([v[i], t[i]])));
      });
      this.energyPlot.setData([Array.from(rows[0]), ...lines]);
      this.showValues();
    }
    if (this.phasePlot && byId('phase-plot').clientWidth > 0) {
      const index = Number(this.dof.value || 0);
      const runs = [0, ...this.scene.ghosts.map((_, i) => i + 1)];
      const orbits = runs.map((run) => [2, 3].map((q) => rows[this.column(run, q + 2 * index)]));
      const turns = this.scene.dofs[index].turns && orbits.some(([x]) => x.some((v) => Math.abs(v) > Math.PI));
      const lost = missed(rows[0]);
      this.phasePlot.setData([null, ...orbits.map((orbit) => (
        turns ? broken(wrapped(orbit), lost, Math.PI) : broken(orbit.map(plain), lost, Infinity)
      ))]);
    }
  }

  /** The newest energies, or those under the cursor, in the legend. */
  showValues() {
    const { data, cursor } = this.energyPlot ?? {};
    if (!data?.[0]?.length) return;
    const at = cursor.idx ?? data[0].length - 1;
    this.legend.forEach((button, i) => {
      const value = data[i + 1][at];
      button.lastChild.textContent = value == null ? '' : tick(Number(value.toPrecision(3)));
    });
  }
}

/** A line through points whose x is not sorted, with a dot at the newest; a gap where a value is missing. */
function path(plot, index) {
  uPlot.orient(plot, index, (series, xs, ys, scaleX, scaleY, toX, toY, left, top, width, height) => {
    const { ctx } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.beginPath();
    let open = false;
    let [x, y] = [NaN, NaN];
    for (let i = 0; i < xs.length; i += 1) {
      if (xs[i] === null || ys[i] === null) {
        open = false;
        continue;
      }
      [x, y] = [toX(xs[i], scaleX, width, left), toY(ys[i], scaleY, height, top)];
      if (open) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
      open = true;
    }
    const colour = typeof series.stroke === 'function' ? series.stroke(plot, index) : series.stroke;
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = series.width * devicePixelRatio;
    ctx.lineJoin = 'round';
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x, y, 3.2 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.restore();
  });
  return null;
}
