// What a query said about two bodies, as the picture takes it.

import { Vector3 } from 'three';

import type { Contacts, PairContact, PairReport, Vec3 } from '../pack/format';
import type { BodyLoad } from '../scene/contacts';

// All of one frame.
export function toContacts(list: PairContact[]): Contacts {
  const rows = (get: (c: PairContact) => Vec3) => Float32Array.from(list.flatMap(get));
  return {
    first: Uint32Array.of(0, list.length),
    bodies: Uint32Array.from(list.flatMap(() => [0, 1])),
    places: rows((c) => c.position),
    normals: Int16Array.from(list.flatMap((c) => c.normal.map((x) => Math.round(x * 32767)))),
    depths: Float32Array.from(list, (c) => c.depth),
    forces: new Float32Array(3 * list.length),
    moments: new Float32Array(3 * list.length),
  };
}

// On A as it was told, and on B the opposite: about its own origin.
export function toLoads(report: PairReport, originOfA: Vec3, originOfB: Vec3) {
  const loads = new Map<number, BodyLoad>();
  if (!report.force || !report.torque || report.contacts.length === 0) return loads;
  const force = new Vector3(...report.force);
  const torque = new Vector3(...report.torque);
  loads.set(0, { force, torque });
  const arm = new Vector3(...originOfA).sub(new Vector3(...originOfB));
  loads.set(1, {
    force: force.clone().negate(),
    torque: torque.clone().add(arm.cross(force)).negate(),
  });
  return loads;
}

export interface PlainPose {
  place: Vec3;
  turn: [number, number, number, number]; // w, x, y, z
}

// Of a body (0: A, 1: B) between two frames, as the picture has it, but not rounded.
export function poseAt(
  poses: Float64Array,
  body: number,
  frame: number,
  share: number,
): PlainPose {
  const frames = poses.length / 14;
  const at = 14 * frame + 7 * body;
  const next = 14 * Math.min(frame + 1, frames - 1) + 7 * body;
  const a = Array.from(poses.subarray(at, at + 7));
  if (share <= 0 || next === at)
    return { place: a.slice(0, 3) as Vec3, turn: a.slice(3) as PlainPose['turn'] };
  const b = Array.from(poses.subarray(next, next + 7));
  const dot = a.slice(3).reduce((sum, x, i) => sum + x * b[3 + i]!, 0);
  const mixed = a.map((x, i) => x + ((i > 2 && dot < 0 ? -b[i]! : b[i]!) - x) * share);
  const length = Math.hypot(...mixed.slice(3));
  return {
    place: mixed.slice(0, 3) as Vec3,
    turn: mixed.slice(3).map((x) => x / length) as PlainPose['turn'],
  };
}
