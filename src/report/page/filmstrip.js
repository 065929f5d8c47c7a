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

// How far the poses of all characters reach from the first one's root along the line of the picture, how high, and how
// far to the viewer [m]. Seen from above, who stands behind the first one stands higher in the picture.
function extent(scene, frame, along) {
  let [low, high, top, near] = [Infinity, -Infinity, 0, 0];
  const root = scene.runs[0].position('simulated', frame, scene.runs[0].character.root);
  for (const run of scene.runs) {
    const own = run.position('simulated', frame, run.character.root);
    const towards = (own[2] - root[2]) * along[0] - (own[0] - root[0]) * along[1];
    near = Math.max(near, towards);
    run.character.bodies.forEach((body, b) => {
      const p = run.position('simulated', frame, b);
      const s = (p[0] - root[0]) * along[0] + (p[2] - root[2]) * along[1];
      low = Math.min(low, s - 0.12);
      high = Math.max(high, s + 0.12);
      top = Math.max(top, p[1] + 0.2 - towards * Math.tan(elevation));
    });
  }
  return { low, high, top, near, root };
}

export function drawFilmStrip(page, film, hash) {
  document.documentElement.style.colorScheme = 'light';
  const { figures, width, start, end } = options(hash);
  const last = Math.min(end, film.duration);
  const along = film.travel;
  const times = Array.from({ length: figures }, (_, k) => start + ((last - start) * k) / Math.max(1, figures - 1));
  const poses = times.map((time) => {
    const frame = Math.max(0, Math.min(film.numFrames - 1, Math.round(time / film.frameTime)));
    const reach = extent(film, frame, along);
    return { time: frame * film.frameTime, ...reach, place: reach.root[0] * along[0] + reach.root[2] * along[1] };
  });
  // At their true places where these are far enough apart, else in a row with even gaps.
  const gap = -0.2 * (film.height / 1.7); // limbs may overlap a little
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
  const below = 0.5 + Math.max(...shown.map((p) => p.near)) * Math.sin(elevation); // of the ground before the figures
  const height = Math.round(scale * (top * Math.cos(elevation) + below));

  const colors = palette();
  const scene = new Scene();
  scene.background = new Color(colors.ground);
  for (const run of film.runs) {
    const geometries = bodyGeometries(run);
    for (const pose of shown) {
      const figure = new Figure(run, 'simulated', geometries, 'solid');
      const arrows = [new Arrows(run), ...(run.push_arrows ? [new Arrows(run, 'push')] : [])];
      for (const part of [figure, ...arrows]) {
        const { group } = part;
        part.show(pose.time);
        group.position.set(pose.shift * along[0], 0, pose.shift * along[1]);
        scene.add(group);
      }
    }
    if (fits) {
      const footprints = new Footprints(run);
      footprints.show(last);
      scene.add(footprints.mesh);
    }
  }
  const surroundings = new Surroundings(film, fits);
  surroundings.show(film.duration / 2);
  if (surroundings.shadow) surroundings.shadow.scale.setScalar(2);
  scene.add(surroundings.group);
  const root = film.path[Math.floor(film.path.length / 2)];
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
  picture.setAttribute('alt', `${film.name}: ${figures} poses of the motion, with the contact forces`);
  page.replaceChildren(picture);
}
