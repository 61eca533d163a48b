// Pages of isotact collide --view, in a real browser with software GL.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { cannotFetch, isotact, kFolder, launch, open, picture, settle } from './support.mjs';

const kNasty = '<img src=x onerror="window.hacked=1">.obj';
const kLive = JSON.parse(isotact('doctor', '--json')).webassembly.startsWith('built in');
const withWasm = { skip: kLive ? false : 'built without WebAssembly' };

let browser;
const pages = {};
const reports = {};
const url = (name) => pathToFileURL(pages[name]).href;

function write(name, ...words) {
  pages[name] = join(kFolder, `${name}.html`);
  reports[name] = JSON.parse(
    isotact('collide', ...words, '--resolution', '40', '--view', `${name}.html`, '--json'),
  );
}

before(async () => {
  isotact('make', 'gear', '-o', 'gear.obj');
  isotact('make', 'bowl', '-o', 'bowl.obj');
  isotact('build', 'bowl.obj', '-o', 'bowl.isotact', '--resolution', '40', '--points', '600');
  copyFileSync(join(kFolder, 'gear.obj'), join(kFolder, kNasty));
  const inside = ['gear.obj', 'bowl.isotact', '--pose-a', 'xyz=0,0.02,0'];
  write('rest', ...inside);
  write('field', ...inside, '--accuracy', 'field');
  for (const method of ['swept', 'idf', 'depth']) write(method, ...inside, '--method', method);
  write(
    ...['moving', 'gear.obj', 'bowl.isotact', '--pose-a', 'xyz=0,0.5,0'],
    ...['--to-pose-a', 'xyz=0.05,-0.2,0 wxyz=0.8,0,0,0.6', '--to-pose-b', 'xyz=0.1,0,0'],
  );
  write('nasty', kNasty, kNasty, '--pose-a', 'xyz=0,0.01,0');
  browser = await launch();
});
after(() => browser?.end());

const rowCount = (page) => page.locator('.contact-table tbody tr').count();
const fact = (page, name) =>
  page.evaluate((wanted) => {
    const terms = [...document.querySelectorAll('.answer dt')];
    return terms.find((dt) => dt.innerText === wanted)?.nextElementSibling.innerText ?? null;
  }, name);
const ready = (page) => page.waitForFunction(() => window.isotact.inspector.hand !== null);

for (const name of ['rest', 'swept', 'idf', 'depth'])
  test(`a page of ${name} opens from disk, quietly and alone, with all contacts`, async () => {
    const { page, context, troubles, requests } = await open(browser, url(name));
    const report = reports[name];
    await settle(page);
    assert.equal(report.status, 'contact');
    assert.equal(await rowCount(page), report.contacts.length);
    assert.ok(report.contacts.length > 0);
    const shown = await page.evaluate(() => window.isotact.theatre.contacts.count);
    assert.equal(shown, report.contacts.length);
    assert.equal(await fact(page, 'status'), 'contact');
    assert.equal((await fact(page, 'force on A')) !== null, report.force !== null);
    assert.equal((await fact(page, 'distance')) !== null, report.min_distance !== null);
    assert.equal(await page.locator('footer').isVisible(), false);
    assert.equal(await page.title(), 'gear.obj and bowl.isotact · Isotact');
    assert.deepEqual(troubles, []);
    assert.deepEqual(requests, [url(name)]);
    assert.ok(await cannotFetch(page));
    await context.close();
  });

test('contacts, normals and forces are drawn', async () => {
  const { page, context, troubles } = await open(browser, url('rest'));
  await settle(page);
  const plain = await picture(page);
  for (const layer of ['contacts', 'normals', 'torques']) {
    await page.locator(`.chip[data-layer=${layer}]`).click();
    assert.notEqual(await picture(page), plain, layer);
    await page.locator(`.chip[data-layer=${layer}]`).click();
    assert.equal(await picture(page), plain, layer);
  }
  await page.locator('.contact-table tbody tr').first().click();
  assert.notEqual(await picture(page), plain, 'the contact that was pointed at');
  assert.deepEqual(troubles, []);
  await context.close();
});

test('the slider moves both bodies on their ways', async () => {
  const { page, context, troubles } = await open(browser, url('moving'));
  const report = reports.moving;
  assert.equal(report.status, 'contact');
  const time = () => page.evaluate(() => window.isotact.playback.time);
  assert.ok(Math.abs((await time()) - report.time_of_contact) < 1e-9, 'it begins at the contact');
  assert.ok((await page.locator('.marks .stretch').count()) === report.intervals.length);
  assert.equal(await page.locator('.marks .moment').count(), 1);
  assert.equal(await rowCount(page), report.contacts.length);
  const first = report.contacts.filter((c) => c.time_of_contact <= report.time_of_contact + 1e-6).length;
  const drawn = () => page.evaluate(() => window.isotact.theatre.contacts.count);
  assert.equal(await drawn(), first);
  const places = () =>
    page.evaluate(() => {
      const { matrices } = window.isotact.theatre.poses;
      return [0, 1].map((body) => [...matrices.slice(16 * body + 12, 16 * body + 15)]);
    });
  await settle(page);
  const touching = await picture(page);
  await page.locator('#scrub').focus();
  await page.keyboard.press('End');
  assert.equal(await drawn(), report.contacts.length);
  assert.notEqual(await picture(page), touching);
  const [a, b] = await places();
  assert.ok(Math.abs(a[0] - 0.05) < 1e-6 && Math.abs(a[1] + 0.2) < 1e-6 && a[2] === 0, String(a));
  assert.ok(Math.abs(b[0] - 0.1) < 1e-6, String(b));
  await page.keyboard.press('Home');
  assert.equal(await drawn(), 0);
  assert.deepEqual((await places())[0].map((x) => x.toFixed(6)), ['0.000000', '0.500000', '0.000000']);
  await page.keyboard.press('j');
  assert.equal(await picture(page), touching, 'the first contact is what it was');
  await page.locator('.chip[data-layer=paths]').click();
  assert.notEqual(await picture(page), touching, 'ways of points');
  assert.deepEqual(troubles, []);
  await context.close();
});

