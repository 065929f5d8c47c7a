// What `evaluate` measured: success rates with their bounds, and how figures are distributed over runs.
import { words } from './data.js';
import { element, fixed } from './dom.js';

const levels = [
  ['main', 'within tolerance'],
  ['loose', 'as the paper counts'],
  ['strict', 'strict'],
  ['world', 'near in the world'],
  ['viable', 'ends that can go on'],
];
// Figures worth a first look, if they were measured.
const first = ['joint_error_mm', 'world_error_mm', 'drift_m', 'jerk_ratio_30', 'cpu_s_per_s', 'simulated_s_per_s'];

const percent = (share) => `${fixed(100 * share, 0)} %`;

function rateRow(summary, level) {
  const { k, n, bound } = summary[level];
  const name = summary.scope === 'total' ? 'All' : summary.name;
  const share = n > 0 ? k / n : 0;
  const text = n > 0 ? `${k} of ${n}` : summary.skipped > 0 ? 'skipped' : 'none ran';
  const said = n > 0 ? `${name}: ${k} of ${n} runs succeed, at least ${percent(bound)} with 95 % confidence` : `${name}: ${text}`;
  return [
    element(summary.scope === 'clip' ? 'span.label' : 'span.label.strong', {}, name),
    element(
      'div.rate',
      { role: 'img', ariaLabel: said, title: said },
      n > 0 && element('i', { style: `width: ${100 * share}%` }),
      n > 0 && bound !== null && element('b', { style: `left: ${100 * bound}%; width: ${100 * (share - bound)}%` }),
    ),
    element('span.figure', {}, text, n > 0 ? element('small', {}, ` \u2265 ${percent(bound)}`) : null),
  ];
}

function rates(part, level) {
  const rows = [];
  for (const scope of ['total', 'group', 'clip']) {
    for (const summary of part.summaries.filter((s) => s.scope === scope)) rows.push(...rateRow(summary, level));
  }
  return element('div.rates', {}, ...rows);
}

// The page of a run, or its folder where it has none.
const addressOf = (run) => run.link?.split('/').map(encodeURIComponent).join('/');
const linked = (run, name) => (run.link ? element('a', { href: addressOf(run) }, name) : name);

// A row of dots per clip, one dot per run, with the median and the middle half of its successful runs.
function distribution(part, figure) {
  const measured = part.runs.filter((run) => Number.isFinite(run.figures[figure]) && run.figures[figure] !== null);
  if (!measured.length) return element('p.note', {}, 'Not measured in these runs.');
  const values = measured.map((run) => run.figures[figure]).sort((a, b) => a - b);
  const low = Math.min(0, values[0]);
  const high = values[values.length - 1] || 1;
  const place = (value) => (100 * (value - low)) / (high - low || 1);
  const column = part.figures.indexOf(figure);
  const rows = [];
  for (const clip of [...new Set(measured.map((run) => run.clip))]) {
    const own = measured.filter((run) => run.clip === clip);
    const quartiles = part.summaries.find((s) => s.scope === 'clip' && s.name === clip).quartiles[column];
    const dots = own.map((run) =>
      element(run.link ? 'a' : 'i', {
        className: run.main ? 'dot' : 'dot failed',
        href: addressOf(run),
        style: `left: ${place(run.figures[figure])}%`,
        title: `${clip}, seed ${run.seed}: ${fixed(run.figures[figure], 3)}${run.main ? '' : ', not within tolerance'}`,
      }),
    );
    const [low25, middle, high75] = quartiles ?? [];
    const box = quartiles && element('b', { style: `left: ${place(low25)}%; width: ${place(high75) - place(low25)}%` });
    const median = quartiles && element('u', { style: `left: ${place(middle)}%` });
    const text = quartiles ? fixed(middle, 2) : '\u2013';
    rows.push(
      element('span.label', {}, clip),
      element(
        'div.strip',
        { role: 'img', ariaLabel: `${clip}: ${own.length} runs, median of the successful ones ${text}` },
        box,
        ...dots,
        median,
      ),
      element('span.figure', {}, text),
    );
  }
  const scale = element('div.scale', { ariaHidden: 'true' });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    scale.append(element('span', {}, String(+(low + share * (high - low)).toPrecision(3))));
  }
  return element('div.rates', {}, ...rows, element('span'), scale, element('span.figure', {}, 'median'));
}

