// The controls of the viewer: buttons, the slider of time, switches, keys.
import { element, fixed } from './dom.js';
import { beside } from './motions.js';

export const speeds = [0.1, 0.25, 0.5, 1, 2];
const ghosts = ['ghost', 'beside', 'off'];

export const keys = [
  ['Space', 'play, pause'],
  ['\u2190 \u2192', 'one frame back, on (with Shift: 0.1 s)'],
  ['Home End', 'to the start, to the end'],
  ['\u2212 +', 'slower, faster'],
  ...beside.map(({ name, key }) => [key.toUpperCase(), `${name.toLowerCase()}: ghost, beside, off`]),
  ['B', 'body: skin, shapes that collide'],
  ['F', 'forces on, off'],
  ['P', 'pressure on, off'],
  ['C', 'camera follows, stays'],
  ['1 \u2026 5', 'view: oblique, side, front, back, top'],
  ['L', 'repeat on, off'],
  ['Z X', 'charts show half, twice as long (Shift and drag: a part; double click: all)'],
  ['S', 'save the view as a picture'],
  ['V', 'view on the full screen'],
];
export const views = ['oblique', 'side', 'front', 'back', 'top'];

function icon(path) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}
const icons = {
  play: 'M4 2l10 6-10 6z',
  pause: 'M3 2h4v12H3zM9 2h4v12H9z',
  back: 'M3 2h2v12H3zM14 2v12L6 8z',
  on: 'M11 2h2v12h-2zM2 2v12l8-6z',
};

function select(label, options, value, onchange) {
  const node = element('select', { ariaLabel: label, onchange: () => onchange(node.value) });
  for (const [key, text] of options) node.append(element('option', { value: key, selected: key === value }, text));
  return [element('label.field', {}, element('span', {}, label), node), node];
}

function check(label, checked, onchange) {
  const node = element('input', { type: 'checkbox', ariaLabel: label, checked, onchange: () => onchange(node.checked) });
  return [element('label.check', {}, node, element('span', {}, label)), node];
}

export class Player {
  constructor(runs, clock, stage) {
    this.clock = clock;
    this.stage = stage;
    this.playButton = element('button.play', { type: 'button', onclick: () => clock.toggle() });
    const button = (name, label, onclick) =>
      element('button', { type: 'button', ariaLabel: label, title: label, onclick }, icon(icons[name]));
    this.slider = element('input.time', {
      type: 'range',
      min: 0,
      max: clock.duration,
      step: clock.frameTime,
      value: 0,
      ariaLabel: 'Time',
      oninput: () => {
        const wanted = Number(this.slider.value); // before the slider follows the clock again
        clock.pause();
        clock.set(wanted);
      },
    });
    this.readout = element('output.readout', { ariaLabel: 'Time shown' });
    const [speedField, speedSelect] = select(
      'Speed',
      speeds.map((s) => [String(s), `${s}\u00d7`]),
      '1',
      (value) => {
        clock.speed = Number(value);
      },
    );
    this.speedSelect = speedSelect;
    this.bar = element(
      'div.player',
      { role: 'group', ariaLabel: 'Player' },
      this.playButton,
      button('back', 'One frame back', () => clock.step(-1)),
      button('on', 'One frame on', () => clock.step(1)),
      this.slider,
      this.readout,
      element('button.zoom', { type: 'button', ariaLabel: 'Zoom in: charts show half as long', title: 'Charts show half as long (Z)', onclick: () => clock.zoom(0.5) }, '+'),
      element('button.zoom', { type: 'button', ariaLabel: 'Zoom out: charts show twice as long', title: 'Charts show twice as long (X)', onclick: () => clock.zoom(2) }, '\u2212'),
      speedField,
    );
    this.options = element('div.options', { role: 'group', ariaLabel: 'What the 3D view shows' });
    this.controls = {};
    const has = (motion) => runs.some((run) => run[motion]);
    const addSelect = (key, label, options, value, apply) => {
      const [field, node] = select(label, options, value, apply);
      this.controls[key] = node;
      this.options.append(field);
    };
    const names = { ghost: 'as a ghost', beside: 'beside', off: 'off' };
    const ghostOptions = ghosts.map((g) => [g, names[g]]);
    for (const { motion, name, shown } of beside) {
      if (has(motion)) addSelect(motion, name, ghostOptions, shown, (value) => stage.set(motion, value));
    }
    addSelect('view', 'View', views.map((v) => [v, v]), 'oblique', (value) => stage.view(value));
    const addCheck = (key, label, value, apply) => {
      const [field, node] = check(label, value, apply);
      this.controls[key] = node;
      this.options.append(field);
    };
    if (runs.some((run) => run.character.skin)) {
      addSelect('body', 'Body', [['skin', 'skin'], ['shapes', 'shapes that collide']], 'skin', (value) => stage.set('body', value));
    }
    addCheck('forces', 'Forces', true, (value) => stage.set('forces', value));
    addCheck('pressure', 'Pressure', true, (value) => stage.set('pressure', value));
    addCheck('follow', 'Follow', true, (value) => {
      stage.follows = value;
      if (value) stage.view(this.controls.view.value);
    });
    addCheck('loop', 'Repeat', true, (value) => {
      clock.loop = value;
    });
    this.options.append(
      element('span.actions', {},
        element('button', { type: 'button', ariaLabel: 'Save the view as a picture', onclick: () => stage.save() }, 'Save picture'),
        element('button', { type: 'button', ariaLabel: 'View on the full screen', onclick: () => stage.fill() }, 'Full screen'),
      ),
    );
    clock.onChange(() => this.update());
    document.addEventListener('keydown', (event) => this.key(event));
    this.update();
  }

