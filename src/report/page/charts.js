// Figures over time, all with the same cursor.
import uPlot from 'uplot';
import { okabe, onSchemeChange, palette, series as seriesColor } from './colors.js';
import { sideOf, words } from './data.js';
import { element, fixed } from './dom.js';
import { beside } from './motions.js';

export const everyChart = [];
onSchemeChange(() => {
  for (const chart of everyChart) chart.build();
});

// Index of the last value at or before a time.
function indexAt(times, time) {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time + 1e-9) low = middle;
    else high = middle - 1;
  }
  return low;
}

// A chart in a frame with its title, what the lines are, and their values at the cursor.
//
// `lines`: [{ name, color, values, dash }], all over `times`, which may differ per line (line.times). A line whose `hidden`
// is set is not drawn: it is an edge of a band. `bands`: [{ edges: [index of the upper line, of the lower one], color }].
class TimeChart {
  constructor({ title, id, unit, digits, lines, clock, note, logarithmic, under, duration, extent, bands, contactsOf }) {
    Object.assign(this, { title, unit, digits, clock, logarithmic, extent, bands });
    this.under = [under, contactsOf && ((plot) => drawContacts(plot, contactsOf))].filter(Boolean);
    this.duration = duration ?? clock.duration;
    this.lines = lines;
    this.legend = element('div.legend');
    this.plotNode = element('div.plot', { role: 'img', ariaLabel: `Chart: ${title}${unit ? `, ${unit}` : ''}, over time. Press to set the time, drag with Shift to zoom.` });
    this.tools = element('span.tools');
    this.node = element(
      'section.card',
      { id },
      element('h3', {}, title, unit ? element('small', {}, unit) : null, this.tools),
      this.legend,
      this.plotNode,
      note ? element('p.note', {}, note) : null,
    );
    this.cursor = element('div.cursor');
    new ResizeObserver(() => this.resize()).observe(this.plotNode);
    clock.onChange(() => this.update());
    everyChart.push(this);
  }

  // Lines over one another may have grids of their own: they are put on the union of both.
  data() {
    const own = this.lines.map((line) => [line.times, line.values]);
    if (!own.length) return [[0, this.duration]];
    const [first] = own[0];
    const same = own.every(([times]) => times === first || (times.length === first.length && times.at(-1) === first.at(-1)));
    if (same) return [own[0][0], ...own.map(([, values]) => values)];
    return uPlot.join(own.map(([times, values]) => [Array.from(times), Array.from(values)]));
  }

  build() {
    this.plot?.destroy();
    const width = this.plotNode.clientWidth;
    if (!width) return;
    const colors = palette();
    const font = '12px system-ui, sans-serif';
    const axis = { stroke: colors.faint, font, ticks: { show: false }, grid: { stroke: colors.rule, width: 1 } };
    this.plot = new uPlot(
      {
        width,
        height: 190,
        legend: { show: false },
        cursor: { show: false },
        padding: [10, 14, 0, 0],
        scales: {
          x: { time: false, range: () => this.extentOfTime() },
          y: { distr: this.logarithmic ? 3 : 1, range: this.extent },
        },
        axes: [
          { ...axis, size: 28, values: (_, ticks) => ticks.map((v) => `${+v.toFixed(3)} s`) },
          {
            ...axis,
            size: 52,
            values: (_, ticks) =>
              ticks.map((v) => (v === null ? '' : String(+v.toPrecision(3)).replace('-', '\u2212'))),
          },
        ],
        series: [
          {},
          ...this.lines.map((line) => ({
            label: line.name,
            stroke: line.hidden ? 'transparent' : line.color(),
            width: line.hidden ? 0 : line.width ?? 1.6,
            dash: line.dash ? [2, 3] : undefined,
            points: { show: false },
            spanGaps: true,
          })),
        ],
        bands: (this.bands ?? []).map(({ edges, color: fill }) => ({ series: edges.map((k) => k + 1), fill: fill() })),
        hooks: { drawAxes: this.under },
      },
      this.data(),
      this.plotNode,
    );
    this.shown = this.clock.view;
    this.plot.over.append(this.cursor);
    this.grab(this.plot.over);
    this.legend.replaceChildren(
      ...this.lines.filter((line) => !line.hidden).map((line) => {
        line.output = element('output');
        const key = element('i', { style: `--color: ${line.color()}` });
        if (line.dash) key.className = 'dashed';
        return element('span', {}, key, line.name, line.output);
      }),
      ...(this.keys?.() ?? []),
    );
    this.update();
  }

