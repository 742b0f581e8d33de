/**
 * Links to a page: names and texts after the # of its address, applied before the first step, and made from a session.
 *
 * Numbers stand there with all their digits, so that every reader's run begins with the same bits. The start is
 * `qpos`, `qvel`, `act`, `ctrl` and further fields of the state as lists, or single coordinates as `qpos[theta]`.
 */

const SETTINGS = ['contact', 'integrator', 'timestep', 'restitution', 'friction', 'gravity', 'ghosts', 'servo', 'speed'];
const LATER = ['ghosts', 'servo', 'speed', 'follow', 'playing', 'record'];  // applied after the start

/** Apply a link's [name, text] pairs to a session that has taken no step. What cannot be applied becomes a notice. */
export function applyLink(session, pairs) {
  const rank = ([name]) => (SETTINGS.slice(0, 6).includes(name) ? SETTINGS.indexOf(name) : LATER.includes(name) ? 9 : isState(session, name) ? 8 : 7);
  for (const [name, text] of [...pairs].sort((one, other) => rank(one) - rank(other))) {
    try {
      applied(session, name, text);
    } catch (error) {
      if (error instanceof TypeError || error instanceof ReferenceError) throw error;
      session.notify('error', `The link's ${name}=${text} was left out: ${error.message}.`);
    }
  }
  if (pairs.length) session.beginHere();
}

function applied(session, name, text) {
  const known = {
    contact: () => session.do_contact({ name: text }),
    integrator: () => session.do_integrator({ name: text }),
    timestep: () => session.do_timestep({ value: bounded(session, name, number(text)) }),
    restitution: () => session.do_restitution({ value: bounded(session, name, number(text)) }),
    friction: () => session.do_friction({ value: text === '' ? null : bounded(session, name, number(text)) }),
    gravity: () => session.do_gravity({ value: numbers(name, text, 3) }),
    speed: () => session.do_speed({ value: bounded(session, name, number(text)) }),
    key: () => session.do_reset({ key: text }),
    ghosts: () => session.do_ghosts({ on: truth(text) }),
    servo: () => session.turnServo(truth(text)),
    playing: () => (truth(text) ? session.do_play() : session.do_pause()),
    record: () => session.do_record({ on: truth(text) }),
    follow: () => session.do_follow({ body: text || null }),
  };
  if (Object.hasOwn(known, name)) known[name]();
  else if (name.startsWith('slider.')) session.do_slider({ id: name.slice(7), value: number(text) });
  else if (isState(session, name)) setState(session, name, text);
  else throw new Error('there is no such setting');
}

const isState = ({ page }, name) => name in page.starts[''] || /^(qpos|qvel|act|ctrl)\[/.test(name);

function setState(session, name, text) {
  const start = session.state();
  if (name in start) start[name] = numbers(name, text, start[name].length);
  else {
    const [field, place] = session.place(name);
    start[field][place] = number(text);
  }
  session.sim.start(start);
  session.afterJump();
}

/**
 * The settings of a session that differ from its page's own, as {name: text}. now: with its present state as the start;
 * else with the start of the present run.
 */
export function linkOf(session, now) {
  const [mine, own] = [session.status(), session.own];
  const found = {};
  for (const name of [...SETTINGS, 'follow']) {
    if (JSON.stringify(mine[name]) !== JSON.stringify(own[name])) found[name] = String(mine[name] ?? '');
  }
  for (const [id, value] of Object.entries(mine.sliders)) {
    if (session.page.handles[id].field === 'control_prm' && value !== own.sliders[id]) found[`slider.${id}`] = String(value);
  }
  const start = now ? session.state() : session.origin;
  for (const [name, values] of Object.entries(session.page.starts[''])) {
    if (name in start && values.some((value, k) => value !== start[name][k])) found[name] = start[name].join(',');
  }
  return found;
}

function number(text) {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error(`${text || 'nothing'} is not a number`);
  return value;
}

function numbers(name, text, count) {
  const found = text.split(',').map(number);
  if (found.length !== count) throw new Error(`${name} has ${count} numbers on this page, not ${found.length}`);
  return found;
}

function truth(text) {
  if (text !== 'true' && text !== 'false') throw new Error('it is neither true nor false');
  return text === 'true';
}

function bounded({ page }, name, value) {
  const [low, high] = page.hello.bounds[name];
  if (!(value >= low && value <= high)) throw new Error(`it is not between ${low} and ${high}`);
  return value;
}
