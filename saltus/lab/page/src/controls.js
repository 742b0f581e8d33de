/** The bar at the top and the fixed sections of the panel: shows the server's status, sends commands. */

import { byId, element, fill, numberIn, short, show } from './dom.js';
import { showHud } from './hud.js';
import { pace } from './quality.js';

const PATIENCE = 2000;  // ms before compiling is shown
const DIRECTIONS = [['−x', [-1, 0, 0]], ['+x', [1, 0, 0]], ['−y', [0, -1, 0]], ['+y', [0, 1, 0]], ['−z', [0, 0, -1]], ['+z', [0, 0, 1]]];

/** Text of a field's value. */
const said = (field) => String(field.type === 'checkbox' ? field.checked : field.value);

export class Controls {
  /**
   * @param {(type, fields) => void} send
   * @param {{pull: (body, direction) => void, release: () => void, select: (body) => void}} hands
   */
  constructor(send, hands) {
    this.send = send;
    this.hands = hands;
    this.status = {};
    const command = (id, event, act) => (byId(id)[event] = () => act(byId(id)));
    command('play', 'onclick', () => this.toggle());
    command('step', 'onclick', () => send('step', { n: 1 }));
    command('reset', 'onclick', () => this.reset());
    command('key', 'onchange', () => this.reset());
    command('slower', 'onclick', () => this.faster(1 / 2));
    command('faster', 'onclick', () => this.faster(2));
    command('speed', 'onchange', (field) => this.speed(field));
    command('scene', 'onchange', (field) => {
      send('scene', { name: field.value });
      if (this.scene) field.value = this.scene;  // the list shows the present scene
    });
    command('take', 'onclick', () => send('take'));
    this.chosen = new Map();
    command('integrator', 'onchange', (field) => this.choose(field, 'integrator', { name: field.value }));
    command('contact', 'onchange', (field) => this.choose(field, 'contact', { name: field.value }));
    command('timestep', 'onchange', (field) => this.number(field, 'timestep'));
    command('restitution', 'onchange', (field) => this.number(field, 'restitution'));
    command('friction', 'onchange', (field) => (field.value === '' && !field.validity.badInput
      ? this.choose(field, 'friction', { value: null }) : this.number(field, 'friction')));
    command('ghosts', 'onchange', (field) => this.choose(field, 'ghosts', { on: field.checked }));
    command('follow', 'onchange', ({ value }) => send('follow', { body: value === '' ? null : value }));
    for (const axis of 'xyz') command(`gravity-${axis}`, 'onchange', (field) => this.gravity(field));
    command('body', 'onchange', ({ value }) => hands.select(value === '' ? null : Number(value)));
    command('from-here', 'onclick', () => send('from_here'));
    command('seek', 'oninput', (field) => this.seek(field.valueAsNumber));
    this.pullButtons();
  }

  toggle() {
    this.send(this.status.playing ? 'pause' : 'play');
  }

  reset() {
    this.send('reset', { key: byId('key').value || null });
  }

  faster(factor) {
    const { min, max } = byId('speed');
    this.send('speed', { value: Math.min(Math.max(factor * this.status.speed, Number(min)), Number(max)) });
  }

  speed(field) {
    const value = numberIn(field);
    if (value === null) field.value = short(this.status.speed, 3);
    else this.send('speed', { value });
  }

  /** Send a typed number as the setting of its name. */
  number(field, name) {
    const value = numberIn(field);
    if (value === null) field.value = short(this.status[name] ?? NaN);
    else this.choose(field, name, { value });
  }

  /** Request another setting. It may have to be compiled first; until then the field shows the requested value. */
  choose(field, type, fields) {
    this.chosen.set(field, { value: said(field), until: performance.now() + PATIENCE });
    field.classList.add('pending');
    this.send(type, fields);
  }

  /** Show the server's value, unless a requested one is still pending. */
  settle(field, value) {
    const asked = this.chosen.get(field);
    if (asked && asked.value !== String(value) && (this.status.building || performance.now() < asked.until)) return;
    this.chosen.delete(field);
    field.classList.remove('pending');
    if (field.type === 'checkbox') field.checked = value;
    else show(field, value);
  }

