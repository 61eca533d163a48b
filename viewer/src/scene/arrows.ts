// Arrows, many at once: a shaft and one or two heads, along y from the origin, of unit length. What
// is behind or inside of bodies is dim.

import {
  BufferGeometry,
  ConeGeometry,
  CylinderGeometry,
  DynamicDrawUsage,
  InstancedMesh,
  Matrix4,
  MeshLambertMaterial,
  Quaternion,
  Vector3,
} from 'three';
import { mergeGeometries } from 'three/addons/utils/BufferGeometryUtils.js';

const kUp = new Vector3(0, 1, 0);

// Two heads: a torque, by the right hand.
function arrowGeometry(heads: number): BufferGeometry {
  const parts: BufferGeometry[] = [new CylinderGeometry(0.35, 0.35, 0.8, 8).translate(0, 0.4, 0)];
  for (let k = 0; k < heads; ++k)
    parts.push(new ConeGeometry(1, 0.22, 12).translate(0, 0.89 - 0.16 * k, 0));
  return mergeGeometries(parts);
}

const kDimArrow = 0.45; // most of them begin inside of bodies

export class Arrows {
  readonly mesh: InstancedMesh;
  private readonly front: InstancedMesh;
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();
  private readonly scale = new Vector3();
  private readonly direction = new Vector3();

  constructor(most: number, colour: string, heads = 1) {
    const geometry = arrowGeometry(heads);
    const make = (opacity: number, depthTest: boolean) => {
      const material = new MeshLambertMaterial({
        color: colour,
        emissive: colour,
        emissiveIntensity: 0.25,
        transparent: true,
        opacity,
        depthTest,
        depthWrite: depthTest,
      });
      const mesh = new InstancedMesh(geometry, material, Math.max(most, 1));
      mesh.renderOrder = depthTest ? 6 : 5;
      mesh.frustumCulled = false;
      mesh.count = 0;
      return mesh;
    };
    this.mesh = make(kDimArrow, false);
    this.front = make(1, true);
    this.front.instanceMatrix = this.mesh.instanceMatrix;
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.add(this.front);
  }

  clear(): void {
    this.mesh.count = 0;
  }

  // Nothing for arrows that are no longer than thick.
  add(from: Vector3, way: Vector3, thickness: number): void {
    const length = way.length();
    if (!(length > 1.5 * thickness) || this.mesh.count >= this.mesh.instanceMatrix.count) return;
    this.turn.setFromUnitVectors(kUp, this.direction.copy(way).divideScalar(length));
    this.scale.set(thickness, length, thickness);
    this.matrix.compose(from, this.turn, this.scale);
    this.mesh.setMatrixAt(this.mesh.count++, this.matrix);
  }

  finish(): void {
    this.front.count = this.mesh.count;
    this.mesh.visible = this.mesh.count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}
