/**
 * Floors for machines without a graphics processor: a colour or checkers without lights, which are the same all over a
 * floor, and without textures; several times as fast as the lit ones, and nearly alike.
 */

import { ShaderMaterial, Vector3 } from 'three';
import { isEndless } from './geometry.js';

const LIT = [1.027, 1.009, 0.997];  // factors by which the lights change a colour on the screen (sRGB)

const VERTEX = `
attribute vec4 color;
varying vec2 place;
varying float fading;
void main() {
  place = uv;
  fading = ENDLESS ? color.a : 1.0;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

// checkers, as large as a pixel sees of them
const FRAGMENT = `
uniform vec3 one;
uniform vec3 two;
uniform float opacity;
varying vec2 place;
varying float fading;
void main() {
  vec3 seen = one;
  if (CHECKERED) {
    vec2 width = max(fwidth(place), 1e-4);
    vec2 wave = (abs(fract(place - 0.5 * width) - 0.5) - abs(fract(place + 0.5 * width) - 0.5)) / width;
    seen = mix(one, two, 0.5 + 0.5 * wave.x * wave.y);
  }
  gl_FragColor = vec4(seen, opacity * fading);
}`;

const seen = (rgb) => new Vector3(...rgb.slice(0, 3).map((part, k) => Math.min(1, part * LIT[k])));

export function plainFloor(shape) {
  const [, , , alpha = 1] = shape.rgba;
  const { rgb1, rgb2 } = shape.checker ?? { rgb1: shape.rgba, rgb2: shape.rgba };
  const endless = isEndless(shape);
  return new ShaderMaterial({
    uniforms: { one: { value: seen(rgb1) }, two: { value: seen(rgb2) }, opacity: { value: alpha } },
    vertexShader: VERTEX.replace('ENDLESS', endless),
    fragmentShader: FRAGMENT.replace('CHECKERED', Boolean(shape.checker)),
    transparent: endless || alpha < 1,
  });
}
