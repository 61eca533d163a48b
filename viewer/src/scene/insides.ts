// What queries see of a body: points, spheres, a slice of its field, boxes of its tree. One group a
// body that shows any; geometry is made when first asked for, and shared by all bodies of a shape.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  EdgesGeometry,
  Group,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshLambertMaterial,
  Object3D,
  Points,
  PointsMaterial,
  ShaderMaterial,
  SphereGeometry,
} from 'three';

import type { Shape } from '../pack/format';
import type { Looks } from '../run/looks';
import { levelCount } from '../run/looks';
import type { Poses } from '../run/poses';
import { levelColour } from './colours';
import { Slice } from './slice';

interface Shown {
  key: string; // of what the group holds
  group: Group;
  slice: Slice | null;
}

export class Insides {
  readonly group = new Group();
  private readonly shown = new Map<number, Shown>();
  private readonly cache = new Map<string, Object3D>();

  constructor(
    private readonly looks: Looks,
    private readonly poses: Poses,
    private readonly pointSize: () => number,
  ) {}

  update(): void {
    this.looks.all.forEach((look, body) => {
      const shape = this.looks.shapeOf(body);
      const any = look.visible && shape !== null && this.looks.isGlass(body);
      const key = any ? JSON.stringify([look.shown, look.level]) : '';
      const old = this.shown.get(body);
      if ((old?.key ?? '') !== key) {
        if (old) this.group.remove(old.group);
        this.shown.delete(body);
        if (shape && any) this.shown.set(body, this.make(body, shape, key));
      }
      this.shown.get(body)?.slice?.set(look.slice.axis, look.slice.at);
    });
    this.move();
  }

  move(): void {
    for (const [body, { group }] of this.shown)
      group.matrix.fromArray(this.poses.matrices, 16 * body);
  }

  slices(): [number, Slice][] {
    return [...this.shown].flatMap(([body, { slice }]) => (slice ? [[body, slice]] : []));
  }

  private make(body: number, shape: Shape, key: string): Shown {
    const { shown, level } = this.looks.all[body]!;
    const group = new Group();
    group.matrixAutoUpdate = false;
    const number = this.looks.bodies[body]!.shape;
    const add = (name: string, build: () => Object3D) => {
      let made = this.cache.get(`${number} ${name}`);
      if (!made) this.cache.set(`${number} ${name}`, (made = build()));
      group.add(made.clone());
    };
    if (shown.points)
      add(`points ${level.points}`, () => makePoints(shape, level.points, this.pointSize()));
    if (shown.spheres) add(`spheres ${level.spheres}`, () => makeSpheres(shape, level.spheres));
    if (shown.boxes) add(`boxes ${level.boxes}`, () => makeBoxes(shape, level.boxes));
    const slice = shown.slice && shape.field ? new Slice(shape.field) : null;
    if (slice) group.add(slice.object);
    this.group.add(group);
    return { key, group, slice };
  }
}

