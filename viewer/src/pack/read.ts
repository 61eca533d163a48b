// Turns the text in the page into a Pack.

import type { Bricks, FieldSamples, Pack, Pair, Shape, Shell, SoftBody, Vec3 } from './format';

const kMagic = 'ISOPACK1';
const kHeaderBytes = 16;

// Arrays by the names that the JSON has for their types.
interface Arrays {
  f32: Float32Array;
  f64: Float64Array;
  i16: Int16Array;
  u16: Uint16Array;
  u32: Uint32Array;
  u8: Uint8Array;
}
const kMakers: { [T in keyof Arrays]: (b: ArrayBuffer, at: number, n: number) => Arrays[T] } = {
  f32: (b, at, n) => new Float32Array(b, at, n),
  f64: (b, at, n) => new Float64Array(b, at, n),
  i16: (b, at, n) => new Int16Array(b, at, n),
  u16: (b, at, n) => new Uint16Array(b, at, n),
  u32: (b, at, n) => new Uint32Array(b, at, n),
  u8: (b, at, n) => new Uint8Array(b, at, n),
};

type View = [keyof Arrays, number, number];

// JSON as it comes; `get` checks what matters: that arrays lie inside of the pack.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

class Reader {
  constructor(
    private readonly bytes: ArrayBuffer,
    private readonly start: number,
  ) {}

  get<T extends keyof Arrays>(type: T, view: View): Arrays[T] {
    if (!Array.isArray(view) || view[0] !== type) throw new Error(`expected an array of ${type}`);
    return kMakers[type](this.bytes, this.start + view[1], view[2]);
  }
}

function readShell(json: Json, r: Reader): Shell | null {
  if (!json) return null;
  return {
    positions: r.get('f32', json.positions),
    coveringRadius: json.covering_radius,
    levels: json.levels.map((level: Json) => ({
      spheres: r.get('f32', level.spheres),
      points: r.get('u32', level.points),
      coveringRadius: level.covering_radius,
    })),
  };
}

function readBricks(json: Json, r: Reader): Bricks | null {
  if (!json || json.levels.length === 0) return null;
  const levels = json.levels.map((level: Json) => ({
    side: level.side as number,
    corners: r.get('u16', level.corners),
  }));
  return { origin: json.origin as Vec3, levels };
}

function readField(json: Json, r: Reader): FieldSamples | null {
  if (!json) return null;
  const { origin, spacing, nodes, scale } = json;
  return { origin, spacing, nodes, scale, values: r.get('i16', json.values) };
}

function readShape(json: Json, r: Reader): Shape {
  return {
    name: json.name,
    positions: r.get('f32', json.positions),
    triangles: r.get('u32', json.triangles),
    shell: readShell(json.shell, r),
    bricks: readBricks(json.bricks, r),
    field: readField(json.field, r),
  };
}

function readSoftBody(json: Json, r: Reader): SoftBody {
  const { name, colour, lower, size } = json;
  const triangles = r.get('u32', json.triangles);
  return { name, colour, lower, size, triangles, places: r.get('u16', json.places) };
}

function readPair(json: Json, r: Reader): Pair | null {
  if (!json) return null;
  const { report, still, query } = json;
  return {
    report,
    still,
    poses: r.get('f64', json.poses),
    paths: r.get('f32', json.paths),
    query: query && {
      module: r.get('u8', query.module),
      assets: query.assets.map((view: View) => r.get('u8', view)),
      request: r.get('f64', query.request),
    },
  };
}

export function readPack(bytes: ArrayBuffer): Pack {
  const magic = String.fromCharCode(...new Uint8Array(bytes, 0, Math.min(8, bytes.byteLength)));
  if (magic !== kMagic) throw new Error('this is no run of Isotact, or one of another version');
  const size = Number(new DataView(bytes).getBigUint64(8, true));
  const json: Json = JSON.parse(
    new TextDecoder().decode(new Uint8Array(bytes, kHeaderBytes, size)),
  );
  const r = new Reader(bytes, kHeaderBytes + size);
  const { frames, contacts, paths, log } = json;
  const columns: Record<string, Float64Array> = {};
  for (const name of Object.keys(log.columns)) columns[name] = r.get('f64', log.columns[name]);
  return {
    scene: json.scene,
    shapes: json.shapes.map((s: Json) => readShape(s, r)),
    bodies: json.bodies,
    softBodies: json.soft_bodies.map((s: Json) => readSoftBody(s, r)),
    frames: {
      times: r.get('f64', frames.times),
      firstPlaces: r.get('f32', frames.first_places),
      firstTurns: r.get('i16', frames.first_turns),
      moving: r.get('u32', frames.moving),
      places: r.get('f32', frames.places),
      turns: r.get('i16', frames.turns),
    },
    contacts: {
      first: r.get('u32', contacts.first),
      bodies: r.get('u32', contacts.bodies),
      places: r.get('f32', contacts.places),
      normals: r.get('i16', contacts.normals),
      depths: r.get('f32', contacts.depths),
      forces: r.get('f32', contacts.forces),
      moments: r.get('f32', contacts.moments),
    },
    paths: { first: r.get('u32', paths.first), rows: r.get('f32', paths.rows) },
    log: { every: log.every, columns },
    pair: readPair(json.pair, r),
  };
}

// The text is base64 of gzip: it holds no character that means anything in HTML.
export async function unpack(text: string): Promise<Pack> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return readPack(await new Response(plain).arrayBuffer());
}
