// The pages that the tool writes, in a real browser with software GL.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { kFew, kHostile, kThousand } from './scenes.mjs';
import {
  cannotFetch,
  isotact,
  kFolder,
  launch,
  makePage,
  open,
  picture,
  processorSeconds,
  readCsv,
  repack,
  settle,
} from './support.mjs';

let browser;
let few; // a page of three bodies, for tests that need no fresh one
const pages = {};
const url = (name) => pathToFileURL(pages[name]).href;

before(async () => {
  pages.few = makePage('few', kFew);
  pages.hostile = makePage('hostile', kHostile);
  pages.thousand = makePage('thousand', kThousand);
  browser = await launch();
  few = await open(browser, url('few'));
});
after(() => browser?.end());

const seek = (page, share) =>
  page.evaluate((s) => {
    const { playback } = window.isotact;
    playback.seek(playback.begin + s * (playback.end - playback.begin));
  }, share);

test('a page opens from disk, quietly and alone', async () => {
  const { page, context, troubles, requests } = await open(browser, url('few'));
  await seek(page, 0.5);
  await settle(page);
  assert.deepEqual(troubles, []);
  assert.deepEqual(requests, [url('few')]);
  assert.equal(await page.title(), 'few · Isotact');
  assert.match(
    await page.locator('.note').innerText(),
    /^4 bodies · \d+ contacts? · step 2\.00 ms$/,
  );
  // Even if a script wanted to, it could not.
  assert.ok(await cannotFetch(page));
  await context.close();
});

test('a page that is marked so plays when it is opened', async () => {
  const marked = join(kFolder, 'marked.html');
  const text = readFileSync(pages.few, 'utf8');
  writeFileSync(marked, text.replace('<html lang="en"', '<html lang="en" data-play'));
  const { page, context, troubles } = await open(browser, pathToFileURL(marked).href);
  await page.waitForFunction(() => window.isotact.playback.time > 0.05);
  assert.deepEqual(troubles, []);
  await context.close();
  assert.equal(await few.page.evaluate(() => window.isotact.playback.playing), false);
});

test('the clock never goes back before the start', async () => {
  const { page } = few;
  const times = await page.evaluate(() => {
    const { playback } = window.isotact;
    playback.seek(playback.begin);
    playback.play();
    playback.advance(-0.05); // as the first frame of a page that plays when it is opened
    const seen = [playback.begin, playback.time];
    playback.pause();
    return seen;
  });
  assert.equal(times[0], 0);
  assert.ok(times[1] >= 0, String(times[1]));
});

test('charts have an axis of time', async () => {
  const axes = await few.page.evaluate(() =>
    [...document.querySelectorAll('.chart .axis')].map((axis) =>
      [...axis.children].map((span) => [span.textContent, parseFloat(span.style.left)]),
    ),
  );
  assert.equal(axes.length, 4);
  for (const axis of axes) {
    assert.deepEqual(
      axis.map(([text]) => text),
      ['0', '0.2', '0.4', '0.6 s'],
    );
    axis.forEach(([, left], k) => assert.ok(Math.abs(left - (100 * k) / 3) < 0.01, String(left)));
  }
});

test('the panel says where a body is and how fast', async () => {
  const { page } = few;
  const facts = async (time) => {
    await page.evaluate((t) => {
      window.isotact.looks.select(3);
      window.isotact.playback.seek(t);
    }, time);
    await settle(page);
    return page.evaluate(() => {
      const all = [...document.querySelectorAll('.card .facts > *')].map((e) => e.textContent);
      return Object.fromEntries(all.flatMap((t, i) => (i % 2 === 0 ? [[t, all[i + 1]]] : [])));
    });
  };
  // It falls freely from a height of 0.25 m and more.
  const early = await facts(0.1);
  const place = early.position.match(/^(\S+), (\S+), (\S+) m$/).slice(1).map(Number);
  const center = await page.evaluate(() => window.isotact.pack.bodies[3].center);
  assert.ok(Math.abs(place[0] - (-0.08 + center[0])) < 2e-3, early.position);
  assert.ok(Math.abs(place[1] - (0.25 + center[1] - 0.5 * 9.81 * 0.01)) < 4e-3, early.position);
  const speed = Number(early.speed.match(/^(\S+) m\/s$/)[1]);
  assert.ok(speed > 0.9 && speed < 1.2, early.speed); // between 0.1 and 0.12 s
  await page.evaluate(() => window.isotact.looks.select(0));
  await settle(page);
  const ground = await page.locator('.card .facts').innerText();
  assert.ok(!ground.includes('speed'), ground);
  await page.evaluate(() => window.isotact.looks.select(null));
});