function table(part) {
  const shown = part.figures.filter((figure) => first.includes(figure));
  const head = ['Clip', 'Seed', 'Status', 'Success', 'First gate left', 'End', ...shown];
  const rows = part.runs.map((run) => [
    linked(run, run.clip),
    run.seed,
    run.status,
    ['main', 'loose', 'strict', 'world'].filter((level) => run[level]).join(', ') || (run.message ? run.message : 'none'),
    run.violated ? `${words(run.violated)} at ${fixed(run.violated_at_s, 2)} s` : '',
    run.end,
    ...shown.map((figure) => (run.figures[figure] === null ? '' : fixed(run.figures[figure], 2))),
  ]);
  return element(
    'details.card.wide',
    {},
    element('summary', {}, `All ${rows.length} runs`),
    element(
      'div.scroll',
      { tabIndex: 0, role: 'region', ariaLabel: 'All runs' },
      element(
        'table',
        {},
        element('thead', {}, element('tr', {}, ...head.map((name) => element('th', { scope: 'col' }, name.replace(/_/g, ' '))))),
        element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell) => element('td', {}, cell instanceof Node ? cell : String(cell)))))),
      ),
    ),
  );
}

export function evaluationPart(part, several) {
  const total = part.summaries.find((summary) => summary.scope === 'total');
  const rateHolder = element('div');
  const level = element(
    'select',
    { ariaLabel: 'Level of success', onchange: () => rateHolder.replaceChildren(rates(part, level.value)) },
    ...levels.map(([key, text]) => element('option', { value: key }, text)),
  );
  rateHolder.append(rates(part, 'main'));
  const measured = part.figures.filter((figure) => part.runs.some((run) => run.figures[figure] !== null));
  const figureHolder = element('div');
  const figure = element(
    'select',
    { ariaLabel: 'Figure', onchange: () => figureHolder.replaceChildren(distribution(part, figure.value)) },
    ...measured.map((name) => element('option', { value: name }, name.replace(/_/g, ' '))),
  );
  figure.value = measured.includes('joint_error_mm') ? 'joint_error_mm' : (measured[0] ?? '');
  figureHolder.append(distribution(part, figure.value));
  const fact = (name, value) => element('div.fact', {}, element('dt', {}, name), element('dd', {}, value));
  return element(
    'div.evaluation',
    {},
    element(
      'section.card.summary',
      {},
      element('h2', {}, several ? part.name : 'Summary'),
      element(
        'dl.facts',
        {},
        ...levels.map(([key, text]) => fact(`Runs ${text}`, `${total[key].k} of ${total[key].n}`)),
        fact('Skipped', String(total.skipped)),
        total.failed > 0 && fact('Not usable', String(total.failed)),
      ),
    ),
    element(
      'div.charts',
      {},
      element(
        'section.card',
        { id: 'rates' },
        element('h3', {}, 'Success', element('span.tools', {}, level)),
        rateHolder,
        element('p.note', {}, 'Bars: share of runs. The line reaches down to the one-sided 95 % Clopper-Pearson bound.'),
      ),
      element(
        'section.card',
        { id: 'distribution' },
        element('h3', {}, 'Distribution', element('span.tools', {}, figure)),
        figureHolder,
        element(
          'p.note',
          {},
          'A dot per run, hollow where it did not succeed. Band and line: middle half and median of the successful runs.',
        ),
      ),
      table(part),
    ),
  );
}
