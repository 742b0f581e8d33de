/** Runs loops of a page's contents under Node: see node.py. */
import { readFileSync } from 'node:fs';
import { contents } from '../../saltus/lab/page/src/worker/contents.js';
import { Program } from '../../saltus/lab/page/src/worker/program.js';
import { Simulation } from '../../saltus/lab/page/src/worker/simulation.js';

const { runs, timed } = JSON.parse(process.argv[3]);
const { about, wasm, image } = await contents(Buffer.from(readFileSync(process.argv[2], 'utf8'), 'base64'));
const program = await Program.load(wasm, image, about.program);
const found = runs.map(([integrator, contact, steps]) => {
  const loop = about.program.loops.find((one) => one.integrator === integrator && program.laws[one.law].contact === contact);
  const sim = new Simulation(program, loop, about.page.timestep, () => {});
  sim.start(about.page.starts['']);
  sim.get('control_prm').set(about.page.starts[''].control_prm ?? []);
  let status = 'OK';
  try {
    sim.step(steps);
  } catch (error) {
    status = error.status ?? error.stack;
  }
  const state = { status, time: sim.time, qpos: [...sim.get('qpos')], qvel: [...sim.get('qvel')], act: [...sim.get('act')] };
  const before = sim.d.all.slice();
  let microseconds = Infinity;
  for (let k = 0; timed && k < 5; k += 1) {
    sim.d.all.set(before);
    sim.left = before.slice();
    const start = performance.now();
    sim.advance(timed);
    microseconds = Math.min(microseconds, ((performance.now() - start) * 1000) / timed);
  }
  return { ...state, energy: sim.energy(), microseconds, events: sim.events.length };
});
console.log(JSON.stringify(found));