  /** After a refusal, let fields show the present values again. */
  refused() {
    for (const field of this.chosen.keys()) field.classList.remove('pending');
    this.chosen.clear();
  }

  gravity(field) {
    const fields = [...'xyz'].map((axis) => byId(`gravity-${axis}`));
    if (numberIn(field) === null) field.value = short(this.status.gravity[fields.indexOf(field)]);
    else this.send('gravity', { value: fields.map((one) => one.valueAsNumber) });
  }

  /** Send one message per picture while the slider is moved. */
  seek(time) {
    if (this.wanted === undefined) {
      requestAnimationFrame(() => {
        this.send('seek', { time: this.wanted });
        this.wanted = undefined;
      });
    }
    this.wanted = time;
  }

  /** Buttons that pull the chosen body while they are held, by mouse or by keyboard. */
  pullButtons() {
    for (const [label, direction] of DIRECTIONS) {
      const button = element('button', { type: 'button', textContent: label, 'aria-label': `Pull along ${label}` });
      const start = () => byId('body').value !== '' && this.hands.pull(Number(byId('body').value), direction);
      button.onpointerdown = start;
      button.oncontextmenu = (event) => event.preventDefault();  // opened by a long touch
      button.onkeydown = ({ key, repeat }) => !repeat && (key === ' ' || key === 'Enter') && start();
      for (const end of ['pointerup', 'pointerleave', 'pointercancel', 'keyup', 'blur']) {
        button.addEventListener(end, () => this.hands.release());
      }
      byId('pull').append(button);
    }
  }

  hello({ role, scenes, bounds, version }) {
    const writer = role === 'writer';
    this.writer = writer;
    for (const [name, [min, max]] of Object.entries(bounds ?? {})) {
      for (const field of document.querySelectorAll(`input[id|=${name}]`)) Object.assign(field, { min, max });
    }
    fill(byId('scene'), scenes.map(({ name, title }) => [name, title ?? name]));
    this.groupScenes(scenes);
    byId('role').textContent = writer ? '' : 'Watching';
    byId('role').title = writer ? '' : 'Another page has the controls';
    byId('take').hidden = writer;
    document.body.classList.toggle('viewer', !writer);
    const commands = document.querySelectorAll('fieldset, .transport *, .speed *, #scene, #seek-bar *, #follow');
    for (const control of commands) control.disabled = !writer;
    byId('help-title').textContent = `Saltus lab ${version ?? ''}`.trim();
  }

  /** List the scenes by groups. */
  groupScenes(scenes) {
    const select = byId('scene');
    const groups = new Set(scenes.map(({ group }) => group ?? ''));
    if (groups.size < 2) return;
    const options = [...select.options];
    select.replaceChildren(...[...groups].map((group) => element('optgroup', { label: group },
      ...options.filter((_, i) => (scenes[i].group ?? '') === group))));
  }

  load(scene) {
    const replay = scene.kind === 'replay';
    this.status = {};
    this.refused();
    this.scene = byId('scene').value = scene.name;
    document.title = `${scene.title || scene.name} - Saltus lab`;
    fill(byId('integrator'), scene.integrators.map((name) => [name, name.replaceAll('_', ' ')]));
    fill(byId('contact'), scene.contacts);
    byId('contact-row').hidden = scene.contacts.length === 0;
    fill(byId('key'), [['', 'initial state'], ...scene.keys.map((name) => [name, name])]);
    byId('key').value = '';
    byId('key-choice').hidden = scene.keys.length === 0;
    const moving = scene.bodies.map((name, i) => [i, name]).filter(([i]) => i > 0 && (scene.moving?.[i] ?? true));
    fill(byId('body'), [['', 'none'], ...moving]);
    byId('body').value = '';
    fill(byId('follow'), [['', 'nothing'], ...moving.map(([, name]) => name)]);
    fill(byId('camera'), [['', 'by hand'], ...(scene.cameras ?? []).map(({ name }, i) => [i, name])]);
    byId('camera').value = '';
    byId('camera-row').hidden = !scene.cameras?.length;
    byId('ghosts-row').hidden = true;
    byId('motors-row').hidden = scene.motors.length === 0;
    byId('simulation').hidden = byId('pull-section').hidden = byId('record').hidden = replay;
    byId('seek-bar').hidden = !replay;
    byId('seek-bar').classList.toggle('live', !replay);
    Object.assign(byId('seek'), { min: 0, max: scene.duration ?? 1 });
    byId('from-here').hidden = true;
    this.duration = scene.duration;
    this.sceneKeys(scene.keyboard);
  }

