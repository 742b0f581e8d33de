/** Drawings added from Python: arrows, spheres, lines and text, in the world or in a body's frame. */

import {
  CanvasTexture, ConeGeometry, Group, Mesh, MeshPhongMaterial, SphereGeometry, Sprite, SpriteMaterial, SRGBColorSpace, Vector3,
} from 'three';
import { style } from './axes.js';
import { Rods } from './strands.js';

const LETTER = 15;  // pixels of the page
const SHARP = 2;  // pixels of the texture a pixel of the page
const THIN = 0.006;  // of the extent: default width of lines and shafts
const ball = new SphereGeometry(1, 28, 18);
const cone = new ConeGeometry(1, 1, 18);

export class Drawings {
  constructor(stage) {
    this.stage = stage;
    this.items = [];
    this.objects = [];
  }

  /** Replace all drawings by these objects. */
  show(objects) {
    this.objects = objects;
    while (this.items.length > objects.length) this.items.pop().dispose();
    objects.forEach((object, i) => {
      const key = [object.kind, object.color, object.alpha, object.body, object.points.length, object.text].join('|');
      if (this.items[i]?.key !== key) {
        this.items[i]?.dispose();
        this.items[i] = this.make(object);
        this.items[i].key = key;
      }
      this.items[i].update(object);
    });
  }

  make(object) {
    const item = { arrow: Arrow, sphere: Ball, line: Line, text: Text }[object.kind];
    if (!item) throw new Error(`a drawing of kind ${JSON.stringify(object.kind)}`);
    const made = new item(object, this.stage);
    (object.body ? this.stage.main.bodies[object.body] : this.stage.three).add(made.group);
    return made;
  }

  clear() {
    this.show([]);
  }
}

const look = ({ color, alpha }) => new MeshPhongMaterial({ color, transparent: alpha < 1, opacity: alpha, specular: 0x1c1c1c });
const point = (points, i) => new Vector3().fromArray(points, 3 * i);

class Item {
  constructor(stage) {
    this.thin = THIN * stage.scene.extent;
    this.group = new Group();
    this.parts = [];
  }

  add(...parts) {
    this.parts.push(...parts);
    this.group.add(...parts.map((part) => part.mesh ?? part));
  }

  dispose() {
    this.group.removeFromParent();
    for (const part of this.parts) {
      if (part.dispose) part.dispose();
      else part.material.dispose();
    }
  }
}

class Arrow extends Item {
  constructor(object, stage) {
    super(stage);
    this.shaft = new Rods(1, look(object));
    this.head = new Rods(1, look(object), cone);
    this.add(this.shaft, this.head);
  }

  update({ points, size }) {
    const [start, end] = [point(points, 0), point(points, 1)];
    const radius = size ? size / 2 : this.thin;
    const length = start.distanceTo(end);
    const neck = end.clone().lerp(start, length > 0 ? Math.min(1, (6 * radius) / length) : 0);
    this.shaft.clear();
    this.head.clear();
    if (!(length > 0)) return;
    this.shaft.add(start, neck, radius);
    this.head.add(neck, end, 2.4 * radius);
  }
}

class Ball extends Item {
  constructor(object, stage) {
    super(stage);
    this.add(new Mesh(ball, look(object)));
  }

  update({ points, size }) {
    this.group.position.fromArray(points);
    this.group.scale.setScalar(size || this.thin);
  }
}

class Line extends Item {
  constructor(object, stage) {
    super(stage);
    this.rods = new Rods(object.points.length / 3 - 1, look(object));
    this.add(this.rods);
  }

  update({ points, size }) {
    const radius = size ? size / 2 : this.thin / 2;
    this.rods.clear();
    for (let i = 0; i + 1 < points.length / 3; i += 1) this.rods.add(point(points, i), point(points, i + 1), radius);
  }
}

/** Text of constant size on the screen, over everything, with an outline. */
class Text extends Item {
  constructor({ text, color }, stage) {
    super(stage);
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d');
    const font = `600 ${SHARP * LETTER}px system-ui, sans-serif`;
    context.font = font;
    canvas.width = Math.ceil(context.measureText(text).width) + 4 * LETTER;
    canvas.height = 2 * SHARP * LETTER;
    Object.assign(context, { font, textBaseline: 'middle', lineJoin: 'round', lineWidth: 2 * SHARP });
    context.strokeStyle = style('--panel');
    context.fillStyle = color;
    context.strokeText(text, 2 * LETTER, canvas.height / 2);
    context.fillText(text, 2 * LETTER, canvas.height / 2);
    this.map = new CanvasTexture(canvas);
    this.map.colorSpace = SRGBColorSpace;
    const sprite = new Sprite(new SpriteMaterial({ map: this.map, depthTest: false, transparent: true, sizeAttenuation: false }));
    sprite.center.set(0, 0.5);
    sprite.renderOrder = 3;
    sprite.frustumCulled = false;
    sprite.onBeforeRender = (renderer, scene, camera) => {
      const pixel = (2 * Math.tan((camera.fov * Math.PI) / 360)) / stage.canvas.clientHeight / SHARP;
      sprite.scale.set(pixel * canvas.width, pixel * canvas.height, 1);
      sprite.updateMatrixWorld();
    };
    this.add(sprite);
  }

  update({ points }) {
    this.group.position.fromArray(points);
  }

  dispose() {
    this.map.dispose();
    super.dispose();
  }
}
