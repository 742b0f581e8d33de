/** The energy over time, and velocity over position, of the run and of its ghosts. */

import uPlot from 'uplot';
import { axis, beside, padded, style, tick } from './axes.js';
import { curve, markNow } from './curve.js';
import { byId, element } from './dom.js';
import { pace } from './quality.js';
import { firstFrom } from './samples.js';
import { Track } from './track.js';

const RECENT = 20;  // s
const HEIGHT = 190;
const TURN = 2 * Math.PI;
const NEAR = 0.6;  // pixels between two drawn points of an orbit
const look = { main: '--main', kinetic: '--kinetic', potential: '--potential' };

/** An orbit with the angles in (-π, π], which parts where an angle passes π. */
function wrapped([angles, velocities]) {
  const [a, b] = [[], []];
  angles.forEach((angle, i) => {
    const place = angle === null ? null : angle - TURN * Math.ceil((angle - Math.PI) / TURN);
    if (place !== null && i > 0 && a.at(-1) !== null && Math.abs(place - a.at(-1)) > Math.PI) {
      a.push(null);
      b.push(null);
    }
    a.push(place);
    b.push(velocities[i]);
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
    this.replay = scene.kind === 'replay';
    if (this.replay) this.window.value = 'all';
    this.track = new Track(1 + scene.ghosts.length, scene.dofs.length);
    this.last = null;
    this.dof.replaceChildren(...scene.dofs.map(({ name }, i) => element('option', { value: i, textContent: name })));
    this.choose(scene.phase);
    byId('phase-section').hidden = scene.dofs.length === 0;
    this.build();
  }

  /** Show the phase plot of a coordinate by its name, if there is one. */
  choose(name) {
    const at = this.scene.dofs.findIndex((dof) => dof.name === name);
    if (at >= 0) this.dof.value = at;
    return at >= 0;
  }

  /** Take over samples of the course; see `decodeSamples`. */
  push(samples) {
    this.track.push(samples);
    this.ask();
  }

  /** The frame that is shown: where the dots of the phase plot and the mark of a recording are. */
  show(frame) {
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
        { label: name, stroke: color, width: thick, dash, points: { show: false }, paths: curve }
      ))],
      hooks: { setCursor: [() => this.showValues()], draw: [(plot) => this.replay && this.last && markNow(plot, this.last.time)] },
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
        { stroke, width: i ? 1.25 : 1.75, facets: [{ scale: 'x', auto: true }, { scale: 'y', auto: true }], paths: orbitPath, here: () => this.here(i) }
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

  get seconds() {
    return this.window.value === 'all' ? Infinity : RECENT;
  }

  redraw() {
    if (byId('energy-plot').clientWidth > 0) {
      const [times, ...parts] = this.track.energies(this.seconds);
      const lines = this.energyLines.map(({ run, value }) => times.map((_, i) => {
        const [v, t] = [parts[2 * run][i], parts[2 * run + 1][i]];
        return v == null ? v : value([v, t]);
      }));
      this.energyPlot.setData([times, ...lines]);
      this.showValues();
    }
    if (this.phasePlot && byId('phase-plot').clientWidth > 0) {
      const index = Number(this.dof.value || 0);
      const orbits = [0, ...this.scene.ghosts.map((_, i) => i + 1)].map((run) => this.track.orbit(run, index, this.seconds));
      this.turns = this.scene.dofs[index].turns && orbits.some(([x]) => x.some((v) => Math.abs(v) > Math.PI));
      this.phasePlot.setData([null, ...orbits.map((orbit) => (this.turns ? wrapped(orbit) : orbit))]);
    }
  }

  /** Position and velocity of the shown frame of a run. */
  here(run) {
    const index = Number(this.dof.value || 0);
    const dofs = this.last?.dofs[run];
    if (!dofs) return [NaN, NaN];
    const [x, y] = [dofs[2 * index], dofs[2 * index + 1]];
    return [this.turns ? x - TURN * Math.ceil((x - Math.PI) / TURN) : x, y];
  }

  /** The newest energies, or those under the cursor, in the legend. */
  showValues() {
    const { data, cursor } = this.energyPlot ?? {};
    if (!data?.[0]?.length) return;
    const last = data[0].length - 1;
    const at = cursor.idx ?? (this.replay && this.last ? Math.min(firstFrom(data[0], this.last.time), last) : last);
    this.legend.forEach((button, i) => {
      let k = at;
      while (k > 0 && data[i + 1][k] === undefined) k -= 1;
      const value = data[i + 1][k];
      button.lastChild.textContent = value == null ? '' : tick(Number(value.toPrecision(3)));
    });
  }
}

/** A line through points whose x is not sorted, with a dot at the shown state; a gap where a value is missing. */
function orbitPath(plot, index) {
  uPlot.orient(plot, index, (series, xs, ys, scaleX, scaleY, toX, toY, left, top, width, height) => {
    const { ctx } = plot;
    const place = (x, y) => [toX(x, scaleX, width, left), toY(y, scaleY, height, top)];
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
      const [a, b] = place(xs[i], ys[i]);
      const ends = i + 1 === xs.length || xs[i + 1] === null;
      if (open && !ends && Math.abs(a - x) < NEAR && Math.abs(b - y) < NEAR) continue;
      if (open) ctx.lineTo(a, b);
      else ctx.moveTo(a, b);
      [x, y, open] = [a, b, true];
    }
    const colour = typeof series.stroke === 'function' ? series.stroke(plot, index) : series.stroke;
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = series.width * devicePixelRatio;
    ctx.lineJoin = 'round';
    ctx.stroke();
    const now = series.here();
    ctx.beginPath();
    if (now.every(Number.isFinite)) ctx.arc(...place(...now), 3.2 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.restore();
  });
  return null;
}
