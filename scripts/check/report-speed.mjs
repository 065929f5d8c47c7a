#!/usr/bin/env node
// How fast a report page opens and plays, by the browser's own clock.
//
// usage: scripts/check/report-speed.mjs [RUN_FOLDER | PAGE.html]
//
// Without an argument a walk of 30 s is tracked and reported. The page is opened in headless Chromium, whose 3D is drawn by
// software (SwiftShader): a graphics processor draws faster, and what the page itself computes is told apart. Printed are
// the size of the page; the time from navigation to the first picture [ms]; and, over five seconds of playing, the time
// that the page's script takes for a frame [ms] (median and 95th percentile; 60 frames per second leave 16.7), and the
// frames per second that software rendering reaches. Needs scripts/install-dependencies --with-browser and a release build
// with its tests, which brings Playwright.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const build = join(root, 'build/release');
const playwright = join(build, 'tests/browser/node_modules/playwright-core');
const chromiumPath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
if (!chromiumPath || !existsSync(playwright)) {
  console.error('report-speed: found no Chromium or no Playwright, expected scripts/install-dependencies --with-browser and a build with tests');
  process.exit(2);
}
const { chromium } = createRequire(import.meta.url)(playwright);
const folder = mkdtempSync(join(tmpdir(), 'retrace-report-speed-'));
const run = (program, ...words) => execFileSync(join(build, 'apps', program), words, { encoding: 'utf8' });

let page = process.argv[2] && resolve(process.argv[2]);
if (!page) {
  page = join(folder, 'walk');
  run('track', join(root, 'data/clips/walk.bvh'), '--loop', '30', '--progress', 'none', '--output', page);
}
if (statSync(page).isDirectory()) {
  run('report', page, '--output', join(folder, 'page.html'));
  page = join(folder, 'page.html');
}

// Before the page's own script: all that it does in a frame is timed, and the end of the first one noted.
function watchFrames() {
  window.frames_ = [];
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) =>
    request((now) => {
      const begin = performance.now();
      callback(now);
      window.frames_.push([begin, performance.now()]);
    });
}
const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))];

const browser = await chromium.launch({
  executablePath: chromiumPath,
  args: ['--no-sandbox', '--disable-gpu', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run'],
});
try {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await tab.addInitScript(watchFrames);
  await tab.goto(pathToFileURL(page).href);
  await tab.waitForFunction(() => window.frames_.length > 0);
  await tab.waitForTimeout(5000);
  const frames = await tab.evaluate(() => window.frames_);
  const playing = frames.slice(1);
  const taken = playing.map(([begin, end]) => end - begin);
  const seconds = (playing.at(-1)[0] - playing[0][0]) / 1000;
  console.log(`page ${(statSync(page).size / 1e6).toFixed(1)} MB`);
  console.log(`first picture after ${frames[0][1].toFixed(0)} ms`);
  console.log(`script per frame: median ${quantile(taken, 0.5).toFixed(1)} ms, 95 % below ${quantile(taken, 0.95).toFixed(1)} ms`);
  console.log(`software rendering: ${((playing.length - 1) / seconds).toFixed(0)} frames per second`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
