// A scene in 3D: figures, the world around them, forces, pressure. Every object is set to an instant by show(time).
import {
  Bone,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  CapsuleGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DirectionalLight,
  DoubleSide,
  Fog,
  Group,
  HemisphereLight,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  PlaneGeometry,
  Quaternion,
  Scene,
  ShadowMaterial,
  Skeleton,
  SkinnedMesh,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { characterColor, heat, palette } from './colors.js';
import { sideOf } from './data.js';
import { beside } from './motions.js';

const up = new Vector3(0, 1, 0);

function geometryOf(shape) {
  let geometry;
  if (shape.kind === 'box') {
    geometry = new BoxGeometry(...shape.size);
  } else if (shape.kind === 'capsule') {
    geometry = new CapsuleGeometry(shape.radius, shape.length, 8, 20);
    if (shape.axis === 0) geometry.rotateZ(Math.PI / 2);
    if (shape.axis === 2) geometry.rotateX(Math.PI / 2);
  } else {
    geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(shape.vertices, 3));
    geometry.setIndex(new BufferAttribute(shape.triangles, 1));
    geometry = geometry.toNonIndexed(); // faces are flat
    geometry.computeVertexNormals();
  }
  if (shape.orientation) {
    const [w, x, y, z] = shape.orientation;
    geometry.applyQuaternion(new Quaternion(x, y, z, w));
  }
  geometry.translate(...shape.offset);
  return geometry;
}

// Geometries of a run's character, shared by all figures made of it.
export function bodyGeometries(run) {
  return run.character.bodies.map((body) => body.shapes.map(geometryOf));
}

// The skin of a run's character, shared by all figures made of it; null: it has none.
function skinGeometry(run) {
  const { skin } = run.character;
  if (!skin) return null;
  if (run.skinGeometry) return run.skinGeometry;
  const { low, step, vertices, bodies, shares } = skin;
  const count = vertices.length / 3;
  const places = new Float32Array(3 * count);
  for (let i = 0; i < places.length; ++i) places[i] = low[i % 3] + step * vertices[i];
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(places, 3));
  geometry.setIndex(new BufferAttribute(skin.triangles, 1));
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(Uint16Array.from(bodies), 4));
  geometry.setAttribute('skinWeight', new BufferAttribute(shares, 4, true));
  geometry.computeVertexNormals();
  run.skinGeometry = geometry;
  return geometry;
}

// For each body the change from where the skin was made: the inverse of its pose there.
function bindInverses(run) {
  const { binds } = run.character.skin;
  return run.character.bodies.map((_, b) => {
    const [x, y, z, w, i, j, k] = binds.slice(7 * b, 7 * b + 7);
    return new Matrix4().compose(new Vector3(x, y, z), new Quaternion(i, j, k, w), new Vector3(1, 1, 1)).invert();
  });
}

// The colors of a skin's vertices: those of the bodies that move them.
function paintSkin(run, geometry, colorOf) {
  const { bodies, shares } = run.character.skin;
  const own = run.character.bodies.map((body) => new Color(colorOf(body.name)));
  const colors = new Float32Array((3 * bodies.length) / 4);
  bodies.forEach((body, k) => {
    const at = 3 * (k >> 2);
    const share = shares[k] / 255;
    colors[at] += share * own[body].r;
    colors[at + 1] += share * own[body].g;
    colors[at + 2] += share * own[body].b;
  });
  geometry.setAttribute('color', new BufferAttribute(colors, 3));
}

// The body of a run's character, in the style of a motion: solid or see-through. It has a skin, or the shapes that collide.
export class Figure {
  constructor(run, motion, geometries, style, number = -1) {
    this.run = run;
    this.motion = motion;
    this.solid = style === 'solid';
    this.number = number; // among the characters of a scene; -1: alone
    this.geometries = geometries;
    this.worn = 'skin';
    this.group = new Group();
    this.bodies = null;
    if (this.solid) this.build();
  }