test('contacts behind bodies are dim', async () => {
  const { page } = few;
  // Pixels of the frame with most contacts, with contacts on: those of a dot that is hidden by a
  // body are between the two pictures.
  const same = await page.evaluate(() => {
    const dots = window.isotact.theatre.contacts.group.children[0];
    return {
      all: dots.material.depthTest,
      front: dots.children[0].material.depthTest,
      opacity: [dots, dots.children[0]].map((d) => d.material.uniforms.opacity.value),
    };
  });
  assert.deepEqual(same.all, false);
  assert.deepEqual(same.front, true);
  assert.ok(same.opacity[0] < 0.5 && same.opacity[1] === 1);
});

test('playing and scrubbing change the picture', async () => {
  const { page, context, troubles } = await open(browser, url('few'));
  await page.locator('#scrub').focus();
  await settle(page);
  const shot = await page.screenshot();
  const first = await picture(page);
  assert.equal(first, await picture(page), 'a page at rest does not change');
  await page.keyboard.press('End');
  const last = await picture(page);
  assert.notEqual(first, last);
  await settle(page);
  assert.ok(!shot.equals(await page.screenshot()), 'what the eye sees changes, too');
  await page.keyboard.press('Home');
  assert.equal(first, await picture(page), 'the start is what it was');
  await page.locator('#scrub').fill('5000');
  assert.match(await page.locator('.clock').innerText(), /^0\.3000 s$/);
  const middle = await picture(page);
  assert.notEqual(middle, first);
  assert.notEqual(middle, last);
  await page.locator('#play').click();
  await page.waitForFunction(() => window.isotact.playback.time > 0.32);
  await page.keyboard.press('Space');
  assert.equal(await page.evaluate(() => window.isotact.playback.playing), false);
  assert.notEqual(await picture(page), middle);
  await page.locator('#speed').selectOption('2');
  assert.equal(await page.evaluate(() => window.isotact.playback.speed), 2);
  assert.deepEqual(troubles, []);
  await context.close();
});

test('the charts say what the log says', async () => {
  const { page } = few;
  const rows = readCsv(readFileSync(join(kFolder, 'few.csv'), 'utf8'));
  assert.equal(rows.length, 300);
  let touching = 0;
  for (const row of [rows[0], rows[60], rows[149], rows[222], rows[299]]) {
    await page.evaluate((time) => window.isotact.playback.seek(time), row.time);
    await settle(page);
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll('.legend b')].map((b) => [
        b.dataset.column,
        Number(b.dataset.value),
        b.innerText,
      ]),
    );
    assert.equal(shown.length, 11);
    for (const [column, value, text] of shown) {
      const exact = column.endsWith('_seconds') ? 1e-3 : 1e-8; // as the file rounds them
      assert.ok(
        Math.abs(value - row[column]) <= exact * Math.abs(row[column]),
        `${column} at ${row.time}`,
      );
      assert.ok(
        Math.abs(asNumber(text) - value) <= 6e-3 * Math.abs(value),
        `${column} reads ${text}`,
      );
    }
    touching += row.contacts;
  }
  assert.ok(touching > 0, 'something touched in the rows that were looked at');
});

// "1.25 mJ" is 0.00125.
function asNumber(text) {
  const [number, unit = ''] = text.split(' ');
  const factors = { M: 1e6, k: 1e3, m: 1e-3, µ: 1e-6, n: 1e-9 };
  return Number(number) * (unit.length > 1 ? factors[unit[0]] : 1);
}

test('a chart moves the clock', async () => {
  const { page } = few;
  const box = await page.locator('.plot').first().boundingBox();
  await page.mouse.click(box.x + box.width * 0.75, box.y + box.height / 2);
  const time = await page.evaluate(() => window.isotact.playback.time);
  assert.ok(Math.abs(time - 0.45) < 0.01, String(time));
});

