/** Appearance of all plots: axes, labels, colours. */

/** A colour of the page by its name in the style sheet. */
export const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Tick labels that stay short: 0.05, 12, 3.4e6. */
export const tick = (value) => (value === 0 ? '0' : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3
  ? value.toExponential(1).replace('e+', 'e') : String(Number(value.toPrecision(6))));

export function axis(label, extra = {}) {
  return {
    label, labelSize: 16, labelFont: '11px system-ui', font: '11px system-ui', stroke: () => style('--quiet'),
    grid: { stroke: () => style('--line'), width: 1 }, ticks: { show: false }, size: 20, labelGap: 0,
    values: (_, splits) => splits.map(tick), ...extra,
  };
}

/** Wide enough for the longest label. */
const besideSize = (_, values) => 16 + 6.5 * Math.max(3, ...(values ?? []).map((value) => value.length));
export const beside = (label) => axis(label, { size: besideSize, labelGap: 0 });

/** A little room around the data; a flat line in the middle. */
export function padded(_, low, high) {
  if (low == null) return [-1, 1];
  const room = Math.max(0.06 * (high - low), 1e-6 * Math.max(Math.abs(low), Math.abs(high)), 1e-3);
  return [low - room, high + room];
}
