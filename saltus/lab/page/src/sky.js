/** The background: a soft gradient in the colours of the page's theme. */

import { CanvasTexture, SRGBColorSpace } from 'three';

/** A texture for the background; `changed` is called when the theme changes it. */
export function sky(changed) {
  const canvas = document.createElement('canvas');
  canvas.width = 2;
  canvas.height = 256;
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    const context = canvas.getContext('2d');
    const gradient = context.createLinearGradient(0, 0, 0, canvas.height);
    for (const [i, name] of ['--sky-top', '--sky-middle', '--sky-bottom'].entries()) {
      gradient.addColorStop([0, 0.7, 1][i], style.getPropertyValue(name).trim());
    }
    context.fillStyle = gradient;
    context.fillRect(0, 0, canvas.width, canvas.height);
    texture.needsUpdate = true;
    changed();
  };
  paint();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  return texture;
}
