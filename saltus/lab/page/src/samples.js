/** Samples of the plotted signals: decoding of binary messages, and the samples received so far. Little endian. */

const SAMPLES = 128;
const TRACK = 129;
const HEAD = 12;  // bytes: 128 u8, flags u8, signals u16, revision u32, samples u32

/** Whether a message holds samples. */
export const holdsSamples = (buffer) => buffer.byteLength > 0 && new Uint8Array(buffer, 0, 1)[0] === SAMPLES;

/** Whether a message holds the course of the run. */
export const holdsTrack = (buffer) => buffer.byteLength > 0 && new Uint8Array(buffer, 0, 1)[0] === TRACK;

/** @returns {{anew, revision, places, times, values}} values: an array for each signal */
export function decodeSamples(buffer) {
  const head = new DataView(buffer);
  if (buffer.byteLength < HEAD) throw new Error(`samples of ${buffer.byteLength} bytes`);
  const [signals, count] = [head.getUint16(2, true), head.getUint32(8, true)];
  const start = 8 * Math.ceil((HEAD + 2 * signals) / 8);
  const length = start + count * (8 + 4 * signals);
  if (buffer.byteLength !== length) throw new Error(`samples of ${buffer.byteLength} bytes where ${length} were expected`);
  return {
    anew: Boolean(head.getUint8(1) & 1),
    revision: head.getUint32(4, true),
    places: Array.from(new Uint16Array(buffer, HEAD, signals)),
    times: new Float64Array(buffer, start, count),
    values: Array.from({ length: signals }, (_, i) => new Float32Array(buffer, start + 8 * count + 4 * i * count, count)),
  };
}

/**
 * All samples as the plots take them: `times`, and for each signal numbers, null where its curve parts, undefined
 * where it was not computed, which the curve passes over.
 */
export class Samples {
  /** @param room number of samples that are kept at least */
  constructor(room, places = []) {
    this.room = room;
    this.places = places;
    this.times = [];
    this.values = places.map(() => []);
  }

  push({ times, values }) {
    for (let i = 0; i < times.length; i += 1) {
      const parts = Number.isNaN(times[i]);
      this.times.push(parts ? this.times.at(-1) ?? 0 : times[i]);
      values.forEach((column, k) => this.values[k].push(parts ? null : shown(column[i])));
    }
    if (this.times.length <= 1.25 * this.room) return;
    const gone = this.times.length - this.room;
    for (const column of [this.times, ...this.values]) column.splice(0, gone);
  }

  /** Samples of the last seconds: the times, then a list for each signal. */
  recent(seconds) {
    const first = Number.isFinite(seconds) ? firstFrom(this.times, this.times.at(-1) - seconds) : 0;
    return [this.times, ...this.values].map((column) => (first ? column.slice(first) : column));
  }
}

const shown = (value) => (Number.isNaN(value) ? undefined : Number.isFinite(value) ? value : null);

/** Index of the first time that is not before this one. */
export function firstFrom(times, time) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
