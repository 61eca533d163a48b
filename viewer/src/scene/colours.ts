// Colours that mean something, the same as in pictures (docs/colours.md, tools/picture/colours.h).

import { Color } from 'three';

export const kColours = {
  insideNear: '#ffecd6',
  inside: '#f4a552',
  insideFar: '#b05412',
  outsideNear: '#e8f2fb',
  outside: '#85b6de',
  outsideFar: '#2e66a5',
  zero: '#191c24',
  outline: '#ffe128',
  contactShallow: '#f39b8c',
  contact: '#ce182c',
  contactDeep: '#6a0f2a',
  normal: '#ce182c',
  path: '#7a7f88',
  force: '#2f9e6e',
  torque: '#9a7fd1',
  bodyA: '#6896be',
  bodyB: '#aca692',
  level0: '#7c99c4',
  level1: '#61bcad',
  level2: '#e1c450',
  level3: '#dd6f50',
  level4: '#ad59ad',
  text: '#3c3e44',
  warning: '#b06a00',
};

// Lines of charts: told apart, with no meaning of their own.
export const kSeries = ['#5b9bc8', '#e0a03c', '#4aa88c', '#c878a8'];

// Of depth: from shallow to deep.
const kDepthStops = [kColours.contactShallow, kColours.contact, kColours.contactDeep];
export const kDepthGradient = `linear-gradient(90deg, ${kDepthStops.join(', ')})`;
const kDepth = kDepthStops.map((c) => new Color(c));

export function depthColour(share: number, to: Color): Color {
  const at = Math.min(Math.max(share, 0), 1) * (kDepth.length - 1);
  const k = Math.min(Math.floor(at), kDepth.length - 2);
  return to.lerpColors(kDepth[k]!, kDepth[k + 1]!, at - k);
}

// Of levels of a tree, which are counted from the root; the finest has the first colour.
const kLevels = [kColours.level0, kColours.level1, kColours.level2, kColours.level3, kColours.level4];

export function levelColour(level: number, levels: number, to: Color): Color {
  const fromFinest = Math.max(levels - 1 - level, 0);
  return to.set(kLevels[Math.min(fromFinest, kLevels.length - 1)]!);
}

// As a shader has it, encoded as in the page.
export function glslColour(colour: string): string {
  const channel = (at: number) => (parseInt(colour.slice(at, at + 2), 16) / 255).toFixed(4);
  return `vec3(${channel(1)}, ${channel(3)}, ${channel(5)})`;
}
