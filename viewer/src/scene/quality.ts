// How much work a picture may be: what looks best that this machine draws smoothly.

import type { WebGLRenderer } from 'three';

const kSlow = 45; // ms between frames
const kPatience = 8; // frames
const kFew = 100; // bodies: a processor can draw them well

interface Tier {
  shadows: boolean;
  simple: boolean; // materials
  pixels: number; // of the canvas for one of the page, at most
}
const kTiers: Tier[] = [
  { shadows: true, simple: false, pixels: 2 },
  { shadows: true, simple: false, pixels: 1 },
  { shadows: false, simple: true, pixels: 1 },
  { shadows: false, simple: true, pixels: 0.6 },
];

// Whether the processor draws, for want of a GPU.
function drawsInSoftware(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2');
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Quality {
  private tier = 0;
  private slowFrames = 0;
  readonly software: boolean;
  readonly antialias: boolean;
  onChange: () => void = () => {};

  constructor(bodies: number) {
    this.software = drawsInSoftware();
    if (this.software) this.tier = bodies > kFew ? 2 : 1;
    this.antialias = !this.software || bodies <= kFew;
  }

  get shadows(): boolean {
    return kTiers[this.tier]!.shadows;
  }
  get simple(): boolean {
    return kTiers[this.tier]!.simple;
  }

  // Milliseconds since the frame before, while frames follow each other. True: less is drawn now.
  note(interval: number): boolean {
    this.slowFrames = interval > kSlow ? this.slowFrames + 1 : Math.max(this.slowFrames - 1, 0);
    if (this.slowFrames < kPatience || this.tier === kTiers.length - 1) return false;
    this.slowFrames = 0;
    ++this.tier;
    this.onChange();
    return true;
  }

  apply(renderer: WebGLRenderer): void {
    const { shadows, pixels } = kTiers[this.tier]!;
    renderer.shadowMap.enabled = shadows;
    renderer.setPixelRatio(Math.min(window.devicePixelRatio, pixels));
  }
}