  // What is not shown at first is not made at first.
  build() {
    const { run } = this;
    this.shapes = [];
    this.bodies = run.character.bodies.map((body, b) => {
      const node = new Bone();
      for (const geometry of this.geometries[b]) {
        const meshes = this.meshes(geometry, (...of) => new Mesh(...of));
        meshes.at(-1).userData.body = body.name;
        this.shapes.push(...meshes);
        node.add(...meshes);
      }
      this.group.add(node);
      return node;
    });
    const skin = skinGeometry(run);
    this.skins = [];
    if (skin) {
      // A ghost has one color, a solid one a color for each vertex.
      const skeleton = new Skeleton(this.bodies, bindInverses(run));
      this.skins = this.meshes(skin, (...of) => {
        const mesh = new SkinnedMesh(...of);
        mesh.bind(skeleton, new Matrix4());
        mesh.frustumCulled = false;
        return mesh;
      });
      if (this.solid) this.skins.at(-1).material.vertexColors = true;
      this.group.add(...this.skins);
    }
    this.wear(this.worn);
    this.paint();
  }

  // What is drawn of a geometry; the last mesh has the color.
  meshes(geometry, make) {
    if (this.solid) {
      const mesh = make(geometry, new MeshLambertMaterial());
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      return [mesh];
    }
    // Depth first, then color: what is inside the ghost does not shine through it.
    const depth = make(geometry, new MeshBasicMaterial({ colorWrite: false, transparent: true }));
    depth.renderOrder = 1;
    const mesh = make(geometry, new MeshLambertMaterial({ transparent: true, opacity: 0.34 }));
    mesh.renderOrder = 2;
    return [depth, mesh];
  }

  // 'skin' or 'shapes'; without a skin always these.
  wear(what) {
    this.worn = what;
    if (!this.bodies) return;
    const skin = what === 'skin' && this.skins.length > 0;
    for (const mesh of this.skins) mesh.visible = skin;
    for (const mesh of this.shapes) mesh.visible = !skin;
  }

  paint() {
    if (!this.bodies) return;
    const colors = palette();
    const own = this.number < 0 ? null : characterColor(this.number);
    const colorOf = (name) => (this.solid ? own ?? colors[sideOf(name)] : colors[this.motion]);
    for (const mesh of this.shapes) if (mesh.userData.body) mesh.material.color.set(colorOf(mesh.userData.body));
    const skin = this.skins.at(-1);
    if (!skin) return;
    if (this.solid) paintSkin(this.run, skin.geometry, colorOf);
    else skin.material.color.set(colors[this.motion]);
  }

  show(time) {
    if (!this.bodies) this.build();
    const count = this.run.framesOf(this.motion);
    const at = Math.max(0, Math.min(count - 1, time / this.run.frameTime));
    const frame = Math.floor(at);
    const share = at - frame;
    const f = this.run[this.motion].frames;
    const n = this.run.numBodies;
    this.bodies.forEach((node, b) => {
      const i = 7 * (frame * n + b);
      node.position.set(f[i], f[i + 1], f[i + 2]);
      node.quaternion.set(f[i + 4], f[i + 5], f[i + 6], f[i + 3]);
      if (share > 1e-4 && frame + 1 < count) {
        const k = i + 7 * n;
        node.position.lerp(scratchPosition.set(f[k], f[k + 1], f[k + 2]), share);
        node.quaternion.slerp(scratchTurn.set(f[k + 4], f[k + 5], f[k + 6], f[k + 3]), share);
      }
    });
  }
}
const scratchPosition = new Vector3();
const scratchTurn = new Quaternion();

// Forces as arrows: those of contacts begin where they act, pushes end there. As many as there are touching or pushed
// bodies; the rest is hidden.
export class Arrows {
  constructor(run, kind = 'contact') {
    this.run = run;
    this.kind = kind;
    this.of = kind === 'push' ? run.push_arrows : run.arrows;
    this.group = new Group();
    this.shaft = new CylinderGeometry(0.016, 0.016, 1, 12).translate(0, 0.5, 0);
    this.head = new ConeGeometry(0.044, 0.11, 16).translate(0, -0.055, 0);
    // Over everything else: an arrow begins under a foot and ends inside a leg.
    this.material = new MeshBasicMaterial({ depthTest: false, transparent: true });
    this.pool = [];
    this.paint();
  }

  paint() {
    this.material.color.set(palette()[this.kind === 'push' ? 'push' : 'force']);
  }

