// What the camera should hold: where bodies are during the run.

import { Box3, Matrix4, Vector3 } from 'three';

import type { Pack, Shape } from '../pack/format';
import type { Poses } from '../run/poses';

const kFrames = 24; // looked at
const kShare = 0.01; // of places at either end that may be left out: what fell off the world

// Vertices, or of a body without a surface its points.
export function placesOf({ positions, shell }: Shape): Float32Array {
  return positions.length > 0 ? positions : (shell?.positions ?? positions);
}

function sphereOf(shape: Shape): { center: Vector3; radius: number } {
  const box = new Box3().setFromArray(placesOf(shape));
  return { center: box.getCenter(new Vector3()), radius: box.getSize(new Vector3()).length() / 2 };
}

export function boxOfBody(pack: Pack, poses: Poses, body: number): Box3 {
  const shape = pack.bodies[body]!.shape;
  const box = new Box3();
  if (shape === null) return box;
  const { center, radius } = sphereOf(pack.shapes[shape]!);
  center.applyMatrix4(matrixOf(poses, body));
  return box.setFromCenterAndSize(center, new Vector3().setScalar(2 * radius));
}

const kMatrix = new Matrix4();
function matrixOf(poses: Poses, body: number): Matrix4 {
  return kMatrix.fromArray(poses.matrices, 16 * body);
}

// Even a run in which one body flies off is seen as a whole but for that.
function trimmed(places: number[][], radius: number): Box3 {
  const box = new Box3();
  for (let axis = 0; axis < 3; ++axis) {
    const sorted = places[axis]!.sort((a, b) => a - b);
    const cut = Math.floor(sorted.length * kShare);
    box.min.setComponent(axis, sorted[cut]! - radius);
    box.max.setComponent(axis, sorted[sorted.length - 1 - cut]! + radius);
  }
  return box;
}

export function boxOfRun(pack: Pack, poses: Poses): Box3 {
  const { box: wanted } = pack.scene.view;
  if (wanted) return new Box3(new Vector3(...wanted[0]), new Vector3(...wanted[1]));
  const spheres = pack.shapes.map(sphereOf);
  const solid = pack.bodies
    .map((_, k) => k)
    .filter((k) => {
      const b = pack.bodies[k]!;
      return b.shape !== null && !b.endless && placesOf(pack.shapes[b.shape]!).length > 0;
    });
  const moving = solid.filter((k) => poses.moves(k));
  const looked = moving.length > 0 ? moving : solid;
  const places: number[][] = [[], [], []];
  const radii = looked.map((k) => spheres[pack.bodies[k]!.shape!]!.radius);
  const count = pack.frames.times.length;
  const at = new Vector3();
  const note = (k: number) => {
    at.copy(spheres[pack.bodies[k]!.shape!]!.center).applyMatrix4(matrixOf(poses, k));
    [at.x, at.y, at.z].forEach((x, axis) => places[axis]!.push(x));
  };
  for (let n = 0; n < Math.min(kFrames, count); ++n) {
    const frame = Math.round((n * (count - 1)) / Math.max(Math.min(kFrames, count) - 1, 1));
    poses.setTime(frame, pack.frames.times[frame]!);
    looked.forEach(note);
  }
  poses.setTime(0, pack.frames.times[0]!);
  const box = looked.length > 0 ? trimmed(places, median(radii)) : new Box3();
  for (const k of looked) if (moving.length < 40) box.union(boxOfBody(pack, poses, k));
  addSoft(pack, box);
  addStills(pack, poses, solid, box);
  if (box.isEmpty()) box.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  return box;
}

function median(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

function addSoft(pack: Pack, box: Box3): void {
  for (const { lower, size } of pack.softBodies) {
    const corner = new Vector3(...lower);
    box.expandByPoint(corner).expandByPoint(corner.clone().add(new Vector3(...size)));
  }
}

// What does not move belongs to the picture unless it is a landscape.
function addStills(pack: Pack, poses: Poses, solid: number[], box: Box3): void {
  const size = box.isEmpty() ? Infinity : box.getSize(new Vector3()).length();
  for (const k of solid) {
    const own = boxOfBody(pack, poses, k);
    if (!poses.moves(k) && own.getSize(new Vector3()).length() < 2.5 * size) box.union(own);
  }
}
