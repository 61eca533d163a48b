// How much work a picture may be: what looks best that this machine draws smoothly.

import type { WebGLRenderer } from 'three';

const kSlow = 45; // ms between frames
const kPatience = 12; // frames

interface Tier {
  shadows: boolean;
  simple: boolean; // materials
  pixels: number; // of the canvas for one of the page, at most
}
const kTiers: Tier[] = [
  { shadows: true, simple: false, pixels: 2 },
  { shadows: true, simple: false, pixels: 1 },
  { shadows: false, simple: true, pixels: 1 },
  { shadows: false, simple: true, pixels: 0.66 },
];

export class Quality {
  private tier = 0;
  private slowFrames = 0;
  onChange: () => void = () => {};

  constructor(private readonly renderer: WebGLRenderer) {
    const gl = renderer.getContext();
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
    if (/swiftshader|llvmpipe|software|basic render/i.test(name)) this.tier = 1;
    this.apply();
  }

  get shadows(): boolean {
    return kTiers[this.tier]!.shadows;
  }
  get simple(): boolean {
    return kTiers[this.tier]!.simple;
  }

  // Milliseconds since the frame before, while frames follow each other.
  note(interval: number): void {
    this.slowFrames = interval > kSlow ? this.slowFrames + 1 : Math.max(this.slowFrames - 1, 0);
    if (this.slowFrames < kPatience || this.tier === kTiers.length - 1) return;
    this.slowFrames = 0;
    ++this.tier;
    this.apply();
    this.onChange();
  }

  private apply(): void {
    const { shadows, pixels } = kTiers[this.tier]!;
    this.renderer.shadowMap.enabled = shadows;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, pixels));
  }
}
