/** Long downloads: what is being made, the fraction received, and a way to cancel. */

import { byId, element } from './dom.js';
import { notice } from './notices.js';

const SECOND = 1000;
const KEPT = 60000;  // ms for which the file is kept in memory for the browser

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

export class Downloads {
  constructor(connection) {
    this.connection = connection;
    this.now = null;
    byId('download-cancel').onclick = () => this.now?.abort();
  }

  /** Show the progress of a link's downloads; clicks with a modifier key, or its menu, are left to the browser. */
  follow(link) {
    link.addEventListener('click', (event) => {
      if (!link.href || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (this.now) notice('info', 'Another download is on its way.');
      else this.get(link.download);
    });
  }

  async get(name) {
    const control = new AbortController();
    const began = performance.now();
    const waiting = () => this.say(`Preparing ${name}: ${Math.floor((performance.now() - began) / SECOND)} s`, null);
    this.now = control;
    byId('download').hidden = false;
    waiting();
    const timer = setInterval(waiting, SECOND);
    try {
      const response = await this.connection.file(name, { signal: control.signal });
      clearInterval(timer);
      if (!response.ok) throw new Error((await response.text()).trim());
      save(await this.read(response, name), name);
    } catch (error) {
      if (control.signal.aborted) notice('info', `${name} was not downloaded.`);
      else notice('error', `${name} cannot be downloaded: ${error.message}`);
    } finally {
      clearInterval(timer);
      byId('download').hidden = true;
      this.now = null;
    }
  }

  async read(response, name) {
    const all = Number(response.headers.get('Content-Length')) || null;
    const reader = response.body.getReader();
    const parts = [];
    let come = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      come += value.length;
      const share = all && come / all;
      this.say(`${name}: ${megabytes(come)}${all ? ` of ${megabytes(all)} MB, ${Math.round(100 * share)} %` : ' MB'}`, share);
    }
    return new Blob(parts, { type: response.headers.get('Content-Type') ?? '' });
  }

  /** @param share from 0 to 1, or null if unknown */
  say(text, share) {
    byId('download-text').textContent = text;
    if (share === null) byId('download-progress').removeAttribute('value');
    else byId('download-progress').value = share;
  }
}

/** Hand a file over to the browser. */
export function save(blob, name) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
}
