// The surfaces of all bodies: two instanced meshes a shape, one solid and one of glass.

import {
  Color,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  Group,
  InstancedMesh,
  Material,
  MeshLambertMaterial,
  MeshStandardMaterial,
  Raycaster,
  Side,
} from 'three';

import type { Pack, Shape } from '../pack/format';
import type { Looks } from '../run/looks';
import type { Poses } from '../run/poses';
import { isClosed, makeGeometry } from './geometry';
import { Ground } from './ground';

interface Batch {
  bodies: number[]; // all that have the shape
  side: Side;
  solid: InstancedMesh;
  glass: InstancedMesh;
  shown: { solid: number[]; glass: number[] };
}

export class Surfaces {
  readonly group = new Group();
  private readonly batches: Batch[] = [];
  readonly grounds: Ground[] = [];

  constructor(
    pack: Pack,
    private readonly looks: Looks,
    private readonly poses: Poses,
  ) {
    pack.shapes.forEach((shape, number) => {
      const users = pack.bodies.map((_, k) => k).filter((k) => pack.bodies[k]!.shape === number);
      if (users.length === 0 || shape.triangles.length === 0) return;
      const endless = users.filter((k) => pack.bodies[k]!.endless);
      for (const body of endless) {
        const ground = new Ground(shape, body, pack.bodies[body]!.colour);
        this.grounds.push(ground);
        this.group.add(ground.group);
      }
      const bodies = users.filter((k) => !pack.bodies[k]!.endless);
      if (bodies.length > 0) this.addBatch(shape, bodies);
    });
  }

  private addBatch({ positions, triangles }: Shape, bodies: number[]): void {
    const geometry = makeGeometry(positions, triangles);
    const side = isClosed(positions, triangles) ? FrontSide : DoubleSide;
    const make = (material: Material) => {
      const mesh = new InstancedMesh(geometry, material, bodies.length);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.setColorAt(0, new Color());
      this.group.add(mesh);
      return mesh;
    };
    const solid = make(solidMaterial(false, side));
    solid.castShadow = solid.receiveShadow = true;
    const glass = make(
      new MeshStandardMaterial({
        transparent: true,
        opacity: 0.2,
        depthWrite: false,
        side: DoubleSide,
        roughness: 0.2,
      }),
    );
    glass.renderOrder = 2;
    this.batches.push({ bodies, side, solid, glass, shown: { solid: [], glass: [] } });
  }

  // Which bodies are drawn, and how.
  update(): void {
    const colour = new Color();
    for (const batch of this.batches) {
      const drawn = batch.bodies.filter((k) => {
        const look = this.looks.all[k]!;
        return look.visible && look.shown.surface;
      });
      batch.shown.solid = drawn.filter((k) => !this.looks.isGlass(k));
      batch.shown.glass = drawn.filter((k) => this.looks.isGlass(k));
      for (const kind of ['solid', 'glass'] as const) {
        batch[kind].count = batch.shown[kind].length;
        batch.shown[kind].forEach((k, i) => {
          colour.set(this.looks.bodies[k]!.colour);
          if (k === this.looks.selected) colour.lerp(new Color(0xffffff), 0.25);
          batch[kind].setColorAt(i, colour);
        });
        batch[kind].instanceColor!.needsUpdate = true;
      }
    }
    for (const { body, group } of this.grounds) {
      const look = this.looks.all[body]!;
      group.visible = look.visible && look.shown.surface;
    }
    this.move();
  }

  // To where the poses have them now.
  move(): void {
    const { matrices } = this.poses;
    for (const batch of this.batches)
      for (const kind of ['solid', 'glass'] as const) {
        const to = batch[kind].instanceMatrix.array as Float32Array;
        batch.shown[kind].forEach((k, i) => to.set(matrices.subarray(16 * k, 16 * k + 16), 16 * i));
        batch[kind].instanceMatrix.needsUpdate = true;
        batch[kind].boundingSphere = null; // of where instances were: rays would miss them
      }
    for (const { body, group } of this.grounds) group.matrix.fromArray(matrices, 16 * body);
  }

  setSimple(simple: boolean): void {
    for (const ground of this.grounds) ground.setSimple(simple);
    for (const { solid, side } of this.batches) {
      (solid.material as Material).dispose();
      solid.material = solidMaterial(simple, side);
    }
  }

  // The nearest body under a ray.
  pick(ray: Raycaster): number | null {
    let best: { distance: number; body: number } | null = null;
    for (const batch of this.batches)
      for (const kind of ['solid', 'glass'] as const) {
        if (batch[kind].count === 0) continue;
        const hit = ray.intersectObject(batch[kind])[0];
        if (hit && (!best || hit.distance < best.distance))
          best = { distance: hit.distance, body: batch.shown[kind][hit.instanceId!]! };
      }
    return best?.body ?? null;
  }
}

function solidMaterial(simple: boolean, side: Side): Material {
  return simple
    ? new MeshLambertMaterial({ side })
    : new MeshStandardMaterial({ roughness: 0.55, metalness: 0.02, side });
}
