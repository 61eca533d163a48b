// One chart: curves drawn once, the cursor and the numbers under it as time goes.

import type { Log } from '../pack/format';
import { format, make } from './dom';

export interface ChartInfo {
  title: string;
  unit: string; // '' for counts
  series: [label: string, column: string][];
  stacked?: boolean; // and as high as all but the highest hundredth: times have outliers
}

interface Bounds {
  low: number;
  high: number;
}

export class Chart {
  readonly element: HTMLElement;
  readonly plot = make('div', { class: 'plot' });
  private readonly canvas = make('canvas');
  private readonly cursor = make('div', { class: 'cursor' });
  private readonly top = make('span', { class: 'top' });
  private readonly axis = make('div', { class: 'axis', 'aria-label': 'Time in seconds' });
  private readonly values: HTMLElement[] = [];
  private readonly data: Float64Array[]; // as drawn: of stacked ones, the sums
  private readonly raw: Float64Array[];
  private readonly times: Float64Array;
  private dirty = true;

  constructor(
    private readonly info: ChartInfo,
    log: Log,
    private readonly colours: string[],
    private readonly range: { begin: number; end: number }, // seconds, from edge to edge
  ) {
    this.times = log.columns.time!;
    this.raw = info.series.map(([, column]) => log.columns[column]!);
    this.data = info.stacked ? sums(this.raw) : this.raw;
    const legend = make('ul', { class: 'legend' });
    info.series.forEach(([label, column], k) => {
      const value = make('b', { 'data-column': column });
      this.values.push(value);
      const dot = make('i', { style: `background:${this.colour(k)}` });
      legend.append(make('li', {}, dot, `${label} `, value));
    });
    this.plot.append(this.canvas, this.cursor, this.top);
    const { begin, end } = range;
    for (const time of ticks(begin, end)) {
      const left = `left:${(100 * (time - begin)) / (end - begin || 1)}%`;
      this.plot.append(make('i', { class: 'tick', style: left }));
      this.axis.append(make('span', { style: left }, tickText(time)));
    }
    this.axis.lastElementChild?.append(' s');
    this.element = make(
      'figure',
      { class: 'chart' },
      make('figcaption', {}, info.title),
      legend,
      this.plot,
      this.axis,
    );
  }

  private colour(k: number): string {
    return this.info.series.length === 1
      ? this.colours[3]!
      : this.colours[k % this.colours.length]!;
  }

  invalidate(): void {
    this.dirty = true;
  }

  draw(row: number, share: number): void {
    if (this.dirty) this.drawCurves();
    this.cursor.style.left = `${100 * Math.min(Math.max(share, 0), 1)}%`;
    this.raw.forEach((column, k) => {
      const value = column[row]!;
      this.values[k]!.textContent = this.info.unit ? format(value, this.info.unit) : String(value);
      this.values[k]!.dataset.value = String(value);
    });
  }

  private bounds(): Bounds {
    let low = 0;
    let high = 0;
    for (const column of this.data)
      for (const v of column) {
        if (!Number.isFinite(v)) continue;
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    if (this.info.stacked) {
      const sorted = this.data[this.data.length - 1]!.slice().sort();
      high = 1.2 * sorted[Math.floor(0.99 * (sorted.length - 1))]!;
    }
    return high > low ? { low, high: high + 0.06 * (high - low) } : { low, high: low + 1 };
  }

  private drawCurves(): void {
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (width === 0 || height === 0) return;
    this.dirty = false;
    const pixels = Math.min(window.devicePixelRatio, 2);
    this.canvas.width = width * pixels;
    this.canvas.height = height * pixels;
    const c = this.canvas.getContext('2d')!;
    c.scale(pixels, pixels);
    const bounds = this.bounds();
    this.top.textContent = this.info.unit
      ? format(bounds.high, this.info.unit)
      : String(Math.round(bounds.high) + 0); // + 0: no -0
    const y = (v: number) => height - ((v - bounds.low) / (bounds.high - bounds.low)) * height;
    c.strokeStyle = getComputedStyle(this.element).getPropertyValue('--line');
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(0, y(0));
    c.lineTo(width, y(0));
    c.stroke();
    // The last sum is the highest: what is below it is painted over it.
    for (let k = this.data.length - 1; k >= 0; --k) this.drawCurve(c, k, width, y);
  }

  // A column of pixels shows all values in it, from the lowest to the highest.
  private drawCurve(
    c: CanvasRenderingContext2D,
    k: number,
    width: number,
    y: (v: number) => number,
  ): void {
    const column = this.data[k]!;
    const { begin, end } = this.range;
    const x = (row: number) => ((this.times[row]! - begin) / (end - begin || 1)) * width;
    c.beginPath();
    let pixel = -1;
    let low = 0;
    let high = 0;
    const flush = () => {
      if (pixel < 0) return;
      c.lineTo(pixel, y(low));
      if (high > low) c.lineTo(pixel, y(high));
    };
    for (let row = 0; row < column.length; ++row) {
      const v = column[row]!;
      if (!Number.isFinite(v)) continue;
      const at = Math.floor(x(row));
      if (at === pixel) {
        low = Math.min(low, v);
        high = Math.max(high, v);
        continue;
      }
      flush();
      pixel = at;
      low = high = v;
    }
    flush();
    c.lineJoin = 'round';
    c.strokeStyle = this.colour(k);
    c.lineWidth = 1.5;
    c.stroke();
    if (!this.info.stacked && this.data.length > 1) return;
    c.lineTo(width, y(0));
    c.lineTo(0, y(0));
    c.globalAlpha = this.info.stacked ? 0.55 : 0.18;
    c.fillStyle = this.colour(k);
    c.fill();
    c.globalAlpha = 1;
  }
}

const kMostTicks = 5;

// Times in steps of 1, 2 or 5 of a decimal place, from the first to the last in the range.
export function ticks(begin: number, end: number): number[] {
  const length = end - begin;
  if (!(length > 0)) return [begin];
  let step = 10 ** Math.floor(Math.log10(length));
  step = [step / 10, step / 5, step / 2, step, 2 * step].find((s) => length / s <= kMostTicks)!;
  const times: number[] = [];
  const first = Math.ceil(begin / step - 1e-9);
  for (let k = first; k * step <= end + 1e-9 * length; ++k) times.push(k * step);
  return times;
}

function tickText(time: number): string {
  return String(Number(time.toPrecision(6)));
}

function sums(columns: Float64Array[]): Float64Array[] {
  const made: Float64Array[] = [];
  columns.forEach((column, k) => made.push(column.map((v, row) => v + (made[k - 1]?.[row] ?? 0))));
  return made;
}
