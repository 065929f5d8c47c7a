// The report page: what `report` and `reconstruct --report` leave, from the document inside the page.
import { Clock } from './clock.js';
import { readDocument } from './data.js';
import { element } from './dom.js';
import { evaluationPart } from './evaluation.js';
import { drawFilmStrip } from './filmstrip.js';
import { runsPart } from './runs.js';

const root = document.getElementById('page');
const report = readDocument();
const { scenes } = report;
const runs = scenes.flatMap((scene) => scene.runs);

if (location.hash.startsWith('#filmstrip') && scenes.length) {
  drawFilmStrip(root, scenes[0], location.hash);
} else {
  const clock = new Clock(
    Math.max(0, ...runs.map((run) => run.duration)),
    Math.min(1, ...runs.map((run) => run.frameTime)),
  );
  root.append(
    element('header', {}, element('h1', {}, report.title), element('p.made', {}, `Retrace ${report.toolkit}`)),
  );
  const part = scenes.length ? runsPart(scenes, clock) : null;
  if (part) root.append(part.node);
  for (const part of report.parts) if (part.kind === 'evaluation') root.append(evaluationPart(part, report.parts.length > 1));
  // For scripts that drive the page.
  window.report = { clock, runs, document: report, stage: part?.stage };
}
