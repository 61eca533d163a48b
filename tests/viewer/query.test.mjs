// The query that pages run, in node: WebAssembly says what the tool says.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';

import { openQuery } from '../../viewer/src/pair/query.js';
import { isotact, kFolder, readPack } from './support.mjs';

// The same arithmetic, without fused operations: what differs is how numbers are written.
const kTolerance = 1e-12;

// B of pairs that touch in many ways, and not at all: x y z, and the unit quaternion w x y z.
const kPoses = [
  [0, 0, 0, 1, 0, 0, 0],
  [0.02, 0.01, 0, 0.8, 0, 0.6, 0],
  [-0.05, 0.005, 0.02, 0.5, 0.5, 0.5, 0.5],
  [0.001, 0.09, -0.002, 0, 0.28, 0.96, 0],
  [0.5, 0.4, 0.3, 1, 0, 0, 0],
];

function make(name, extra) {
  isotact('make', name, '-o', `${name}.obj`);
  isotact('build', `${name}.obj`, '-o', `${name}.isotact`, '--resolution', '48', ...extra);
}

before(() => {
  make('gear', ['--points', '2000']);
  make('nut', ['--points', '1500']);
});

function write(name, ...options) {
  isotact('collide', 'gear.isotact', 'nut.isotact', '--view', name, ...options);
  const { json, arrays } = readPack(readFileSync(join(kFolder, name), 'utf8'));
  const { query } = json.pair;
  const bytes = ([type, at, count]) => {
    assert.equal(type, 'u8');
    return new Uint8Array(arrays.buffer, arrays.byteOffset + at, count).slice();
  };
  const [type, at, count] = query.request;
  assert.equal(type, 'f64');
  const request = [];
  for (let k = 0; k < count; ++k) request.push(arrays.readDoubleLE(at + 8 * k));
  return { module: bytes(query.module), assets: query.assets.map(bytes), request };
}

const poseText = ([x, y, z, ...q]) => `xyz=${x},${y},${z} wxyz=${q.join(',')}`;

function near(a, b, what) {
  if (typeof a === 'number' && typeof b === 'number')
    assert.ok(Math.abs(a - b) <= kTolerance * Math.max(1, Math.abs(b)), `${what}: ${a} and ${b}`);
  else if (Array.isArray(a)) a.forEach((x, i) => near(x, b[i], `${what}[${i}]`));
  else if (a !== null && typeof a === 'object')
    for (const key of Object.keys(a)) near(a[key], b[key], `${what}.${key}`);
  else assert.equal(a, b, what);
}

for (const options of [[], ['--patches', '12', '--stiffness', '3e6', '--margin', '0.002']])
  test(`WebAssembly and the tool agree ${options.join(' ')}`, async () => {
    const { module, assets, request } = write('pair.html', ...options);
    const query = await openQuery(module);
    query.load(0, assets[0]);
    query.load(1, assets[1]);
    let touching = 0;
    for (const pose of kPoses) {
      const native = JSON.parse(
        isotact(
          ...['collide', 'gear.isotact', 'nut.isotact', '--json', '--distance', '--accuracy', 'field', '--pose-b', poseText(pose)],
          ...options,
        ),
      );
      const answer = query.ask([0, 0, 0, 1, 0, 0, 0, ...pose, 1, ...request]);
      assert.equal(answer.contacts.length, native.contacts.length);
      for (const key of ['status', 'method', 'contacts', 'min_distance', 'touching_points'])
        near(answer[key], native[key], key);
      for (const key of ['force', 'torque', 'overlap_area', 'blind_depth', 'time_of_contact', 'intervals'])
        near(answer[key], native[key], key);
      touching += native.contacts.length;
    }
    assert.ok(touching >= 8, `${touching} contacts were compared`);
  });

test('what is wrong is told in words', async () => {
  const { module, assets, request } = write('words.html');
  const query = await openQuery(module);
  const pose = [0, 0, 0, 1, 0, 0, 0];
  assert.throws(() => query.ask([...pose, ...pose, 1, ...request]), /a body is missing/);
  assert.throws(() => query.load(0, assets[0].slice(0, 1000)), /A.*(short|truncated|end|bytes)/i);
  query.load(0, assets[0]);
  query.load(1, assets[1]);
  assert.throws(() => query.ask([NaN, ...pose.slice(1), ...pose, 1, ...request]), /not finite/);
  assert.throws(() => query.ask([1, 2, 3]), /number of numbers/);
  assert.equal(query.ask([...pose, 1, ...pose.slice(1), 1, ...request]).status, 'free');
});
