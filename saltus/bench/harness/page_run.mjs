/**
 * A page's loops under Node, driven by lines of JSON: see page_process.py. Each line is answered by one.
 *
 *   {"do": "start", "integrator", "contact"}   the page's first state
 *   {"do": "step", "steps"}                    with all that a page does about steps
 *   {"do": "advance", "steps"}                 the compiled loop alone
 *   {"do": "look", "fields"}                   what a page shows of the state: these fields of Data, and contacts
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { contents } from '../../lab/page/src/worker/contents.js';
import { Program } from '../../lab/page/src/worker/program.js';
import { Simulation } from '../../lab/page/src/worker/simulation.js';

const { about, wasm, image } = await contents(Buffer.from(readFileSync(process.argv[2], 'utf8'), 'base64'));
const program = await Program.load(wasm, image, about.program);
let sim = null;

function start({ integrator, contact }) {
  const loop = program.about.loops.find((one) => one.integrator === integrator && program.laws[one.law].contact === contact);
  sim = new Simulation(program, loop, about.page.timestep, () => {});
  sim.start(about.page.starts['']);
  sim.get('control_prm').set(about.page.starts[''].control_prm ?? []);
  return state('OK');
}

function state(status) {
  const fields = Object.fromEntries(['qpos', 'qvel', 'act'].map((name) => [name, [...sim.get(name)]]));
  return { status, time: sim.time, ...fields, energy: sim.energy(), events: sim.forgotten + sim.events.length };
}

function step({ steps }) {
  try {
    sim.step(steps);
  } catch (error) {
    return state(error.status ?? error.stack);
  }
  return state('OK');
}

function look({ fields }) {
  const contacts = sim.look(about.page.scene.extent).map((row) => [...row]);
  return { ...Object.fromEntries(fields.map((name) => [name, [...sim.view.get(name)]])), contacts };
}

const ACTS = { start, step, look, advance: ({ steps }) => sim.advance(steps) };
for await (const line of createInterface({ input: process.stdin })) {
  const { do: act, ...given } = JSON.parse(line);
  console.log(JSON.stringify(ACTS[act](given)));
}
