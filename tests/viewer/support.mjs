// What the tests share: the tool, a scratch folder, a browser, a page that is watched.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

export const kHere = dirname(fileURLToPath(import.meta.url));
export const kTool = process.env.ISOTACT_TOOL;
export const kFolder = mkdtempSync(join(tmpdir(), 'isotact-viewer-'));
process.on('exit', () => rmSync(kFolder, { recursive: true, force: true }));

// Runs the tool; throws with what it said where it fails.
export function isotact(...words) {
  const run = spawnSync(kTool, words, { cwd: kFolder, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`isotact ${words.join(' ')}: ${run.stderr}`);
  return run.stdout;
}

// A run as a page, by the scene's text; and its log.
export function makePage(name, scene) {
  writeFileSync(join(kFolder, `${name}.json`), JSON.stringify(scene));
  isotact('simulate', `${name}.json`, '-o', `${name}.html`, '--log', `${name}.csv`);
  return join(kFolder, `${name}.html`);
}

export function findChromium() {
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    existsSync,
  );
}

let browserProcess;

// Its packages lie in the build folder.
export async function launch() {
  const require = createRequire(join(process.env.ISOTACT_NODE_MODULES, 'anchor.js'));
  const { chromium } = require('playwright-core');
  const server = await chromium.launchServer({
    executablePath: findChromium(),
    args: [
      '--no-sandbox', // root has none
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--ignore-gpu-blocklist',
    ],
  });
  browserProcess = server.process().pid;
  const browser = await chromium.connect(server.wsEndpoint());
  browser.end = async () => {
    await browser.close();
    await server.close();
  };
  return browser;
}

// Seconds that all processes of the browser have had of processors.
export function processorSeconds() {
  const children = new Map();
  const seconds = new Map();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    let line;
    try {
      line = readFileSync(`/proc/${name}/stat`, 'utf8');
    } catch {
      continue; // it has ended
    }
    // Behind the name, which may hold anything: state, parent, ..., user and system time as 12 and 13.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    seconds.set(Number(name), (Number(fields[11]) + Number(fields[12])) / 100);
  }
  const sum = (pid) =>
    (children.get(pid) ?? []).reduce((all, child) => all + sum(child), seconds.get(pid) ?? 0);
  return sum(browserProcess);
}

// Opens a page and notes every complaint and every request that leaves the page.
export async function open(browser, url, settings = {}) {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 }, ...settings });
  const page = await context.newPage();
  const troubles = [];
  const requests = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !isDriverTalk(message.text()))
      troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requests.push(request.url());
  });
  await page.goto(url);
  await page.waitForFunction(() => window.isotact !== undefined, null, { timeout: 30000 });
  return { page, context, troubles, requests };
}

// Software GL tells how slow it is to read pixels back, which screenshots do.
function isDriverTalk(text) {
  return /GL Driver Message.*(ReadPixels|swiftshader)/i.test(text);
}

// The canvas is drawn on the next frame.
export async function settle(page) {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

// What the canvas shows, as a number for all of its pixels. It is drawn and read within one task:
// afterwards the browser may have taken the picture away.
export const picture = (page) =>
  page.evaluate(() => {
    const { theatre } = window.isotact;
    const gl = theatre.stage.renderer.getContext();
    theatre.stage.invalidate();
    theatre.draw();
    const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
    const pixels = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    let hash = 0;
    for (const byte of pixels) hash = (Math.imul(hash, 31) + byte) | 0;
    return hash;
  });

export function readCsv(text) {
  const [head, ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(row.map((cell, k) => [head[k], Number(cell)])));
}

const kSlot = /(id="run-pack">)([^<]*)/;

// What is in a page: JSON, and the bytes of its arrays.
export function readPack(html) {
  const pack = gunzipSync(Buffer.from(kSlot.exec(html)[2], 'base64'));
  const size = Number(pack.readBigUInt64LE(8));
  return {
    json: JSON.parse(pack.subarray(16, 16 + size).toString()),
    arrays: pack.subarray(16 + size),
  };
}

// The page with another pack: `change` gets the JSON, and a function that adds an array to it.
export function repack(html, change) {
  const opened = readPack(html);
  const { json } = opened;
  let { arrays } = opened;
  change(json, (type, numbers) => {
    arrays = Buffer.concat([arrays, Buffer.alloc((8 - (arrays.length % 8)) % 8)]);
    const view = [type, arrays.length, numbers.length];
    arrays = Buffer.concat([arrays, Buffer.from(numbers.buffer)]);
    return view;
  });
  let text = Buffer.from(JSON.stringify(json));
  text = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, ' ')]);
  const head = Buffer.alloc(16);
  head.write('ISOPACK1');
  head.writeBigUInt64LE(BigInt(text.length), 8);
  const packed = gzipSync(Buffer.concat([head, text, arrays])).toString('base64');
  return html.replace(kSlot, (_, begin) => begin + packed);
}

// Whether the page is refused the network, even if a script wanted it.
export const cannotFetch = (page) =>
  page.evaluate(() =>
    fetch('http://127.0.0.1:9/').then(
      () => false,
      () => true,
    ),
  );
