/** Decoding of binary frames. The layout follows from the scene. Little endian, as all machines that run browsers. */

const VERSION = 2;
const HEADER = 16;  // bytes: version u8, flags u8, contacts u16, number u32, time f64
export const POSE = 7;  // numbers: position, quaternion w x y z
export const CONTACT = 8;  // numbers: position, force, distance, mode
const MOTOR = 2;  // numbers: torque, target angle
const JOINT = 6;  // numbers: anchor, axis
const AXES = 6;  // numbers: normal, first tangent of a contact

/** Decode base64 to an array of the type; throws if the length is not a multiple of the type's size. */
export function unpack(base64, Type) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Type(bytes.buffer);
}

const LISTS = ['bodies', 'shapes', 'meshes', 'ghosts', 'tendons', 'flexes', 'dofs', 'integrators', 'contacts', 'keys', 'motors'];

/** Throws an Error that names what is missing in a scene. */
export function checkScene(scene) {
  for (const name of [...LISTS, 'sliders', 'keyboard']) {
    if (!Array.isArray(scene[name])) throw new Error(`the scene has no list "${name}"`);
  }
  if (typeof scene.camera !== 'object' || !Number.isFinite(scene.extent)) {
    throw new Error('the scene has no camera or no extent');
  }
  for (const { body, name } of scene.shapes) {
    if (!(body >= 0 && body < scene.bodies.length)) throw new Error(`shape "${name}" is on body ${body}, which is not there`);
  }
}

/** Count of numbers after the header, without contacts. */
function fixedLength(scene) {
  const runs = 1 + scene.ghosts.length;
  const tendons = scene.tendons.reduce((sum, { points }) => sum + 1 + 3 * points, 0);
  const flexes = scene.flexes.reduce((sum, { nvert }) => sum + 3 * nvert, 0);
  const marks = POSE * (scene.cameras ?? []).length + JOINT * (scene.joints ?? []).length;
  return runs * (2 + POSE * scene.bodies.length + 2 * scene.dofs.length) + tendons + flexes + MOTOR * scene.motors.length + marks + 3;
}

/**
 * @returns {{number, time, playing, replay, energy, bodies, dofs, tendons, flexes, motors, cameras, joints, com, contacts, axes, cop}}
 *   energy, bodies, dofs: a list with one array for the run itself and one for each ghost
 */
export function decode(buffer, scene) {
  if (buffer.byteLength < HEADER) throw new Error(`a frame of ${buffer.byteLength} bytes`);
  const head = new DataView(buffer);
  if (head.getUint8(0) !== VERSION) throw new Error(`a frame of version ${head.getUint8(0)}; this page knows version ${VERSION}`);
  const flags = head.getUint8(1);
  const ncontact = head.getUint16(2, true);
  const naxes = flags & 4 ? ncontact : 0;
  const pressed = Boolean(flags & 8);
  const expected = HEADER + 4 * (fixedLength(scene) + CONTACT * ncontact + AXES * naxes + (pressed ? 3 : 0));
  if (buffer.byteLength !== expected) {
    throw new Error(`a frame of ${buffer.byteLength} bytes where the scene asks for ${expected}`);
  }
  const numbers = new Float32Array(buffer, HEADER);
  let at = 0;
  const take = (count) => numbers.subarray(at, (at += count));
  const runs = Array.from({ length: 1 + scene.ghosts.length });
  return {
    number: head.getUint32(4, true),
    time: head.getFloat64(8, true),
    playing: Boolean(flags & 1),
    replay: Boolean(flags & 2),
    energy: runs.map(() => take(2)),
    bodies: runs.map(() => take(POSE * scene.bodies.length)),
    dofs: runs.map(() => take(2 * scene.dofs.length)),
    tendons: scene.tendons.map(({ points }) => ({ count: take(1)[0], points: take(3 * points) })),
    flexes: scene.flexes.map(({ nvert }) => take(3 * nvert)),
    motors: scene.motors.map(() => take(MOTOR)),
    cameras: (scene.cameras ?? []).map(() => take(POSE)),
    joints: take(JOINT * (scene.joints ?? []).length),
    com: take(3),
    contacts: take(CONTACT * ncontact),
    axes: take(AXES * naxes),
    cop: pressed ? take(3) : null,
  };
}
