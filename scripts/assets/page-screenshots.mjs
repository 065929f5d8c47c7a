#!/usr/bin/env node
// Pictures of report pages as a browser shows them, for the manuals.
//
// usage: scripts/assets/page-screenshots.mjs PAGE.html PICTURE.png [WIDTH HEIGHT [TIME]]     (default: 1400 900 0.8)
//
// Needs scripts/install-dependencies --with-browser and a release build with its tests, which brings Playwright.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const playwright = join(root, 'build/release/tests/browser/node_modules/playwright-core');
const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
const [page, picture, width = 1400, height = 900, time = 0.8] = process.argv.slice(2);
if (!picture || !executablePath || !existsSync(playwright)) {
  console.error('usage: scripts/assets/page-screenshots.mjs PAGE.html PICTURE.png [WIDTH HEIGHT [TIME]], with Chromium and a build with tests');
  process.exit(2);
}
const { chromium } = createRequire(import.meta.url)(playwright);
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run'],
});
try {
  const tab = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
  await tab.goto(`${pathToFileURL(resolve(page)).href}#time=${time}`);
  await tab.locator('.plot canvas').first().waitFor();
  // As many frames as it takes until all that is in sight has its size.
  await tab.evaluate(async () => {
    for (let k = 0; k < 5; ++k) await new Promise(requestAnimationFrame);
  });
  await tab.screenshot({ path: picture });
} finally {
  await browser.close();
}
