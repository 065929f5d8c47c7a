// One run or several, and the characters of each, linked to one clock: 3D view, player, summary, charts, contacts, settings.
import { comparisonChart, everyChart, costChart, footForceCharts, forceChart, heightChart, jointCharts, repairCharts, solutionCharts, termsChart } from './charts.js';
import { characterColor, heatGradient, onSchemeChange, palette } from './colors.js';
import { cyclesPart } from './cycles.js';
import { sideOf, words } from './data.js';
import { element, fixed } from './dom.js';
import { beside } from './motions.js';
import { keys, Player } from './player.js';
import { Stage } from './stage.js';
import { endOf, textFor } from './words.js';

const gateUnits = {
  root_height: ['m', 3, 1],
  saturation: ['%', 0, 100],
  motor_speed: ['%', 0, 100],
  root_orientation: ['\u00b0', 1, 180 / Math.PI],
  joint_position: ['m', 3, 1],
};

// Why a motion within tolerance may still be nonsense.
const doubtsOf = (evaluation) => (evaluation?.success && evaluation.doubts) || [];

function verdict(evaluation) {
  if (!evaluation) return element('span.verdict.unknown', {}, 'no reference to compare with');
  if (!evaluation.success) {
    return element('span.verdict.bad', {}, evaluation.completed ? '\u2717 out of tolerance' : '\u2717 not to the end');
  }
  return doubtsOf(evaluation).length > 0
    ? element('span.verdict.doubtful', {}, '? within tolerance, but doubtful')
    : element('span.verdict.good', {}, '\u2713 within tolerance');
}

function gateMeter(name, gate) {
  const [unit, digits, factor] = gateUnits[name] ?? ['', 3, 1];
  const share = gate.limit > 0 ? gate.worst / gate.limit : 0;
  const figure = `${fixed(gate.worst * factor, digits)} of ${fixed(gate.limit * factor, digits)} ${unit}`;
  return element(
    gate.passed ? 'div.gate' : 'div.gate.failed',
    {},
    element('span', {}, words(name)),
    element(
      'span.meter',
      { role: 'img', ariaLabel: `${Math.round(100 * share)} % of the limit` },
      element('i', { style: `width: ${Math.min(100, 100 * share)}%` }),
    ),
    element('span.figure', {}, figure, gate.passed ? '' : ` \u2717 from ${fixed(gate.first_violation, 2)} s`),
  );
}

function fact(name, value) {
  return element('div.fact', {}, element('dt', {}, name), element('dd', {}, value));
}

// What it took, among the details.
function effort(run) {
  const { seed, cost } = run.settings;
  const facts = [
    seed !== undefined && fact('Seed', String(seed)),
    cost?.samples !== undefined && fact('Samples', samplesOf(cost)),
    cost?.cpu_seconds_per_second !== undefined && fact('CPU per second of motion', `${fixed(cost.cpu_seconds_per_second, 1)} s`),
  ].filter(Boolean);
  return facts.length ? element('dl.facts', {}, ...facts) : null;
}

function samplesOf({ samples, iterations, restarted_at }) {
  const all = `${samples.toLocaleString('en')} in ${iterations} iterations`;
  return restarted_at === undefined ? all : `${all}, begun once more after ${restarted_at}`;
}

function summary(run, several) {
  const { evaluation } = run;
  const naive = run.tracking?.evaluation;
  const facts = element(
    'dl.facts',
    {},
    fact('Duration', `${fixed(run.duration, 2)} s`),
    evaluation && fact('Joint error, mean', `${fixed(1000 * evaluation.mean_joint_error, 0)} mm`),
    evaluation && fact('Drift at the end', `${fixed(evaluation.drift, 2)} m`),
    run.smooth_force && run.character.weight > 0 &&
      fact('Largest ground force', `${fixed(run.smooth_force.peak / run.character.weight, 1)} body weights`),
    run.settings.end && fact('End', endOf(run.settings.end)),
    fact('Character', `${run.character.name}, ${fixed(run.character.mass, 1)} kg`),
  );
  let tracking = null;
  if (naive) {
    const gates = Object.entries(naive.gates).filter(([, gate]) => !gate.passed);
    const first = gates.map(([, gate]) => gate.first_violation).sort((a, b) => a - b)[0];
    tracking = element(
      'p.note',
      {},
      naive.success
        ? 'The reference tracked without feedback stays within tolerance too.'
        : first === undefined
          ? `The reference tracked without feedback ends after ${fixed(naive.simulated_duration, 2)} s.`
          : `The reference tracked without feedback exceeds the tolerances after ${fixed(first, 2)} s.`,
    );
  }
  return element(
    'section.card.summary',
    { ariaLabel: `Summary of ${run.name}` },
    element('h2', {}, several ? run.name : 'Is it good?', verdict(evaluation)),
    ...run.notes.map((note) => element('p.warning', {}, note)),
    ...(run.findings?.warnings ?? []).slice(0, 3).map(({ text }) => element('p.note.finding', {}, `Of the recording: ${text}`)),
    ...doubtsOf(evaluation).map((doubt) => element('p.warning', {}, `Doubtful: ${doubt}`)),
    element(
      'div.figures',
      {},
      facts,
      evaluation && element('div.gates', {}, ...Object.entries(evaluation.gates).map(([n, gate]) => gateMeter(n, gate))),
    ),
    tracking,
  );
}

