/** Resolution of the view: the finest at which motion is smooth, and full resolution for still pictures. */

// ms between pictures at which to draw coarser, or finer again; least ratio of drawn pixels to the screen's, along a side
const LIMITS = { slow: 45, fast: 24, least: 0.6 };
const SOFTWARE = { slow: 21, fast: 0, least: 0.6 };  // a finer picture would again miss every other screen refresh
const PATIENCE = 700;  // ms between two changes
const PAUSE = 400;  // ms without a request, after which the picture counts as still
const LONG = 300;  // ms: longer waits are not counted

/** Whether this machine draws without a graphics processor. */
export function drawsInSoftware() {
  const context = document.createElement('canvas').getContext('webgl2');
  const info = context?.getExtension('WEBGL_debug_renderer_info');
  const name = info ? context.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  context?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** Period of numbers and plots beside the view, ms: without a graphics processor the browser paints them slowly. */
export const pace = { numbers: 0, plots: 80 };

/** Spare a machine without a graphics processor: plots are kept in memory, all beside the view changes less often. */
export function spare() {
  Object.assign(pace, { numbers: 100, plots: 250 });
  const { prototype } = HTMLCanvasElement;
  const { getContext } = prototype;
  prototype.getContext = function context(kind, options) {
    return getContext.call(this, kind, kind === '2d' ? { willReadFrequently: true, ...options } : options);
  };
}

export class Quality {
  /** @param {() => void} redraw called when a still picture can be had finer */
  constructor(renderer, shadow, software, redraw) {
    this.renderer = renderer;
    this.shadow = shadow;
    this.limits = software ? SOFTWARE : LIMITS;
    this.shadows = software ? { moving: 512, still: 2048 } : { moving: 2048, still: 2048 };  // pixels along a side
    this.size(this.shadows.moving);
    this.count = 0;
    this.full = Math.min(devicePixelRatio, 2);
    // without multisampling a still picture is drawn twice as fine
    this.still = software ? 2 : this.full;
    this.moving = this.full;
    this.redraw = redraw;
    this.interval = 30;
    this.last = this.changed = performance.now();
  }

  /** Call when a picture is requested because something moves. */
  active() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.rest(), PAUSE);
    if (!this.resting) return;
    this.resting = false;
    this.last = performance.now();
  }

  /** Call before a picture is drawn. */
  before() {
    if (this.resting) return;
    const now = performance.now();
    this.learn(now, now - this.last);
    this.last = now;
    this.use(this.moving);
    this.size(this.shadows.moving);
    // if drawing is slow, the shadow is updated in every third picture
    this.count = (this.count + 1) % 3;
    this.renderer.shadowMap.autoUpdate = this.count === 0 || this.moving === this.full;
  }

  learn(now, since) {
    this.interval += 0.15 * (Math.min(since, LONG) - this.interval);
    if (now - this.changed < PATIENCE) return;
    const { slow, fast, least } = this.limits;
    const factor = this.interval > 2 * slow ? 0.64 : this.interval > slow ? 0.8 : this.interval < fast ? 1.25 : 1;
    const next = Math.min(Math.max(this.moving * factor, least), this.full);
    if (next === this.moving) return;
    this.moving = next;
    this.changed = now;
  }

  rest() {
    this.resting = true;
    if (this.renderer.getPixelRatio() === this.still) return;
    this.use(this.still);
    this.size(this.shadows.still);
    this.renderer.shadowMap.autoUpdate = true;
    this.redraw();
  }

  /** Set the size of the shadow map, which needs a new map. */
  size(pixels) {
    if (this.shadow.mapSize.x === pixels) return;
    this.shadow.mapSize.set(pixels, pixels);
    this.shadow.map?.dispose();
    this.shadow.map = null;
    this.renderer.shadowMap.needsUpdate = true;
  }

  use(ratio) {
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
  }
}