// The representatives of a level; beyond the last one, all points, by the level they first are in.
function makePoints(shape: Shape, level: number, size: number): Points {
  const { positions, levels } = shape.shell!;
  const all = level >= levels.length;
  const numbers = all
    ? Uint32Array.from({ length: positions.length / 3 }, (_, i) => i)
    : levels[level]!.points;
  const first = new Int32Array(positions.length / 3).fill(levels.length);
  for (let l = levels.length - 1; l >= 0; --l) for (const p of levels[l]!.points) first[p] = l;
  const places = new Float32Array(3 * numbers.length);
  const colours = new Float32Array(3 * numbers.length);
  const colour = new Color();
  numbers.forEach((p, i) => {
    places.set(positions.subarray(3 * p, 3 * p + 3), 3 * i);
    levelColour(all ? first[p]! : level, levels.length + 1, colour).toArray(colours, 3 * i);
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(places, 3));
  geometry.setAttribute('color', new BufferAttribute(colours, 3));
  const material = new PointsMaterial({ size, sizeAttenuation: false, vertexColors: true });
  material.transparent = true; // so that the glass is drawn before them
  const points = new Points(geometry, material);
  points.renderOrder = 4;
  return points;
}

function makeSpheres(shape: Shape, level: number): InstancedMesh {
  const { spheres } = shape.shell!.levels[level]!;
  const count = spheres.length / 4;
  const material = new MeshLambertMaterial({ transparent: true, opacity: 0.28, depthWrite: false });
  levelColour(level, levelCount(shape, 'spheres'), material.color);
  const detail = count > 2000 ? 8 : 16;
  const mesh = new InstancedMesh(new SphereGeometry(1, detail * 2, detail), material, count);
  const matrix = new Matrix4();
  for (let i = 0; i < count; ++i) {
    const [x, y, z, r] = spheres.subarray(4 * i, 4 * i + 4);
    matrix.makeScale(r!, r!, r!).setPosition(x!, y!, z!);
    mesh.setMatrixAt(i, matrix);
  }
  mesh.frustumCulled = false;
  mesh.renderOrder = 3;
  return mesh;
}

const kBoxVertex = /* glsl */ `
  attribute vec3 corner;
  uniform float side;
  uniform vec3 origin;
  void main() {
    vec3 place = origin + side * (corner + position);
    gl_Position = projectionMatrix * modelViewMatrix * vec4(place, 1.0);
  }`;
const kBoxFragment = /* glsl */ `
  uniform vec3 colour;
  void main() {
    gl_FragColor = vec4(colour, 0.75);
    #include <colorspace_fragment>
  }`;

// Twelve edges a box, instanced.
function makeBoxes(shape: Shape, level: number): LineSegments {
  const { origin, levels } = shape.bricks!;
  const { side, corners } = levels[level]!;
  const edges = new EdgesGeometry(new BoxGeometry(1, 1, 1).translate(0.5, 0.5, 0.5));
  const geometry = new InstancedBufferGeometry();
  geometry.setAttribute('position', edges.getAttribute('position'));
  geometry.setAttribute('corner', new InstancedBufferAttribute(Float32Array.from(corners), 3));
  geometry.instanceCount = corners.length / 3;
  const colour = levelColour(level, levels.length, new Color());
  const material = new ShaderMaterial({
    vertexShader: kBoxVertex,
    fragmentShader: kBoxFragment,
    transparent: true,
    uniforms: { side: { value: side }, origin: { value: origin }, colour: { value: colour } },
  });
  const lines = new LineSegments(geometry, material);
  lines.frustumCulled = false;
  return lines;
}

// A frame around the selected body.
export class Marker {
  readonly object: LineSegments;

  constructor(
    private readonly looks: Looks,
    private readonly poses: Poses,
  ) {
    const edges = new EdgesGeometry(new BoxGeometry(1, 1, 1));
    this.object = new LineSegments(
      edges,
      new LineBasicMaterial({ color: 0x2f7fa8, transparent: true, opacity: 0.9, side: DoubleSide }),
    );
    this.object.matrixAutoUpdate = false;
    this.object.frustumCulled = false;
  }

  update(): void {
    const body = this.looks.selected;
    const shape = body === null ? null : this.looks.shapeOf(body);
    this.object.visible =
      body !== null &&
      shape !== null &&
      !this.looks.bodies[body]!.endless &&
      !this.looks.isGlass(body);
    if (!this.object.visible) return;
    const lower = [Infinity, Infinity, Infinity];
    const upper = [-Infinity, -Infinity, -Infinity];
    shape!.positions.forEach((x, i) => {
      lower[i % 3] = Math.min(lower[i % 3]!, x);
      upper[i % 3] = Math.max(upper[i % 3]!, x);
    });
    const size = upper.map((u, i) => (u - lower[i]!) * 1.04);
    const middle = upper.map((u, i) => (u + lower[i]!) / 2);
    const box = new Matrix4().makeScale(size[0]!, size[1]!, size[2]!);
    box.setPosition(middle[0]!, middle[1]!, middle[2]!);
    this.object.matrix.fromArray(this.poses.matrices, 16 * body!).multiply(box);
  }
}
