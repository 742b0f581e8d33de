/** The readings over the view: blocks of a title and lines, line by line as the server sent them. */

import { byId, element } from './dom.js';

/** The text of blocks [[title, [line, ...]], ...], an empty line between two. */
export const hudText = (blocks) => blocks.map(([title, lines]) => [title, ...lines].join('\n')).join('\n\n');

/** Legend of the colours in the view: [color, text] of each part; an empty colour for none. */
export function showNote(parts) {
  const note = byId('view-note');
  const text = parts.map(([, words]) => words).join('; ');
  if (note.dataset.text === text) return;
  note.dataset.text = text;
  note.replaceChildren(...parts.flatMap(([color, words], i) => [
    i ? '; ' : '', ...(color ? [element('i', { style: `background: ${color}` })] : []), words,
  ]));
}

export function showHud(blocks) {
  const pre = byId('hud');
  const text = hudText(blocks);
  if (pre.textContent === text) return;
  pre.replaceChildren(
    ...blocks.flatMap(([title, lines], i) => [i ? '\n\n' : '', element('b', { textContent: title }), ['', ...lines].join('\n')]),
  );
}