  // Pressing on the chart, and dragging, sets the time; with Shift it chooses what all charts show, a double click all.
  grab(over) {
    over.style.touchAction = 'pan-y';
    const timeAt = (event) => {
      const { left, width } = over.getBoundingClientRect();
      const [start, end] = this.extentOfTime();
      return start + Math.max(0, Math.min(1, (event.clientX - left) / width)) * (end - start);
    };
    const set = (event) => {
      this.clock.pause();
      this.clock.set(timeAt(event));
    };
    let from = null;
    const chosen = element('div.chosen');
    over.append(chosen);
    const mark = (event) => {
      const [start, end] = this.extentOfTime();
      const [a, b] = [from, timeAt(event)].sort((one, other) => one - other);
      chosen.style.left = `${(100 * (a - start)) / (end - start)}%`;
      chosen.style.width = `${(100 * (b - a)) / (end - start)}%`;
    };
    over.addEventListener('pointerdown', (event) => {
      over.setPointerCapture(event.pointerId);
      from = event.shiftKey ? timeAt(event) : null;
      if (from === null) set(event);
    });
    over.addEventListener('pointermove', (event) => {
      if (!over.hasPointerCapture(event.pointerId)) return;
      if (from === null) set(event);
      else mark(event);
    });
    over.addEventListener('pointerup', (event) => {
      chosen.style.width = 0;
      if (from !== null && Math.abs(timeAt(event) - from) > 0) this.clock.show(from, timeAt(event));
      from = null;
    });
    over.addEventListener('dblclick', () => this.clock.show(0, this.clock.duration));
  }

  // The seconds that the chart shows; one that is longer than the motion shows all of itself unless it is zoomed.
  extentOfTime() {
    const { start, end } = this.clock.view;
    const whole = start === 0 && end >= this.clock.duration;
    return whole ? [0, this.duration || 1] : [start, end];
  }

  resize() {
    const width = this.plotNode.clientWidth;
    if (!width) return;
    if (!this.plot) this.build();
    else if (Math.abs(this.plot.width - width) > 0.5) {
      this.plot.setSize({ width, height: this.plot.height });
      this.update();
    }
  }

  update() {
    if (!this.plot) return;
    const { time, view } = this.clock;
    if (this.shown !== view) {
      this.shown = view;
      this.plot.setData(this.plot.data);
    }
    const [start, end] = this.extentOfTime();
    const share = (Math.min(time, this.duration) - start) / (end - start);
    this.cursor.hidden = share < 0 || share > 1;
    this.cursor.style.left = `${100 * share}%`;
    for (const line of this.lines) {
      if (!line.output) continue;
      const last = line.times[line.times.length - 1];
      const value = time > last + 0.05 ? NaN : line.values[indexAt(line.times, time)];
      line.output.textContent = fixed(value, this.digits);
    }
  }

  // A picture of the chart, as wide as what it stands in.
  print() {
    if (!this.plot) return;
    this.plotNode.append(element('img.printed', { src: this.plot.ctx.canvas.toDataURL(), alt: `Chart: ${this.title}` }));
  }

  show(lines) {
    this.lines = lines;
    this.build();
  }
}

// When feet and hands touch, as strips at the lower edge: left ones, and right ones below them.
function drawContacts(plot, run) {
  const { ctx } = plot;
  const colors = palette();
  const high = 5 * devicePixelRatio;
  const { left, top, width, height } = plot.bbox;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.globalAlpha = 0.75;
  for (const row of run.timeline) {
    const side = sideOf(row.body);
    if (side === 'middle' || !run.character.bodies.find(({ name }) => name === row.body)?.part) continue;
    ctx.fillStyle = colors[side];
    const y = top + height - (side === 'left' ? 2 : 1) * (high + devicePixelRatio);
    for (const [start, end] of row.intervals) {
      const x = plot.valToPos(start, 'x', true);
      ctx.fillRect(x, y, Math.max(1, plot.valToPos(end, 'x', true) - x), high);
    }
  }
  ctx.restore();
}
const contactWords = 'Strips below: the left (blue) and the right (yellow) feet and hands touch.';