test('names stay text', async () => {
  const html = readFileSync(pages.nasty, 'utf8');
  assert.ok(!html.includes('hacked'), 'names are inside of the pack only');
  const { page, context, troubles } = await open(browser, url('nasty'));
  assert.equal(await page.locator('h1').innerText(), `${kNasty} and ${kNasty}`);
  assert.equal(await page.locator('.bodies .name span').first().innerText(), kNasty);
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(troubles, []);
  await context.close();
});

test('a phone needs no scrolling', async () => {
  for (const name of ['rest', 'moving']) {
    const { page, context, troubles } = await open(browser, url(name), {
      viewport: { width: 375, height: 667 },
      isMobile: true,
      hasTouch: true,
    });
    const size = () =>
      page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.scrollHeight,
      ]);
    assert.deepEqual(await size(), [375, 667]);
    await page.locator('nav button[aria-label^=Panel]').tap();
    assert.ok(await page.locator('.answer').isVisible());
    const panel = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.querySelector('.panel');
      return scrollWidth - clientWidth;
    });
    assert.equal(panel, 0);
    assert.deepEqual(await size(), [375, 667]);
    assert.deepEqual(troubles, []);
    await context.close();
  }
});

test('without WebAssembly a page says so', { skip: kLive }, async () => {
  const { page, context } = await open(browser, url('rest'));
  assert.match(
    await page.locator('.still').innerText(),
    /cannot be dragged: built without WebAssembly/,
  );
  assert.ok(!readFileSync(pages.rest, 'utf8').includes('wasm-unsafe-eval'));
  await context.close();
});

test('B is dragged, and contacts follow', withWasm, async () => {
  const { page, context, troubles, requests } = await open(browser, url('rest'));
  await ready(page);
  await settle(page);
  const state = () =>
    page.evaluate(() => {
      const { inspector, theatre } = window.isotact;
      const { contacts, min_distance } = inspector.answer;
      const place = [...theatre.poses.matrices.slice(28, 31)];
      return { moved: inspector.moved, contacts, min_distance, place };
    });
  const before = await state();
  assert.equal(before.moved, false);
  const shot = await picture(page);
  // The tip of the gizmo's arrow along y, on the screen.
  const tip = await page.evaluate(() => {
    const { inspector, theatre } = window.isotact;
    const { stage } = theatre;
    const box = stage.canvas.getBoundingClientRect();
    for (let y = box.top; y < box.bottom; y += 3)
      for (let x = box.left; x < box.right - 320; x += 3)
        if (inspector.hand.axisAt(x, y) === 'Y') return { x, y };
    return null;
  });
  assert.ok(tip, 'the arrow is in the picture');
  await page.mouse.move(tip.x, tip.y);
  await page.mouse.down();
  await page.mouse.move(tip.x, tip.y - 6, { steps: 3 });
  await settle(page);
  const during = await state();
  assert.ok(during.moved);
  assert.ok(during.place[1] > before.place[1]);
  assert.ok(during.contacts.length > 0);
  assert.notDeepEqual(during.contacts, before.contacts);
  await page.mouse.move(tip.x, tip.y - 250, { steps: 8 });
  await page.mouse.up();
  await settle(page);
  assert.notEqual(await picture(page), shot);
  await page.locator('#put-back').click();
  const after = await state();
  assert.deepEqual(after, before);
  assert.deepEqual(troubles, []);
  assert.deepEqual(requests, [url('rest')]);
  await context.close();
});

test('keys move and turn B', withWasm, async () => {
  const { page, context, troubles } = await open(browser, url('moving'));
  await ready(page);
  await page.keyboard.press('Home');
  const pose = () => page.evaluate(() => window.isotact.inspector.hand.pose);
  const first = await pose();
  await page.keyboard.press('x');
  const moved = await pose();
  assert.ok(moved.place[0] > first.place[0]);
  await page.keyboard.press('Shift+X');
  assert.ok(Math.abs((await pose()).place[0] - first.place[0]) < 1e-12);
  await page.keyboard.press('r');
  await page.keyboard.press('y');
  const turned = await pose();
  assert.ok(turned.turn[2] > 0.01);
  assert.equal(await fact(page, 'first contact at'), null, 'what is told is of here and now');
  await page.keyboard.press('0');
  assert.deepEqual(await pose(), first);
  await page.keyboard.press('x');
  await page.keyboard.press('End');
  assert.equal(await page.evaluate(() => window.isotact.inspector.moved), false);
  assert.deepEqual(troubles, []);
  await context.close();
});

test('the page says what the tool says', withWasm, async () => {
  const { page, context, troubles } = await open(browser, url('field'));
  await ready(page);
  const answer = await page.evaluate(() =>
    window.isotact.inspector.moveTo({ place: [0, 0, 0], turn: [1, 0, 0, 0] }),
  );
  const report = reports.field; // pages ask by the field
  assert.equal(answer.status, report.status);
  assert.equal(answer.contacts.length, report.contacts.length);
  assert.ok(Math.abs(answer.min_distance - report.min_distance) < 1e-12);
  answer.contacts.forEach((c, k) =>
    assert.ok(Math.abs(c.depth - report.contacts[k].depth) < 1e-12, `contact ${k}`),
  );
  assert.deepEqual(troubles, []);
  await context.close();
});
