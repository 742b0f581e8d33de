/** The module of a model: its memory, and its functions by their names in `about`. */

const ALIGN = 64;
const LONG = 8;  // bytes of a number
const REAL = 0;

const MATH = { sin: Math.sin, cos: Math.cos, exp: Math.exp, log: Math.log, pow: Math.pow };

export class Program {
  /**
   * @param {BufferSource} wasm
   * @param {Uint8Array} image initial contents of memory
   * @param {object} about layout of memory, see saltus/target/web/program.py
   * @param {object} math the functions that the module imports
   */
  static async load(wasm, image, about, math = MATH) {
    const { instance } = await WebAssembly.instantiate(wasm, { env: math });
    return new Program(instance.exports, image, about);
  }

  constructor(exports, image, about) {
    this.exports = exports;
    this.about = about;
    this.image = image;
    this.end = exports.heap.value;
    this.results = exports.results_at();
    this.laws = about.laws.map((law) => new Law(this, law));
  }

  /** Allocate bytes; returns their address. */
  room(bytes) {
    const at = Math.ceil(this.end / ALIGN) * ALIGN;
    this.end = at + bytes;
    const { memory } = this.exports;
    const missing = this.end - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
    return at;
  }

  /** Copy a part of the image; returns the copy's address. */
  copy({ at, count }) {
    const place = this.room(count * LONG);
    new Uint8Array(this.exports.memory.buffer).set(this.image.subarray(at, at + count * LONG), place);
    return place;
  }

  reals(at, count) {
    return new Float64Array(this.exports.memory.buffer, at, count);
  }

  /** Call a function; returns its results, at most four numbers. */
  call(name, ...given) {
    const code = this.exports[name](...given);
    if (code) throw new Error(`${name} failed with code ${code}`);
    return this.reals(this.results, 4);
  }
}

/** Buffers of a struct with its fields by name. */
class Struct {
  constructor(program, { reals, ints, fields }) {
    Object.assign(this, { program, fields, reals: program.copy(reals), ints: program.copy(ints), count: reals.count, known: new Map() });
    this.addresses = [this.reals, this.ints];
  }

  has(name) {
    return name in this.fields;
  }

  /** The numbers of a field; empty if it has none. */
  get(name) {
    const { buffer } = this.program.exports.memory;
    let found = this.known.get(name);
    if (found?.buffer !== buffer) {
      const [kind, at, count] = this.fields[name] ?? [REAL, 0, 0];
      if (kind !== REAL) throw new Error(`${name} holds integers`);
      found = new Float64Array(buffer, this.reals + at * LONG, count);
      this.known.set(name, found);
    }
    return found;
  }

  /** Whole numbers of a field: 64-bit integers that fit into 32 bits, every second word. */
  words(name) {
    const [, at, count] = this.fields[name];
    return new Int32Array(this.program.exports.memory.buffer, this.ints + at * LONG, 2 * count);
  }

  int(name, k = 0) {
    return this.words(name)[2 * k];
  }

  setInt(name, value, k = 0) {
    const words = this.words(name);
    words[2 * k] = value;
    words[2 * k + 1] = value < 0 ? -1 : 0;
  }
}

/** A contact law: the Model that its loops share, and functions that evaluate a state. */
class Law extends Struct {
  constructor(program, law) {
    super(program, law);
    this.contact = law.contact;
    this.functions = law.functions;
    this.most = law.contacts;
    this.given = this.all.slice();  // values of the file
    this.bounded = law.bounded.map(([place, constant, power]) => [place, constant, power, this.all[place]]);
    this.width = program.about.contactWidth;
    this.table = program.room(Math.max(1, this.most * this.width) * LONG);
    this.points = law.points;
    this.first = program.copy(law.first);
    this.forces = program.room(3 * law.points * LONG);
    this.elements = this.int('npath');
    this.paths = program.room(this.elements * program.about.pathWidth * LONG);
    const [nq, nv] = [this.int('nq'), this.int('nv')];
    this.between = [program.room(nq * LONG), program.room(nq * LONG)];
    this.jacobian = [program.room(3 * nv * LONG), program.room(3 * nv * LONG)];
  }

