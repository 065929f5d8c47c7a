// All scenes in 3D, side by side in one canvas: one camera, moved by the viewer, which follows each scene's characters.
import { PCFShadowMap, PerspectiveCamera, Vector3, WebGLRenderer } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { onSchemeChange } from './colors.js';
import { element } from './dom.js';
import { SceneView } from './scene.js';

const angles = { side: 0, oblique: 0.5, front: Math.PI / 2, back: -Math.PI / 2 };

export class Stage {
  constructor(scenes, clock) {
    this.scenes = scenes;
    this.clock = clock;
    this.follows = true;
    this.canvas = element('canvas', {
      tabIndex: 0,
      role: 'img',
      ariaLabel: '3D view of the motion. Drag to turn it, scroll or pinch to come closer; keys are listed below.',
    });
    this.cells = scenes.map((scene) => element('div.cell', {}, scenes.length > 1 ? element('span', {}, scene.name) : ''));
    this.node = element('div.stage', { style: `--runs: ${scenes.length}` }, this.canvas, ...this.cells);
    try {
      this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true, powerPreference: 'low-power' });
    } catch {
      this.canvas.remove();
      this.node.prepend(
        element('p.missing', {}, 'This browser draws no 3D (WebGL 2 is switched off or missing). The charts below work.'),
      );
      return;
    }
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.setScissorTest(true);
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.views = scenes.map((scene) => new SceneView(scene));
    this.camera = new PerspectiveCamera(30, 1, 0.2, 80);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.minDistance = 0.8;
    this.controls.maxDistance = 25;
    this.controls.maxPolarAngle = 0.5 * Math.PI - 0.01;
    this.controls.addEventListener('change', () => this.invalidate());
    // A finger that moves up or down scrolls the page; two turn and zoom.
    this.canvas.style.touchAction = 'pan-y';
    this.followed = new Vector3(...scenes[0].pathAt(0));
    this.view('oblique');
    new ResizeObserver(() => this.resize()).observe(this.node);
    onSchemeChange(() => {
      for (const view of this.views) view.paint();
      this.invalidate();
    });
    clock.onChange(() => this.invalidate());
  }

  get works() {
    return Boolean(this.renderer);
  }

  // Looks at the characters from one of the named sides.
  view(name) {
    const scene = this.scenes[0];
    const [tx, tz] = scene.travel;
    const a = angles[name];
    const back =
      name === 'top'
        ? new Vector3(-tz * 0.005, 1, tx * 0.005)
        : new Vector3(-tz * Math.cos(a) + tx * Math.sin(a), 0.2, tx * Math.cos(a) + tz * Math.sin(a));
    back.normalize();
    const { far, rise, up } = this.framing(back);
    const target = new Vector3(...scene.pathAt(this.clock.time)).addScaledVector(up, rise);
    this.camera.position.copy(target).addScaledVector(back, far);
    // Never from below the ground.
    this.camera.position.y = Math.max(this.camera.position.y, this.floor() + 0.1);
    this.controls.target.copy(target);
    this.followed.set(...scene.pathAt(this.clock.time));
    this.controls.update();
    this.invalidate();
  }

  // The view as it is, as a PNG picture. Drawn anew, since what is shown does not stay in the canvas.
  picture() {
    this.dirty = true;
    this.draw();
    return this.canvas.toDataURL('image/png');
  }

  save() {
    if (!this.works) return;
    element('a', { href: this.picture(), download: `${this.scenes[0].name.replace(/[^\w.-]+/g, '_')}_${this.clock.time.toFixed(2)}s.png` }).click();
  }

  fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.node.requestFullscreen?.();
  }

  // How far the eye stands so that all bodies stay in view over the whole motion, seen along `back`, and how high over
  // the path the middle of what is seen is.
  framing(back) {
    const right = new Vector3(0, 1, 0).cross(back).normalize();
    const up = back.clone().cross(right);
    const places = [];
    for (const scene of this.scenes) {
      const width = (0.16 * scene.height) / 1.7;
      for (const run of scene.runs) {
        const stride = Math.max(1, Math.floor(run.numFrames / 300));
        for (let frame = 0; frame < run.numFrames; frame += stride) {
          const root = scene.path[Math.min(frame, scene.path.length - 1)];
          for (let b = 0; b < run.numBodies; ++b) {
            const p = run.position('simulated', frame, b);
            const away = new Vector3(p[0] - root[0], p[1] - root[1], p[2] - root[2]);
            places.push([Math.abs(away.dot(right)) + width, away.dot(up), away.dot(back), width]);
          }
        }
      }
    }
    let low = Infinity;
    let high = -Infinity;
    for (const [, above, , width] of places) {
      low = Math.min(low, above - width);
      high = Math.max(high, above + width);
    }
    const rise = (low + high) / 2;
    const slope = Math.tan((this.camera.fov * Math.PI) / 360);
    const aspect = Math.max(0.4, this.aspect ?? 1.5);
    let far = 2;
    for (const [aside, above, near, width] of places) {
      far = Math.max(far, (1.12 * Math.max(aside / aspect, Math.abs(above - rise) + width)) / slope + near);
    }
    return { far, rise, up };
  }

  floor() {
    const { world, path, height } = this.scenes[0];
    const { ground } = world;
    const lowest = Math.min(...path.map((p) => p[1])) - 0.55 * height;
    return ground.present ? ground.height : lowest;
  }

  set(option, value) {
    if (!this.works) return;
    for (const view of this.views) {
      view.shown[option] = value;
      view.arrange();
    }
    this.invalidate();
  }

  invalidate() {
    this.dirty = true;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.node;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    const first = this.cells[0];
    const before = this.aspect;
    this.aspect = first.clientWidth / Math.max(1, first.clientHeight);
    this.camera.aspect = this.aspect;
    this.camera.updateProjectionMatrix();
    if (before === undefined) this.view('oblique');
    this.invalidate();
  }

  // Draws what has changed since it last did.
  draw() {
    if (!this.works || !this.dirty || !this.aspect) return;
    this.dirty = false;
    const { time } = this.clock;
    if (this.follows) {
      const now = new Vector3(...this.scenes[0].pathAt(time));
      const moved = now.clone().sub(this.followed);
      this.followed.copy(now);
      this.camera.position.add(moved);
      this.controls.target.add(moved);
      this.controls.update();
      this.dirty = false;
    }
    const bounds = this.node.getBoundingClientRect();
    const home = this.camera.position.clone();
    this.views.forEach((view, k) => {
      view.show(time);
      const cell = this.cells[k].getBoundingClientRect();
      const x = cell.left - bounds.left;
      const y = bounds.bottom - cell.bottom;
      this.renderer.setViewport(x, y, cell.width, cell.height);
      this.renderer.setScissor(x, y, cell.width, cell.height);
      this.camera.position.copy(home);
      if (k > 0 && this.follows) {
        const [ax, , az] = this.scenes[0].pathAt(time);
        const [bx, , bz] = this.scenes[k].pathAt(time);
        this.camera.position.x += bx - ax;
        this.camera.position.z += bz - az;
      }
      this.camera.updateMatrixWorld();
      this.renderer.render(view.scene, this.camera);
    });
    this.camera.position.copy(home);
    this.camera.updateMatrixWorld();
  }
}
