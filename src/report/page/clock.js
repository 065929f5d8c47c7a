// The one time that everything on the page shows.

export class Clock {
  constructor(duration, frameTime) {
    this.duration = duration;
    this.frameTime = frameTime;
    this.time = 0;
    this.speed = 1;
    this.loop = true;
    this.playing = false;
    this.view = { start: 0, end: duration }; // what charts show; another object after each change
    this.listeners = [];
  }

  onChange(call) {
    this.listeners.push(call);
  }

  changed() {
    for (const call of this.listeners) call(this);
  }

  set(time) {
    if (!Number.isFinite(time)) return;
    this.time = Math.max(0, Math.min(this.duration, time));
    this.keepInView();
    this.changed();
  }

  // Charts show these seconds, at least a few frames of them.
  show(start, end) {
    const least = Math.min(this.duration, 8 * this.frameTime);
    const length = Math.max(least, Math.min(this.duration, Math.abs(end - start)));
    const first = Math.max(0, Math.min(this.duration - length, Math.min(start, end)));
    if (!Number.isFinite(first) || !Number.isFinite(length)) return;
    this.view = { start: first, end: first + length };
    this.changed();
  }

  // Charts show `factor` times as much, about the time shown.
  zoom(factor) {
    const length = (this.view.end - this.view.start) * factor;
    this.show(this.time - length / 2, this.time + length / 2);
  }

  keepInView() {
    const { start, end } = this.view;
    if (this.time >= start && this.time <= end) return;
    const length = end - start;
    const first = Math.max(0, Math.min(this.duration - length, this.time < start ? this.time - 0.9 * length : this.time - 0.1 * length));
    this.view = { start: first, end: first + length };
  }

  // By whole frames, onto the grid of frames.
  step(frames) {
    this.pause();
    this.set((Math.round(this.time / this.frameTime) + frames) * this.frameTime);
  }

  play() {
    if (this.duration <= 0) return;
    if (this.time >= this.duration) this.time = 0;
    this.playing = true;
    this.changed();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  // `elapsed` seconds of the viewer's time have gone by.
  advance(elapsed) {
    if (!this.playing || !(elapsed > 0)) return;
    let time = this.time + elapsed * this.speed;
    if (time >= this.duration) {
      if (this.loop) {
        time %= this.duration;
      } else {
        time = this.duration;
        this.playing = false;
      }
    }
    this.time = time;
    this.keepInView();
    this.changed();
  }
}
