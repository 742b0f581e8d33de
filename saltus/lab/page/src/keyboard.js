/** Keys of the page and keys of the scene. For the scene's keys, both press and release are sent. */

import { isTyping, takesSpace } from './dom.js';

/** The name of a key in the scene's list: letters in lower case, regardless of Shift and Caps Lock. */
const named = ({ key }) => (key.length === 1 ? key.toLowerCase() : key);

/**
 * @param {{sceneKeys: () => string[], send: (type, fields) => void, own: Object<string, () => void>}} to
 *   own: what the page's keys do, by name, where the scene does not claim them
 */
export function listenToKeys({ sceneKeys, send, own }) {
  const down = new Map();  // by the key's code, as its name changes with Shift

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (isTyping(event.target)) return;
    const key = named(event);
    if (key === ' ' && takesSpace(event.target)) return;
    const forScene = sceneKeys().includes(key);
    if (!forScene && !own[key]) return;
    event.preventDefault();
    if (event.repeat) return;
    if (!forScene) return own[key]();
    down.set(event.code, key);
    send('keydown', { key });
  }

  function lift(event) {
    if (!down.has(event.code)) return;
    send('keyup', { key: down.get(event.code) });
    down.delete(event.code);
  }

  /** Release all keys when the window loses the keyboard, which ends key events. */
  function leave() {
    if (down.size) send('blur');
    down.clear();
  }

  addEventListener('keydown', press);
  addEventListener('keyup', lift);
  addEventListener('blur', leave);
  document.addEventListener('visibilitychange', () => document.hidden && leave());
  document.addEventListener('focusin', (event) => isTyping(event.target) && leave());
}
