// The bar at the foot: play, step, scrub, speed.

import { kSpeeds, Playback } from '../run/playback';
import { iconButton, make, setIcon } from './dom';

const kScrubSteps = 10000;

export class Transport {
  readonly element: HTMLElement;
  private readonly playButton: HTMLButtonElement;
  private readonly loopButton: HTMLButtonElement;
  private readonly scrub: HTMLInputElement;
  private readonly speed: HTMLSelectElement;
  private readonly clock = make('output', { class: 'clock', 'aria-label': 'Time' });
  private readonly marks = make('div', { class: 'marks' });
  private shownPlaying: boolean | null = null;

  // `unit`: of the clock.
  constructor(
    private readonly playback: Playback,
    private readonly unit: string,
  ) {
    this.playButton = iconButton('play', 'Play or pause (space)', () => playback.toggle());
    this.playButton.classList.add('primary');
    this.playButton.id = 'play';
    this.loopButton = iconButton('loop', 'Again from the start at the end (L)', () =>
      this.toggleLoop(),
    );
    this.scrub = make('input', {
      type: 'range',
      id: 'scrub',
      min: 0,
      max: kScrubSteps,
      step: 1,
      value: 0,
      'aria-label': 'Time in the run',
    });
    this.scrub.addEventListener('input', () => {
      const share = Number(this.scrub.value) / kScrubSteps;
      playback.seek(playback.begin + share * (playback.end - playback.begin));
    });
    this.speed = make('select', { id: 'speed', title: 'Speed ([ and ])', 'aria-label': 'Speed' });
    for (const s of kSpeeds) this.speed.append(make('option', { value: s }, `${s}×`));
    this.speed.addEventListener('change', () => playback.setSpeed(Number(this.speed.value)));
    this.element = make(
      'div',
      { class: 'transport', role: 'toolbar', 'aria-label': 'Playback' },
      iconButton('back', 'A frame back (←)', () => playback.stepFrames(-1)),
      this.playButton,
      iconButton('forward', 'A frame on (→)', () => playback.stepFrames(1)),
      make('div', { class: 'scrub' }, this.marks, this.scrub),
      this.clock,
      this.speed,
      this.loopButton,
    );
    this.update();
  }

  // Stretches of time, and a moment, that are worth to be seen on the slider.
  mark(stretches: [number, number][], moment: number | null): void {
    const { begin, end } = this.playback;
    const share = (t: number) => (t - begin) / (end - begin || 1);
    const at = (s: number) => `calc(8px + (100% - 16px) * ${s})`; // where the knob's middle is
    this.marks.replaceChildren(
      ...stretches.map(([from, to]) =>
        make('i', {
          class: 'stretch',
          style: `left:${at(share(from))};width:calc((100% - 16px) * ${share(to) - share(from)})`,
        }),
      ),
    );
    if (moment !== null)
      this.marks.append(make('i', { class: 'moment', style: `left:${at(share(moment))}` }));
  }

  toggleLoop(): void {
    this.playback.loop = !this.playback.loop;
    this.update();
  }

  update(): void {
    const { playback } = this;
    if (this.shownPlaying !== playback.playing) {
      setIcon(this.playButton, playback.playing ? 'pause' : 'play');
      this.shownPlaying = playback.playing;
    }
    const length = playback.end - playback.begin;
    const share = length > 0 ? (playback.time - playback.begin) / length : 0;
    this.scrub.value = String(Math.round(share * kScrubSteps));
    this.scrub.style.setProperty('--share', `${100 * share}%`);
    const digits = length < 2 ? 4 : 3;
    this.clock.textContent = `${playback.time.toFixed(digits)} ${this.unit}`.trim();
    this.clock.title = `Frame ${playback.frame + 1} of ${playback.frameCount}`;
    this.speed.value = String(playback.speed);
    this.loopButton.setAttribute('aria-pressed', String(playback.loop));
  }
}
