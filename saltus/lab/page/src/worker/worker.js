/**
 * The simulation's thread. The page posts {page: bytes, link} once, the contents of its file (see
 * saltus/lab/standalone/page.py) and the [name, text] pairs of its address, then {command}s and {ask, id}s; it gets {message}s, {frame}s of bytes, {answer, id}s,
 * and {error} if it cannot continue.
 */

import { contents } from './contents.js';
import { EXACT } from './exact.js';
import { Pendularm } from './pendularm.js';
import { Program } from './program.js';
import { ServoSession } from './servo.js';
import { Session } from './session.js';

const PERIOD = 1000 / 60;  // ms
const STATUS_PERIOD = 100;  // ms
const UNACKNOWLEDGED = 3;  // frames
const KINDS = { live: Session, servo: ServoSession, pendularm: Pendularm };

let session = null;
let [last, due, told, toldAt] = [0, 0, '', -Infinity];
let acknowledged = 0;

async function open(bytes, link) {
  const { about, wasm, image } = await contents(bytes);
  const program = await Program.load(wasm, image, about.program, EXACT);
  session = new KINDS[about.page.own.kind](program, about.page);
  session.open(link);
  say(session.hello());
  say(session.scene());
  say(session.signals.message());
  tellStatus();
  last = performance.now();
  due = last;
  turn();
}

const say = (message) => postMessage({ message });

function tellStatus() {
  const status = session.status();
  const text = JSON.stringify(status);
  toldAt = performance.now();
  if (text === told) return;
  told = text;
  say(status);
}

/** Do one cycle: motion, news. */
function turn() {
  const now = performance.now();
  try {
    session.tick((now - last) / 1000);
    last = now;
    for (const notice of session.notices.splice(0)) say(notice);
    if (session.number - acknowledged < UNACKNOWLEDGED) {
      for (const samples of [session.signals.news(), session.track.news()]) if (samples) postMessage({ frame: samples }, [samples]);
      const frame = session.frame();
      if (frame) postMessage({ frame }, [frame]);
    }
    if (now - toldAt >= STATUS_PERIOD) tellStatus();
  } catch (error) {
    postMessage({ error: `${error.message}` });
    throw error;
  }
  due = Math.max(due + PERIOD, performance.now() - PERIOD);
  setTimeout(turn, Math.max(0, due - performance.now()));
}

const ANSWERS = { state: () => session.stateText(), table: () => session.table(), link: ({ now }) => session.link(now) };

onmessage = ({ data }) => {
  if (data.page) open(data.page, data.link).catch((error) => postMessage({ error: error.message }));
  else if (data.ask) {
    try {
      postMessage({ id: data.id, answer: ANSWERS[data.ask](data) });
    } catch (error) {
      postMessage({ id: data.id, failed: error.message });
    }
  } else if (data.command.type === 'ack') acknowledged = data.command.frame;
  else session?.handle(data.command);
};
