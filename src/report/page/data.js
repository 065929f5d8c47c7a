// The document that the C++ side put into the page (include/retrace/results/report.h), unpacked.

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

// One run, with what the views ask for most.
export class Run {
  constructor(part, index) {
    Object.assign(this, part);
    this.index = index;
    this.stepsPerSecond = 1 / this.time_step;
    this.frameTime = this.frame_steps * this.time_step;
    this.sampleTime = this.sample_steps * this.time_step;
    this.duration = this.steps * this.time_step;
    this.numBodies = this.character.bodies.length;
    this.numFrames = this.simulated.frames.length / (7 * this.numBodies);
    this.weight = this.character.mass * (this.world.gravity || 9.81);
    // Where each axis of each joint stands among the angles and torques.
    this.channels = [];
    this.character.joints.forEach((joint, j) => joint.axes.forEach((axis) => this.channels.push({ joint: j, axis })));
    this.path = this.smoothPath();
    this.mostPressure = this.usualPeak();
    this.travel = this.travelDirection();
  }

  // The pressure that 2 % of the squares on the ground exceed: the end of the scale of colours.
  usualPeak() {
    const sorted = Float32Array.from(this.footprints.pressures).sort();
    return sorted.length ? sorted[Math.floor(0.98 * (sorted.length - 1))] : 0;
  }

  motions() {
    return ['simulated', 'reference', 'tracking'].filter((name) => this[name]);
  }

  framesOf(motion) {
    return this[motion].frames.length / (7 * this.numBodies);
  }

  position(motion, frame, body) {
    const at = 7 * (frame * this.numBodies + body);
    const f = this[motion].frames;
    return [f[at], f[at + 1], f[at + 2]];
  }

  // The root's path, so smooth that a camera can follow it: means over 0.8 s, of the height over 2.4 s, so that a jump
  // is seen as one.
  smoothPath() {
    const halves = [0.4, 1.2, 0.4].map((seconds) => Math.round(seconds / this.frameTime));
    const places = Array.from({ length: this.numFrames }, (_, k) => this.position('simulated', k, this.character.root));
    return places.map((_, i) =>
      halves.map((half, axis) => {
        const width = Math.min(half, i, places.length - 1 - i);
        let sum = 0;
        for (let k = i - width; k <= i + width; ++k) sum += places[k][axis];
        return sum / (2 * width + 1);
      }),
    );
  }

  pathAt(time) {
    const at = Math.max(0, Math.min(this.numFrames - 1, time / this.frameTime));
    const i = Math.floor(at);
    const a = this.path[i];
    const b = this.path[Math.min(i + 1, this.numFrames - 1)];
    return a.map((value, k) => value + (at - i) * (b[k] - value));
  }

  // Horizontal unit vector from start to end; the way that the root faces at first where it stays in place.
  travelDirection() {
    const a = this.path[0];
    const b = this.path[this.path.length - 1];
    const x = b[0] - a[0];
    const z = b[2] - a[2];
    const far = Math.hypot(x, z);
    if (far >= 0.5) return [x / far, z / far];
    const at = 7 * this.character.root;
    const [w, qx, qy, qz] = this.simulated.frames.slice(at + 3, at + 7);
    const fx = 2 * (qx * qz + w * qy);
    const fz = 1 - 2 * (qx * qx + qy * qy);
    const f = Math.hypot(fx, fz) || 1;
    return [fx / f, fz / f];
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

export function readDocument() {
  const text = document.getElementById('document').textContent;
  const root = unpackAll(JSON.parse(text));
  let runs = 0;
  root.parts = root.parts.map((part) => (part.kind === 'run' ? new Run(part, runs++) : part));
  return root;
}

export function words(name) {
  const text = name.replace(/_/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function sideOf(name) {
  return name.startsWith('left_') ? 'left' : name.startsWith('right_') ? 'right' : 'middle';
}
