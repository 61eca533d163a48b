// `isotact view`: on loopback only, its own page only, and gone when asked to go.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { before, test } from 'node:test';

import { kFew } from './scenes.mjs';
import { kFolder, kTool, makePage } from './support.mjs';

const kShort = { ...kFew, run: { steps: 10, frames_per_second: 50 } };
let page;
before(() => {
  page = makePage('short', kShort);
});

// Starts the server; gives its port, and a way to end it.
async function serve(...words) {
  const server = spawn(kTool, ['view', ...words, '--json'], {
    cwd: kFolder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  server.stderr.on('data', (piece) => (err += piece));
  const port = await new Promise((done, fail) => {
    let out = '';
    server.stdout.on('data', (piece) => {
      out += piece;
      if (out.includes('}')) done(JSON.parse(out).port);
    });
    server.on('exit', () => fail(new Error(err)));
  });
  const end = (signal) =>
    new Promise((done) => {
      server.on('exit', (code, by) => done({ code, by, err }));
      server.kill(signal);
    });
  return { port, end };
}

// All bytes of the answer to raw ones.
function ask(port, request, host = '127.0.0.1') {
  return new Promise((done, fail) => {
    const socket = connect(port, host, () => socket.write(request));
    const pieces = [];
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('end', () => done(Buffer.concat(pieces).toString()));
    socket.on('error', fail);
  });
}
const get = (port, path, { method = 'GET', host = `127.0.0.1:${port}` } = {}) =>
  ask(port, `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
const status = (answer) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

test('serves its page and nothing else', async () => {
  const { port, end } = await serve('short.html');
  const answer = await get(port, '/');
  assert.equal(status(answer), 200);
  assert.equal(answer.slice(answer.indexOf('\r\n\r\n') + 4), readFileSync(page, 'utf8'));
  const head = await get(port, '/', { method: 'HEAD' });
  assert.equal(status(head), 200);
  assert.ok(head.endsWith('\r\n\r\n'));
  for (const path of [
    '/short.html',
    '/short.json',
    '/../short.json',
    '//etc/passwd',
    '/%2e%2e/',
    '/?x',
    'short.html',
  ])
    assert.equal(status(await get(port, path)), 404, path);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    assert.equal(status(await get(port, '/', { method })), 405, method);
  assert.equal(status(await get(port, '/', { host: `localhost:${port}` })), 200);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    '',
  ])
    assert.equal(status(await get(port, '/', { host })), 403, host);
  assert.equal(status(await ask(port, 'GET / HTTP/1.1\r\n\r\n')), 403);
  assert.equal(status(await ask(port, 'nonsense\r\n\r\n')), 400);
  assert.deepEqual(await end('SIGINT'), { code: 0, by: null, err: '' });
});

test('bears visitors who say too much, nothing, or leave', async () => {
  const { port, end } = await serve('short.html');
  assert.equal(await ask(port, 'GET / HTTP/1.1\r\nX: ' + 'a'.repeat(40000)).catch(() => ''), '');
  for (let k = 0; k < 20; ++k)
    connect(port, '127.0.0.1', function () {
      this.destroy();
    });
  const half = connect(port, '127.0.0.1', () =>
    half.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`),
  );
  half.on('error', () => {});
  half.once('data', () => half.destroy());
  assert.equal(status(await get(port, '/')), 200);
  // One who is silent does not keep it from ending.
  const silent = connect(port, '127.0.0.1');
  silent.on('error', () => {});
  await new Promise((done) => silent.on('connect', done));
  assert.equal((await end('SIGTERM')).code, 0);
});

test('listens on loopback only', async () => {
  const { port, end } = await serve('short.html');
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => {
    try {
      return readFileSync(file, 'utf8').split('\n').slice(1);
    } catch {
      return []; // no IPv6
    }
  });
  // Local address and state 0A: listening.
  const listening = rows.map((row) => row.trim().split(/\s+/)).filter((row) => row[3] === '0A');
  const ours = listening.map((row) => row[1]).filter((at) => at.endsWith(`:${hex}`));
  assert.deepEqual(ours, [`0100007F:${hex}`]);
  await end('SIGINT');
});

test('runs a scene, and takes the port it is given', async () => {
  const first = await serve('short.json');
  const answer = await get(first.port, '/');
  assert.equal(status(answer), 200);
  assert.match(answer, /Isotact run viewer/);
  await assert.rejects(
    serve('short.html', '--port', String(first.port)),
    /choose another with --port/,
  );
  assert.equal((await first.end('SIGINT')).code, 0);
  const again = await serve('short.html', '--port', String(first.port));
  assert.equal(again.port, first.port);
  await again.end('SIGINT');
});

test('refuses pages that are not its own', async () => {
  writeFileSync(join(kFolder, 'other.html'), '<!doctype html><title>other</title>');
  await assert.rejects(
    serve('other.html'),
    /expected a page that 'isotact simulate -o RUN.html' or 'isotact collide --view' wrote/,
  );
  await assert.rejects(serve('none.html'), /none.html/);
});
