/** Drawn over the mechanism: contact points and forces, the centre of mass, the spring of a pull. */

import { ConeGeometry, Group, Mesh, MeshBasicMaterial, MeshPhongMaterial, SphereGeometry, Vector3 } from 'three';
import { CONTACT } from './frame.js';
import { Rods } from './strands.js';

const MOST = 1000;  // contacts in a frame
const MODES = [  // colour and name of a contact's mode: not known, open, sticking, slipping
  { mode: -1, color: '#e8a33d', name: '' },
  { mode: 1, color: '#0072b2', name: 'sticking' },
  { mode: 2, color: '#d55e00', name: 'slipping' },
  { mode: 0, color: '#f4f4ee', name: 'open' },
];
const FORCE = '#3fa34d';
const SPRING = '#e4572e';
const a = new Vector3();
const b = new Vector3();
const c = new Vector3();

/** The largest of 1, 2, 5 times a power of ten that is not above the value. */
export function roundDown(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const lead = value / power;
  return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

/** Balls, coloured by mode and seen through everything, and arrows. The arrows' scale follows the largest force of late, in round steps. */
export class Contacts {
  constructor(extent) {
    this.extent = extent;
    this.largest = 0;
    this.group = new Group();
    this.group.visible = false;
    const ball = new SphereGeometry(1, 16, 12);
    const look = (color) => new MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.9 });
    this.points = new Map(MODES.map(({ mode, color }) => [mode, new Rods(MOST, look(color), ball)]));
    for (const part of this.points.values()) part.mesh.renderOrder = 2;
    this.shafts = new Rods(MOST, new MeshPhongMaterial({ color: FORCE }));
    this.heads = new Rods(MOST, new MeshPhongMaterial({ color: FORCE }), new ConeGeometry(1, 1, 14));
    this.parts = [...this.points.values(), this.shafts, this.heads];
    this.group.add(...this.parts.map((part) => part.mesh));
  }

  /** @returns {[color, text][]} legend of colours and lengths; an empty colour for none */
  update(contacts) {
    for (const part of this.parts) part.clear();
    let most = 0;
    for (let i = 0; i < contacts.length; i += CONTACT) {
      most = Math.max(most, Math.hypot(contacts[i + 3], contacts[i + 4], contacts[i + 5]));
    }
    this.largest = Math.max(most, 0.995 * this.largest);
    const reach = 0.35 * this.extent;
    const scale = this.largest > 0 ? reach / this.largest : 0;
    const thick = 0.008 * this.extent;
    for (let i = 0; i < contacts.length; i += CONTACT) {
      a.fromArray(contacts, i);
      c.fromArray(contacts, i + 3);
      const force = c.length();
      const direction = force > 0 ? c.divideScalar(force) : c.set(0, 0, 1);
      b.copy(a).addScaledVector(direction, 0.6 * thick);
      this.points.get(Math.round(contacts[i + 7])).add(a.addScaledVector(direction, -0.6 * thick), b, 1.2 * thick);
      const length = force * scale;
      if (length < 2 * thick) continue;
      const neck = Math.max(length - 4 * thick, 0);
      this.shafts.add(a, b.copy(a).addScaledVector(direction, neck), 0.6 * thick);
      this.heads.add(b, a.addScaledVector(direction, length), 1.6 * thick);
    }
    return this.legend(contacts.length / CONTACT, scale);
  }

  legend(count, scale) {
    if (!count) return [];
    const known = MODES.filter(({ mode }) => mode >= 0 && this.points.get(mode).mesh.count > 0);
    const parts = known.map(({ mode, color, name }) => [color, `${this.points.get(mode).mesh.count} ${name}`]);
    if (!parts.length) parts.push(['', `${count} contact${count === 1 ? '' : 's'}`]);
    if (!scale) return parts;
    const newtons = roundDown(this.largest);
    const metres = Number((newtons * scale).toPrecision(2));
    return [...parts, ['', `an arrow of ${metres} m is ${newtons} N`]];
  }

  dispose() {
    for (const part of this.parts) part.dispose();
    this.group.removeFromParent();
  }
}

/** A ball that is visible through everything. */
export function marker(color, size) {
  const look = new MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.9 });
  const ball = new Mesh(new SphereGeometry(size, 20, 14), look);
  ball.renderOrder = 2;
  ball.visible = false;
  return ball;
}

/** A ball at a point that is drawn where it is wanted and known: a centre of mass or of pressure. */
export class Centre {
  constructor(color, size) {
    this.ball = marker(color, size);
    this.wanted = false;
  }

  update(point) {
    this.ball.visible = this.wanted && point !== null && Number.isFinite(point[0]);
    if (this.ball.visible) this.ball.position.fromArray(point);
  }
}

export const centreOfMass = (extent) => new Centre('#c13584', 0.02 * extent);
export const centreOfPressure = (extent) => new Centre(FORCE, 0.022 * extent);

/** A rod between two points: from the grabbed point to the mouse, or a measured distance. */
export class Spring {
  constructor(extent, color = SPRING) {
    this.extent = extent;
    this.group = new Group();
    this.group.visible = false;
    this.rods = new Rods(1, new MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.85 }));
    this.rods.mesh.renderOrder = 2;
    this.ends = [marker(color, 0.012 * extent), marker(color, 0.018 * extent)];
    for (const end of this.ends) end.visible = true;
    this.group.add(this.rods.mesh, ...this.ends);
  }

  between(from, to) {
    this.group.visible = true;
    this.rods.clear();
    this.rods.add(from, to, 0.005 * this.extent);
    this.ends[0].position.copy(from);
    this.ends[1].position.copy(to);
  }

  hide() {
    this.group.visible = false;
  }
}
