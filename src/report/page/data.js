// The document that the C++ side put into the page (include/retrace/report/report.h), unpacked. No number of a run is
// computed here: what is shown between two instants is interpolated, and that is all.

import { beside } from './motions.js';

const kinds = { f32: Float32Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array };

export function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new kinds[packed.type](bytes.buffer);
}

function isPacked(value) {
  return typeof value.type === 'string' && value.type in kinds && typeof value.data === 'string';
}

// Unpacks every packed array in place, wherever it stands.
function unpackAll(value) {
  if (value === null || typeof value !== 'object') return value;
  if (isPacked(value)) return unpack(value);
  for (const key of Object.keys(value)) value[key] = unpackAll(value[key]);
  return value;
}

function column(values, width, k) {
  const out = new Float64Array(values.length / width);
  for (let i = 0; i < out.length; ++i) out[i] = values[i * width + k];
  return out;
}

function points(values) {
  return Array.from({ length: values.length / 3 }, (_, k) => Array.from(values.slice(3 * k, 3 * k + 3)));
}

// One run, or one character of a scene, with what the views ask for most.
export class Run {
  constructor(part, index) {
    Object.assign(this, part);
    this.index = index;
    this.frameTime = this.frame_steps * this.time_step;
    this.sampleTime = this.sample_steps * this.time_step;
    this.duration = this.steps * this.time_step;
    this.numBodies = this.character.bodies.length;
    this.numFrames = this.simulated.frames.length / (7 * this.numBodies);
    // Where each axis of each joint stands among the angles and torques.
    this.channels = [];
    this.character.joints.forEach((joint, j) => joint.axes.forEach((axis) => this.channels.push({ joint: j, axis })));
    this.path = points(this.path);
  }

  motions() {
    return ['simulated', ...beside.map(({ motion }) => motion)].filter((name) => this[name]);
  }

  framesOf(motion) {
    return this[motion].frames.length / (7 * this.numBodies);
  }

  position(motion, frame, body) {
    const at = 7 * (frame * this.numBodies + body);
    const f = this[motion].frames;
    return [f[at], f[at + 1], f[at + 2]];
  }

  sampleTimes(count) {
    return Float64Array.from({ length: count }, (_, i) => i * this.sampleTime);
  }

  stepTimes() {
    return Float64Array.from({ length: this.steps + 1 }, (_, i) => i * this.time_step);
  }

  force(axis) {
    return column(this.ground_force, 3, axis);
  }

  smoothForce(axis) {
    return column(this.smooth_force.values, 3, axis);
  }

  root(motion) {
    return column(this[motion].root, 3, 1);
  }

  center(motion) {
    return column(this[motion].center_of_mass, 3, 1);
  }

  angles(motion, channel) {
    return column(this[motion].angles, this.channels.length, channel);
  }

  torque(channel) {
    return column(this.torques, this.channels.length, channel);
  }
}

// What one 3D view shows: the characters that are in one world, for most runs a single one.
export class Scene {
  constructor(part, runs) {
    const lead = runs[0];
    this.name = part.name;
    this.runs = runs;
    for (const run of runs) run.shares_world = runs.length > 1;
    this.world = part.world;
    this.travel = part.travel;
    this.reach = part.reach ?? 0;
    this.path = runs.length > 1 ? points(part.path) : lead.path;
    this.height = Math.max(...runs.map((run) => run.character.height));
    this.duration = lead.duration;
    this.frameTime = lead.frameTime;
    this.numFrames = lead.numFrames;
  }

  pathAt(time) {
    const at = Math.max(0, Math.min(this.numFrames - 1, time / this.frameTime));
    const i = Math.floor(at);
    const a = this.path[i];
    const b = this.path[Math.min(i + 1, this.numFrames - 1)];
    return a.map((value, k) => value + (at - i) * (b[k] - value));
  }
}

export function readDocument() {
  const text = document.getElementById('document').textContent;
  const root = unpackAll(JSON.parse(text));
  let runs = 0;
  root.scenes = [];
  for (const part of root.parts) {
    if (part.kind === 'run') root.scenes.push(new Scene(part, [new Run(part, runs++)]));
    if (part.kind !== 'scene') continue;
    root.scenes.push(new Scene(part, part.characters.map((character) => new Run({ ...character, world: part.world }, runs++))));
  }
  return root;
}

export function words(name) {
  const text = name.replace(/_/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function sideOf(name) {
  return name.startsWith('left_') ? 'left' : name.startsWith('right_') ? 'right' : 'middle';
}