  show(time) {
    const { offsets, points, forces } = this.of;
    const unit = this.run.arrows.metres_per_newton;
    // A frame has the forces that led to it; the first one, to which none led, those that lead on.
    const frame = Math.max(Math.min(1, this.run.numFrames - 1), Math.min(this.run.numFrames - 1, Math.round(time / this.run.frameTime)));
    const first = offsets[frame];
    const count = offsets[frame + 1] - first;
    for (let k = 0; k < Math.max(count, this.pool.length); ++k) {
      if (k >= this.pool.length) {
        const node = new Group();
        node.add(new Mesh(this.shaft, this.material), new Mesh(this.head, this.material));
        for (const part of node.children) part.renderOrder = 3;
        this.group.add(node);
        this.pool.push(node);
      }
      const node = this.pool[k];
      node.visible = k < count;
      if (!node.visible) continue;
      const at = 3 * (first + k);
      const force = new Vector3(forces[at], forces[at + 1], forces[at + 2]).multiplyScalar(unit);
      const length = force.length();
      node.visible = length > 0.005;
      if (!node.visible) continue;
      node.position.set(points[at], points[at + 1], points[at + 2]);
      if (this.kind === 'push') node.position.sub(force);
      node.quaternion.setFromUnitVectors(up, force.normalize());
      const [shaft, head] = node.children;
      const headSize = Math.min(1, length / 0.18);
      shaft.scale.set(headSize, Math.max(1e-3, length - 0.1 * headSize), headSize);
      head.position.y = length;
      head.scale.setScalar(headSize);
    }
  }
}

// Pressure on the ground: the largest so far at each place.
export class Footprints {
  constructor(run) {
    this.run = run;
    const { places, pressures, side } = run.footprints;
    const count = pressures.length;
    this.most = run.footprints.usual_peak || 1;
    const plane = new PlaneGeometry(side, side).rotateX(-Math.PI / 2);
    const material = new MeshBasicMaterial({ transparent: true, opacity: 0.9, depthWrite: false });
    this.mesh = new InstancedMesh(plane, material, Math.max(1, count));
    this.mesh.frustumCulled = false;
    const place = new Matrix4();
    for (let k = 0; k < count; ++k) {
      place.makeTranslation(places[3 * k], places[3 * k + 1] + 0.006, places[3 * k + 2]);
      this.mesh.setMatrixAt(k, place);
    }
    this.mesh.count = 0;
    this.paint();
  }

  paint() {
    const color = new Color();
    this.run.footprints.pressures.forEach((pressure, k) => {
      // setRGB takes linear values; a heat color is one of the screen.
      this.mesh.setColorAt(k, color.setRGB(...heat(pressure / this.most), 'srgb'));
    });
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  show(time) {
    const { offsets } = this.run.footprints;
    const frame = Math.max(0, Math.min(this.run.numFrames - 1, Math.round(time / this.run.frameTime)));
    this.mesh.count = offsets[frame + 1];
  }
}

// The ground is dark where a body is close above it: soft blots, which shrink as it rises.
let blotTexture;
export class Blots {
  constructor(run, ground) {
    this.run = run;
    this.ground = ground;
    if (!blotTexture) {
      const canvas = document.createElement('canvas');
      canvas.width = canvas.height = 64;
      const context = canvas.getContext('2d');
      const fade = context.createRadialGradient(32, 32, 0, 32, 32, 32);
      for (let k = 0; k <= 8; ++k) fade.addColorStop(k / 8, `rgba(0, 0, 0, ${Math.cos((Math.PI * k) / 16) ** 4})`);
      context.fillStyle = fade;
      context.fillRect(0, 0, 64, 64);
      blotTexture = new CanvasTexture(canvas);
    }
    // Half of the length and of the least thickness of each body.
    this.sizes = run.character.bodies.map((body) => {
      const halves = body.shapes.map((shape) => {
        if (shape.kind === 'box') return shape.size.map((side) => side / 2);
        if (shape.kind === 'capsule') return [shape.radius, shape.radius, shape.radius + shape.length / 2];
        return [0.05, 0.05, 0.1];
      });
      return { thick: Math.min(...halves.flat()), long: Math.max(...halves.flat()) };
    });
    const plane = new PlaneGeometry(2, 2).rotateX(-Math.PI / 2);
    const material = new MeshBasicMaterial({ map: blotTexture, transparent: true, opacity: 0.42, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1 });
    this.mesh = new InstancedMesh(plane, material, run.numBodies);
    this.mesh.frustumCulled = false;
    this.mesh.visible = ground.present;
  }

