// Colours that mean something. Told apart by the colour-blind, too.

import { Color } from 'three';

export const kForceColour = '#e0a03c';
export const kTorqueColour = '#9a7fd1';
export const kPathColour = '#d8577c';
export const kSeries = ['#5b9bc8', '#e0a03c', '#4aa88c', '#c878a8'];

// Of depth: from shallow to deep.
const kDepthStops = ['#f7d774', '#f0943f', '#d8453f', '#8c1d4f'];
export const kDepthGradient = `linear-gradient(90deg, ${kDepthStops.join(', ')})`;
const kDepth = kDepthStops.map((c) => new Color(c));

export function depthColour(share: number, to: Color): Color {
  const at = Math.min(Math.max(share, 0), 1) * (kDepth.length - 1);
  const k = Math.min(Math.floor(at), kDepth.length - 2);
  return to.lerpColors(kDepth[k]!, kDepth[k + 1]!, at - k);
}

// Of levels of a tree: from the root on.
export function levelColour(level: number, levels: number, to: Color): Color {
  return to.setHSL(0.56 - 0.5 * (levels > 1 ? level / (levels - 1) : 0), 0.6, 0.47);
}