const degrees = (values) => values.map((v) => (v * 180) / Math.PI);
const color = (name) => () => palette()[name];

export function forceChart(run, clock) {
  const times = run.stepTimes();
  let smooth = Boolean(run.smooth_force);
  const line = (name, axis, paint, width) => ({
    name,
    times,
    values: smooth ? run.smoothForce(axis) : run.force(axis),
    color: paint,
    width,
  });
  const lines = () => [
    line('up', 1, color('force'), 1.8),
    line('z', 2, () => seriesColor(0)),
    line('x', 0, () => seriesColor(3)),
  ];
  const chart = new TimeChart({
    id: `force-${run.index}`,
    title: 'Ground reaction force',
    unit: 'N',
    digits: 0,
    clock,
    lines: lines(),
    contactsOf: run,
    note: `Sum of all contacts from outside. The body weighs ${fixed(run.character.weight, 0)} N. ${contactWords}`,
  });
  if (run.smooth_force) {
    const node = element('select', { ariaLabel: 'Low-pass of the ground reaction force' });
    node.append(
      element('option', { value: 'smooth' }, `low-pass ${run.smooth_force.low_pass} Hz`),
      element('option', { value: 'raw' }, 'as simulated, per step'),
    );
    node.addEventListener('change', () => {
      smooth = node.value === 'smooth';
      chart.show(lines());
    });
    chart.tools.append(node);
  }
  return chart;
}

export function heightChart(run, clock) {
  const lines = [];
  const add = (name, motion, values, paint, dash) => {
    lines.push({ name, times: run.sampleTimes(values.length), values, color: paint, dash });
  };
  add('center of mass', 'simulated', run.center('simulated'), () => seriesColor(0));
  if (run.reference) add('its reference', 'reference', run.center('reference'), () => seriesColor(0), true);
  add('root', 'simulated', run.root('simulated'), () => seriesColor(1));
  if (run.reference) add('its reference', 'reference', run.root('reference'), () => seriesColor(1), true);
  for (const { motion, name } of beside) {
    if (motion !== 'reference' && run[motion]) add(`root, ${name.toLowerCase()}`, motion, run.root(motion), color(motion));
  }
  return new TimeChart({ id: `height-${run.index}`, title: 'Height', unit: 'm', digits: 3, clock, lines, contactsOf: run, note: contactWords });
}

const axisColors = { x: () => seriesColor(1), y: () => seriesColor(2), z: () => seriesColor(0) };

