/** Links to a page with its changed settings and sliders, after the #. */

import { byId } from './dom.js';
import { notice } from './notices.js';

const SETTINGS = ['integrator', 'contact', 'timestep', 'speed', 'restitution', 'friction', 'gravity', 'ghosts', 'servo'];
const BY_NAME = ['integrator', 'contact'];

export class Share {
  /** @param {(type, fields) => void} send */
  constructor(send) {
    this.send = send;
    this.first = null;
    byId('share').onclick = () => this.copy();
  }

  /** Keep the first status of the page, against which links are made, then apply the page's own link. */
  begin(status) {
    if (this.first) return;
    this.first = structuredClone(status);
    try {
      this.apply(new URLSearchParams(location.hash.slice(1)));
    } catch (error) {
      notice('error', `This link's settings cannot be read: ${error.message}`);
    }
  }

  apply(given) {
    for (const [name, text] of given) {
      if (name.startsWith('slider.')) this.send('slider', { id: name.slice(7), value: number(text) });
      else if (name === 'gravity') this.send('gravity', { value: text.split(',').map(number) });
      else if (name === 'ghosts') this.send('ghosts', { on: text === 'true' });
      else if (name === 'servo') this.servo(text === 'true');
      else if (BY_NAME.includes(name)) this.send(name, { name: text });
      else if (SETTINGS.includes(name)) this.send(name, { value: text === '' ? null : number(text) });
      else throw new Error(`there is no setting ${name}`);
    }
  }

  servo(on) {
    if (on === this.first.servo) return;
    this.send('keydown', { key: 'c' });
    this.send('keyup', { key: 'c' });
  }

  /** Settings of a status that differ from the first one. */
  settings(status) {
    const found = new URLSearchParams();
    for (const name of SETTINGS) {
      if (JSON.stringify(status[name]) !== JSON.stringify(this.first[name])) found.set(name, String(status[name] ?? ''));
    }
    for (const [id, value] of Object.entries(status.sliders)) {
      const moves = id.startsWith('qpos[') || id.startsWith('ctrl[');  // changed by the motion or a controller
      if (!moves && value !== this.first.sliders[id]) found.set(`slider.${id}`, String(value));
    }
    return found;
  }

  link(status) {
    const settings = this.settings(status).toString();
    return `${location.href.split('#')[0]}${settings && `#${settings}`}`;
  }

  async copy() {
    const link = this.link(this.status);
    location.hash = link.split('#')[1] ?? '';
    try {
      await navigator.clipboard.writeText(link);
      notice('info', 'The link to this page with its settings is in the clipboard.');
    } catch {
      notice('info', "The page's address holds its settings now: copy it from the address bar.");
    }
  }

  update(status) {
    this.begin(status);
    this.status = status;
  }
}

function number(text) {
  const value = Number(text);
  if (!Number.isFinite(value) || text === '') throw new Error(`${text} is not a number`);
  return value;
}
