/** Opening of the user's models: files dropped on the page or chosen from a list, or a path on the lab's machine. */

import { byId } from './dom.js';
import { notice } from './notices.js';

const PIECE = 45000;  // bytes per message
const BURST = 20;  // messages, then a pause
const PAUSE = 60;  // ms; the server closes connections that send too much in a second

const mib = (bytes) => `${Math.round(bytes / 2 ** 20)} MiB`;

export class Bring {
  /**
   * @param {(type, fields) => void} send
   * @param {() => boolean} mayWrite
   */
  constructor(send, mayWrite) {
    this.send = send;
    this.mayWrite = mayWrite;
    this.most = Infinity;
    this.busy = false;
    byId('bring').onclick = () => byId('bring-files').click();
    byId('bring-files').onchange = ({ target }) => {
      this.open([...target.files].map((file) => [file.name, file]));
      target.value = '';
    };
    byId('path').onkeydown = ({ key }) => key === 'Enter' && this.path();
    byId('open-path').onclick = () => this.path();
    addEventListener('dragover', (event) => this.over(event));
    addEventListener('dragleave', (event) => event.relatedTarget === null && this.mark(false));
    addEventListener('drop', (event) => this.dropped(event));
  }

  path() {
    const path = byId('path').value.trim();
    if (path) this.send('path', { path });
  }

  over(event) {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    this.mark(true);
  }

  mark(on) {
    byId('drop').hidden = !on;
    byId('drop').textContent = this.mayWrite() ? 'Drop a model (MJCF or URDF) here, with the files or folders that it refers to.'
      : 'You are watching. Take over to open a model.';
  }

  async dropped(event) {
    this.mark(false);
    if (!event.dataTransfer?.files.length && !event.dataTransfer?.items.length) return;
    event.preventDefault();
    // both must be requested before the first await
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = [...event.dataTransfer.files].map((file) => [file.name, file]);
    try {
      this.open(entries.length ? (await Promise.all(entries.map((entry) => within(entry)))).flat() : files);
    } catch (error) {
      notice('error', `The files cannot be read: ${error.message}`);
    }
  }

  /** Send files [[name, File], ...] and open the model. */
  async open(files) {
    if (!this.mayWrite()) return notice('info', 'You are watching. Take over to open a model.');
    const size = files.reduce((sum, [, file]) => sum + file.size, 0);
    if (size > this.most) {
      const text = `These files have ${mib(size)}; the page may bring ${mib(this.most)}. Give the path of the model on this machine instead.`;
      return notice('error', text);
    }
    if (this.busy || !files.length) return undefined;
    this.busy = true;
    try {
      await this.sendAll(files, size);
      this.send('model');
    } catch (error) {
      notice('error', `The files cannot be read: ${error.message}`);
    } finally {
      this.busy = false;
      byId('bring-progress').hidden = true;
    }
    return undefined;
  }

  async sendAll(files, size) {
    let [sent, messages] = [0, 0];
    for (const [name, file] of files) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      for (let at = 0; at === 0 || at < bytes.length; at += PIECE) {
        const piece = bytes.subarray(at, at + PIECE);
        this.send('upload', { name, data: btoa(String.fromCharCode(...piece)) });
        sent += piece.length;
        messages += 1;
        byId('bring-progress').hidden = size < 20 * PIECE;
        byId('bring-progress').value = sent / size;
        if (messages % BURST === 0) await new Promise((go) => setTimeout(go, PAUSE));
      }
    }
  }
}

/** The files of an entry, a file or a folder: [[path, File], ...]. */
async function within(entry) {
  if (entry.isFile) {
    const file = await new Promise((take, fail) => entry.file(take, fail));
    return [[entry.fullPath.replace(/^\//, ''), file]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {  // a reader returns its entries in parts
    const some = await new Promise((take, fail) => reader.readEntries(take, fail));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map((one) => within(one)))).flat();
}