test('every way of looking at a body draws something else', async () => {
  const { page, troubles } = few;
  // A frame in which something is hit: arrows and paths are long there.
  await page.evaluate(() => {
    const { playback, pack } = window.isotact;
    const { first, rows } = pack.paths;
    const longest = (f) => {
      let most = 0;
      for (let k = first[f]; k < first[f + 1]; ++k)
        most = Math.max(most, Math.abs(rows[8 * k + 4] - rows[8 * k + 1]));
      return most;
    };
    const frames = [...pack.frames.times.keys()].sort((a, b) => longest(b) - longest(a));
    playback.seek(pack.frames.times[frames[0]]);
  });
  await page.locator('.bodies .name', { hasText: 'cup' }).click();
  assert.equal(await page.locator('.card h2').innerText(), 'cup');
  const plain = await picture(page);
  const seen = new Map([[plain, 'nothing else']]);
  const look = async (name) => {
    await page.locator(`.chip[${name}]`).click();
    const now = await picture(page);
    assert.ok(!seen.has(now), `${name} looks like ${seen.get(now)}`);
    seen.set(now, name);
    await page.locator(`.chip[${name}]`).click();
    assert.equal(await picture(page), plain);
  };
  for (const mode of ['points', 'spheres', 'slice', 'boxes']) await look(`data-mode=${mode}`);
  for (const layer of ['contacts', 'normals', 'forces', 'torques', 'paths'])
    await look(`data-layer=${layer}`);
  assert.deepEqual(troubles, []);
});

test('a slice is dragged, and bodies are hidden', async () => {
  const { page, troubles } = few;
  await page.evaluate(() => {
    const { looks, theatre } = window.isotact;
    looks.select(3);
    looks.toggleMode(3, 'slice');
    theatre.frameSelected();
  });
  const before = await picture(page);
  await page.locator('#slice-at').fill('0.2');
  assert.notEqual(await picture(page), before);
  // Where the slice is on the screen: it is dragged from there.
  await page.locator('#slice-at').fill('0.5');
  await settle(page);
  const at = await page.evaluate(() => {
    const { theatre } = window.isotact;
    const { stage } = theatre;
    const box = stage.canvas.getBoundingClientRect();
    const [, slice] = theatre.insides.slices()[0];
    const places = [];
    for (let y = box.top; y < box.bottom; y += 8)
      for (let x = box.left; x < box.right - 320; x += 8)
        if (
          document.elementFromPoint(x, y) === stage.canvas &&
          stage.rayAt(x, y).intersectObject(slice.object).length > 0
        )
          places.push({ x, y });
    return places[Math.floor(places.length / 2)]; // not at its rim, which a settling camera moves
  });
  assert.ok(at, 'the slice is in the picture');
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 60, at.y + 60, { steps: 4 });
  await page.mouse.up();
  const moved = await page.evaluate(() => window.isotact.looks.all[3].slice.at);
  assert.ok(Math.abs(moved - 0.5) > 0.02, String(moved));
  const shown = await picture(page);
  await page.keyboard.press('h');
  assert.notEqual(await picture(page), shown);
  assert.deepEqual(troubles, []);
});

test('the help names every key, and the theme changes', async () => {
  const { page, context } = await open(browser, url('few'), { colorScheme: 'dark' });
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), 'dark');
  await page.keyboard.press('d');
  assert.equal(await theme(), 'light');
  await page.keyboard.press('?');
  assert.ok(await page.locator('dialog.help').isVisible());
  assert.equal(await page.locator('dialog.help dt').count(), 22);
  await page.keyboard.press('Escape');
  assert.ok(!(await page.locator('dialog.help').isVisible()));
  await context.close();
});

test('a phone shows it all without scrolling', async () => {
  const { page, context, troubles } = await open(browser, url('few'), {
    viewport: { width: 375, height: 667 },
    isMobile: true,
    hasTouch: true,
  });
  const sizes = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.scrollHeight,
  ]);
  assert.deepEqual(sizes, [375, 667]);
  for (const part of ['#play', '#scrub', '#speed', 'nav']) {
    const box = await page.locator(part).boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 375 && box.y + box.height <= 667, part);
  }
  assert.ok(!(await page.locator('.panel').isVisible()));
  await page.locator('nav button[aria-label^=Panel]').tap();
  assert.ok(await page.locator('.panel').isVisible());
  assert.deepEqual(troubles, []);
  await context.close();
});