// Rows of intervals over the time of a run, with a cursor that is moved by hand. A row has a label, a hint, what is said
// of it, and bars with start, end, title and what else their data attributes are.
function tracks(rows, run, clock) {
  const placed = []; // bars with their seconds
  const nodes = rows.flatMap(({ label, hint, said, bars }, k) => [
    element('span.label', { style: `grid-row: ${k + 1}`, title: hint }, label),
    element(
      'div.track',
      { style: `grid-row: ${k + 1}`, role: 'img', ariaLabel: said },
      ...bars.map(({ start, end, title, data, text }) => {
        const bar = element('i', { title }, text ?? '');
        Object.assign(bar.dataset, data);
        placed.push({ bar, start, end });
        return bar;
      }),
    ),
  ]);
  const cursor = element('div.cursor');
  const area = element('div.area', {}, cursor);
  const grid = element('div.timeline', {}, ...nodes, area);
  area.style.gridRow = `1 / span ${Math.max(1, rows.length)}`;
  // What charts show, or all of the motion.
  const shown = () => {
    const { start, end } = clock.view;
    return start === 0 && end >= clock.duration ? [0, run.duration || 1] : [start, end];
  };
  let view = null;
  const arrange = () => {
    const [start, end] = shown();
    const share = (time) => (100 * (time - start)) / (end - start);
    if (view !== clock.view) {
      view = clock.view;
      for (const { bar, start: from, end: to } of placed) {
        bar.style.left = `${share(from)}%`;
        bar.style.width = `${share(to) - share(from)}%`;
      }
    }
    const at = share(Math.min(clock.time, run.duration));
    cursor.hidden = at < 0 || at > 100;
    cursor.style.left = `${at}%`;
  };
  clock.onChange(arrange);
  arrange();
  const set = (event) => {
    const { left, width } = area.getBoundingClientRect();
    clock.pause();
    const [start, end] = shown();
    clock.set(start + ((event.clientX - left) / width) * (end - start));
  };
  area.addEventListener('pointerdown', (event) => {
    area.setPointerCapture(event.pointerId);
    set(event);
  });
  area.addEventListener('pointermove', (event) => area.hasPointerCapture(event.pointerId) && set(event));
  return grid;
}

const events = {
  plan: 'plan',
  answer: 'answer to a push',
  fall: 'fall, a semi-ragdoll with reflexes',
  drive: 'servos go to a get-up',
  get_up: 'get-up',
  resume: 'on with the plan',
};

