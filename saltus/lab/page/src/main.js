/** The page of `saltus lab`: puts the parts together. */

import { Actions } from './actions.js';
import { Bring } from './bring.js';
import { Connection } from './connection.js';
import { Controls } from './controls.js';
import { copyState, savePicture } from './copy.js';
import { byId, keepKeyboardFree } from './dom.js';
import { checkScene, decode } from './frame.js';
import { hudText, showNote } from './hud.js';
import { listenToKeys } from './keyboard.js';
import { LocalConnection } from './local.js';
import { Method } from './method.js';
import { banner, clearToasts, notice } from './notices.js';
import { Plots } from './plots.js';
import { spare } from './quality.js';
import { Platform } from './platform.js';
import { Pointer, springEnds } from './pointer.js';
import { Recording } from './recording.js';
import { Room } from './room.js';
import { Drawings } from './drawings.js';
import { Exercise, pageAbout } from './exercise.js';
import { Extras } from './extras.js';
import { decodeSamples, holdsSamples, holdsTrack } from './samples.js';
import { Signals } from './signals.js';
import { expose } from './hook.js';
import { Share } from './share.js';
import { Sheet } from './sheet.js';
import { Sliders } from './sliders.js';
import { Stability } from './stability.js';
import { Stage } from './stage.js';

const MARKS = ['show-joints', 'show-frames', 'show-normals'];
const SMALL = '(max-width: 600px), (max-height: 440px)';
const EMBEDDED = '(max-width: 760px) and (max-height: 700px)';  // small, as in a frame of another page
const lab = { role: null, scene: null, frame: null, received: 0, pull: null, error: null };
lab.stage = makeStage();
if (!lab.stage || lab.stage.software) spare();
const plots = new Plots();
const local = byId('simulation-data') !== null;  // a standalone page, which contains the simulation
document.body.classList.toggle('local', local);
document.body.classList.toggle('several', document.querySelectorAll('script.simulation').length > 1);
const share = new Share((now) => connection.link(now), () => lab.stage?.camera);
const about = pageAbout();
const parts = [...document.querySelectorAll('script.simulation')];  // the scenes of a standalone page
const heard = { message, frame, state: connected, misunderstood };
const connection = local ? new LocalConnection(heard, parts, byId('worker-script').textContent, share.link) : new Connection(heard);
const sliders = new Sliders((id, value) => send('slider', { id, value }));
const controls = new Controls(send, { pull: pullAlong, release, select });
const actions = new Actions(send);
const extras = new Extras(send, sliders);
const signals = new Signals((ids) => send('plot', { signals: ids }));
const recording = new Recording(connection, local);
const bring = new Bring(send, () => lab.role === 'writer');
const stability = new Stability(send);
const method = new Method();
const room = new Room((left, bottom) => lab.stage?.cover(left, bottom));
lab.controls = controls;
lab.plots = plots;
lab.signals = signals;
lab.drawings = lab.stage && new Drawings(lab.stage);
expose(lab);

if (local) {
  const platform = new Platform();
  new Exercise(about, (hash) => {
    history.replaceState(null, '', hash);
    go(hash);
  }, (right, all) => platform.score(right, all));
  addEventListener('hashchange', () => go(location.hash));
}

/** Start the simulation of a standalone page anew from a link. */
function go(hash) {
  share.take(hash);
  connection.begin(share.link);
}

function makeStage() {
  try {
    return new Stage(byId('canvas'));
  } catch (error) {
    byId('canvas').hidden = true;
    byId('no-view').hidden = false;
    byId('no-view').textContent = `This browser cannot draw the 3-D view: it has no WebGL (${error.message}). Everything else works.`;
    return null;
  }
}

/** Send a command of the writer; a viewer gets a notice instead. */
function send(type, fields) {
  if (lab.role === 'viewer' && !['ack', 'take'].includes(type)) notice('info', 'You are watching. Take over to control the simulation.');
  else connection.send(type, fields);
}