  sceneKeys(keys) {
    const line = byId('scene-keys');
    const shown = keys.flatMap((key) => [element('kbd', { textContent: key === ' ' ? 'Space' : key }), ' ']);
    line.replaceChildren(...(keys.length ? ['Keys of this scene: ', ...shown, '(what they do stands in the view)'] : []));
  }

  /** Take over a status message; missing fields keep their values. */
  update(status) {
    Object.assign(this.status, status);
    const now = this.status;
    byId('play').classList.toggle('playing', now.playing);
    byId('play-label').textContent = now.playing ? 'Pause' : 'Play';
    show(byId('speed'), short(now.speed, 3));
    const pending = now.building && now.wanted !== undefined && now.wanted !== now.integrator;
    this.settle(byId('integrator'), pending ? now.wanted : now.integrator);
    byId('integrator').classList.toggle('pending', pending || this.chosen.has(byId('integrator')));
    this.settle(byId('timestep'), short(now.timestep));
    this.settle(byId('contact'), now.contact);
    this.settle(byId('restitution'), short(now.restitution ?? NaN));
    this.settle(byId('friction'), short(now.friction ?? NaN));
    for (const row of document.querySelectorAll('.hard-row')) row.hidden = now.contact !== 'hard';
    now.gravity?.forEach((value, i) => show(byId(`gravity-${'xyz'[i]}`), short(value)));
    show(byId('follow'), now.follow ?? '');
    if (this.duration == null) this.past(now);
    this.waits(now);
    this.settle(byId('ghosts'), Boolean(now.ghosts));
    byId('ghosts-row').hidden = !now.can_ghost;
    if (status.hud) showHud(status.hud);
    this.showReadings();
    const watching = (now.viewers ?? 1) - 1;
    if (this.writer) byId('role').textContent = watching > 0 ? `${watching} watching` : '';
  }

  /** The slider over the last minutes of a live run. */
  past({ past, looking }) {
    byId('seek-bar').hidden = past === undefined;
    byId('from-here').hidden = looking == null;
    byId('seek').disabled = !past || !this.writer;
    if (!past) return void (byId('seek-time').textContent = '');
    const [min, max] = past;
    Object.assign(byId('seek'), { min, max });
    if (this.wanted === undefined && !byId('seek').matches(':active')) byId('seek').value = looking ?? max;
    byId('seek-time').textContent = looking == null ? 'now' : `${(max - looking).toFixed(2)} s ago`;
  }

  showReadings() {
    const [any, wanted] = [Boolean(this.status.hud?.length), byId('show-hud').checked];
    byId('hud').hidden = !any || !wanted;
    byId('hud-fold').hidden = !any;
    byId('hud-fold').setAttribute('aria-expanded', String(wanted));
  }

  /** Show what the page waits for: another scene, or a compilation with its start and expected duration. */
  waits({ building, compiling, opening }) {
    byId('building').hidden = !building && !opening;
    const title = [...byId('scene').options].find(({ value }) => value === opening)?.textContent ?? opening;
    const about = compiling?.about ? ` of about ${Math.round(compiling.about)} s` : ', once for this machine';
    const what = compiling && `Compiling ${compiling.kernel.replaceAll('_', ' ')}: ${compiling.seconds} s${about}`;
    byId('building-text').textContent = opening ? `Opening ${title} ...` : what ?? 'Preparing the simulation ...';
  }

  time(time) {
    this.shown = time;
    if (this.resting) return;
    if (pace.numbers) this.resting = setTimeout(() => this.late(time), pace.numbers);
    byId('time').textContent = `${time.toFixed(2)} s`;
    if (this.duration == null) return;
    if (this.wanted === undefined && !byId('seek').matches(':active')) byId('seek').value = time;
    byId('seek-time').textContent = `${time.toFixed(2)} of ${this.duration.toFixed(2)} s`;
  }

  /** The newest time, if there was one since `told`. */
  late(told) {
    this.resting = 0;
    if (this.shown !== told) this.time(this.shown);
  }
}