// What each part of a composed motion is, with the pushes.
function composition(run, clock) {
  const { parts, pushes, impact } = run.composition;
  const between = (start, end) => `${start.toFixed(2)} to ${end.toFixed(2)} s`;
  const name = ({ event, control }) => (event === 'fall' || event === 'drive' ? events[event] : `${control}, ${textFor(events, event)}`);
  const bars = parts.map((part) => ({
    ...part,
    title: `${name(part)}: ${between(part.start, part.end)}${part.kinematic ? '; the way into it is kinematic, not physical' : ''}`,
    text: part.event === 'fall' || part.event === 'drive' ? part.event : part.control,
    data: { event: part.event, kinematic: part.kinematic },
  }));
  const pushed = pushes.map(({ body, newton, start, end }) => ({
    start,
    end,
    title: `${words(body)} is pushed with ${fixed(newton, 0)} N: ${between(start, end)}`,
    data: { event: 'push' },
  }));
  const said = (list) => list.map(({ title }) => title).join('; ');
  const rows = [{ label: 'Parts', hint: 'As in composition.csv', said: said(bars), bars }];
  if (pushed.length) rows.push({ label: 'Pushes', hint: 'As in manifest.json', said: said(pushed), bars: pushed });
  if (impact) {
    const bar = { ...impact, title: `${impact.what}: ${between(impact.start, impact.end)}`, data: { event: 'push' } };
    rows.push({ label: 'Blow', hint: 'As in manifest.json', said: bar.title, bars: [bar] });
  }
  const used = Object.entries(events).filter(([event]) => parts.some((part) => part.event === event));
  const key = used.map(([event, text]) => {
    const mark = element('i', {});
    mark.dataset.event = event;
    return element('span', {}, mark, text);
  });
  const kinematic = parts.some((part) => part.kinematic);
  return element(
    'section.card.wide',
    { id: `composition-${run.index}` },
    element('h3', {}, 'Composition'),
    tracks(rows, run, clock),
    element('p.events', {}, ...key),
    run.candidates &&
      element(
        'p.note',
        {},
        'The reference is that of the run until the push, then a way into the motion that was found, and that motion. ',
        run.ragdoll && 'The ragdoll takes the same impact, and from the end of the delay on its servos have a hundredth of their strength.',
      ),
    kinematic && element('p.warning', {}, 'Parts with a double edge begin with a kinematic transition, which is not physical.'),
  );
}

// A table that scrolls by itself where it is wide: the first column names the rows, `headers` are [name, hint] of the others.
function scrollingTable(label, headers, body) {
  return element(
    'div.scroll',
    { tabIndex: 0, role: 'region', ariaLabel: label },
    element(
      'table.compare',
      {},
      element(
        'thead',
        {},
        element('tr', {}, element('td', {}), ...headers.map(([name, hint]) => element('th', { scope: 'col', title: hint ?? '' }, name))),
      ),
      body,
    ),
  );
}

// Motions in which a body could go on after a push, and what became of those that were tried.
function candidates(run) {
  const kinematic = run.composition?.parts.some((part) => part.kinematic);
  const outcome = ({ tried, found, up, reached }) => {
    if (found) return kinematic ? 'blended in' : 'found';
    if (!tried) return 'not tried';
    return `${up ? 'up, and lost' : 'lost'} ${fixed(reached, 2)} s after the push`;
  };
  const columns = [
    ['from', 'of the motion, where it is entered', (c) => `${fixed(c.time, 2)} s`],
    ['after', 'the beginning of the push', (c) => `${fixed(c.start, 2)} s`],
    ['gap', 'between simulation and motion there', (c) => `${fixed(c.gap, 2)} m`],
    ['limp', 'the same gap of a body without strength', (c) => (c.limp_gap > 0 ? `${fixed(c.limp_gap, 2)} m` : '')],
    ['impulse', 'that a blend into the motion would hide', (c) => `${fixed(c.hidden_impulse, 0)} N s`],
    ['outcome', kinematic ? 'nothing is searched' : 'of the search', outcome],
  ];
  return element(
    'section.card.wide',
    { id: `candidates-${run.index}` },
    element('h3', {}, 'Motions to go on with'),
    scrollingTable(
      'Motions to go on with after the push',
      columns,
      element(
        'tbody',
        {},
        ...run.candidates.map((c) =>
          element('tr', {}, element('th', { scope: 'row' }, c.motion), ...columns.map(([, , text]) => element('td', {}, text(c)))),
        ),
      ),
    ),
    element(
      'p.note',
      {},
      `In the order in which they are tried, as in candidates.csv. ${kinematic ? 'The recorded motion is blended in, which is not physical.' : 'What is found is simulated; nothing is blended.'}`,
    ),
  );
}

function timeline(run, clock) {
  const rows = run.timeline.map((row) => {
    const bars = row.intervals.map(([start, end]) => ({
      start,
      end,
      title: `${row.body.replace(/_/g, ' ')}: ${start.toFixed(2)} to ${end.toFixed(2)} s`,
      data: { side: sideOf(row.body) },
    }));
    const said = row.intervals.map(([start, end]) => `${start.toFixed(2)} to ${end.toFixed(2)} s`).join(', ');
    return { label: words(row.body), hint: `peak ${fixed(row.peak_force, 0)} N`, said: `${words(row.body)} touches: ${said}`, bars };
  });
  const grid = tracks(rows, run, clock);
  return element(
    'section.card.wide',
    { id: `timeline-${run.index}` },
    element('h3', {}, 'Contacts'),
    rows.length ? grid : element('p.note', {}, 'Nothing touches the character.'),
    element('p.note', {}, 'When something presses on each body from outside; gaps of less than 20 ms are closed.'),
  );
}

