// The one time that everything on the page shows.

export class Clock {
  constructor(duration, frameTime) {
    this.duration = duration;
    this.frameTime = frameTime;
    this.time = 0;
    this.speed = 1;
    this.loop = true;
    this.playing = false;
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
    this.changed();
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
    this.changed();
  }
}