  update() {
    const { time, duration, playing } = this.clock;
    if (this.playing !== playing) {
      this.playing = playing;
      const label = playing ? 'Pause' : 'Play';
      this.playButton.replaceChildren(icon(playing ? icons.pause : icons.play));
      this.playButton.setAttribute('aria-label', label);
      this.playButton.title = `${label} (space)`;
    }
    this.slider.value = time;
    this.slider.setAttribute('aria-valuetext', `${time.toFixed(2)} seconds`);
    this.readout.textContent = `${fixed(time, 2)} / ${fixed(duration, 2)} s`;
  }

  cycle(key, values) {
    const node = this.controls[key];
    if (!node) return;
    node.value = values[(values.indexOf(node.value) + 1) % values.length];
    node.dispatchEvent(new Event('change'));
  }

  flip(key) {
    const node = this.controls[key];
    node.checked = !node.checked;
    node.dispatchEvent(new Event('change'));
  }

  faster(by) {
    const at = speeds.indexOf(Number(this.speedSelect.value)) + by;
    this.speedSelect.value = String(speeds[Math.max(0, Math.min(speeds.length - 1, at))]);
    this.speedSelect.dispatchEvent(new Event('change'));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    const typing = target.tagName === 'SELECT' || (target.tagName === 'INPUT' && target.type !== 'range');
    // What has a meaning of its own where the focus is keeps it there.
    if (event.key === ' ' && (typing || ['BUTTON', 'SUMMARY', 'A'].includes(target.tagName))) return;
    if (typing && event.key.length > 1) return;
    if (target.tagName === 'SELECT') return;
    const frames = event.shiftKey ? Math.max(1, Math.round(0.1 / this.clock.frameTime)) : 1;
    const actions = {
      ' ': () => this.clock.toggle(),
      ArrowLeft: () => this.clock.step(-frames),
      ArrowRight: () => this.clock.step(frames),
      Home: () => this.clock.set(0),
      End: () => this.clock.set(this.clock.duration),
      '-': () => this.faster(-1),
      '+': () => this.faster(1),
      '=': () => this.faster(1),
      b: () => this.cycle('body', ['skin', 'shapes']),
      f: () => this.flip('forces'),
      p: () => this.flip('pressure'),
      c: () => this.flip('follow'),
      l: () => this.flip('loop'),
      z: () => this.clock.zoom(0.5),
      x: () => this.clock.zoom(2),
      s: () => this.stage.save(),
      v: () => this.stage.fill(),
    };
    for (const { motion, key } of beside) actions[key] = () => this.cycle(motion, ghosts);
    views.forEach((view, k) => {
      actions[String(k + 1)] = () => {
        this.controls.view.value = view;
        this.stage.view(view);
      };
    });
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}