// Angles and torques of one joint, chosen above them.
export function jointCharts(run, clock) {
  const { joints } = run.character;
  const node = element('select', { ariaLabel: 'Joint' });
  joints.forEach((joint, j) => node.append(element('option', { value: j }, words(joint.name))));
  const preferred = joints.findIndex((joint) => /knee/.test(joint.name));
  node.value = String(Math.max(0, preferred));
  const channelsOf = (j) => run.channels.map((c, k) => ({ ...c, k })).filter((c) => c.joint === j);
  const angleLines = () =>
    channelsOf(Number(node.value)).flatMap(({ axis, k }) => {
      const line = (motion, name, dash) => {
        const values = degrees(run.angles(motion, k));
        return { name, times: run.sampleTimes(values.length), values, color: axisColors[axis], dash };
      };
      const lines = [line('simulated', axis)];
      if (run.reference) lines.push(line('reference', `${axis}, reference`, true));
      return lines;
    });
  // With the largest torques of the servo, where it has any: 0 means that the axis has none.
  const torqueLines = () => {
    const { effort } = joints[Number(node.value)];
    return channelsOf(Number(node.value)).flatMap(({ axis, k }, a) => {
      const values = run.torque(k);
      const times = run.sampleTimes(values.length);
      const limit = (name, sign) => {
        return { name, times, values: values.map(() => sign * effort[a]), color: axisColors[axis], dash: true };
      };
      const lines = [{ name: axis, times, values, color: axisColors[axis] }];
      if (effort?.[a] > 0) lines.push(limit(`${axis}, largest`, 1), limit(`${axis}, least`, -1));
      return lines;
    });
  };
  const angles = new TimeChart({
    id: `angle-${run.index}`,
    title: 'Joint angle',
    unit: 'degrees',
    digits: 1,
    clock,
    lines: angleLines(),
    contactsOf: run,
    note: 'Rotation vector of the joint, child relative to parent. The reference is dotted.',
  });
  const torques = new TimeChart({
    id: `torque-${run.index}`,
    title: 'Joint torque',
    unit: 'N m',
    digits: 1,
    clock,
    lines: torqueLines(),
    contactsOf: run,
    note: `Of the servo on the child body, in the parent\u2019s axes.${joints.some(({ effort }) => effort) ? ' Its limits are dotted.' : ''}`,
  });
  angles.tools.append(node);
  node.addEventListener('change', () => {
    angles.show(angleLines());
    torques.show(torqueLines());
  });
  return [angles, torques];
}

// For each draw a line from the least cost to the most, a box between the quartiles and a mark at the median, `offset`
// beside the end of its fragment: of all samples, or of those that were saved.
function drawSpreads(plot, draws, which, fill, offset, width) {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  const thin = Math.max(1, Math.round(ratio));
  const at = (cost) => plot.valToPos(Math.max(cost, plot.scales.y.min), 'y', true);
  const bar = (x, wide, high, low) => ctx.fillRect(x - wide / 2, at(high), wide, Math.max(thin, at(low) - at(high)));
  ctx.fillStyle = fill;
  for (const draw of draws) {
    const [least, first, median, third, most] = draw[which];
    if (!Number.isFinite(least)) continue;
    const x = plot.valToPos(draw.end, 'x', true) + offset * ratio;
    const wide = Math.max(2 * thin, width * ratio);
    ctx.globalAlpha = 0.7;
    bar(x, thin, most, least);
    ctx.globalAlpha = 0.35;
    bar(x, wide, third, first);
    ctx.globalAlpha = 1;
    bar(x, wide, median, median);
  }
}

function drawCosts(plot, draws) {
  const { ctx } = plot;
  const colors = palette();
  const count = Math.max(1, new Set(draws.map((draw) => draw.end)).size);
  const column = plot.bbox.width / devicePixelRatio / count;
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  ctx.clip();
  drawSpreads(plot, draws, 'drawn', colors.simulated, -0.16 * column, 0.3 * column);
  drawSpreads(plot, draws, 'saved', colors.force, 0.22 * column, 0.2 * column);
  ctx.restore();
}

// What each iteration drew and saved, by its cost (figure 5 of Liu et al. 2010).
export function costChart(run, clock) {
  const { drawn, saved, chosen } = run.costs;
  const numbers = (values, k) => values.subarray(5 * k, 5 * k + 5);
  const draws = run.costs.draws.map((draw, k) => ({ ...draw, drawn: numbers(drawn, k), saved: numbers(saved, k) }));
  const path = () => {
    const ordered = [...chosen].sort((a, b) => a.end - b.end);
    return [
      {
        name: 'chosen',
        times: Float64Array.from(ordered, (c) => c.end),
        values: Float64Array.from(ordered, (c) => c.total),
        color: () => palette().reference,
        width: 2,
      },
    ];
  };
  let all = false;
  const shown = () => draws.filter((draw) => all || chosen.length === 0 || draw.chosen);
  const range = () => {
    const ends = shown().flatMap(({ drawn: [least, , , , most] }) => [least, most]);
    const costs = ends.filter((cost) => Number.isFinite(cost) && cost > 0);
    return costs.length ? [0.8 * Math.min(...costs), 1.2 * Math.max(...costs)] : [0.1, 10];
  };
  const chart = new TimeChart({
    id: `cost-${run.index}`,
    title: 'Cost of the samples',
    unit: 'logarithmic',
    digits: 2,
    clock,
    logarithmic: true,
    lines: path(),
    extent: () => range(),
    note:
      'Of each draw, at the end of its fragment: a line from the least cost to the most, a box between the quartiles, a ' +
      'mark at the median. Saved samples stand to the right; what diverged is left out.',
    under: (plot) => drawCosts(plot, shown()),
  });
  chart.keys = () => [
    element('span', {}, element('i.dot', { style: `--color: ${palette().simulated}` }), 'drawn'),
    element('span', {}, element('i.dot', { style: `--color: ${palette().force}` }), 'saved'),
  ];
  if (draws.length > chosen.length && chosen.length > 0) {
    const node = element('select', { ariaLabel: 'Which draws' });
    node.append(element('option', { value: 'path' }, 'draws with the chosen samples'));
    node.append(element('option', { value: 'all' }, 'all draws'));
    node.addEventListener('change', () => {
      all = node.value === 'all';
      chart.build();
    });
    chart.tools.append(node);
  }
  return chart;
}