  show(time) {
    const frame = Math.max(0, Math.min(this.run.numFrames - 1, Math.round(time / this.run.frameTime)));
    const matrix = new Matrix4();
    let count = 0;
    this.sizes.forEach(({ thick, long }, b) => {
      const [x, y, z] = this.run.position('simulated', frame, b);
      const above = y - this.ground.height - thick;
      const near = 1 - Math.max(0, above) / 0.3;
      if (near <= 0) return;
      const size = (0.05 + 0.9 * Math.min(long, 0.22)) * near;
      matrix.makeScale(size, 1, size).setPosition(x, this.ground.height + 0.005, z);
      this.mesh.setMatrixAt(count++, matrix);
    });
    this.mesh.count = count;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}

function gridLines(height, reach, colors) {
  const points = [];
  // In pieces: long lines that pass the camera are lost in some renderers.
  for (let k = -reach; k <= reach; ++k) {
    for (let piece = -reach; piece < reach; ++piece) {
      points.push(k, height, piece, k, height, piece + 1, piece, height, k, piece + 1, height, k);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
  return new LineSegments(geometry, new LineBasicMaterial({ color: colors.grid }));
}

// What is in the world besides the character: ground, boxes on their courses, a height field, free bodies.
export class Surroundings {
  constructor(scene, things = true) {
    this.of = scene;
    this.group = new Group();
    this.painted = [];
    const { world } = scene;
    const colors = palette();
    if (world.ground.present) {
      const height = world.ground.height;
      const plane = new Mesh(
        new PlaneGeometry(120, 120, 60, 60).rotateX(-Math.PI / 2),
        // Pushed back, so that what lies on it is seen.
        new MeshBasicMaterial({ polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 40 }),
      );
      plane.position.y = height;
      this.plane = plane;
      this.painted.push([plane, 'ground']);
      const shadow = new Mesh(new PlaneGeometry(60, 60).rotateX(-Math.PI / 2), new ShadowMaterial({ opacity: 0.22 }));
      shadow.position.y = height + 0.004;
      shadow.receiveShadow = true;
      this.shadow = shadow;
      this.grid = gridLines(height + 0.002, 24, colors);
      this.painted.push([this.grid, 'grid']);
      this.group.add(plane, shadow, this.grid);
    }
    const solid = (geometry, role = 'object') => {
      const mesh = new Mesh(geometry, new MeshLambertMaterial({ side: DoubleSide }));
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      this.painted.push([mesh, role]);
      this.group.add(mesh);
      return mesh;
    };
    this.courses = [];
    for (const box of things ? world.boxes : []) {
      const mesh = solid(new BoxGeometry(...box.size));
      mesh.position.set(...box.position);
      const [w, x, y, z] = box.orientation;
      mesh.quaternion.set(x, y, z, w);
      if (box.moves) this.courses.push(mesh);
    }
    if (things && world.height_field) this.addHeightField(world.height_field, solid);
    this.free = (things ? world.bodies : []).map((body, k) => {
      const group = new Group();
      for (const shape of body.shapes) group.add(solid(geometryOf(shape)));
      this.group.add(group);
      this.place(group, world.start, k);
      return group;
    });
    this.paint();
  }

  addHeightField(field, solid) {
    const { columns, rows, spacing, heights } = field;
    const vertices = new Float32Array(3 * columns * rows);
    for (let r = 0; r < rows; ++r) {
      for (let c = 0; c < columns; ++c) {
        const at = r * columns + c;
        vertices.set([(c - (columns - 1) / 2) * spacing, heights[at], (r - (rows - 1) / 2) * spacing], 3 * at);
      }
    }
    const indices = [];
    for (let r = 0; r + 1 < rows; ++r) {
      for (let c = 0; c + 1 < columns; ++c) {
        const a = r * columns + c;
        indices.push(a, a + columns + 1, a + 1, a, a + columns, a + columns + 1);
      }
    }
    let geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(vertices, 3));
    geometry.setIndex(indices);
    geometry = geometry.toNonIndexed();
    geometry.computeVertexNormals();
    const mesh = solid(geometry);
    mesh.castShadow = false;
    mesh.position.set(...field.position);
    const [w, x, y, z] = field.orientation;
    mesh.quaternion.set(x, y, z, w);
  }

  place(mesh, values, k) {
    const i = 7 * k;
    mesh.position.set(values[i], values[i + 1], values[i + 2]);
    mesh.quaternion.set(values[i + 4], values[i + 5], values[i + 6], values[i + 3]);
  }

  paint() {
    const colors = palette();
    for (const [mesh, role] of this.painted) mesh.material.color.set(colors[role]);
  }

  show(time) {
    const { world } = this.of;
    const frame = Math.max(0, Math.min(this.of.numFrames - 1, Math.round(time / this.of.frameTime)));
    this.courses.forEach((mesh, k) => {
      const i = 3 * (frame * this.courses.length + k);
      mesh.position.set(world.courses[i], world.courses[i + 1], world.courses[i + 2]);
    });
    if (this.free.length) world.moving.forEach((body, k) => this.place(this.free[body], world.frames, frame * world.moving.length + k));
    const [x, , z] = this.of.pathAt(time);
    if (this.shadow) {
      this.plane.position.x = this.shadow.position.x = x;
      this.plane.position.z = this.shadow.position.z = z;
      this.grid.position.set(Math.round(x), 0, Math.round(z));
    }
  }
}

export class SceneView {
  constructor(scene) {
    this.of = scene;
    this.scene = new Scene();
    this.figures = [];
    this.arrows = [];
    this.footprints = [];
    this.blots = [];
    for (const run of scene.runs) {
      const geometries = bodyGeometries(run);
      const number = scene.runs.length > 1 ? scene.runs.indexOf(run) : -1;
      for (const motion of run.motions()) {
        this.figures.push(new Figure(run, motion, geometries, motion === 'simulated' ? 'solid' : 'ghost', number));
      }
      this.blots.push(new Blots(run, scene.world.ground));
      this.arrows.push(new Arrows(run));
      if (run.push_arrows) this.arrows.push(new Arrows(run, 'push'));
      this.footprints.push(new Footprints(run));
    }
    this.surroundings = new Surroundings(scene);
    for (const part of [...this.figures, ...this.arrows]) this.scene.add(part.group);
    for (const part of [...this.footprints, ...this.blots]) this.scene.add(part.mesh);
    this.scene.add(this.surroundings.group);
    this.sky = new HemisphereLight(0xffffff, 0xb9b4a8, 2.3);
    this.sun = new DirectionalLight(0xffffff, 1.7);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 5;
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.02;
    this.reach(2.2 + scene.reach);
    this.scene.add(this.sky, this.sun, this.sun.target);
    this.shown = { ...Object.fromEntries(beside.map(({ motion, shown }) => [motion, shown])), forces: true, pressure: true, body: 'skin' };
    this.paint();
    this.arrange();
  }

  // Half the width of what casts shadows [m].
  reach(half) {
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -half;
    camera.right = camera.top = half;
    camera.near = 0.5;
    camera.far = 14 + this.of.reach;
    camera.updateProjectionMatrix();
  }

  paint() {
    const colors = palette();
    this.scene.background = new Color(colors.background);
    this.scene.fog = new Fog(colors.background, 9 + 2 * this.of.reach, 26 + 2 * this.of.reach);
    for (const part of [...this.figures, ...this.arrows, ...this.footprints, this.surroundings]) part.paint();
  }

  // Ghosts stand where the motion was, or a step away from it, farther from the viewer; a second one two steps.
  arrange() {
    const [tx, tz] = this.of.travel;
    const step = (0.9 * this.of.height) / 1.7;
    const aside = beside.map(({ motion }) => motion).filter((motion) => this.shown[motion] === 'beside');
    for (const figure of this.figures) {
      const { run, motion, group } = figure;
      if (motion === 'simulated') continue;
      group.visible = this.shown[motion] !== 'off';
      const away = step * (1 + aside.filter((other) => run[other]).indexOf(motion));
      group.position.set(away * tz, 0, -away * tx);
    }
    for (const figure of this.figures) figure.wear(this.shown.body);
    for (const arrows of this.arrows) arrows.group.visible = this.shown.forces;
    for (const footprints of this.footprints) footprints.mesh.visible = this.shown.pressure;
  }

  show(time) {
    for (const figure of this.figures) if (figure.group.visible) figure.show(time);
    for (const part of [...this.arrows, ...this.footprints, ...this.blots, this.surroundings]) part.show(time);
    const [x, y, z] = this.of.pathAt(time);
    this.sun.target.position.set(x, y - 0.5, z);
    // Over the left shoulder of who sees the motion from its side.
    const [tx, tz] = this.of.travel;
    this.sun.position.set(x - 2.6 * tz - 0.6 * tx, y + 4.5, z + 2.6 * tx - 0.6 * tz);
  }
}
