// Bundles the page into one HTML file: usage: node build.mjs NODE_MODULES OUTPUT
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const { buildSync } = createRequire(join(modules, 'any.js'))('esbuild');

function bundle(file) {
  return buildSync({
    entryPoints: [join(here, file)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome100', 'firefox100', 'safari15.4'],
    nodePaths: [modules],
    charset: 'utf8',
    legalComments: 'eof', // the licenses of what is bundled travel with it
    logLevel: 'warning',
  }).outputFiles[0].text;
}

const script = bundle('main.js');
const style = bundle('page.css');
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) {
  throw new Error('the bundle holds what would end its element');
}
const fill = (text, place, content) => {
  if (text.split(place).length !== 2) throw new Error(`page.html: expected ${place} once`);
  return text.replace(place, () => content);
};
let page = readFileSync(join(here, 'page.html'), 'utf8');
page = fill(page, '/* style */', style);
page = fill(page, '/* script */', script);
mkdirSync(dirname(output), { recursive: true });
writeFileSync(`${output}.new`, page);
renameSync(`${output}.new`, output);
