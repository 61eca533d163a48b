// Ways of points through other bodies in the last step of a frame: all of the way thin, and the
// part on which the point is inside strong.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  LineBasicMaterial,
  LineSegments,
} from 'three';

import type { Paths } from '../pack/format';
import { kColours } from './colours';

export class PathView {
  readonly object: LineSegments;
  private readonly places: Float32Array;
  private readonly colours: Float32Array;

  constructor(private readonly paths: Paths) {
    const { first } = paths;
    let most = 1;
    for (let f = 0; f + 1 < first.length; ++f) most = Math.max(most, first[f + 1]! - first[f]!);
    this.places = new Float32Array(18 * most);
    this.colours = new Float32Array(24 * most);
    const strong = [...new Color(kColours.contact).toArray(), 1];
    const weak = [...new Color(kColours.path).toArray(), 0.4];
    for (let k = 0; k < most; ++k)
      for (let v = 0; v < 6; ++v)
        this.colours.set(v === 2 || v === 3 ? strong : weak, 24 * k + 4 * v);
    const geometry = new BufferGeometry();
    const place = new BufferAttribute(this.places, 3);
    place.setUsage(DynamicDrawUsage);
    geometry.setAttribute('position', place);
    geometry.setAttribute('color', new BufferAttribute(this.colours, 4));
    const material = new LineBasicMaterial({
      vertexColors: true,
      depthTest: false,
      transparent: true,
    });
    this.object = new LineSegments(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 6;
  }

  // `stretch`: a step is short; ways are drawn so many times as long, about where they enter.
  setFrame(frame: number, stretch: number): void {
    const { first, rows } = this.paths;
    let at = 0;
    for (let k = first[frame]!; k < first[frame + 1]!; ++k) {
      const row = rows.subarray(8 * k, 8 * k + 8);
      const [enter, exit] = [row[6]!, row[7]!];
      for (const t of [0, enter, enter, exit, exit, 1])
        for (let i = 0; i < 3; ++i) {
          const way = row[3 + i]! - row[i]!;
          this.places[at++] = row[i]! + way * (enter + (t - enter) * stretch);
        }
    }
    const { geometry } = this.object;
    geometry.setDrawRange(0, at / 3);
    geometry.getAttribute('position').needsUpdate = true;
  }
}
