// Legs over the gait cycle: a small chart for each quantity, left and right over one another, from a strike of the foot
// to its next one.
import uPlot from 'uplot';
import { everyChart } from './charts.js';
import { palette } from './colors.js';
import { words } from './data.js';
import { element } from './dom.js';

const sides = ['left', 'right'];
const percents = Float64Array.from({ length: 101 }, (_, k) => k);

// Where a time is in its stride [%]; null: in none.
export function percentAt(strides, time) {
  const stride = strides.find(({ start, end }) => time >= start && time <= end);
  return stride ? (100 * (time - stride.start)) / (stride.end - stride.start) : null;
}

// The time of a percentage of the stride that is nearest to `time`.
export function timeAt(strides, percent, time) {
  const away = ({ start, end }) => Math.max(start - time, time - end, 0);
  const stride = strides.reduce((best, other) => (away(other) < away(best) ? other : best));
  return stride.start + (percent / 100) * (stride.end - stride.start);
}

class CycleChart {
  // `curves`: [{ side, mean, deviation, reference, strides }]
  constructor(name, unit, curves, clock) {
    Object.assign(this, { curves, clock });
    this.title = words(name);
    this.plotNode = element('div.plot.small', {
      role: 'img',
      ariaLabel: `Chart: ${this.title}, ${unit}, over the gait cycle. Press to set the time.`,
    });
    this.node = element('div.cycle', {}, element('h4', {}, this.title, element('small', {}, unit)), this.plotNode);
    this.cursors = curves.map(() => element('div.cursor'));
    new ResizeObserver(() => this.resize()).observe(this.plotNode);
    clock.onChange(() => this.update());
    everyChart.push(this);
  }

  // Per side: the edges of the band, the reference, the mean.
  series() {
    const colors = palette();
    const data = [percents];
    const series = [{}];
    const bands = [];
    const add = (values, more) => {
      data.push(values);
      series.push({ points: { show: false }, ...more });
    };
    for (const { side, mean, deviation, reference, strides } of this.curves) {
      if (strides.length > 1) {
        bands.push({ series: [data.length, data.length + 1], fill: `${colors[side]}40` });
        for (const sign of [1, -1]) add(mean.map((v, k) => v + sign * deviation[k]), { stroke: 'transparent', width: 0 });
      }
      if (reference) add(reference, { stroke: colors[side], width: 1.2, dash: [2, 3] });
      add(mean, { stroke: colors[side], width: 1.8 });
    }
    return { data, series, bands };
  }

  build() {
    this.plot?.destroy();
    const width = this.plotNode.clientWidth;
    if (!width) return;
    const colors = palette();
    const axis = { stroke: colors.faint, font: '11px system-ui, sans-serif', ticks: { show: false }, grid: { stroke: colors.rule, width: 1 } };
    const { data, series, bands } = this.series();
    this.plot = new uPlot(
      {
        width,
        height: 128,
        legend: { show: false },
        cursor: { show: false },
        padding: [8, 20, 0, 0],
        scales: { x: { time: false, range: () => [0, 100] } },
        axes: [
          { ...axis, size: 24, splits: () => [0, 25, 50, 75, 100], values: (_, ticks) => ticks.map((v) => `${v} %`) },
          { ...axis, size: 44, space: 24, values: (_, ticks) => ticks.map((v) => String(+v.toPrecision(3)).replace('-', '\u2212')) },
        ],
        series,
        bands,
      },
      data,
      this.plotNode,
    );
    const { over } = this.plot;
    over.append(...this.cursors);
    over.style.cursor = 'ew-resize';
    over.addEventListener('pointerdown', (event) => {
      const { left, width: wide } = over.getBoundingClientRect();
      const percent = Math.max(0, Math.min(100, (100 * (event.clientX - left)) / wide));
      this.clock.pause();
      this.clock.set(timeAt(this.curves[0].strides, percent, this.clock.time));
    });
    this.update();
  }

  resize() {
    const width = this.plotNode.clientWidth;
    if (!width) return;
    if (!this.plot) this.build();
    else if (Math.abs(this.plot.width - width) > 0.5) this.plot.setSize({ width, height: this.plot.height });
  }

  // Where the time shown is in the stride of each side.
  update() {
    if (!this.plot) return;
    const colors = palette();
    this.curves.forEach(({ side, strides }, k) => {
      const percent = percentAt(strides, this.clock.time);
      this.cursors[k].hidden = percent === null;
      this.cursors[k].style.left = `${percent ?? 0}%`;
      this.cursors[k].style.borderColor = colors[side];
    });
  }

  print() {}
}

// The charts with what they show; null: the motion has no strides.
export function cyclesPart(run, clock) {
  const { cycles } = run;
  if (!cycles) return null;
  const names = sides.flatMap((side) => cycles[side].curves.map(({ name, unit }) => [name, unit]));
  const charts = [...new Map(names)].map(([name, unit]) => {
    const curves = sides.flatMap((side) => {
      const curve = cycles[side].curves.find((other) => other.name === name);
      return curve ? [{ ...curve, side, strides: cycles[side].strides }] : [];
    });
    return new CycleChart(name, unit, curves, clock);
  });
  const count = (side) => `${cycles[side].strides.length} ${side}`;
  const key = (side) => element('span', {}, element(`i.${side}`), `${side} leg`);
  return element(
    'section.card.wide.over-cycle',
    { id: `cycles-${run.index}` },
    element('h3', {}, 'Over the gait cycle', element('small', {}, `strides: ${sides.map(count).join(', ')}`)),
    element('div.legend', {}, ...sides.filter((side) => cycles[side].strides.length).map(key)),
    element('div.cycles', {}, ...charts.map((chart) => chart.node)),
    element(
      'p.note',
      {},
      `From a strike of the foot to its next one. Lines are means over strides, bands one standard deviation, dotted lines the angles of the reference; zero is the upright rest pose. Moments, powers and forces are per kilogram, after a low-pass of ${cycles.low_pass} Hz.`,
    ),
  );
}
