// Small charts of the log, all with one cursor: the time of the picture. Clicks and drags seek.

import type { Log } from '../pack/format';
import type { Playback } from '../run/playback';
import { kSeries } from '../scene/colours';
import { Chart, ChartInfo } from './chart';
import { make } from './dom';

const kCharts: ChartInfo[] = [
  {
    title: 'Energy',
    unit: 'J',
    series: [
      ['kinetic', 'kinetic'],
      ['potential', 'potential'],
      ['springs', 'springs'],
      ['total', 'total'],
    ],
  },
  { title: 'Penetration', unit: 'm', series: [['deepest', 'depth']] },
  {
    title: 'Contacts',
    unit: '',
    series: [
      ['pairs near', 'pairs'],
      ['touching', 'contacts'],
    ],
  },
  {
    title: 'Time a step',
    unit: 's',
    stacked: true,
    series: [
      ['broad', 'broad_seconds'],
      ['detection', 'detection_seconds'],
      ['forces', 'forces_seconds'],
      ['motion', 'motion_seconds'],
    ],
  },
];

export class Charts {
  readonly element = make('section', { class: 'charts', 'aria-label': 'Charts' });
  private readonly charts: Chart[] = [];
  private dirty = true;

  constructor(
    private readonly log: Log,
    private readonly playback: Playback,
  ) {
    if (log.columns.time!.length === 0) return;
    for (const info of kCharts) {
      const chart = new Chart(info, log, kSeries, playback);
      this.charts.push(chart);
      this.element.append(chart.element);
      this.seekBy(chart);
    }
    new ResizeObserver(() => this.invalidate()).observe(this.element);
  }

  get isEmpty(): boolean {
    return this.charts.length === 0;
  }

  invalidate(): void {
    this.dirty = true;
    for (const chart of this.charts) chart.invalidate();
  }

  // The row of the log that holds at the time: the last one that is not later.
  private row(): number {
    const times = this.log.columns.time!;
    const time = this.playback.time + 1e-9 * Math.max(1, this.playback.end);
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle]! <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  update(): void {
    this.dirty = true;
  }

  draw(): void {
    if (!this.dirty || this.element.offsetParent === null) return;
    this.dirty = false;
    const { begin, end, time } = this.playback;
    for (const chart of this.charts) chart.draw(this.row(), (time - begin) / (end - begin || 1));
  }

  private seekBy(chart: Chart): void {
    const { plot } = chart;
    const seek = (event: PointerEvent) => {
      const box = plot.getBoundingClientRect();
      const share = (event.clientX - box.left) / box.width;
      const { begin, end } = this.playback;
      this.playback.seek(begin + share * (end - begin));
    };
    plot.addEventListener('pointerdown', (event) => {
      plot.setPointerCapture(event.pointerId);
      seek(event);
    });
    plot.addEventListener('pointermove', (event) => {
      if (plot.hasPointerCapture(event.pointerId)) seek(event);
    });
  }
}
