// Bodies that bend: their vertices change in every frame.

import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  DynamicDrawUsage,
  Group,
  Mesh,
  MeshStandardMaterial,
} from 'three';

import type { Pack } from '../pack/format';
import { placeSoft } from '../run/poses';

export class SoftBodies {
  readonly group = new Group();
  private readonly meshes: Mesh[] = [];
  readonly visible: boolean[];

  constructor(private readonly pack: Pack) {
    const frames = pack.frames.times.length;
    this.visible = pack.softBodies.map(() => true);
    for (const body of pack.softBodies) {
      const geometry = new BufferGeometry();
      const places = new BufferAttribute(new Float32Array(body.places.length / frames), 3);
      places.setUsage(DynamicDrawUsage);
      geometry.setAttribute('position', places);
      geometry.setIndex(new BufferAttribute(body.triangles, 1));
      const material = new MeshStandardMaterial({
        color: body.colour,
        roughness: 0.7,
        side: DoubleSide,
      });
      const mesh = new Mesh(geometry, material);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      this.meshes.push(mesh);
      this.group.add(mesh);
    }
  }

  setTime(frame: number, time: number): void {
    const { times } = this.pack.frames;
    const next = Math.min(frame + 1, times.length - 1);
    const length = times[next]! - times[frame]!;
    const share = length > 0 ? (time - times[frame]!) / length : 0;
    this.meshes.forEach((mesh, k) => {
      mesh.visible = this.visible[k]!;
      if (!mesh.visible) return;
      const places = mesh.geometry.getAttribute('position') as BufferAttribute;
      placeSoft(this.pack.softBodies[k]!, frame, next, share, places.array as Float32Array);
      places.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
    });
  }
}
