/** Runs cases of motion_cases.json, from standard input, by the page's motion.js; prints what it finds as JSON. */
import { readFileSync } from 'node:fs';
import { Motion } from '../../saltus/lab/page/src/worker/motion.js';

const { cases, timing } = JSON.parse(readFileSync(0, 'utf8'));

/** A simulation whose only coordinate is its time. */
class Clock {
  constructor(timestep) {
    Object.assign(this, { timestep, time: 0, steps: 0, numbers: new Float64Array(1) });
  }

  get() {
    return this.numbers;
  }

  step(n) {
    for (let k = 0; k < n; k += 1) this.time += this.timestep;
    this.steps += n;
    this.numbers[0] = this.time;
  }
}

function found({ timestep, budget, does }) {
  const sim = new Clock(timestep);
  const motion = new Motion({ timing: { ...timing, budget: budget ?? 60000 } }, sim, () => {});
  let answer = null;
  for (const [name, value] of does) {
    if (name === 'jump') {
      sim.time = value;
      motion.jump();
    } else answer = motion[name](value);
  }
  return { steps: sim.steps, time: sim.time, shown: motion.shown, fraction: motion.fraction, before: motion.before[0], answer };
}

console.log(JSON.stringify(cases.map(found)));