// A square that grows with the run, beside bodies that are hidden.
test('soft bodies bend', async () => {
  pages.soft = join(kFolder, 'soft.html');
  const html = repack(readFileSync(pages.few, 'utf8'), (json, add) => {
    const frames = json.frames.times[2];
    const places = new Uint16Array(12 * frames);
    for (let f = 0; f < frames; ++f) {
      const side = (65535 * (f + 1)) / frames;
      places.set([0, 0, 0, side, 0, 0, side, side, 0, 0, side, 0], 12 * f);
    }
    json.soft_bodies.push({
      name: 'jelly',
      colour: '#4aa88c',
      triangles: add('u32', Uint32Array.of(0, 1, 2, 0, 2, 3)),
      lower: [-0.1, 0.05, 0],
      size: [0.2, 0.2, 0],
      places: add('u16', places),
    });
  });
  writeFileSync(pages.soft, html);
  const { page, context, troubles } = await open(browser, url('soft'));
  await page.evaluate(() => {
    for (const look of window.isotact.looks.all) look.visible = false;
    window.isotact.looks.changed();
  });
  const first = await picture(page);
  await seek(page, 1);
  const last = await picture(page);
  assert.notEqual(first, last);
  await page.locator('.bodies li', { hasText: 'jelly' }).locator('button').click();
  assert.notEqual(await picture(page), last);
  assert.deepEqual(troubles, []);
  await context.close();
});

test('names stay text', async () => {
  const html = readFileSync(pages.hostile, 'utf8');
  assert.ok(!html.includes('hacked'), 'names are not in the page but inside of the pack');
  const { page, context, troubles } = await open(browser, url('hostile'));
  await page.locator('.bodies .name').nth(1).click();
  await settle(page);
  assert.equal(await page.locator('h1').innerText(), kHostile.name);
  assert.equal(await page.locator('.card h2').innerText(), kHostile.bodies[1].name);
  assert.equal(
    await page.locator('.bodies .name span').nth(0).innerText(),
    kHostile.bodies[0].name,
  );
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(troubles, []);
  await context.close();
});

test('a page that is cut short says so', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const html = readFileSync(pages.few, 'utf8');
  await page.setContent(html.replace(/(id="run-pack">.{2000})[^<]*/, '$1'));
  await page.locator('.failure').waitFor();
  assert.match(await page.locator('.failure').innerText(), /cannot be shown/);
  await context.close();
});

test('a page is light', () => {
  const { viewer } = JSON.parse(isotact('doctor', '--json'));
  const kilobytes = Number(/built in \((\d+) KB/.exec(viewer)?.[1]);
  console.log(
    `the page weighs ${kilobytes} KB without a run, ${Math.round(statSync(pages.thousand).size / 1000)} KB with a thousand bodies`,
  );
  assert.ok(kilobytes > 300 && kilobytes < 1000, viewer);
});

// Software GL on a machine that others use, too: what counts is the processor's time for a frame, in
// all processes of the browser, and what the page itself does of it, which no GPU would take over.
test('a thousand bodies move', async () => {
  const { page, context, troubles } = await open(browser, url('thousand'));
  const rendered = () => page.evaluate(() => window.isotact.theatre.stage.rendered);
  await page.evaluate(() => window.isotact.playback.play());
  const start = await rendered();
  await page.waitForFunction((n) => window.isotact.theatre.stage.rendered > n, start + 3); // compiled
  const before = { frames: await rendered(), cpu: processorSeconds(), time: performance.now() };
  await new Promise((done) => setTimeout(done, 4000));
  const frames = (await rendered()) - before.frames;
  const cpu = (processorSeconds() - before.cpu) / frames;
  const rate = (1000 * frames) / (performance.now() - before.time);
  const own = await page.evaluate(() => {
    const { playback, theatre } = window.isotact;
    playback.pause();
    const times = [];
    for (let k = 0; k < 40; ++k) {
      const begin = performance.now();
      playback.seek((playback.end * k) / 40);
      theatre.contacts.draw();
      times.push(performance.now() - begin);
    }
    return times.sort((a, b) => a - b)[20];
  });
  console.log(
    `a thousand bodies in software GL: ${rate.toFixed(1)} frames a second, ` +
      `${(1 / cpu).toFixed(1)} a second of one processor; ` +
      `${own.toFixed(2)} ms of the page's own work a frame`,
  );
  assert.ok(1 / cpu > 4, `${cpu} seconds of the processor a frame`);
  assert.ok(own < 8, `${own} ms`);
  assert.deepEqual(troubles, []);
  await context.close();
});
