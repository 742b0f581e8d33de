/** Notices for the user: toasts that disappear, a list that stays, and a banner for the connection. */

import { byId, element } from './dom.js';

const LASTS = { info: 4000, warning: 7000, error: 12000, diverged: 60000 };  // ms
const MOST_TOASTS = 4;
const MOST_KEPT = 200;
const LEVELS = Object.keys(LASTS);

let count = 0;

/** @param actions buttons of the toast: [[label, what to do], ...] */
export function notice(level, text, actions = []) {
  const kind = LEVELS.includes(level) ? level : 'info';
  keepNotice(kind, text);
  toast(kind, text, actions);
}

/** Add a notice to the list only, because it is shown elsewhere. */
export function keepNotice(level, text) {
  count += 1;
  byId('notice-count').textContent = `(${count})`;
  byId('no-notices').hidden = true;
  keep(level, text);
}

/** Remove the toasts of a scene with it; the list keeps them. */
export function clearToasts() {
  byId('toasts').replaceChildren();
}

/** Add a notice to the list in the panel; repeated ones are counted. */
function keep(level, text) {
  const list = byId('notices');
  const first = list.firstElementChild;
  if (first?.dataset.text === text) {
    first.dataset.times = Number(first.dataset.times ?? 1) + 1;
    first.querySelector('.times').textContent = ` (${first.dataset.times} times)`;
    return;
  }
  const clock = new Date().toLocaleTimeString([], { hour12: false });
  const item = element('li', { className: level }, element('time', { textContent: clock }), ` ${text}`);
  item.append(element('span', { className: 'times' }));
  item.dataset.text = text;
  list.prepend(item);
  while (list.children.length > MOST_KEPT) list.lastElementChild.remove();
}

function toast(level, text, actions) {
  const area = byId('toasts');
  if ([...area.children].some((other) => other.dataset.text === text)) return;
  const close = element('button', { type: 'button', textContent: '×', 'aria-label': 'Dismiss' });
  const made = element('div', { className: `toast ${level}` }, element('span', { textContent: text }), close);
  made.dataset.text = text;
  const timer = setTimeout(() => made.remove(), LASTS[level]);
  const end = () => {
    clearTimeout(timer);
    made.remove();
  };
  close.onclick = end;
  close.before(...actions.map(([label, act]) => element('button', { type: 'button', className: 'act', textContent: label, onclick: () => {
    act();
    end();
  } })));
  area.append(made);
  while (area.children.length > MOST_TOASTS) area.firstElementChild.remove();
}

/** Show a bar over the page, or none; with a button if there is an action. */
export function banner(text, action = null) {
  const bar = byId('banner');
  bar.hidden = !text;
  bar.replaceChildren(element('span', { textContent: text ?? '' }));
  if (action) bar.append(element('button', { type: 'button', textContent: action.label, onclick: action.act }));
}
