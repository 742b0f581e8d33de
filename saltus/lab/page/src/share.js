/** Links to a page with its settings, its start and its camera, after the #; see worker/link.js. */

import { byId } from './dom.js';
import { notice } from './notices.js';

const VIEW = ['camera'];  // what this page applies itself

/** The [name, text] pairs of an address. */
export const pairsOf = (hash) => [...new URLSearchParams(hash.slice(1))];

export class Share {
  /**
   * @param {(now: boolean) => Promise<object>} settings of a link to the start of the run, or to the present state
   * @param {() => OrbitCamera | undefined} camera
   */
  constructor(settings, camera) {
    Object.assign(this, { settings, camera, given: pairsOf(location.hash) });
    byId('share').onclick = () => this.copy(false);
    byId('share-now').onclick = () => this.copy(true);
  }

  /** The pairs for the simulation. */
  get link() {
    return this.sent ? [] : this.given.filter(([name]) => !VIEW.includes(name));
  }

  /** Take over another link, "#...". */
  take(hash) {
    Object.assign(this, { given: pairsOf(hash), sent: false });
  }

  /** Apply the link's view to the first scene. */
  look() {
    const [, text] = this.given.find(([name]) => name === 'camera') ?? [];
    this.given = [];
    if (text === undefined) return;
    const numbers = text.split(',').map(Number);
    if (numbers.length === 6 && numbers.every(Number.isFinite)) this.camera()?.place(numbers);
    else notice('error', `The link's camera=${text} was left out: it is not x, y, z (m), distance (m), azimuth and elevation (degrees).`);
  }

  async copy(now) {
    try {
      const found = new URLSearchParams(await this.settings(now));
      const view = this.camera()?.text;
      if (view) found.set('camera', view);
      const link = `${location.href.split('#')[0]}#${found}`;
      history.replaceState(null, '', `#${found}`);  // which does not start it anew
      await this.hand(link, now ? 'to this moment' : 'to this page with its start and settings');
    } catch (error) {
      notice('error', `There is no link: ${error.message}`);
    }
  }

  async hand(link, what) {
    try {
      await navigator.clipboard.writeText(link);
      notice('info', `The link ${what} is in the clipboard.`);
    } catch {
      notice('info', `The page's address is the link ${what} now: copy it from the address bar.`);
    }
  }
}