function flatten(value, path, rows) {
  if (Array.isArray(value) && value.every((v) => v === null || typeof v !== 'object')) {
    rows.push([path, value.join(', ')]);
  } else if (value !== null && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) flatten(inner, `${path}/${key}`, rows);
  } else {
    rows.push([path, String(value)]);
  }
}

function settings(run, several) {
  const rows = [];
  flatten(run.settings, '', rows);
  if (!rows.length) return null;
  const table = element(
    'table',
    {},
    element('caption', {}, 'As in manifest.json'),
    element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Setting'), element('th', { scope: 'col' }, 'Value'))),
    element(
      'tbody',
      {},
      ...rows.map(([key, value]) => element('tr', {}, element('th', { scope: 'row' }, key.slice(1)), element('td', {}, value))),
    ),
  );
  return element(
    'details.card.wide',
    {},
    element('summary', {}, several ? `Settings of ${run.name}` : 'Settings'),
    element('div.scroll', { tabIndex: 0, role: 'region', ariaLabel: 'Settings' }, table),
  );
}

// How the forces compare with the measured ones.
function forceFigures(run) {
  const { figures, contact_onset: onset, contact_offset: offset } = run.force_comparison;
  const figure = (value, digits) => (value === null ? '\u2013' : fixed(value, digits));
  const columns = [
    ['rmse_percent', 'RMSE, % of weight', 1],
    ['rrmse_percent', 'rRMSE, %', 1],
    ['r', 'r', 3],
    ['peak_percent', 'peak, % of weight', 1],
    ['impulse_percent', 'impulse, %', 1],
  ];
  const sources = { run: '', newton_6Hz: 'Newton\u2019s law, 6 Hz: ', newton_12Hz: 'Newton\u2019s law, 12 Hz: ', body_weight: 'body weight: ' };
  const rows = (lowPass) =>
    Object.entries(figures).flatMap(([source, filters]) =>
      Object.entries(filters[lowPass]).flatMap(([part, components]) =>
        Object.entries(components).map(([component, values]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, `${sources[source] ?? `${source}: `}${part}, ${component.replace('_', '-')}`),
            ...columns.map(([key, , digits]) => element('td', {}, figure(values[key], digits))),
          ),
        ),
      ),
    );
  const body = element('tbody');
  const node = element('select', { ariaLabel: 'Low-pass of the figures' });
  for (const name of Object.keys(figures.run)) {
    node.append(element('option', { value: name }, name === 'raw' ? 'as simulated' : `low-pass ${name.replace('Hz', ' Hz')}`));
  }
  node.value = '20Hz';
  const show = () => body.replaceChildren(...rows(node.value));
  node.addEventListener('change', show);
  show();
  const timing = (name, { matched, events, mean_absolute_ms: off }) =>
    `${name}: ${matched} of ${events} matched${off === null ? '' : `, off by ${fixed(off, 0)} ms`}`;
  return element(
    'section.card.wide',
    { id: `force-figures-${run.index}` },
    element('h3', {}, 'Against measured forces', element('span.tools', {}, node)),
    scrollingTable('Figures of the forces', columns.map(([, name]) => [name]), body),
    element('p.note', {}, `${timing('Contact onsets', onset)}. ${timing('Offsets', offset)}.`),
  );
}

