// What the tool writes and this page reads: docs/formats.md, "Run pack".

export type Vec3 = [number, number, number];

export interface ShellLevel {
  spheres: Float32Array; // x, y, z, radius
  points: Uint32Array; // the level as points: numbers of Shell.positions
  coveringRadius: number;
}

export interface Shell {
  positions: Float32Array;
  coveringRadius: number;
  levels: ShellLevel[]; // the root first
}

export interface BoxLevel {
  side: number;
  corners: Uint16Array; // i, j, k, in sides from the origin
}

export interface Bricks {
  origin: Vec3;
  levels: BoxLevel[]; // large boxes first; the last ones are bricks
}

export interface FieldSamples {
  origin: Vec3;
  spacing: number;
  nodes: Vec3; // x runs fastest
  scale: number; // metres a unit
  values: Int16Array;
}

export interface Shape {
  name: string;
  positions: Float32Array;
  triangles: Uint32Array;
  shell: Shell | null;
  bricks: Bricks | null;
  field: FieldSamples | null;
}

export type BodyKind = 'dynamic' | 'kinematic' | 'static';

export interface Body {
  name: string;
  kind: BodyKind;
  shape: number | null;
  endless: boolean;
  colour: string;
  center: Vec3; // of mass, in the body's frame
  mass: number | null;
}

export interface SoftBody {
  name: string;
  colour: string;
  triangles: Uint32Array;
  lower: Vec3;
  size: Vec3;
  places: Uint16Array; // frame after frame, vertex after vertex, 65535: lower + size
}

export interface Frames {
  times: Float64Array;
  firstPlaces: Float32Array; // x, y, z of each body
  firstTurns: Int16Array; // x, y, z, w of each body, 32767: one
  moving: Uint32Array; // bodies that the rest is about
  places: Float32Array;
  turns: Int16Array;
}

export interface Contacts {
  first: Uint32Array; // of each frame, and one behind the last
  bodies: Uint32Array; // A, B
  places: Float32Array;
  normals: Int16Array; // to A
  depths: Float32Array;
  forces: Float32Array; // N, on A
  moments: Float32Array; // N m, on A about the place
}

export interface Paths {
  first: Uint32Array;
  rows: Float32Array; // from, to, enter, exit
}

export interface Log {
  every: number;
  columns: Record<string, Float64Array>;
}

export interface View {
  yaw: number; // degrees
  pitch: number;
  zoom: number;
  box: [Vec3, Vec3] | null; // what the picture holds; null: all bodies on all their ways
}

// What `isotact collide --json` says about a contact, and about two bodies (docs/tool.md).
export interface PairContact {
  position: Vec3;
  point_on_a: Vec3;
  point_on_b: Vec3;
  normal: Vec3; // to A
  depth: number;
  sampled_by: 'a' | 'b';
  point: number;
  time_of_contact?: number | null; // share of the motion; null at rest
}

export interface PairReport {
  status: string;
  method: string;
  motion?: string | null;
  device?: string;
  contacts: PairContact[];
  min_distance: number | null;
  min_distance_time?: number | null;
  lower_bound?: number | null; // of the distance
  time_of_contact: number | null;
  intervals: [number, number][] | null;
  touching_points?: number | null;
  force: Vec3 | null; // on A
  torque: Vec3 | null; // on A, about its origin
  overlap_area?: number | null;
  blind_depth: number | null;
  inside?: boolean | null;
  warnings?: string[];
  seconds: number;
}

// What can be asked again in the page.
export interface PairQuery {
  module: Uint8Array; // WebAssembly
  assets: [Uint8Array, Uint8Array];
  request: Float64Array;
}

export interface Pair {
  report: PairReport;
  poses: Float64Array; // frame after frame, A and B: x, y, z, then w, x, y, z
  paths: Float32Array; // rows as in Paths, of all frames
  query: PairQuery | null;
  still: string; // why there is none
}

export interface Pack {
  scene: {
    name: string;
    about: string;
    engine: string;
    step: number;
    up: Vec3;
    view: View;
  };
  shapes: Shape[];
  bodies: Body[];
  softBodies: SoftBody[];
  frames: Frames;
  contacts: Contacts;
  paths: Paths;
  log: Log;
  pair: Pair | null; // two bodies and an answer, not a run
}
