/** How curves of plots over time are drawn. */

import uPlot from 'uplot';
import { style } from './axes.js';

/**
 * A line that parts at null and goes on over undefined, and where an angle passes π; of many samples in one column of
 * pixels the least and the largest.
 */
export function curve(plot, index, first, last) {
  const stroke = new Path2D();
  const { turns } = plot.series[index];
  uPlot.orient(plot, index, (series, xs, ys, scaleX, scaleY, toX, toY, left, top, width, height) => {
    const place = last - first > 2 * width ? Math.round : (x) => x;
    let [open, column, low, high, end, before] = [false, 0, 0, 0, 0, 0];
    const close = () => {
      if (low === high) return;
      stroke.lineTo(column, low);
      stroke.lineTo(column, high);
      stroke.lineTo(column, end);
    };
    for (let i = first; i <= last; i += 1) {
      const value = ys[i];
      if (value === undefined) continue;
      if (value === null || (open && turns && Math.abs(value - before) > Math.PI)) {
        if (open) close();
        open = false;
      }
      if (value === null) continue;
      before = value;
      const x = place(toX(xs[i], scaleX, width, left));
      const y = toY(value, scaleY, height, top);
      if (open && x === column) {
        [low, high, end] = [Math.min(low, y), Math.max(high, y), y];
        continue;
      }
      if (open) {
        close();
        stroke.lineTo(x, y);
      } else stroke.moveTo(x, y);
      [open, column, low, high, end] = [true, x, y, y, y];
    }
    if (open) close();
  });
  return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 1 };
}

/** A vertical line at a time of a recording. */
export function markNow(plot, now) {
  const { ctx, bbox: { left, top, width, height } } = plot;
  const x = Math.round(plot.valToPos(now, 'x', true));
  if (!(x >= left && x <= left + width)) return;
  ctx.fillStyle = style('--accent');
  ctx.fillRect(x, top, Math.ceil(devicePixelRatio), height);
}
