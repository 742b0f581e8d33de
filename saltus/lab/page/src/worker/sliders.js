/** The number that a slider sets: an element of a field of the simulation. */

/** An angle in (-π, π]. */
export function wrapped(angle) {
  const turned = angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
  return turned <= -Math.PI ? turned + 2 * Math.PI : turned;
}

export function readHandle(sim, { field, index, turns }) {
  const value = sim.get(field)[index];
  return turns ? wrapped(value) : value;
}

export function writeHandle(sim, { field, index, rest }, value) {
  sim.get(field)[index] = value;
  if (rest !== null) sim.get('qvel')[rest] = 0;
}

export const clipped = ({ min, max }, value) => Math.min(Math.max(value, min), max);