/** Handle a text message of the server. */
function message(said) {
  const own = { signals: () => signals.list(said), extras: () => extras.load(said), drawings: () => lab.drawings?.show(said.objects) };
  const take = { hello, scene, status, notice: told, ...own }[said?.type];
  if (!take) throw new Error(`a message of type ${JSON.stringify(said?.type)}`);
  take(said);
}

function hello(said) {
  lab.role = said.role;
  bring.most = said.upload ?? Infinity;
  controls.hello(said);
  if (!local && said.role === 'writer' && share.link.length) {
    connection.send('link', { settings: Object.fromEntries(share.link) });
    share.sent = true;
  }
}

function scene(said) {
  checkScene(said);
  lab.frame = null;
  clearToasts();
  release();
  lab.scene = said;
  stability.update(null);
  method.update(null);
  plots.load(said);
  signals.clear(said.kind === 'replay');
  extras.load({ sliders: [], buttons: [] });
  lab.drawings?.clear();
  sliders.load(said.sliders);
  actions.load(said.actions ?? []);
  controls.load(said);
  if (about.title) document.title = about.title;
  lab.stage?.load(said);
  share.look();
  hint();
  applyView();
}

function status(said) {
  if (!lab.scene) return;
  const ghosts = controls.status.ghosts;
  controls.update(said);
  recording.update(said, lab.role === 'writer');
  actions.update(controls.status);
  room.make();
  for (const [id, value] of Object.entries(said.sliders ?? {})) sliders.set(id, value);
  if (said.ghosts !== ghosts) showGhosts(Boolean(controls.status.ghosts));
  if (said.method !== undefined) method.update(said.method);
  if (said.stability !== undefined) stability.update(said.stability);
  if (said.follow !== undefined) follow(said.follow);
}

function told({ level, text }) {
  if (level === 'error') controls.refused();
  const halve = () => send('timestep', { value: Math.max(controls.status.timestep / 2, Number(byId('timestep').min)) });
  notice(level, text, level === 'diverged' ? [['Reset', () => controls.reset()], ['Halve the step', halve]] : []);
}

function showGhosts(on) {
  lab.stage?.showGhosts(on);
  plots.showGhosts(on);
}

function follow(name) {
  const body = name === null ? -1 : lab.scene.bodies.indexOf(name);
  lab.stage?.setFollow(body > 0 ? body : null);
}

/** Handle a binary message: samples, or a frame, which is shown and acknowledged. */
function frame(buffer) {
  if (!lab.scene) return;
  if (holdsSamples(buffer)) return signals.push(decodeSamples(buffer));
  if (holdsTrack(buffer)) return plots.push(decodeSamples(buffer));
  const made = decode(buffer, lab.scene);
  lab.frame = made;
  lab.received += 1;
  lab.stage?.show(made);
  drawSpring();
  plots.show(made);
  controls.time(made.time);
  signals.time(made.time);
  if (lab.stage) showNote(lab.stage.note);
  send('ack', { frame: made.number });
}

function connected(text, refused) {
  document.body.classList.toggle('offline', Boolean(text));
  if (!text) return banner(lab.error);
  const again = { label: 'Try again', act: () => connection.open() };
  banner(refused ? text : `${text} Trying again; start it with "saltus lab" if it has ended.`, again);
}

/** Report a message that cannot be understood, and keep the page running. */
function misunderstood(error) {
  console.error(error);
  const text = `The server sent something that this page does not understand: ${error.message}.`;
  if (lab.error === text) return;
  lab.error = text;
  banner(text, { label: 'Reload', act: () => location.reload() });
  notice('error', text);
}

// pulling a body

let hinted = false;  // whether the user knows that bodies can be pulled

/** Say that bodies can be pulled, until one was. */
function hint() {
  const movable = lab.scene.kind === 'live' && lab.role === 'writer' && lab.scene.moving?.some(Boolean);
  byId('pull-hint').hidden = hinted || !movable || !lab.stage;
}

