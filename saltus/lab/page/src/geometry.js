/** Shapes as triangles. Sizes and axes as MuJoCo's: half sizes, the long axis along z. */

import {
  BoxGeometry, BufferAttribute, BufferGeometry, CanvasTexture, CapsuleGeometry, CylinderGeometry,
  Float32BufferAttribute, PlaneGeometry, RepeatWrapping, SphereGeometry, SRGBColorSpace,
} from 'three';
import { unpack } from './frame.js';

const CREASE = Math.cos(Math.PI / 5);  // faces that meet at more than this keep an edge
// an endless floor: rings of these radii (extents) and opacities
const RINGS = [[0, 1], [1.5, 1], [3, 0.85], [6, 0.45], [12, 0.12], [20, 0]];
const SPOKES = 48;

/** Meshes of the scene as geometries; a face that points outside the vertices is an Error. */
export function meshGeometry({ vertices, faces }) {
  const points = unpack(vertices, Float32Array);
  const corners = unpack(faces, Uint32Array);
  if (corners.some((index) => index >= points.length / 3)) throw new Error('a mesh has a face without its vertex');
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(points, 3));
  geometry.setIndex(new BufferAttribute(corners, 1));
  return creased(geometry);
}

/** Every corner with the mean normal of those faces around it that are not beyond the crease. */
function creased(indexed) {
  const corners = indexed.index.array;
  const geometry = indexed.toNonIndexed();
  geometry.computeVertexNormals();  // face normals: corners are no longer shared
  const flat = geometry.attributes.normal.array;
  const around = new Map();
  corners.forEach((vertex, i) => (around.has(vertex) ? around.get(vertex).push(i) : around.set(vertex, [i])));
  const smooth = new Float32Array(flat.length);
  corners.forEach((vertex, i) => {
    const [x, y, z] = flat.subarray(3 * i, 3 * i + 3);
    for (const j of around.get(vertex)) {
      const [a, b, c] = flat.subarray(3 * j, 3 * j + 3);
      if (x * a + y * b + z * c < CREASE) continue;
      smooth[3 * i] += a;
      smooth[3 * i + 1] += b;
      smooth[3 * i + 2] += c;
    }
  });
  geometry.setAttribute('normal', new BufferAttribute(smooth, 3));
  geometry.normalizeNormals();
  return geometry;
}

/**
 * The geometry of a shape in its own frame; null for a kind that this page does not know. `segments`: of a circle, a
 * multiple of 8.
 */
export function shapeGeometry({ kind, size, mesh }, meshes, extent, segments = 32) {
  const [a, b, c] = size;
  const [rings, around] = [(5 * segments) / 8, (3 * segments) / 4];
  switch (kind) {
    case 'sphere': return new SphereGeometry(a, segments, rings);
    case 'ellipsoid': return new SphereGeometry(1, segments, rings).scale(a, b, c);
    case 'box': return new BoxGeometry(2 * a, 2 * b, 2 * c);
    case 'capsule': return new CapsuleGeometry(a, 2 * b, segments / 4, around).rotateX(Math.PI / 2);
    case 'cylinder': return new CylinderGeometry(a, a, 2 * b, segments).rotateX(Math.PI / 2);
    case 'plane': return isEndless({ kind, size }) ? endlessFloor(extent) : new PlaneGeometry(2 * a || 40 * extent, 2 * b || 40 * extent);
    case 'mesh':
    case 'hfield': return meshes[mesh] ?? null;
    default: return null;
  }
}

/** Whether a plane is infinite. */
export const isEndless = ({ kind, size }) => kind === 'plane' && !(size[0] > 0) && !(size[1] > 0);

/** A disc that fades out towards its rim, by the opacity of its corners. */
function endlessFloor(extent) {
  const [points, colours, faces] = [[], [], []];
  RINGS.forEach(([radius, opacity], ring) => {
    for (let spoke = 0; spoke <= SPOKES; spoke += 1) {
      const angle = (2 * Math.PI * spoke) / SPOKES;
      points.push(radius * extent * Math.cos(angle), radius * extent * Math.sin(angle), 0);
      colours.push(1, 1, 1, opacity);
      if (ring === 0 || spoke === 0) continue;
      const here = ring * (SPOKES + 1) + spoke;
      const inside = here - SPOKES - 1;
      faces.push(inside - 1, here - 1, here, inside - 1, here, inside);
    }
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(points, 3));
  geometry.setAttribute('color', new Float32BufferAttribute(colours, 4));
  geometry.setIndex(faces);
  geometry.computeVertexNormals();
  return geometry;
}

/** The pattern of a floor lies on its plane: one repetition for each two cells, a corner of four in the middle. */
export function layPattern(geometry, cell) {
  const { position } = geometry.attributes;
  const places = Array.from({ length: position.count }, (_, i) => [position.getX(i), position.getY(i)]);
  geometry.setAttribute('uv', new Float32BufferAttribute(places.flat().map((place) => place / (2 * cell)), 2));
}

const css = (rgb) => `rgb(${rgb.slice(0, 3).map((part) => Math.round(255 * part)).join(' ')})`;

/** Four squares, to be repeated: one repetition covers two cells each way; those on the diagonal have rgb2. */
export function checkerTexture({ rgb1, rgb2 }, sharpness) {
  const side = 256;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 2 * side;
  const context = canvas.getContext('2d');
  context.fillStyle = css(rgb1);
  context.fillRect(0, 0, 2 * side, 2 * side);
  context.fillStyle = css(rgb2);
  // the first cell of the plane's frame lies at the bottom left
  context.fillRect(0, side, side, side);
  context.fillRect(side, 0, side, side);
  const texture = new CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = sharpness;
  return texture;
}
