/** The readings over the view: blocks of a title and lines, line by line as the server sent them. */

import { byId, element } from './dom.js';

/** The text of blocks [[title, [line, ...]], ...], an empty line between two. */
export const hudText = (blocks) => blocks.map(([title, lines]) => [title, ...lines].join('\n')).join('\n\n');

export function showHud(blocks) {
  const pre = byId('hud');
  const text = hudText(blocks);
  if (pre.textContent === text) return;
  pre.replaceChildren(
    ...blocks.flatMap(([title, lines], i) => [i ? '\n\n' : '', element('b', { textContent: title }), ['', ...lines].join('\n')]),
  );
}
