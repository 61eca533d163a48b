// Meshes for drawing: with normals that keep sharp edges sharp.

import { BufferAttribute, BufferGeometry } from 'three';

const kCreaseCosine = Math.cos((35 * Math.PI) / 180);

interface Corners {
  first: Uint32Array; // of each vertex in `list`, and one behind the last
  list: Uint32Array; // corners: 3 * triangle + number
}

// Vertices at one place count as one: files repeat them.
function weld(positions: Float32Array): Uint32Array {
  const numbers = new Map<string, number>();
  const same = new Uint32Array(positions.length / 3);
  for (let v = 0; v < same.length; ++v) {
    const key = `${positions[3 * v]},${positions[3 * v + 1]},${positions[3 * v + 2]}`;
    const known = numbers.get(key);
    if (known === undefined) numbers.set(key, v);
    same[v] = known ?? v;
  }
  return same;
}

function cornersOf(triangles: Uint32Array, vertices: number): Corners {
  const first = new Uint32Array(vertices + 1);
  for (const v of triangles) first[v + 1]!++;
  for (let v = 0; v < vertices; ++v) first[v + 1]! += first[v]!;
  const next = first.slice();
  const list = new Uint32Array(triangles.length);
  triangles.forEach((v, corner) => (list[next[v]!++] = corner));
  return { first, list };
}

// Unit normals, and the areas that weigh them.
function faceNormals(
  positions: Float32Array,
  triangles: Uint32Array,
): [Float32Array, Float32Array] {
  const normals = new Float32Array(triangles.length);
  const areas = new Float32Array(triangles.length / 3);
  for (let t = 0; t < areas.length; ++t) {
    const a = 3 * triangles[3 * t]!;
    const b = 3 * triangles[3 * t + 1]!;
    const c = 3 * triangles[3 * t + 2]!;
    const u = [0, 1, 2].map((i) => positions[b + i]! - positions[a + i]!);
    const v = [0, 1, 2].map((i) => positions[c + i]! - positions[a + i]!);
    const x = u[1]! * v[2]! - u[2]! * v[1]!;
    const y = u[2]! * v[0]! - u[0]! * v[2]!;
    const z = u[0]! * v[1]! - u[1]! * v[0]!;
    const length = Math.hypot(x, y, z);
    areas[t] = length;
    if (length > 0) normals.set([x / length, y / length, z / length], 3 * t);
  }
  return [normals, areas];
}

// Every edge has one triangle on either side, which run along it in opposite directions: nobody sees
// the inside of such a surface.
export function isClosed(positions: Float32Array, triangles: Uint32Array): boolean {
  const same = weld(positions);
  const open = new Set<number>();
  const count = same.length;
  for (let corner = 0; corner < triangles.length; ++corner) {
    const next = corner % 3 === 2 ? corner - 2 : corner + 1;
    const from = same[triangles[corner]!]!;
    const to = same[triangles[next]!]!;
    if (!open.delete(to * count + from)) open.add(from * count + to);
  }
  return open.size === 0;
}

// Each corner has the mean of those faces around it that turn by less than the crease's angle.
// Corners of one vertex with one normal stay one vertex.
export function makeGeometry(positions: Float32Array, triangles: Uint32Array): BufferGeometry {
  const same = weld(positions);
  const welded = triangles.map((v) => same[v]!);
  const [faces, areas] = faceNormals(positions, welded);
  const corners = cornersOf(welded, positions.length / 3);
  const places: number[] = [];
  const normals: number[] = [];
  const indices = new Uint32Array(triangles.length);
  for (let v = 0; v + 1 < corners.first.length; ++v) {
    const around = corners.list.subarray(corners.first[v]!, corners.first[v + 1]!);
    const made = new Map<string, number>();
    for (const corner of around) {
      const n = meanNormal(corner, around, faces, areas);
      const key = n.map((x) => Math.round(x * 1000)).join();
      let index = made.get(key);
      if (index === undefined) {
        index = places.length / 3;
        places.push(positions[3 * v]!, positions[3 * v + 1]!, positions[3 * v + 2]!);
        normals.push(...n);
        made.set(key, index);
      }
      indices[corner] = index;
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(places), 3));
  geometry.setAttribute('normal', new BufferAttribute(new Float32Array(normals), 3));
  geometry.setIndex(new BufferAttribute(indices, 1));
  return geometry;
}

function meanNormal(
  corner: number,
  around: Uint32Array,
  faces: Float32Array,
  areas: Float32Array,
): [number, number, number] {
  const own = 3 * Math.floor(corner / 3);
  let x = 0;
  let y = 0;
  let z = 0;
  for (const other of around) {
    const t = Math.floor(other / 3);
    const f = 3 * t;
    const cosine =
      faces[own]! * faces[f]! + faces[own + 1]! * faces[f + 1]! + faces[own + 2]! * faces[f + 2]!;
    if (cosine < kCreaseCosine) continue;
    x += faces[f]! * areas[t]!;
    y += faces[f + 1]! * areas[t]!;
    z += faces[f + 2]! * areas[t]!;
  }
  const length = Math.hypot(x, y, z) || 1;
  return [x / length, y / length, z / length];
}
