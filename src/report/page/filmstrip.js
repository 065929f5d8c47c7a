// A row of poses in one picture, as in the figures of papers: what `report --png` takes from the page.
import { Color, DirectionalLight, HemisphereLight, OrthographicCamera, PCFShadowMap, Scene, WebGLRenderer } from 'three';
import { palette } from './colors.js';
import { element } from './dom.js';
import { Arrows, bodyGeometries, Figure, Footprints, Surroundings } from './scene.js';

const elevation = (11 * Math.PI) / 180; // of the view over the horizon

function options(hash) {
  const found = { figures: 8, width: 1600, start: 0, end: Infinity };
  for (const [, key, value] of hash.matchAll(/(\w+)=([0-9.]+)/g)) if (key in found) found[key] = Number(value);
  return found;
}

// How far a pose reaches from its root along the line of the picture, and how high [m].
function extent(run, frame, along) {
  let [low, high, top] = [Infinity, -Infinity, 0];
  const root = run.position('simulated', frame, run.character.root);
  run.character.bodies.forEach((body, b) => {
    const p = run.position('simulated', frame, b);
    const s = (p[0] - root[0]) * along[0] + (p[2] - root[2]) * along[1];
    low = Math.min(low, s - 0.12);
    high = Math.max(high, s + 0.12);
    top = Math.max(top, p[1] + 0.2);
  });
  return { low, high, top, root };
}

export function drawFilmStrip(page, run, hash) {
  document.documentElement.style.colorScheme = 'light';
  const { figures, width, start, end } = options(hash);
  const last = Math.min(end, run.duration);
  const along = run.travel;
  const times = Array.from({ length: figures }, (_, k) => start + ((last - start) * k) / Math.max(1, figures - 1));
  const poses = times.map((time) => {
    const frame = Math.max(0, Math.min(run.numFrames - 1, Math.round(time / run.frameTime)));
    const reach = extent(run, frame, along);
    return { time: frame * run.frameTime, ...reach, place: reach.root[0] * along[0] + reach.root[2] * along[1] };
  });
  // At their true places where these are far enough apart, else in a row with even gaps.
  const gap = -0.2 * (run.character.height / 1.7); // limbs may overlap a little
  const fits = poses.every((b, k) => k === 0 || b.place + b.low >= poses[k - 1].place + poses[k - 1].high + gap);
  const shown = [];
  for (const [k, pose] of poses.entries()) {
    const before = shown[k - 1];
    const place = fits || !before ? pose.place : before.place + before.high - pose.low + 0.1;
    shown.push({ ...pose, place, shift: place - pose.place });
  }
  const left = Math.min(...shown.map((p) => p.place + p.low)) - 0.35;
  const right = Math.max(...shown.map((p) => p.place + p.high)) + 0.35;
  const top = Math.max(...shown.map((p) => p.top)) + 0.12;
  const scale = width / (right - left);
  const below = 0.5; // of the ground before the figures
  const height = Math.round(scale * (top * Math.cos(elevation) + below));

  const colors = palette();
  const scene = new Scene();
  scene.background = new Color(colors.ground);
  const geometries = bodyGeometries(run);
  for (const pose of shown) {
    const figure = new Figure(run, 'simulated', geometries, 'solid');
    const arrows = new Arrows(run);
    figure.show(pose.time);
    arrows.show(pose.time);
    for (const group of [figure.group, arrows.group]) {
      group.position.set(pose.shift * along[0], 0, pose.shift * along[1]);
      scene.add(group);
    }
  }
  const surroundings = new Surroundings(run, fits);
  surroundings.show(run.duration / 2);
  if (surroundings.shadow) surroundings.shadow.scale.setScalar(2);
  scene.add(surroundings.group);
  if (fits) {
    const footprints = new Footprints(run);
    footprints.show(last);
    scene.add(footprints.mesh);
  }
  const root = run.path[Math.floor(run.path.length / 2)];
  const middle = (left + right) / 2;
  const across = root[0] * -along[1] + root[2] * along[0]; // of the line of travel, towards the viewer
  const cx = middle * along[0] - across * along[1];
  const cz = middle * along[1] + across * along[0];
  const sun = new DirectionalLight(0xffffff, 2.1);
  sun.castShadow = true;
  sun.shadow.mapSize.set(4096, 4096);
  sun.shadow.radius = 3;
  sun.shadow.normalBias = 0.02;
  sun.shadow.bias = -0.0004;
  const half = 0.5 * (right - left) + 1;
  Object.assign(sun.shadow.camera, { left: -half, right: half, bottom: -half, top: half, near: 0.5, far: 4 * half });
  sun.position.set(cx - along[1] * half + along[0] * 0.5 * half, 1.6 * half, cz + along[0] * half + along[1] * 0.5 * half);
  sun.target.position.set(cx, 0, cz);
  scene.add(sun, sun.target, new HemisphereLight(0xffffff, 0xc8c4b8, 2.5));

  const camera = new OrthographicCamera(-width / scale / 2, width / scale / 2, 0, 0, 0.1, 80);
  const towards = [-along[1], along[0]];
  const far = 30;
  camera.position.set(cx + towards[0] * far * Math.cos(elevation), far * Math.sin(elevation), cz + towards[1] * far * Math.cos(elevation));
  camera.lookAt(cx, 0, cz);
  camera.top = height / scale - below;
  camera.bottom = -below;
  camera.updateProjectionMatrix();

  const sharp = 2; // drawn larger and reduced: smooth edges whatever draws
  const renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  renderer.setPixelRatio(1);
  renderer.setSize(sharp * width, sharp * height, false);
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  renderer.render(scene, camera);

  const canvas = element('canvas', { width, height });
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(renderer.domElement, 0, 0, width, height);
  const size = Math.max(11, Math.round(width / 95));
  context.font = `${size}px system-ui, 'DejaVu Sans', sans-serif`;
  context.fillStyle = colors.faint;
  context.textAlign = 'center';
  for (const pose of shown) {
    context.fillText(`${pose.time.toFixed(1)} s`, (pose.place - left) * scale, height - 0.6 * size);
  }
  const picture = document.createElement('img');
  picture.setAttribute('id', 'picture');
  picture.setAttribute('src', canvas.toDataURL('image/png'));
  picture.setAttribute('alt', `${run.name}: ${figures} poses of the motion, with the contact forces`);
  page.replaceChildren(picture);
}