function drag(body, point, target) {
  byId('pull-hint').hidden = true;
  hinted = true;
  lab.pull = { body, point, target };
  send('drag', { body, point: point.toArray(), target: target.toArray() });
  drawSpring();
}

function release() {
  if (lab.pull) send('release');
  lab.pull = null;
  lab.stage?.spring?.hide();
  lab.stage?.ask();
}

function drawSpring() {
  const ends = lab.pull && lab.stage && springEnds(lab.stage, lab.pull);
  if (ends) lab.stage.spring.between(ends.from, ends.to);
}

/** Pull a body's centre by half an extent along an axis, for the buttons. */
function pullAlong(body, direction) {
  if (!lab.stage || !lab.frame) return;
  const point = lab.stage.main.middle(body);
  const target = lab.stage.worldPoint(body, point);
  const reach = 0.5 * lab.scene.extent;
  target.set(...target.toArray().map((value, i) => value + reach * direction[i]));
  drag(body, point, target);
}

function select(body) {
  lab.stage?.main?.highlight(body);
  lab.stage?.ask();
  byId('body').value = body ?? '';
}

// settings of this page only

function applyView() {
  const { stage } = lab;
  const checked = (id) => byId(id).checked;
  controls.showReadings();
  if (!stage?.scene) return;
  room.make();
  stage.contacts.group.visible = checked('show-contacts');
  stage.com.wanted = checked('show-com');
  stage.cop.wanted = checked('show-cop');
  stage.motors.group.visible = checked('show-motors');
  stage.frames.shown = { joints: checked('show-joints'), bodies: checked('show-frames'), contacts: checked('show-normals') };
  stage.main.showSites(checked('show-sites'));
  stage.sun.castShadow = checked('show-shadow');
  if (stage.grid) stage.grid.visible = checked('show-grid');
  byId('grid-row').hidden = !stage.grid;
  byId('gizmo').classList.toggle('off', !checked('show-axes'));
  stage.refresh();
  showNote(stage.note);
  stage.ask();
}

for (const id of ['show-contacts', 'show-com', 'show-cop', 'show-motors', 'show-sites', 'show-shadow', 'show-hud', 'show-grid', 'show-axes', ...MARKS]) byId(id).onchange = applyView;
const covered = matchMedia(SMALL).matches || (window !== window.parent && matchMedia(EMBEDDED).matches);
byId('show-hud').checked = !covered;  // they would cover the view
byId('hud-fold').onclick = () => byId('show-hud').click();
byId('home').onclick = () => {
  lab.stage?.camera.goHome();
  lab.stage?.ask();
};
byId('camera').onchange = ({ target }) => lab.stage?.mount(target.value === '' ? null : Number(target.value));
if (lab.stage) lab.stage.camera.left = () => (byId('camera').value = '');
byId('ruler').onclick = () => {
  const on = byId('ruler').getAttribute('aria-pressed') !== 'true';
  byId('ruler').setAttribute('aria-pressed', String(on));
  lab.stage?.ruler.toggle(on);
};
byId('picture').onclick = () => lab.stage && savePicture(lab.stage, `${lab.scene?.name ?? 'saltus'}-${(lab.frame?.time ?? 0).toFixed(3)}s`);
byId('copy-state').onclick = () => copyState(connection);
byId('state-close').onclick = () => byId('state').close();
new Sheet();
byId('help-close').onclick = () => byId('help').close();
byId('help-button').onclick = () => byId('help').showModal();
byId('licences').textContent = byId('licence-texts').textContent.trim();

keepKeyboardFree(document);
listenToKeys({
  sceneKeys: () => lab.scene?.keyboard ?? [],
  send,
  own: {
    ' ': () => controls.toggle(),
    '.': () => send('step', { n: 1 }),
    r: () => controls.reset(),
    '?': () => byId('help').showModal(),
  },
});
if (lab.stage) {
  new Pointer(lab.stage, { mayPull: () => lab.role === 'writer' && lab.scene.kind === 'live', drag, release, select });
}

lab.hudText = () => (byId('hud').hidden ? '' : hudText(controls.status.hud ?? []));
