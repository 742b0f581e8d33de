/** Data of the plots: a bounded table of samples over time. */

const POINTS = 2000;

/**
 * Rows of numbers by time. Samples come no closer than `interval`; the newest always stands at the end. With a window
 * (seconds) the oldest leave; without, a full table drops every second row and doubles the interval.
 */
export class History {
  constructor(columns, window = Infinity) {
    this.window = window;
    this.columns = Array.from({ length: columns + 1 }, () => new Float64Array(2 * POINTS));
    this.clear();
  }

  clear() {
    this.count = 0;
    this.interval = Number.isFinite(this.window) ? this.window / POINTS : 0;
  }

  /** Add a row; rows at later times are removed first. */
  push(time, row) {
    const times = this.columns[0];
    if (this.count && time < times[this.count - 1]) {
      while (this.count && times[this.count - 1] >= time) this.count -= 1;
      if (this.count === 0) this.clear();
    }
    // the last row is replaced while it is closer than the interval to the row before it
    if (this.count > 1 && time - times[this.count - 2] < this.interval) this.count -= 1;
    if (this.count === times.length) this.makeRoom(time);
    times[this.count] = time;
    row.forEach((value, i) => (this.columns[i + 1][this.count] = value));
    this.count += 1;
  }

  makeRoom(time) {
    if (Number.isFinite(this.window)) {
      let first = 0;
      while (first < this.count - 1 && this.columns[0][first] < time - this.window) first += 1;
      first = Math.max(first, 1);
      for (const column of this.columns) column.copyWithin(0, first, this.count);
      this.count -= first;
      return;
    }
    const half = Math.ceil(this.count / 2);
    for (const column of this.columns) for (let i = 0; i < half; i += 1) column[i] = column[2 * i];
    this.count = half;
    this.interval = (2 * (this.columns[0][half - 1] - this.columns[0][0])) / (2 * POINTS);
  }

  /** The rows within the window, as views: the times first. */
  rows() {
    let first = 0;
    if (this.count && Number.isFinite(this.window)) {
      const start = this.columns[0][this.count - 1] - this.window;
      while (this.columns[0][first] < start) first += 1;
    }
    return this.columns.map((column) => column.subarray(first, this.count));
  }
}
