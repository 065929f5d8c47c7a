// The report page as a person meets it: opened from disk in Chromium, looked at, played, scrubbed, on a wide screen and
// on a phone. Run by ctest, which says where the programs and Playwright are; exit code 77: skipped.
//
//   RETRACE_KEEP_SCREENSHOTS=1 ctest --test-dir build/release -L browser     # keeps new screenshots beside this file
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const program = process.env.RETRACE_PROGRAM;
const chromiumPath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
const playwright = join(process.env.RETRACE_PACKAGES ?? '', 'playwright-core');
for (const [what, there] of [
  ['Chromium (scripts/install-dependencies --with-browser)', chromiumPath],
  ['Playwright, which the build brings with npm', existsSync(playwright)],
  ['the page, which the build makes with npm', existsSync(join(program, '../..', 'share/retrace/report_page.html'))],
]) {
  if (!there) {
    console.log(`skipped: there is no ${what}`);
    process.exit(77);
  }
}
const { chromium } = createRequire(import.meta.url)(playwright);

const folder = mkdtempSync(join(tmpdir(), 'retrace-browser-'));
const clips = join(here, '../../data/clips');
const run = (...words) => execFileSync(program, words, { encoding: 'utf8' });
const reconstruct = (clip, name, ...words) =>
  run(
    'reconstruct',
    ...[join(clips, clip), '--method', 'sampling', '--samples', '100', '--saved', '20', '--threads', '2', '--progress', 'none'],
    ...['--set', '/refinement/passes=0', '--output', join(folder, name), ...words],
  );
let browser;