const termColors = [okabe.blue, okabe.orange, okabe.green, okabe.purple, okabe.sky, okabe.vermillion];

// The chosen samples' cost, split into its weighted terms.
export function termsChart(run, clock) {
  const { terms, chosen } = run.costs;
  const ordered = [...chosen].sort((a, b) => a.end - b.end);
  const used = terms.map((name, t) => ({ name, t })).filter(({ t }) => ordered.some((c) => c.terms[t] !== 0));
  const most = Math.max(...ordered.map((c) => c.terms.reduce((a, b) => a + b, 0)), 1e-9);
  const values = (t) => Float64Array.from(ordered, (c) => c.terms[t]);
  const starts = Float64Array.from(ordered, (c) => c.start);
  const chart = new TimeChart({
    id: `terms-${run.index}`,
    title: 'Cost terms per fragment',
    unit: 'weighted',
    digits: 2,
    clock,
    extent: () => [0, 1.08 * most],
    lines: used.map(({ name, t }) => ({
      name: words(name).toLowerCase(),
      times: starts,
      values: values(t),
      color: () => termColors[t % termColors.length],
      width: 0,
      bar: true,
    })),
    note:
      'Of the chosen samples; the terms of equation 1 of Liu et al. 2010, and drift and smoothness, times the weights ' +
      'with which each sample was chosen. Refinement passes save samples by another cost.',
    under(plot) {
      const { ctx } = plot;
      for (const c of ordered) {
        const left = plot.valToPos(c.start, 'x', true) + 0.5;
        const width = Math.max(1, plot.valToPos(c.end, 'x', true) - left - 0.5);
        let below = 0;
        for (const { t } of used) {
          const y0 = plot.valToPos(below, 'y', true);
          below += c.terms[t];
          const y1 = plot.valToPos(below, 'y', true);
          ctx.fillStyle = termColors[t % termColors.length];
          ctx.fillRect(left, y1, width, y0 - y1);
        }
      }
    },
  });
  return chart;
}

// What the quadratic programs of a tracked motion planned, and what they cost.
export function solutionCharts(run, clock) {
  const { solutions } = run;
  const times = Float64Array.from(solutions.time, (time) => Math.round(1e6 * time) / 1e6); // they are floats
  const planned = (name, column, paint) => ({ name, times, values: solutions[column], color: paint });
  const chart = (column, title, unit, digits, note, more = {}) =>
    new TimeChart({
      id: `${column.replace(/_/g, '-')}-${run.index}`,
      title,
      unit,
      digits,
      clock,
      lines: [planned(words(column).toLowerCase(), column, () => seriesColor(0))],
      note,
      ...more,
    });
  const simulated = { name: 'simulated', times: run.stepTimes(), values: run.force(1), color: color('force') };
  return [
    chart('squared_error', 'Error of the state', 'squared', 2, 'Sum of the squares of angles and rates, before each program (Figures 3 to 6 of da Silva et al. 2008).'),
    chart('vertical_force', 'Vertical force, planned and simulated', 'N', 0, 'Of all contacts; the simulation finds its own.', {
      lines: [planned('planned', 'vertical_force', () => seriesColor(0)), simulated],
    }),
    chart('slack', 'Slack of the contacts', 'm/s\u00b2', 2, 'By how much the contact points may not stand still (equation 7e).'),
    chart('largest_torque', 'Largest torque', 'N m', 0, 'Of those that are planned.'),
    chart('iterations', 'Iterations of the program', '', 0),
    chart('cpu_microseconds', 'Time of the program', '\u00b5s', 0, 'On the machine that tracked.'),
  ];
}

