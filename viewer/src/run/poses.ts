// Where bodies are at a time: even between two frames, the shorter way round.

import type { Frames, SoftBody } from '../pack/format';

const kPerTurn = 1 / 32767;

export class Poses {
  readonly count: number;
  // world_from_body of each body at the time last asked for: 4x4, column by column.
  readonly matrices: Float32Array;
  private readonly slot: Int32Array; // of a body among those that move; -1: it does not
  private readonly held = new Set<number>(); // in somebody's hand

  constructor(private readonly frames: Frames) {
    this.count = frames.firstPlaces.length / 3;
    this.matrices = new Float32Array(16 * this.count);
    this.slot = new Int32Array(this.count).fill(-1);
    frames.moving.forEach((body, k) => (this.slot[body] = k));
    for (let body = 0; body < this.count; ++body) this.putFirst(body);
  }

  private putFirst(body: number): void {
    const { firstPlaces, firstTurns } = this.frames;
    write(firstPlaces, 3 * body, firstTurns, 4 * body, this.matrices, 16 * body);
  }

  // From now on a body is where it is put, until it is let go and a time is set.
  hold(body: number, matrix: ArrayLike<number>): void {
    this.held.add(body);
    this.matrices.set(matrix, 16 * body);
  }
  letGo(body: number): void {
    this.held.delete(body);
    this.putFirst(body);
  }

  moves(body: number): boolean {
    return this.slot[body]! >= 0;
  }

  // Metres per second, between a frame and the next one, of a place in the body's frame. Zero for
  // bodies that do not move, and in a run of one frame.
  speed(body: number, place: readonly number[], frame: number): number {
    const { times, moving } = this.frames;
    const from = Math.max(Math.min(frame, times.length - 2), 0);
    const seconds = (times[from + 1] ?? 0) - times[from]!;
    const k = this.slot[body]!;
    if (k < 0 || !(seconds > 0)) return 0;
    const at = (f: number) => {
      const slot = f * moving.length + k;
      write(this.frames.places, 3 * slot, this.frames.turns, 4 * slot, kMatrix, 0);
      return [0, 1, 2].map(
        (i) =>
          kMatrix[i]! * place[0]! +
          kMatrix[4 + i]! * place[1]! +
          kMatrix[8 + i]! * place[2]! +
          kMatrix[12 + i]!,
      );
    };
    const a = at(from);
    const b = at(from + 1);
    return Math.hypot(b[0]! - a[0]!, b[1]! - a[1]!, b[2]! - a[2]!) / seconds;
  }

  setTime(frame: number, time: number): void {
    const { times, moving } = this.frames;
    const next = Math.min(frame + 1, times.length - 1);
    const length = times[next]! - times[frame]!;
    const share = length > 0 ? Math.min(Math.max((time - times[frame]!) / length, 0), 1) : 0;
    for (let k = 0; k < moving.length; ++k)
      if (!this.held.has(moving[k]!)) this.blend(frame, next, share, k, 16 * moving[k]!);
  }

  private blend(frame: number, next: number, share: number, k: number, to: number): void {
    const { places, turns, moving } = this.frames;
    const a = 3 * (frame * moving.length + k);
    const b = 3 * (next * moving.length + k);
    const p = (4 * a) / 3;
    const q = (4 * b) / 3;
    let dot = 0;
    for (let i = 0; i < 4; ++i) dot += turns[p + i]! * turns[q + i]!;
    const sign = dot < 0 ? -share : share;
    for (let i = 0; i < 3; ++i)
      kPlace[i] = places[a + i]! + (places[b + i]! - places[a + i]!) * share;
    for (let i = 0; i < 4; ++i) kTurn[i] = turns[p + i]! * (1 - share) + turns[q + i]! * sign;
    write(kPlace, 0, kTurn, 0, this.matrices, to);
  }
}

const kPlace = new Float64Array(3);
const kTurn = new Float64Array(4);
const kMatrix = new Float32Array(16);

type Numbers = Float64Array | Float32Array | Int16Array;

function write(place: Numbers, at: number, turn: Numbers, t: number, m: Float32Array, to: number) {
  let x = turn[t]! * kPerTurn;
  let y = turn[t + 1]! * kPerTurn;
  let z = turn[t + 2]! * kPerTurn;
  let w = turn[t + 3]! * kPerTurn;
  const unit = 1 / Math.hypot(x, y, z, w);
  x *= unit;
  y *= unit;
  z *= unit;
  w *= unit;
  m[to] = 1 - 2 * (y * y + z * z);
  m[to + 1] = 2 * (x * y + z * w);
  m[to + 2] = 2 * (x * z - y * w);
  m[to + 3] = 0;
  m[to + 4] = 2 * (x * y - z * w);
  m[to + 5] = 1 - 2 * (x * x + z * z);
  m[to + 6] = 2 * (y * z + x * w);
  m[to + 7] = 0;
  m[to + 8] = 2 * (x * z + y * w);
  m[to + 9] = 2 * (y * z - x * w);
  m[to + 10] = 1 - 2 * (x * x + y * y);
  m[to + 11] = 0;
  m[to + 12] = place[at]!;
  m[to + 13] = place[at + 1]!;
  m[to + 14] = place[at + 2]!;
  m[to + 15] = 1;
}

// Vertices of a soft body between two frames, into `to`.
export function placeSoft(
  body: SoftBody,
  frame: number,
  next: number,
  share: number,
  to: Float32Array,
): void {
  for (let i = 0; i < to.length; ++i) {
    const a = body.places[frame * to.length + i]!;
    const b = body.places[next * to.length + i]!;
    const axis = i % 3;
    to[i] = body.lower[axis]! + (body.size[axis]! * (a + (b - a) * share)) / 65535;
  }
}