before(async () => {
  reconstruct('walk.bvh', 'walk', '--end', '1.6', '--report');
  reconstruct('walk.bvh', 'crates', '--end', '1', '--world', 'crates', '--world', 'platform');
  reconstruct('walk.bvh', 'weightless', '--end', '0.3', '--set', '/simulation/gravity=0', '--report');
  run('report', join(folder, 'walk'), join(folder, 'crates'), '--output', join(folder, 'two.html'));
  run('replay', join(folder, 'walk'), '--with', `${join(folder, 'walk')},1.2,0`, '--output', join(folder, 'scene'));
  run('report', join(folder, 'scene'));
  run('track', join(clips, 'walk.bvh'), '--end', '1.6', '--output', join(folder, 'tracked'));
  run('report', join(folder, 'tracked'));
  run('track', join(clips, 'squat.bvh'), '--end', '1', '--floor-height', '-0.1', '--repair', '--output', join(folder, 'repaired'));
  run('report', join(folder, 'repaired'));
  // A recording with a jump: from one frame to the next its last joint turns by 120 degrees.
  const lines = readFileSync(join(clips, 'walk.bvh'), 'utf8').split('\n');
  const first = lines.findIndex((line) => line.startsWith('Frame Time')) + 1;
  for (let k = first + 30; k < lines.length; ++k) lines[k] = lines[k].replace(/(\S+)(\s*)$/, (_, turn, end) => `${Number(turn) + 120}${end}`);
  writeFileSync(join(folder, 'jump.bvh'), lines.join('\n'));
  try {
    run('track', join(folder, 'jump.bvh'), '--end', '1', '--output', join(folder, 'jumped'));
  } catch (error) {
    assert.ok([4, 7].includes(error.status), `exit code ${error.status}`); // it need not be good
  }
  run('report', join(folder, 'jumped'));
  run('track', join(clips, 'walk.bvh'), '--end', '2.4', '--output', join(folder, 'library/walk'));
  run('compose', join(folder, 'library'), '--play', 'walk,walk', '--transition', 'kinematic', '--output', join(folder, 'composed'));
  run('report', join(folder, 'composed'));
  run('build-library', clips, '--output', join(folder, 'motions'));
  run(
    'respond',
    ...[join(folder, 'library/walk'), '--library', join(folder, 'motions'), '--push', 'trunk,0:0:-250,0.6,0.1'],
    ...['--seconds', '1.5', '--stand', '0.3', '--samples', '100', '--saved', '20', '--set', '/refinement/passes=0'],
    ...['--output', join(folder, 'answered')],
  );
  run('report', join(folder, 'answered'));
  const forces = (name, ...words) =>
    run('forces', join(clips, 'walk.bvh'), '--simulate', '--end', '1.6', '--method', 'tracking', '--seeds', '2', '--set', '/tracking/candidates=0', '--output', join(folder, name), ...words);
  forces('plates');
  forces('forces', '--force-plates', join(folder, 'plates/export/ground_forces.sto'), '--report');
  mkdirSync(join(folder, 'evaluation'));
  const list = join(folder, 'list.tsv');
  writeFileSync(list, 'clip\tname\tend\tgroup\nwalk.bvh\twalk\t0.5\teasy\nstand.bvh\tstand\t0.5\teasy\n');
  run(
    'evaluate',
    ...[list, '--clips', clips, '--seeds', '2', '--method', 'sampling', '--samples', '60', '--saved', '12', '--progress', 'none'],
    ...['--output', join(folder, 'evaluation')],
  );
  run('report', join(folder, 'evaluation'));
  browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic'],
      ...['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Opens a page and holds it to what always holds: no error, nothing but the file itself asked for.
async function open(t, file, { width = 640, height = 420, scheme = 'light', hash = '', ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, ...more });
  const page = await context.newPage();
  page.setDefaultTimeout(120000); // pictures come slowly from a processor that does other things besides
  const errors = [];
  const requests = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => request.url().startsWith('data:') || requests.push(request.url()));
  const url = pathToFileURL(join(folder, file)).href + hash;
  await page.goto(url);
  t.after(async () => {
    const text = await page.evaluate(() => {
      const copy = document.body.cloneNode(true);
      for (const code of copy.querySelectorAll('script, style, noscript')) code.remove();
      return copy.textContent;
    });
    await context.close();
    assert.doesNotMatch(text, /undefined|\bNaN\b|\[object /, 'words of the language on the page');
    assert.deepEqual(errors, [], 'errors on the console');
    assert.deepEqual(requests, [url.replace(/#.*/, '')], 'requests');
  });
  return page;
}

const timeOf = (page) => page.evaluate(() => window.report.clock.time);
const frames = (page, count = 3) =>
  page.evaluate(async (n) => {
    for (let k = 0; k < n; ++k) await new Promise(requestAnimationFrame);
  }, count);

// A table as objects of numbers.
function readTable(file) {
  const [head, ...rows] = readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(head.map((name, k) => [name, Number(row[k])])));
}
const number = (text) => Number(text.replace('\u2212', '-'));

// The values at the cursor that a chart shows, once it is there: it draws itself as soon as it has a size.
async function outputsOf(page, id) {
  const outputs = page.locator(`#${id} .legend output`);
  await outputs.first().waitFor({ state: 'attached' });
  return outputs.allTextContents();
}

// Pixels of the 3D view as numbers, so few that a font or a renderer does not matter.
const fingerprint = async (page, png, width, height) =>
  page.evaluate(
    async ([data, w, h]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = w;
      canvas.height = h;
      const context = canvas.getContext('2d');
      context.imageSmoothingQuality = 'high';
      context.drawImage(image, 0, 0, w, h);
      return [Array.from(context.getImageData(0, 0, w, h).data), canvas.toDataURL('image/png').split(',')[1]];
    },
    [png.toString('base64'), width, height],
  );

// Compares what is seen with a picture kept beside this file, both reduced to 96 x 72.
async function looksAsKept(page, png, name) {
  const kept = join(here, 'screenshots', `${name}.png`);
  const [pixels, small] = await fingerprint(page, png, 96, 72);
  mkdirSync(process.env.RETRACE_KEPT, { recursive: true });
  writeFileSync(join(process.env.RETRACE_KEPT, `${name}.png`), png);
  if (process.env.RETRACE_KEEP_SCREENSHOTS) {
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, Buffer.from(small, 'base64'));
  }
  const [wanted] = await fingerprint(page, readFileSync(kept), 96, 72);
  let sum = 0;
  let far = 0;
  for (let k = 0; k < pixels.length; k += 4) {
    const difference = Math.max(...[0, 1, 2].map((c) => Math.abs(pixels[k + c] - wanted[k + c])));
    sum += difference;
    far += difference > 48;
  }
  const count = pixels.length / 4;
  const text = `${name}: mean difference ${(sum / count).toFixed(2)} of 255, ${far} of ${count} pixels far off`;
  console.log(text);
  assert.ok(sum / count < 3 && far / count < 0.01, `${text}; see ${process.env.RETRACE_KEPT}`);
}

test('plays, pauses, scrubs and steps by mouse and by key', async (t) => {
  const page = await open(t, 'walk/report.html');
  assert.equal(await page.title(), 'walk');
  await page.waitForFunction(() => window.report.clock.playing && window.report.clock.time > 0.1);
  await page.getByRole('button', { name: 'Pause' }).click();
  const stopped = await timeOf(page);
  await frames(page);
  assert.equal(await timeOf(page), stopped);
  await page.evaluate(() => window.report.clock.set(0.43));
  await page.getByRole('button', { name: 'One frame on' }).click();
  await page.getByRole('button', { name: 'One frame on' }).click();
  await page.getByRole('button', { name: 'One frame back' }).click();
  const frame = await page.evaluate(() => window.report.clock.frameTime);
  assert.ok(Math.abs((await timeOf(page)) - (Math.round(0.43 / frame) + 1) * frame) < 1e-9);
  await page.getByRole('slider', { name: 'Time' }).fill('0.8');
  assert.ok(Math.abs((await timeOf(page)) - 0.8) < 0.01);
  assert.match(await page.locator('.readout').textContent(), /^0\.80 \/ 1\.60 s$/);

  await page.locator('body').click({ position: { x: 3, y: 3 } });
  await page.keyboard.press('End');
  assert.ok(Math.abs((await timeOf(page)) - 1.6) < 0.02);
  await page.keyboard.press('Home');
  assert.equal(await timeOf(page), 0);
  await page.keyboard.press('ArrowRight');
  assert.ok(Math.abs((await timeOf(page)) - frame) < 1e-9);
  await page.keyboard.press('Shift+ArrowRight');
  assert.ok(Math.abs((await timeOf(page)) - 7 * frame) < 1e-9);
  await page.keyboard.press('-');
  assert.equal(await page.evaluate(() => window.report.clock.speed), 0.5);
  await page.keyboard.press(' ');
  await page.waitForFunction(() => window.report.clock.time > 0.2);
  await page.keyboard.press(' ');
  assert.equal(await page.evaluate(() => window.report.clock.playing), false);
});

test('the 3D view changes with the time, the ghosts and the arrows', async (t) => {
  const page = await open(t, 'walk/report.html', { hash: '#time=0.8' });
  const canvas = page.locator('.stage canvas');
  const look = async () => {
    await frames(page);
    return canvas.screenshot();
  };
  const reference = page.getByLabel('Reference');
  const first = await look();
  assert.deepEqual(await look(), first, 'nothing moves while paused');
  await page.locator('body').click({ position: { x: 3, y: 3 } });
  assert.equal(await reference.inputValue(), 'off', 'at first the result is seen alone');
  await page.keyboard.press('g');
  assert.equal(await reference.inputValue(), 'ghost');
  const ghost = await look();
  assert.notDeepEqual(ghost, first);
  await page.keyboard.press('g');
  assert.equal(await reference.inputValue(), 'beside');
  const beside = await look();
  assert.notDeepEqual(beside, ghost);
  await reference.selectOption('off');
  const off = await look();
  assert.deepEqual(off, first);
  await page.keyboard.press('Escape');
  await page.locator('body').click({ position: { x: 3, y: 3 } });
  await page.keyboard.press('b');
  assert.equal(await page.getByLabel('Body').inputValue(), 'shapes');
  assert.notDeepEqual(await look(), first, 'shapes are no skin');
  await page.keyboard.press('b');
  assert.deepEqual(await look(), first);
  await page.keyboard.press('Escape');
  await page.locator('body').click({ position: { x: 3, y: 3 } });
  await page.keyboard.press('n');
  assert.equal(await page.getByLabel('Without feedback').inputValue(), 'ghost');
  const tracking = await look();
  assert.notDeepEqual(tracking, off);
  await page.getByLabel('Forces', { exact: true }).uncheck();
  const bare = await look();
  assert.notDeepEqual(bare, tracking);
  await page.getByLabel('Pressure').uncheck();
  assert.notDeepEqual(await look(), bare);
  for (const view of ['side', 'front', 'back', 'top', 'oblique']) {
    const before = await look();
    await page.getByLabel('View', { exact: true }).selectOption(view);
    assert.notDeepEqual(await look(), before, view);
  }
});

test('charts show the values of the tables at the cursor', async (t) => {
  const page = await open(t, 'walk/report.html');
  const table = readTable(join(folder, 'walk/trajectory.csv'));
  const torques = readTable(join(folder, 'walk/torques.csv'));
  const outputs = (id) => outputsOf(page, id);
  await page.evaluate(() => window.report.clock.pause());
  // At first after a low-pass, whose largest value is among the figures of the summary.
  const { peak, weight } = await page.evaluate(() => {
    const [run] = window.report.runs;
    return { peak: Math.max(...run.smoothForce(1)), weight: run.character.weight };
  });
  assert.ok((await page.locator('.summary').innerText()).includes(`${(peak / weight).toFixed(1)} body weights`));
  await page.getByLabel('Low-pass of the ground reaction force').selectOption('raw');
  for (const step of [0, 60, 131, 299, table.length - 1]) {
    const row = table[step];
    await page.evaluate((time) => window.report.clock.set(time), row.time);
    const [up, z, x] = (await outputs('force-0')).map(number);
    assert.deepEqual([up, z, x], [row.force_y, row.force_z, row.force_x].map((v) => Number(v.toFixed(0))), `${row.time}`);
  }
  // Joints and heights have every second step.
  for (const step of [60, 202]) {
    const row = table[step];
    await page.evaluate((time) => window.report.clock.set(time), row.time);
    const heights = (await outputs('height-0')).map(number);
    assert.equal(heights[0], Number(row.com_y.toFixed(3)));
    assert.equal(heights[2], Number(row.root_y.toFixed(3)));
    await page.locator('#angle-0 select').selectOption({ label: 'Right hip' });
    const angles = (await outputs('angle-0')).map(number);
    const wanted = ['x', 'y', 'z'].map((axis) => Number(((row[`right_hip_${axis}`] * 180) / Math.PI).toFixed(1)));
    assert.deepEqual([angles[0], angles[2], angles[4]], wanted);
    const torque = torques.find((line) => line.time === row.time);
    assert.deepEqual(
      (await outputs('torque-0')).map(number),
      ['x', 'y', 'z'].map((axis) => Number(torque[`right_hip_${axis}`].toFixed(1))),
    );
  }
  // A press in the middle of a chart sets the time to the middle.
  const plot = await page.locator('#force-0 .u-over').boundingBox();
  await page.locator('#force-0 .u-over').click({ position: { x: plot.width / 2, y: 20 } });
  assert.ok(Math.abs((await timeOf(page)) - 0.8) < 0.01);
});

test('what the page says of the run is what the manifest says', async (t) => {
  const page = await open(t, 'walk/report.html', { hash: '#time=0' });
  const manifest = JSON.parse(readFileSync(join(folder, 'walk/manifest.json'), 'utf8'));
  assert.ok(manifest.success, 'the run of this test succeeds');
  const text = await page.locator('.summary').innerText();
  assert.match(text, /within tolerance/);
  assert.ok(text.includes(`${(1000 * manifest.evaluation.mean_joint_error).toFixed(0)} mm`), text);
  assert.match(text, /The reference tracked without feedback exceeds the tolerances/);
  await page.getByText('Settings', { exact: true }).click();
  const settings = await page.locator('details table').innerText();
  assert.match(settings, /configuration\/search\/samples\s+100/);
  // The costs of every iteration are there, and one chosen sample per fragment.
  const costs = readTable(join(folder, 'walk/costs.csv'));
  const counts = await page.evaluate(() => {
    const { draws, drawn, saved, chosen } = window.report.runs[0].costs;
    return [draws.length, drawn.length / 5, saved.length / 5, chosen.length];
  });
  const chosen = costs.filter((row) => row.total > 0); // empty, which is read as 0, where none is chosen
  assert.deepEqual(counts, [costs.length, costs.length, costs.length, chosen.length]);
  assert.ok(chosen.length > 10, `${chosen.length} fragments`);
});

test('a tracked motion shows what its quadratic programs planned', async (t) => {
  const page = await open(t, 'tracked/report.html', { hash: '#time=0.8' });
  const rows = readTable(join(folder, 'tracked/tracking.csv'));
  const row = rows.filter(({ time }) => time <= 0.8 + 1e-9).at(-1);
  await page.getByText('How it was found').click();
  await page.locator('#slack-0 canvas').waitFor();
  for (const [id, column] of [
    ['squared-error', 'squared_error'],
    ['vertical-force', 'vertical_force'],
    ['slack', 'slack'],
    ['largest-torque', 'largest_torque'],
    ['iterations', 'iterations'],
    ['cpu-microseconds', 'cpu_microseconds'],
  ]) {
    const [shown] = await outputsOf(page, `${id}-0`);
    assert.ok(Math.abs(number(shown) - row[column]) <= 0.51 || Math.abs(number(shown) / row[column] - 1) < 0.01, `${id}: ${shown}, ${row[column]}`);
  }
  assert.equal(await page.locator('#cost-0').count(), 0);
});

test('legs are shown over the gait cycle, and a press in a chart sets the time', async (t) => {
  const page = await open(t, 'tracked/report.html', { width: 1400, height: 900, hash: '#time=0.8' });
  await page.locator('#cycles-0 canvas').first().waitFor();
  const titles = await page.locator('#cycles-0 h4').allInnerTexts();
  for (const title of ['Hip flexion', 'Knee flexion', 'Knee extension moment', 'Ankle power', 'Vertical force']) {
    assert.ok(titles.some((text) => text.startsWith(title)), `${title} in ${titles}`);
  }
  const strides = await page.evaluate(() => ['left', 'right'].flatMap((side) => window.report.runs[0].cycles[side].strides));
  const { start, end } = strides[0];
  assert.ok(start > 0.1 && end - start > 0.8 && end - start < 1.4, JSON.stringify(strides));
  const plot = await page.locator('#cycles-0 .u-over').first().boundingBox();
  await page.locator('#cycles-0 .u-over').first().click({ position: { x: plot.width / 4, y: 20 } });
  assert.ok(Math.abs((await timeOf(page)) - (start + (end - start) / 4)) < 0.02);
  const cursors = await page.locator('#cycles-0 .plot').first().locator('.cursor:not([hidden])').evaluateAll((nodes) => nodes.map((node) => parseFloat(node.style.left)));
  assert.ok(cursors.some((left) => Math.abs(left - 25) < 2), `${cursors}`);
});

test('forces are shown with their band, what was measured and the figures', async (t) => {
  const page = await open(t, 'forces/report.html', { hash: '#time=0.8' });
  const rows = readTable(join(folder, 'forces/foot_forces_20Hz.csv'));
  const row = rows.filter(({ time }) => time <= 0.8 + 1e-9).at(-1);
  for (const part of ['total', 'left', 'right']) {
    const shown = (await outputsOf(page, `foot-force-${part}-0`)).map(number);
    assert.equal(shown.length, 2, 'the edges of the band have no values of their own');
    assert.ok(Math.abs(shown[0] - row[`${part}_vertical_20Hz_measured`]) <= 0.51, `${part}: ${shown}`);
    assert.ok(Math.abs(shown[1] - row[`${part}_vertical_20Hz`]) <= 0.51, `${part}: ${shown}`);
  }
  await page.getByLabel('Component of the forces').selectOption('lateral');
  const [measured] = (await outputsOf(page, 'foot-force-left-0')).map(number);
  assert.ok(Math.abs(measured - row.left_lateral_20Hz_measured) <= 0.51, `${measured}`);
  const figures = await page.locator('#force-figures-0 tbody tr').allInnerTexts();
  assert.equal(figures.length, 9 + 3 * 3);
  assert.match(figures[0], /^total, vertical\s+0\.0\s+0\.0\s+1\.000/);
  await page.getByLabel('Low-pass of the figures').selectOption('raw');
  assert.match(await page.locator('#force-figures-0 .note').innerText(), /Contact onsets: \d+ of \d+ matched/);
});

test('a repaired motion has its recording beside it', async (t) => {
  const page = await open(t, 'repaired/report.html', { hash: '#time=0.5' });
  assert.equal(await page.getByLabel('Recording', { exact: true }).inputValue(), 'beside');
  await page.locator('body').click({ position: { x: 3, y: 3 } });
  await page.keyboard.press('o');
  assert.equal(await page.getByLabel('Recording', { exact: true }).inputValue(), 'off');
  const above = await page.evaluate(() => {
    const [run] = window.report.runs;
    return run.root('recording')[0] - run.root('reference')[0];
  });
  assert.ok(above > 0.08 && above < 0.12, `${above}`);
  assert.match(await page.locator('body').innerText(), /The recording stands beside it/);
});

test('what is wrong with a recording is named, and its time is shown', async (t) => {
  const page = await open(t, 'jumped/report.html', { hash: '#time=0' });
  const { warnings } = JSON.parse(readFileSync(join(folder, 'jumped/manifest.json'), 'utf8')).clip_checks;
  assert.ok(warnings.length > 0, 'the jump is found');
  assert.equal(await page.locator('.findings li').count(), warnings.length);
  assert.ok((await page.locator('.summary').innerText()).includes(warnings[0].text));
  await page.locator('.findings button').first().click();
  assert.ok(Math.abs((await timeOf(page)) - Math.min(1, warnings[0].time)) < 0.01, `${warnings[0].time}`);
});

test('a response shows the motions that it could go on with', async (t) => {
  const page = await open(t, 'answered/report.html', { hash: '#time=0' });
  const rows = readTable(join(folder, 'answered/candidates.csv'));
  const shown = await page
    .locator('#candidates-0 tbody tr')
    .evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(
    shown.map(([, from, , gap]) => [from, gap]),
    rows.map(({ time, gap }) => [`${time.toFixed(2)} s`, `${gap.toFixed(2)} m`]),
  );
  assert.deepEqual(
    shown.map((cells) => cells.at(-1) === 'found'),
    rows.map(({ found }) => found === 1),
  );
  assert.ok(rows.some(({ found }) => found === 1));
  assert.equal(await page.locator('#composition-0').count(), 1);
  // A body that gives up stands beside it until the key is pressed, and the push is an arrow while it lasts.
  assert.equal(await page.getByLabel('Ragdoll').inputValue(), 'beside');
  await page.locator('body').click({ position: { x: 3, y: 3 } });
  await page.keyboard.press('r');
  assert.equal(await page.getByLabel('Ragdoll').inputValue(), 'off');
  const { ragdoll, simulated, arrows } = await page.evaluate(() => {
    const [run] = window.report.runs;
    const { offsets } = run.push_arrows;
    const pushed = [...offsets.keys()].filter((k) => offsets[k + 1] > offsets[k]).map((k) => k * run.frameTime);
    return { ragdoll: run.root('ragdoll').at(-1), simulated: run.root('simulated').at(-1), arrows: pushed };
  });
  assert.ok(ragdoll < 0.5 && simulated > 0.7, `${ragdoll}, ${simulated}`);
  assert.ok(arrows.length === 6 && arrows[0] > 0.6 && arrows.at(-1) < 0.71, `${arrows}`);
});

test('a composed motion shows its parts, and which way into them is kinematic', async (t) => {
  const page = await open(t, 'composed/report.html', { hash: '#time=0' });
  const bars = await page.locator('#composition-0 .track i').evaluateAll((nodes) =>
    nodes.map(({ title, textContent, dataset, style }) => [title, textContent, dataset.kinematic, parseFloat(style.left)]),
  );
  const rows = readTable(join(folder, 'composed/composition.csv'));
  const { start, end } = rows[1];
  assert.equal(bars.length, 2);
  assert.deepEqual(bars[0].slice(1), ['walk', 'false', 0]);
  assert.equal(bars[1][0], `walk, plan: ${start.toFixed(2)} to ${end.toFixed(2)} s; the way into it is kinematic, not physical`);
  assert.ok(Math.abs(bars[1][3] - (100 * start) / end) < 0.01, `${bars[1]}`);
  assert.match(await page.locator('#composition-0 .warning').innerText(), /kinematic transition, which is not physical/);
  assert.match(await page.locator('.summary .warning').innerText(), /^Not physical: 1 of its transitions are kinematic/);
});

test('the skin follows the bodies', async (t) => {
  const page = await open(t, 'walk/report.html', { hash: '#time=0.8' });
  await frames(page);
  // Vertices that one body moves alone keep their distance from it, whatever the pose.
  const worst = await page.evaluate(() => {
    const { stage, clock } = window.report;
    const figure = stage.views[0].figures.find(({ motion }) => motion === 'simulated');
    const mesh = figure.skins.at(-1);
    const { skinIndex, skinWeight } = mesh.geometry.attributes;
    const alone = [];
    for (let v = 0; v < skinIndex.count; v += 7) if (skinWeight.getX(v) > 0.999) alone.push(v);
    const distances = () => {
      stage.dirty = true;
      stage.draw();
      return alone.map((v) => {
        const body = figure.bodies[skinIndex.getX(v)];
        const place = mesh.getVertexPosition(v, body.position.clone()).applyMatrix4(mesh.matrixWorld);
        return place.distanceTo(body.getWorldPosition(body.position.clone()));
      });
    };
    clock.set(0.3);
    const before = distances();
    clock.set(1.2);
    return { count: alone.length, worst: Math.max(...distances().map((d, k) => Math.abs(d - before[k]))), largest: Math.max(...before) };
  });
  assert.ok(worst.count > 100 && worst.worst < 1e-4 && worst.largest < 0.5, JSON.stringify(worst));
});

test('answers in the order of the questions, and the solver stays folded', async (t) => {
  const page = await open(t, 'walk/report.html', { width: 1400, height: 900, hash: '#time=0.8' });
  const order = await page.locator('h2').allInnerTexts();
  assert.match(order[0], /^Is it good\?\s*\S within tolerance/);
  assert.deepEqual(order.slice(1), ['What are the forces?', 'How does it move?']);
  const tops = await page.evaluate(() => ['.summary', '.stage', '#force-0', '#angle-0'].map((name) => document.querySelector(name).getBoundingClientRect().top));
  assert.ok(tops[0] < tops[1] && tops[1] <= tops[2] && tops[2] < tops[3], `${tops}`);
  assert.equal(await page.locator('#cost-0').isVisible(), false);
  await page.getByText('How it was found').click();
  await page.locator('#cost-0 canvas').waitFor();
  assert.match(await page.locator('#inside-0').innerText(), /Samples\s+[\d,]+ in \d+ iterations/);
});

test('the view and the player stay in sight while charts are read', async (t) => {
  for (const [width, height] of [
    [1400, 900],
    [390, 844],
  ]) {
    const page = await open(t, 'walk/report.html', { width, height, hash: '#time=0.8' });
    await frames(page);
    await page.evaluate(() => document.querySelector('#height-0').scrollIntoView({ block: 'end' }));
    await frames(page);
    for (const name of ['.stage', '.player']) {
      const box = await page.locator(name).boundingBox();
      assert.ok(box.y >= -1 && box.y + box.height <= height + 1, `${name} at ${width}: ${JSON.stringify(box)}`);
    }
    const chart = await page.locator('#height-0').boundingBox();
    assert.ok(chart.y < height && chart.y + chart.height > 0, `the chart at ${width}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
  }
});

test('all charts have one zoom', async (t) => {
  const page = await open(t, 'walk/report.html', { width: 1400, height: 900, hash: '#time=0.8' });
  await page.locator('#force-0 .u-over').waitFor();
  const view = () => page.evaluate(() => window.report.clock.view);
  const plot = await page.locator('#force-0 .u-over').boundingBox();
  await page.keyboard.down('Shift');
  await page.mouse.move(plot.x + 0.25 * plot.width, plot.y + 30);
  await page.mouse.down();
  await page.mouse.move(plot.x + 0.75 * plot.width, plot.y + 30, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const { start, end } = await view();
  assert.ok(Math.abs(start - 0.4) < 0.02 && Math.abs(end - 1.2) < 0.02, `${start} to ${end}`);
  assert.ok(Math.abs((await timeOf(page)) - 0.8) < 0.01, 'the time stays');
  // A press in the middle of another chart, and of the contacts, is the middle of what is shown.
  for (const name of ['#angle-0 .u-over', '#timeline-0 .area']) {
    await page.evaluate(() => window.report.clock.set(0.5));
    const box = await page.locator(name).boundingBox();
    await page.locator(name).click({ position: { x: box.width / 2, y: 8 } });
    assert.ok(Math.abs((await timeOf(page)) - 0.8) < 0.02, name);
  }
  // What goes on beyond takes the charts along.
  await page.evaluate(() => window.report.clock.set(1.5));
  assert.ok((await view()).end > 1.5);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  const closer = await view();
  assert.ok(closer.end - closer.start < 0.45, JSON.stringify(closer));
  await page.locator('#force-0 .u-over').dblclick();
  assert.deepEqual(await view(), { start: 0, end: await page.evaluate(() => window.report.clock.duration) });
});

test('prints on two pages, with poses', async (t) => {
  const page = await open(t, 'walk/report.html', { width: 1400, height: 900, hash: '#time=0.8' });
  await page.locator('#force-0 canvas').waitFor();
  await frames(page);
  const pdf = await page.pdf({ format: 'A4', printBackground: true });
  assert.equal(pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g).length, 2);
  assert.ok(pdf.length > 60000, `${pdf.length} bytes: pictures are in it`);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.equal(await page.locator('.poses img').count(), 6);
  assert.ok(Math.abs((await timeOf(page)) - 0.8) < 1e-9, 'the time is as before');
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  assert.equal(await page.locator('.poses img').count(), 0);
});

test('the view is saved as a picture', async (t) => {
  const page = await open(t, 'walk/report.html', { hash: '#time=0.8' });
  await frames(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save the view as a picture' }).click()]);
  assert.equal(download.suggestedFilename(), 'walk_0.80s.png');
  assert.ok(readFileSync(await download.path()).length > 5000);
});

test('every control has a name, and the keyboard reaches it', async (t) => {
  const page = await open(t, 'walk/report.html', { hash: '#time=0' });
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, canvas, [role=img], [role=region]')]
      .filter((node) => !node.closest('.plot') || node.classList.contains('plot'))
      .filter((node) => !node.ariaLabel && !node.closest('label')?.textContent.trim())
      .map((node) => node.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(nameless, []);
  const reached = new Set();
  for (let k = 0; k < 30; ++k) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.closest('label')?.innerText ?? document.activeElement.innerText));
  }
  for (const name of ['Play', 'Time', 'Joint', 'Forces']) {
    assert.ok([...reached].some((label) => label?.includes(name)), `${name} in ${[...reached].join(' | ')}`);
  }
});

test('fits a phone, in both schemes', async (t) => {
  for (const scheme of ['light', 'dark']) {
    const page = await open(t, 'walk/report.html', { width: 360, height: 720, scheme, hash: '#time=0.8', hasTouch: true });
    await frames(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, scheme);
    const bar = await page.locator('.player').boundingBox();
    assert.ok(bar.y + bar.height <= 720 && bar.y > 0, 'the player stays in sight');
    await page.getByRole('button', { name: 'Play' }).tap();
    await page.waitForFunction(() => window.report.clock.time > 0.85 || window.report.clock.time < 0.75);
  }
});

test('several runs share one clock, in a world with things that move', async (t) => {
  const page = await open(t, 'two.html', { hash: '#time=0.5' });
  assert.equal(await page.locator('.stage .cell').count(), 2);
  assert.deepEqual(await page.locator('.compare thead th').allTextContents(), ['walk', 'crates']);
  const canvas = page.locator('.stage canvas');
  await frames(page);
  const first = await canvas.screenshot();
  await page.evaluate(() => window.report.clock.set(0.9));
  await frames(page);
  assert.notDeepEqual(await canvas.screenshot(), first);
  const shown = page.getByLabel('Run whose figures are shown below');
  assert.match(await page.locator('#details-0').innerText(), /Ground reaction force/);
  await shown.selectOption({ label: 'crates' });
  assert.equal(await page.locator('#details-0').count(), 0);
  const row = readTable(join(folder, 'crates/trajectory.csv')).find((line) => Math.abs(line.time - 0.9) < 1e-9);
  await page.evaluate((time) => window.report.clock.set(time), row.time);
  await page.getByLabel('Low-pass of the ground reaction force').selectOption('raw');
  const up = number((await outputsOf(page, 'force-1'))[0]);
  assert.equal(up, Number(row.force_y.toFixed(0)));
  // The platform's box moves in the page as its course says.
  const moved = await page.evaluate(() => {
    const { courses } = window.report.runs[1].world;
    const last = courses.length - 3;
    return Math.hypot(courses[last] - courses[0], courses[last + 2] - courses[2]);
  });
  assert.ok(moved > 0.001, `${moved}`);
});

test('a scene shows all characters in one view, and the charts of each', async (t) => {
  const page = await open(t, 'scene/report.html', { hash: '#time=0.5' });
  assert.equal(await page.locator('.stage .cell').count(), 1);
  const names = [1, 2].map((number) => `scene, character ${number} (human)`);
  assert.deepEqual(await page.locator('.compare thead th').allTextContents(), names);
  const solid = await page.evaluate(() =>
    window.report.stage.views[0].figures
      .filter((figure) => figure.motion === 'simulated')
      .map((figure) => figure.bodies[0].position.x),
  );
  assert.equal(solid.length, 2);
  assert.ok(Math.abs(solid[1] - solid[0] - 1.2) < 0.05, `${solid}`);
  const canvas = page.locator('.stage canvas');
  await frames(page);
  const both = await canvas.screenshot();
  await page.evaluate(() => {
    const { stage } = window.report;
    stage.views[0].figures.filter((figure) => figure.run.index === 1).forEach((figure) => (figure.group.visible = false));
    stage.invalidate();
  });
  await frames(page);
  assert.notDeepEqual(await canvas.screenshot(), both, 'the second character is in the picture');
  await page.getByLabel('Run whose figures are shown below').selectOption({ label: names[1] });
  const row = readTable(join(folder, 'scene/character_2/trajectory.csv')).find((line) => Math.abs(line.time - 0.9) < 1e-9);
  await page.evaluate((time) => window.report.clock.set(time), row.time);
  await page.getByLabel('Low-pass of the ground reaction force').selectOption('raw');
  assert.equal(number((await outputsOf(page, 'force-1'))[0]), Number(row.force_y.toFixed(0)));
  // Fighters are told apart by their colors, on the bodies and in the legend.
  const colors = await page.evaluate(() =>
    window.report.stage.views[0].figures
      .filter((figure) => figure.motion === 'simulated')
      .map((figure) => [...figure.skins.at(-1).geometry.attributes.color.array.slice(0, 3)].map((v) => v.toFixed(2)).join()),
  );
  assert.notEqual(colors[0], colors[1]);
  assert.match(await page.locator('.stage-legend').innerText(), /character 1[^]*character 2/);
});

test('a body without gravity weighs nothing', async (t) => {
  const page = await open(t, 'weightless/report.html', { hash: '#time=0.1' });
  assert.match(await page.locator('#force-0').innerText(), /The body weighs 0 N\./);
});

test('what evaluate measured', async (t) => {
  const page = await open(t, 'evaluation/report.html');
  const text = await page.locator('.evaluation').innerText();
  const summary = readFileSync(join(folder, 'evaluation/summary.csv'), 'utf8');
  assert.match(summary, /walk/);
  const [head, ...rows] = readFileSync(join(folder, 'evaluation/runs.csv'), 'utf8').trimEnd().split('\n');
  const main = rows.filter((row) => row.split(',')[head.split(',').indexOf('main')] === '1').length;
  assert.ok(text.includes(`${main} of ${rows.length}`), text);
  await page.getByLabel('Figure').selectOption('drift_m');
  assert.equal(await page.locator('.strip .dot').count(), rows.length);
  await page.getByLabel('Level of success').selectOption('strict');
  await page.getByText(`All ${rows.length} runs`).click();
  assert.equal(await page.locator('details tbody tr').count(), rows.length);
  const [link] = await page.locator('details tbody a').evaluateAll((nodes) => nodes.map((node) => node.href));
  assert.ok(existsSync(join(fileURLToPath(link), 'control.json')), link);
  await page.setViewportSize({ width: 360, height: 720 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
});

test('looks as it did', async (t) => {
  const light = await open(t, 'walk/report.html', { width: 960, height: 720, hash: '#time=0.8' });
  await frames(light, 5);
  await looksAsKept(light, await light.screenshot(), 'walk_light');
  const dark = await open(t, 'walk/report.html', { width: 960, height: 720, hash: '#time=0.8', scheme: 'dark' });
  await frames(dark, 5);
  await looksAsKept(dark, await dark.screenshot(), 'walk_dark');
  await dark.locator('#force-0').scrollIntoViewIfNeeded();
  await frames(dark);
  const evaluation = await open(t, 'evaluation/report.html', { width: 960, height: 720 });
  await looksAsKept(evaluation, await evaluation.screenshot(), 'evaluation');
});

test('a film strip as a picture', () => {
  const file = join(folder, 'strip.png');
  run('report', join(folder, 'walk'), '--png', file, '--figures', '4', '--width', '600');
  const png = readFileSync(file);
  assert.equal(png.readUInt32BE(16), 600, 'its width');
  const height = png.readUInt32BE(20);
  assert.ok(height > 100 && height < 900, `its height, ${height}`);
  // Not a plain surface: that would be a few hundred bytes.
  assert.ok(png.length > 15000, `${png.length} bytes`);
});
