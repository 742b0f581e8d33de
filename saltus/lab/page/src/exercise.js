/** The page's text with its tasks, whose answers are checked here; see saltus/lab/standalone/exercise.py. */

import { byId, element } from './dom.js';

/** What a page is about: {title, html, tasks}; nothing for a page without text. */
export function pageAbout() {
  const coded = byId('page-about')?.textContent;
  if (!coded) return {};
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(coded), (letter) => letter.charCodeAt(0))));
}

/** A typed number, with a comma or a point; NaN if it is none. */
export const typed = (text) => (text.trim() === '' ? NaN : Number(text.trim().replace(',', '.').replace('−', '-')));

export class Exercise {
  /**
   * @param {{html, tasks}} about
   * @param {(hash: string) => void} go start the simulation anew from a link, "#..."
   * @param {(right: number, all: number) => void} report called after every answer
   */
  constructor({ html, tasks = [] }, go, report) {
    this.right = tasks.map(() => false);
    this.report = report;
    byId('exercise-section').hidden = !html;
    if (!html) return;
    byId('exercise').innerHTML = html;
    document.body.classList.add('with-text');
    for (const place of byId('exercise').querySelectorAll('.task')) this.task(place, tasks, Number(place.dataset.task));
    byId('exercise').addEventListener('click', (event) => {
      const link = event.target.closest('a[href]');
      const to = link?.getAttribute('href');
      if (!to) return;
      if (to.startsWith('#')) {
        event.preventDefault();
        go(to);
      } else Object.assign(link, { target: '_blank', rel: 'noopener' });
    });
  }

  task(place, tasks, k) {
    const { question, unit } = tasks[k];
    const field = element('input', { type: 'text', inputMode: 'decimal', autocomplete: 'off', 'aria-label': `Answer${unit && `, ${unit}`}` });
    const verdict = element('output', {});
    const check = element('button', { type: 'submit', textContent: 'Check' });
    const form = element('form', {}, element('p', { textContent: question }), element('span', { className: 'with-unit' }, field,
      element('span', { textContent: unit, hidden: !unit })), check, verdict);
    form.onsubmit = (event) => {
      event.preventDefault();
      this.check(place, tasks[k], k, field.value, verdict);
    };
    field.oninput = () => {
      verdict.textContent = '';
      place.classList.remove('right', 'wrong');
    };
    place.replaceChildren(form);
  }

  check(place, { answer, tolerance, hint }, k, text, verdict) {
    const value = typed(text);
    const right = Math.abs(value - answer) <= tolerance;
    place.classList.toggle('right', right);
    place.classList.toggle('wrong', !right);
    if (Number.isNaN(value)) verdict.textContent = 'A number is asked for, such as 2.5.';
    else verdict.textContent = right ? 'Right.' : `Not yet.${hint ? ` ${hint}` : ''}`;
    this.right[k] = right;
    this.report(this.right.filter(Boolean).length, this.right.length);
  }
}
