// Contacts of a frame: places by depth, normals, forces, and what they come to for each body.

import { Color, Group, Matrix4, Vector3 } from 'three';

import type { Contacts, Pack } from '../pack/format';
import type { Looks } from '../run/looks';
import type { Poses } from '../run/poses';
import { Arrows } from './arrows';
import { depthColour, kColours } from './colours';
import { Dots } from './dots';
import type { Stage } from './stage';

// Of a contact of a body that bends.
const kNoBody = 0xffffffff;
const kPointPixels = 10;
const kNormalPixels = 34;
const kThickPixels = 3.2;
const kLookedAt = 40; // frames
const kMarked = 3; // times as long is the normal of a contact that was pointed at
const kMostOfPair = 2048; // contacts of a pair that are drawn

// The number that a share of positive numbers does not pass.
function percentile(numbers: Float32Array, share: number): number {
  const sorted = numbers.filter((x) => x > 0).sort();
  return sorted.length > 0 ? sorted[Math.floor((sorted.length - 1) * share)]! : 0;
}

function lengths(rows: Float32Array): Float32Array {
  return Float32Array.from({ length: rows.length / 3 }, (_, i) =>
    Math.hypot(rows[3 * i]!, rows[3 * i + 1]!, rows[3 * i + 2]!),
  );
}

export interface BodyLoad {
  force: Vector3;
  torque: Vector3; // about the centre of mass
}

export class ContactViews {
  readonly group = new Group();
  deepest: number; // metres: what the last colour stands for
  marked: number | null = null; // a contact of the frame
  private largestForce: number; // N: what arrows are measured by
  private largestTorque: number;
  private contacts: Contacts;
  private given: Map<number, BodyLoad> | null = null; // loads that are not sums of the contacts'
  private readonly points: Dots;
  private readonly normals: Arrows;
  private readonly forces: Arrows;
  private readonly bodyForces: Arrows;
  private readonly bodyTorques: Arrows;
  private frame = 0;

  constructor(
    private readonly pack: Pack,
    private readonly looks: Looks,
    private readonly poses: Poses,
    private readonly stage: Stage,
  ) {
    this.contacts = pack.contacts;
    const { first, depths, forces } = pack.contacts;
    let most = pack.pair ? kMostOfPair : 1;
    for (let f = 0; f + 1 < first.length; ++f) most = Math.max(most, first[f + 1]! - first[f]!);
    this.deepest = percentile(depths, 0.98);
    this.largestForce = percentile(lengths(forces), 0.95);
    this.largestTorque = this.usualTorque();
    this.points = new Dots(most);
    this.normals = new Arrows(most, kColours.normal);
    this.forces = new Arrows(most, kColours.force);
    this.bodyForces = new Arrows(pack.bodies.length, kColours.force);
    this.bodyTorques = new Arrows(pack.bodies.length, kColours.torque, 2);
    this.group.add(this.points.object);
    for (const arrows of [this.normals, this.forces, this.bodyForces, this.bodyTorques])
      this.group.add(arrows.mesh);
  }

  // What most bodies do not pass, in some frames of the run.
  private usualTorque(): number {
    const { times } = this.pack.frames;
    const every = Math.max(1, Math.floor(times.length / kLookedAt));
    const torques: number[] = [];
    for (let frame = 0; frame < times.length; frame += every) {
      this.poses.setTime(frame, times[frame]!);
      this.frame = frame;
      for (const [body, load] of this.loads())
        if (this.pack.bodies[body]!.kind === 'dynamic') torques.push(load.torque.length());
    }
    this.poses.setTime(0, times[0]!);
    this.frame = 0;
    return percentile(Float32Array.from(torques), 0.9);
  }

  // Other contacts than the run's, all of one frame, and what they come to. Scales only grow: what
  // was deep stays so.
  show(contacts: Contacts, loads: Map<number, BodyLoad>): void {
    this.contacts = contacts;
    this.given = loads;
    this.frame = 0;
    for (const depth of contacts.depths) this.deepest = Math.max(this.deepest, depth);
    for (const { force, torque } of loads.values()) {
      this.largestForce = Math.max(this.largestForce, force.length());
      this.largestTorque = Math.max(this.largestTorque, torque.length());
    }
  }

  get count(): number {
    const { first } = this.contacts;
    return first[this.frame + 1]! - first[this.frame]!;
  }

  // Contacts are those of a frame: between two frames there are none.
  setFrame(frame: number): void {
    if (!this.given) this.frame = frame;
  }

  // Sizes follow the camera: a contact is as large on the screen wherever it is.
  draw(): void {
    this.drawPoints();
    this.drawForces();
    this.drawLoads();
  }

  private sizeAt(place: Vector3): number {
    return place.distanceTo(this.stage.camera.position) * this.stage.pixel;
  }

