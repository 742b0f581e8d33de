/** Helpers for the document. */

export const byId = (id) => document.getElementById(id);

/** Make an element with properties, or attributes for names with a dash, and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/** Fill a list box; entries are names, or [value, label] pairs. Keeps the choice if it still exists. */
export function fill(select, entries) {
  const kept = select.value;
  const pairs = entries.map((entry) => (Array.isArray(entry) ? entry : [entry, entry]));
  select.replaceChildren(...pairs.map(([value, label]) => element('option', { value, textContent: label })));
  if (pairs.some(([value]) => value === kept)) select.value = kept;
}

/** Set a field's value unless the user is editing it. */
export function show(field, value) {
  const text = String(value);
  if (document.activeElement !== field && field.value !== text) field.value = text;
}

/** The shortest text of a number with a number of digits. */
export function short(value, digits = 6) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(digits))) : '';
}

/** Show an error at a field until its text changes. */
export function complain(field, text) {
  const place = field.closest('.row, .slider, .speed');
  place.querySelector('.complaint')?.remove();
  if (!text) return;
  const note = element('p', { className: 'complaint', role: 'alert', textContent: text });
  field.addEventListener('input', () => note.remove(), { once: true });
  place.append(note);
}

/** The number in a field, if it lies within the field's bounds; otherwise null, and the field says so. */
export function numberIn(field) {
  const { valueAsNumber: value, min, max } = field;
  const good = Number.isFinite(value) && !(value < Number(min || -Infinity)) && !(value > Number(max || Infinity));
  const unit = field.closest('.with-unit')?.lastElementChild.textContent ?? '';
  const what = Number.isFinite(value) ? value : 'This';
  complain(field, good ? '' : `${what} is not between ${short(Number(min))} and ${short(Number(max))} ${unit}`.trim());
  return good ? value : null;
}

/** Whether the user is typing into an element, so that letters are text and not commands. */
export function isTyping(target) {
  if (target.closest?.('select, textarea, [contenteditable]')) return true;
  return target.tagName === 'INPUT' && !['range', 'checkbox', 'button'].includes(target.type);
}

/** Whether an element uses the space bar itself. */
export const takesSpace = (target) => Boolean(target.closest?.('button, summary, a, [type=checkbox]'));

/**
 * A click with the mouse leaves the keyboard where it was, so that space still means play after a button was clicked;
 * a list box chosen from by mouse, or a number confirmed by Enter, is left as well. Escape takes back what was typed.
 */
export function keepKeyboardFree(root) {
  let byPointer = false;
  let entered = '';
  root.addEventListener('mousedown', (event) => {
    byPointer = true;
    if (event.target.closest('button, summary, label.check, [type=checkbox]')) event.preventDefault();
  });
  root.addEventListener('keydown', (event) => {
    byPointer = false;
    if (event.key === 'Enter' && event.target.matches('input[type=number]')) event.target.blur();
    if (event.key !== 'Escape' || !event.target.matches('input, select')) return;
    if (event.target.type === 'number') event.target.value = entered;
    event.target.blur();
  });
  root.addEventListener('focusin', ({ target }) => (entered = target.value));
  root.addEventListener('change', (event) => {
    if (byPointer && event.target.matches('select, [type=range]')) event.target.blur();
  });
}