function details(run, clock, several) {
  const part = (title, ...inside) => {
    const nodes = inside.flat().filter(Boolean);
    return nodes.length ? element('section.part', { ariaLabel: title }, element('h2', {}, title), element('div.charts', {}, ...nodes)) : null;
  };
  const nodes = (charts) => charts.map((chart) => chart.node);
  const inside = [
    ...(run.costs ? nodes([costChart(run, clock), termsChart(run, clock)]) : []),
    ...(run.solutions ? nodes(solutionCharts(run, clock)) : []),
  ];
  const took = effort(run);
  return element(
    'div.details',
    { id: `details-${run.index}` },
    part(
      'What are the forces?',
      forceChart(run, clock).node,
      run.foot_forces && nodes(footForceCharts(run, clock)),
      timeline(run, clock),
      run.force_comparison && forceFigures(run),
    ),
    part('How does it move?', nodes([...jointCharts(run, clock), heightChart(run, clock)]), cyclesPart(run, clock), run.composition && composition(run, clock)),
    run.candidates && part('How could it go on?', candidates(run)),
    run.latent_picture && part('What was learned?', latentPicture(run)),
    part('What is wrong with the recording?', findings(run, clock), run.repair && nodes(repairCharts(run, clock))),
    (inside.length > 0 || took) &&
      element(
        'details.card.inside',
        { id: `inside-${run.index}` },
        element('summary', {}, several ? `How ${run.name} was found` : 'How it was found'),
        took,
        element('div.charts', {}, ...inside),
      ),
    settings(run, several),
  );
}

// What looks wrong in the recording, each with its time, and how it was read.
function findings(run, clock) {
  const { warnings, notes } = run.findings ?? { warnings: [], notes: [] };
  if (!warnings.length) return null;
  const row = ({ time, text }) =>
    element(
      'li',
      {},
      element('button.at', { type: 'button', ariaLabel: `Show ${fixed(time, 2)} seconds`, onclick: () => { clock.pause(); clock.set(time); } }, `${fixed(time, 2)} s`),
      text,
    );
  return element(
    'section.card.wide',
    { id: `findings-${run.index}` },
    element('h3', {}, 'What looks wrong'),
    element('ul.findings', {}, ...warnings.map(row)),
    notes.length > 0 && element('details', {}, element('summary', {}, 'How it was read'), element('ul', {}, ...notes.map((note) => element('li', {}, note)))),
  );
}

// The latent coordinates of a model of responses, with the places that the motion went through. As a picture it is drawn
// without what might be active in it.
function latentPicture(run) {
  const picture = document.createElement('img');
  picture.alt = 'Latent trajectories of the examples and of the motion, frames under a push as dots';
  picture.src = `data:image/svg+xml,${encodeURIComponent(run.latent_picture)}`;
  picture.className = 'latent';
  return element(
    'section.card.wide',
    { id: `latent-${run.index}` },
    element('h2', {}, 'Latent coordinates'),
    picture,
    element('p.note', {}, 'The normal motion is thick. The dashed line is this motion, which a model plays; dots are frames under a push.'),
  );
}

// Figures of all runs in one table.
function comparison(runs) {
  const row = (name, cell) =>
    element('tr', {}, element('th', { scope: 'row' }, name), ...runs.map((run) => element('td', {}, cell(run))));
  const gate = (name) => (run) => {
    const entry = run.evaluation?.gates[name];
    if (!entry) return '\u2013';
    const [unit, digits, factor] = gateUnits[name];
    return `${fixed(entry.worst * factor, digits)} ${unit}${entry.passed ? '' : ' \u2717'}`;
  };
  const figure = (key, factor, digits, unit) => (run) =>
    run.evaluation ? `${fixed(run.evaluation[key] * factor, digits)} ${unit}` : '\u2013';
  return element(
    'section.card.wide',
    { id: 'comparison' },
    element('h2', {}, 'Side by side'),
    scrollingTable(
      'Figures of all runs',
      runs.map((run) => [run.name]),
      element(
        'tbody',
        {},
        row('Verdict', (run) => verdict(run.evaluation)),
        row('Duration', (run) => `${fixed(run.duration, 2)} s`),
        row('Joint error, mean', figure('mean_joint_error', 1000, 0, 'mm')),
        row('Drift at the end', figure('drift', 1, 2, 'm')),
        row('Root height, worst', gate('root_height')),
        row('Root orientation, worst', gate('root_orientation')),
        row('Joint position, worst', gate('joint_position')),
        row('Peak ground force', (run) => `${fixed(run.peak_ground_force, 0)} N`),
        row('Without feedback', (run) => verdict(run.tracking?.evaluation)),
      ),
    ),
  );
}

