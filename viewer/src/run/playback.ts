// The clock of the page: where in the run it is, and how it goes on.

export const kSpeeds = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export class Playback {
  private playing_ = false;
  private speed_ = 1;
  private time_: number;
  loop = true;
  onChange: () => void = () => {};

  constructor(private readonly times: Float64Array) {
    this.time_ = this.begin;
  }

  get begin(): number {
    return this.times[0] ?? 0;
  }
  get end(): number {
    return this.times[this.times.length - 1] ?? 0;
  }
  get frameCount(): number {
    return this.times.length;
  }
  get time(): number {
    return this.time_;
  }
  get playing(): boolean {
    return this.playing_;
  }
  get speed(): number {
    return this.speed_;
  }

  // The last frame at or before the present time.
  get frame(): number {
    return this.frameAt(this.time_);
  }
  frameAt(time: number): number {
    let low = 0;
    let high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle]! <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  timeOf(frame: number): number {
    return this.times[Math.min(Math.max(frame, 0), this.times.length - 1)]!;
  }

  seek(time: number): void {
    this.time_ = Math.min(Math.max(time, this.begin), this.end);
    this.onChange();
  }
  stepFrames(count: number): void {
    this.pause();
    // Between two frames a step back goes to the earlier one.
    const between = count < 0 && this.time_ > this.timeOf(this.frame) ? 1 : 0;
    this.seek(this.timeOf(this.frame + count + between));
  }
  setSpeed(speed: number): void {
    this.speed_ = speed;
    this.onChange();
  }
  changeSpeed(steps: number): void {
    const at = kSpeeds.indexOf(this.speed_);
    this.setSpeed(kSpeeds[Math.min(Math.max(at + steps, 0), kSpeeds.length - 1)]!);
  }
  play(): void {
    if (this.time_ >= this.end) this.time_ = this.begin;
    this.playing_ = this.end > this.begin;
    this.onChange();
  }
  pause(): void {
    this.playing_ = false;
    this.onChange();
  }
  // Pauses without a word: whoever asks knows.
  stop(): void {
    this.playing_ = false;
  }
  toggle(): void {
    if (this.playing_) this.pause();
    else this.play();
  }

  // Seconds of the wall's clock have passed.
  advance(seconds: number): void {
    // The first picture of a browser may be stamped earlier than the script that asked for it.
    if (!this.playing_ || !(seconds > 0)) return;
    let next = this.time_ + seconds * this.speed_;
    if (next >= this.end) {
      if (!this.loop) this.playing_ = false;
      next = this.loop ? this.begin : this.end;
    }
    this.time_ = next;
    this.onChange();
  }
}

// A short run is shown slowly enough to be followed; a speed is one of kSpeeds.
export function fittingSpeed(seconds: number): number {
  const wanted = seconds / 4;
  if (wanted >= 1 || seconds <= 0) return 1;
  return kSpeeds.reduce((best, s) => (s <= wanted * 1.5 ? s : best), kSpeeds[0]!);
}