  // With the bodies that move; those that do not are often hidden to see what lies in them.
  private isShown(k: number): boolean {
    const pair = this.contacts.bodies.subarray(2 * k, 2 * k + 2);
    if (pair[0] === kNoBody) return true;
    const moving = pair.filter((body) => this.pack.bodies[body]!.kind === 'dynamic');
    return (moving.length > 0 ? moving : pair).some((body) => this.looks.all[body]!.visible);
  }

  private forEach(visit: (k: number, place: Vector3, pixel: number) => void): void {
    const { first, places } = this.contacts;
    const place = new Vector3();
    const begin = first[this.frame]!;
    const end = this.given ? Math.min(first[1]!, kMostOfPair) : first[this.frame + 1]!;
    for (let k = begin; k < end; ++k) {
      if (!this.isShown(k)) continue;
      place.fromArray(places, 3 * k);
      visit(k, place, this.sizeAt(place));
    }
  }

  private drawPoints(): void {
    const { layers } = this.looks;
    const colour = new Color();
    const way = new Vector3();
    this.normals.clear();
    // What is a dot's size, or as deep as most contacts, inside of a body is seen on it.
    const away = this.stage.camera.position.distanceTo(this.stage.controls.target);
    const inside = Math.min(kPointPixels * this.stage.pixel + this.deepest / away, 0.1);
    this.points.clear(kPointPixels * this.stage.renderer.getPixelRatio(), inside);
    this.forEach((k, place, pixel) => {
      const marked = k === this.marked;
      if (layers.normals || marked) {
        const length = (marked ? kMarked : 1) * kNormalPixels * pixel;
        way.fromArray(this.contacts.normals, 3 * k).multiplyScalar(length / 32767);
        this.normals.add(place, way, (marked ? 2.6 : 1.6) * pixel);
      }
      if (!layers.contacts) return;
      const share = this.deepest > 0 ? this.contacts.depths[k]! / this.deepest : 0;
      this.points.add(place.x, place.y, place.z, depthColour(share, colour));
    });
    this.points.finish();
    this.normals.finish();
  }

  // The arrow of the force that most contacts do not pass is a third of the scene long.
  private metresPer(largest: number): number {
    return largest > 0 ? (0.3 * this.stage.radius * this.looks.arrowScale) / largest : 0;
  }

  private drawForces(): void {
    const way = new Vector3();
    this.forces.clear();
    if (this.looks.layers.forces)
      this.forEach((k, place, pixel) => {
        const a = this.contacts.bodies[2 * k]!;
        if (a === kNoBody) return;
        const sign = this.pack.bodies[a]!.kind === 'dynamic' ? 1 : -1; // on the one that it moves
        way.fromArray(this.contacts.forces, 3 * k).multiplyScalar(sign);
        this.forces.add(place, way.multiplyScalar(this.metresPer(this.largestForce)), 3 * pixel);
      });
    this.forces.finish();
  }

  private drawLoads(): void {
    this.bodyForces.clear();
    this.bodyTorques.clear();
    if (this.looks.layers.torques) {
      const center = new Vector3();
      for (const [body, load] of this.loads()) {
        if (this.pack.bodies[body]!.kind !== 'dynamic' || !this.looks.all[body]!.visible) continue;
        this.centerOf(body, center);
        const thick = kThickPixels * this.sizeAt(center);
        this.bodyForces.add(
          center,
          load.force.clone().multiplyScalar(this.metresPer(this.largestForce)),
          thick,
        );
        this.bodyTorques.add(
          center,
          load.torque.clone().multiplyScalar(this.metresPer(this.largestTorque)),
          thick,
        );
      }
    }
    this.bodyForces.finish();
    this.bodyTorques.finish();
  }

  // Its centre of mass in the world.
  centerOf(body: number, to: Vector3): Vector3 {
    const matrix = new Matrix4().fromArray(this.poses.matrices, 16 * body);
    return to.set(...this.pack.bodies[body]!.center).applyMatrix4(matrix);
  }

  // What the contacts of the frame come to, for each body that has any.
  loads(): Map<number, BodyLoad> {
    if (this.given) return this.given;
    const { bodies, forces, moments } = this.contacts;
    const loads = new Map<number, BodyLoad>();
    const force = new Vector3();
    const moment = new Vector3();
    const arm = new Vector3();
    this.forEach((k, place) => {
      for (const side of [0, 1]) {
        const body = bodies[2 * k + side]!;
        if (body === kNoBody) continue;
        const sign = side === 0 ? 1 : -1;
        force.fromArray(forces, 3 * k).multiplyScalar(sign);
        moment.fromArray(moments, 3 * k).multiplyScalar(sign);
        let load = loads.get(body);
        if (!load) loads.set(body, (load = { force: new Vector3(), torque: new Vector3() }));
        load.force.add(force);
        arm.copy(place).sub(this.centerOf(body, new Vector3()));
        load.torque.add(moment).add(arm.cross(force));
      }
    });
    return loads;
  }
}