  /** All real numbers of the Model. */
  get all() {
    return this.program.reals(this.reals, this.count);
  }

  /** Set the timestep (s), which bounds time constants of soft contacts and constraints from below. */
  setTimestep(h) {
    const { all } = this;
    for (const [place, constant, power, given] of this.bounded) all[place] = given * (constant / Math.max(constant, 2 * h)) ** power;
  }
}

/** Memory of one simulation under a loop. */
export class Data extends Struct {
  constructor(program, loop) {
    super(program, loop);
    this.loop = loop;
    this.law = program.laws[loop.law];
    this.parameters = loop.parameters.map((part) => program.copy(part));
    this.first = this.get('time').byteOffset;
    this.state = loop.state[1] - loop.state[0];
  }

  /** A view of all numbers that steps continue from. */
  get all() {
    return this.program.reals(this.reals + this.loop.state[0] * LONG, this.state);
  }

  /** Take n steps of h seconds; returns the number taken and a status. */
  advance(n, h) {
    const [taken, status] = this.program.call(this.loop.function, ...this.law.addresses, ...this.addresses, n, h, ...this.parameters);
    return [taken, status];
  }

  /** Evaluate the state by `saltus/target/web/looking.py`; returns a status and the number of contacts. */
  look() {
    const m = this.law.addresses;
    const [status, contacts] = this.program.call(this.law.functions.look, ...m, ...m, ...this.addresses, this.law.table);
    return [status, contacts];
  }

  contacts(count) {
    return this.program.reals(this.law.table, count * this.law.width);
  }

  /** (potential, kinetic) energy, J. */
  energy() {
    const [potential, kinetic] = this.program.call(this.law.functions.energy, ...this.law.addresses, ...this.addresses);
    return [potential, kinetic];
  }

  /** Compute all poses at a fraction of the way between two positions. Overwrites qpos and qvel. */
  pose(before, after, fraction) {
    const [from, to] = this.law.between;
    this.program.reals(from, before.length).set(before);
    this.program.reals(to, after.length).set(after);
    this.program.call(this.law.functions.pose, ...this.law.addresses, ...this.addresses, from, to, fraction);
  }

  /** The matrix [9] that takes a force at a point (m, world axes) of a body to the point's acceleration, and its Jacobian. */
  mobility(point, body) {
    const [jacobian, moved] = this.law.jacobian;
    this.program.call(this.law.functions.mobility, ...this.law.addresses, ...this.addresses, ...point, body, jacobian, moved);
    const nv = this.law.int('nv');
    const [J, X] = [this.program.reals(jacobian, 3 * nv), this.program.reals(moved, 3 * nv)];
    const found = new Float64Array(9);
    for (let i = 0; i < 3; i += 1) {
      for (let j = 0; j < 3; j += 1) {
        for (let k = 0; k < nv; k += 1) found[3 * i + j] += J[i * nv + k] * X[j * nv + k];
      }
    }
    return { matrix: found, J };
  }

  /** Forces [points, 3] at numbered contact points, N. */
  pointForces() {
    const { law } = this;
    if (!law.points) return new Float64Array(0);
    this.program.call(law.functions.point_forces, ...law.addresses, ...this.addresses, law.first, law.forces);
    return this.program.reals(law.forces, 3 * law.points);
  }

  /** The paths of tendons, after `pose`; see saltus/target/web/looking.py. */
  paths() {
    this.program.call(this.law.functions.paths, ...this.law.addresses, ...this.addresses, this.law.paths);
    return this.program.reals(this.law.paths, this.law.elements * this.program.about.pathWidth);
  }

  gaps() {
    return this.program.call(this.law.functions.gaps, ...this.law.addresses, ...this.addresses, this.law.table)[0];
  }

  settle() {
    return this.program.call(this.law.functions.settle, ...this.law.addresses, ...this.addresses)[0];
  }
}