function legend(runs) {
  const dot = (role, text) => {
    const key = element('i.dot');
    const paint = () => key.style.setProperty('--color', palette()[role]);
    paint();
    onSchemeChange(paint);
    return element('span', {}, key, text);
  };
  const most = Math.max(...runs.map((run) => run.footprints.usual_peak));
  const scale = element('i.heat');
  const paint = () => {
    scale.style.background = heatGradient();
  };
  paint();
  onSchemeChange(paint);
  return element(
    'div.legend.stage-legend',
    {},
    ...(runs.length > 1 && runs.some((run) => run.shares_world)
      ? runs.map((run, k) => element('span', {}, element('i.dot', { style: `--color: ${characterColor(k)}` }), run.name))
      : [dot('left', 'left limbs'), dot('right', 'right limbs')]),
    ...beside.map(({ motion, name }) => runs.some((run) => run[motion]) && dot(motion, name.toLowerCase())),
    dot('force', 'contact force'),
    runs.some((run) => run.push_arrows) && dot('push', 'push'),
    most > 0 && element('span', {}, 'pressure so far: 0', scale, `${fixed(most / 1000, 0)} kPa and more`),
  );
}

// Browsers print neither what WebGL draws nor charts that fit the paper: pictures of both take their position.
function preparePrinting(part, stage, clock) {
  const poses = element('div.poses');
  part.querySelector('.desk').before(poses);
  addEventListener('beforeprint', () => {
    const before = clock.time;
    if (stage.works) {
      poses.replaceChildren(
        ...[0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => {
          clock.set(share * clock.duration);
          return element('figure', {}, element('img', { src: stage.picture(), alt: '' }), element('figcaption', {}, `${fixed(clock.time, 2)} s`));
        }),
      );
      clock.set(before);
    }
    for (const chart of everyChart) chart.print();
  });
  addEventListener('afterprint', () => {
    poses.replaceChildren();
    for (const chart of everyChart) chart.plotNode.querySelector('.printed')?.remove();
  });
}

export function runsPart(scenes, clock) {
  const runs = scenes.flatMap((scene) => scene.runs);
  const several = runs.length > 1;
  const stage = new Stage(scenes, clock);
  const player = new Player(runs, clock, stage);
  const watch = element(
    'div.watch',
    {},
    element('section.viewer', { ariaLabel: 'What does it look like?' }, stage.node, legend(runs), player.options),
    player.bar,
  );
  const read = element('div.read');
  const part = element('div.runs', {}, several ? comparison(runs) : summary(runs[0], false), element('div.desk', {}, watch, read));
  if (several) {
    const node = element('select', { ariaLabel: 'Run whose figures are shown below' });
    runs.forEach((run, k) => node.append(element('option', { value: k }, run.name)));
    const holder = element('div');
    const made = new Map();
    const choose = () => {
      const k = Number(node.value);
      if (!made.has(k)) {
        made.set(k, element('div', {}, summary(runs[k], true), details(runs[k], clock, true)));
      }
      holder.replaceChildren(made.get(k));
      clock.changed();
    };
    node.addEventListener('change', choose);
    const charts = element(
      'div.charts',
      {},
      comparisonChart(runs, clock, {
        id: 'compare-force',
        title: 'Vertical ground force',
        unit: 'N',
        digits: 0,
        values: (run) => (run.smooth_force ? run.smoothForce(1) : run.force(1)),
        note: runs[0].smooth_force && `After a low-pass of ${runs[0].smooth_force.low_pass} Hz.`,
        times: (run) => run.stepTimes(),
      }).node,
      comparisonChart(runs, clock, {
        id: 'compare-height',
        title: 'Root height',
        unit: 'm',
        digits: 3,
        values: (run) => run.root('simulated'),
        times: (run) => run.sampleTimes(run.root('simulated').length),
      }).node,
    );
    read.append(charts, element('label.field.choose', {}, element('span', {}, 'Figures of'), node), holder);
    choose();
  } else {
    read.append(details(runs[0], clock, false));
  }
  part.append(
    element(
      'details.card.wide.keys',
      {},
      element('summary', {}, 'Keys'),
      element('dl', {}, ...keys.map(([key, text]) => element('div', {}, element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)))),
    ),
  );
  preparePrinting(part, stage, clock);
  let last = performance.now();
  const tick = (now) => {
    clock.advance(Math.min(0.1, (now - last) / 1000)); // the first frame may have begun before this was reached
    last = now;
    stage.draw();
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  const wanted = /time=([0-9.]+)/.exec(location.hash);
  if (wanted) clock.set(Number(wanted[1]));
  else if (!matchMedia('(prefers-reduced-motion: reduce)').matches) clock.play();
  clock.changed();
  return { node: part, stage };
}