// A repaired reference beside the recorded one, each on its own clock.
export function repairCharts(run, clock) {
  const { time, recorded_time: recordedTime, speed, height, recorded_height: recordedHeight } = run.repair;
  const own = Float64Array.from(time);
  return [
    new TimeChart({
      id: `repair-height-${run.index}`,
      title: 'Height of the center of mass, as recorded and repaired',
      unit: 'm',
      digits: 3,
      clock,
      duration: Math.max(clock.duration, recordedTime[recordedTime.length - 1]),
      lines: [
        { name: 'as recorded', times: Float64Array.from(recordedTime), values: recordedHeight, color: color('text'), dash: true },
        { name: 'repaired', times: own, values: height, color: color('reference'), width: 2 },
      ],
      note: 'Each on its own clock, as in repair.csv.',
    }),
    new TimeChart({
      id: `repair-clock-${run.index}`,
      title: 'Speed of play of the recording',
      unit: '',
      digits: 2,
      clock,
      lines: [{ name: 'speed', times: own, values: speed, color: color('reference'), width: 2 }],
      note: '1 is as recorded; at 0.5 an instant of the recording lasts twice as long.',
    }),
  ];
}

// Forces on the feet with the band of all controls and what was measured; the component is chosen above them.
export function footForceCharts(run, clock) {
  const { parts, low_pass: cutoff } = run.foot_forces;
  const node = element('select', { ariaLabel: 'Component of the forces' });
  for (const name of Object.keys(parts.total)) node.append(element('option', { value: name }, words(name).replace('Fore aft', 'Fore-aft')));
  const times = run.stepTimes();
  const gaps = (values) => Array.from(values, (v) => (Number.isNaN(v) ? null : v));
  const lines = (part) => {
    const { simulated, least, most, measured } = parts[part][node.value];
    const line = (name, values, paint, more) => ({ name, times, values: gaps(values), color: paint, ...more });
    return [
      line('most of all controls', most, color('simulated'), { hidden: true }),
      line('least of all controls', least, color('simulated'), { hidden: true }),
      ...(measured ? [line('measured', measured, color('text'), { width: 1.8 })] : []),
      line('simulated', simulated, color('simulated'), { width: 1.8 }),
    ];
  };
  const titles = { total: 'Force of the ground', left: 'Force on the left foot', right: 'Force on the right foot' };
  const charts = Object.keys(parts).map((part) => {
    const chart = new TimeChart({
      id: `foot-force-${part}-${run.index}`,
      title: `${titles[part]}, after a low-pass of ${cutoff} Hz`,
      unit: 'N',
      digits: 0,
      clock,
      lines: lines(part),
      bands: [{ edges: [0, 1], color: () => `${palette().simulated}40` }],
      note: 'The band holds all controls. Fore-aft is along the way of the reference, lateral to the left of it.',
    });
    chart.keys = () => [element('span', {}, element('i.dot', { style: `--color: ${palette().simulated}40` }), 'band')];
    return chart;
  });
  charts[0].tools.append(node);
  node.addEventListener('change', () => {
    Object.keys(parts).forEach((part, k) => charts[k].show(lines(part)));
  });
  return charts;
}

// The same quantity of several runs.
export function comparisonChart(runs, clock, { id, title, unit, digits, values, times, note }) {
  return new TimeChart({
    id,
    title,
    unit,
    digits,
    clock,
    note,
    lines: runs.map((run, k) => ({ name: run.name, times: times(run), values: values(run), color: () => seriesColor(k) })),
  });
}
