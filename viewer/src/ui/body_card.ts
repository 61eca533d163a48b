// The selected body: what is shown of it, and what acts on it.

import { Vector3 } from 'three';

import type { Pack, Shape } from '../pack/format';
import type { Look, Looks, Mode } from '../run/looks';
import { kModes, levelCount, offers } from '../run/looks';
import type { Theatre } from '../scene/theatre';
import { format, iconButton, make } from './dom';

const kNames: Record<Mode, string> = {
  surface: 'Surface',
  points: 'Points',
  spheres: 'Spheres',
  slice: 'Slice',
  boxes: 'Bricks',
};

export class BodyCard {
  readonly element = make('section', { class: 'card', hidden: true });
  private shown = '';
  private readonly facts = make('dl', { class: 'facts' });

  constructor(
    private readonly pack: Pack,
    private readonly looks: Looks,
    private readonly theatre: Theatre,
  ) {
    looks.onChange(() => this.update());
  }

  private update(): void {
    const body = this.looks.selected;
    this.element.hidden = body === null;
    const look = body === null ? null : this.looks.all[body]!;
    // Sliders that are being dragged stay as they are: only what is offered makes the card anew.
    const key = look ? JSON.stringify([body, look.shown, look.slice.axis]) : '';
    if (body !== null && look && key !== this.shown) this.fill(body, look);
    this.shown = key;
    if (look) this.syncSlice(look);
    this.tick();
  }

  private syncSlice(look: Look): void {
    const slider = this.element.querySelector<HTMLInputElement>('#slice-at');
    if (slider) slider.value = String(look.slice.at);
  }

  private fill(body: number, look: Look): void {
    const { name, colour } = this.pack.bodies[body]!;
    const shape = this.looks.shapeOf(body);
    this.element.replaceChildren(
      make(
        'h2',
        {},
        make('i', { style: `background:${colour}` }),
        make('span', {}, name || `body ${body}`),
        iconButton('fit', 'Look at it (Z)', () => this.theatre.frameSelected()),
        iconButton('close', 'Select nothing (Esc)', () => this.looks.select(null)),
      ),
      this.modes(body, look, shape),
      ...(shape ? this.sliders(body, look, shape) : []),
      this.facts,
      make(
        'button',
        {
          class: 'link',
          title: 'Show the same of all bodies',
          onClick: () => this.looks.copyToAll(body),
        },
        'same for all bodies',
      ),
    );
  }

  private modes(body: number, look: Look, shape: Shape | null): HTMLElement {
    const row = make('div', { class: 'chips' });
    kModes.forEach((mode, k) => {
      const button = make(
        'button',
        {
          class: 'chip',
          'data-mode': mode,
          title: `${kNames[mode]} (${k + 1})`,
          disabled: !offers(shape, mode),
          'aria-pressed': String(look.shown[mode]),
          onClick: () => this.looks.toggleMode(body, mode),
        },
        kNames[mode],
      );
      row.append(button);
    });
    return row;
  }

  private sliders(body: number, look: Look, shape: Shape): HTMLElement[] {
    const rows: HTMLElement[] = [];
    for (const mode of ['points', 'spheres', 'boxes'] as const)
      if (look.shown[mode]) rows.push(this.levelSlider(look, shape, mode));
    if (look.shown.slice) rows.push(this.sliceRow(body, look));
    return rows;
  }

  private levelSlider(look: Look, shape: Shape, mode: 'points' | 'spheres' | 'boxes'): HTMLElement {
    const text = make('output');
    const slider = make('input', {
      type: 'range',
      min: 0,
      max: levelCount(shape, mode) - 1,
      step: 1,
      value: look.level[mode],
      'aria-label': `Level of ${kNames[mode]}`,
    });
    const tell = () => (text.textContent = describeLevel(shape, mode, look.level[mode]));
    slider.addEventListener('input', () => {
      look.level[mode] = Number(slider.value);
      tell();
      this.looks.changed();
    });
    tell();
    return make('label', { class: 'row' }, make('span', {}, kNames[mode]), slider, text);
  }

  private sliceRow(body: number, look: Look): HTMLElement {
    const axes = make('span', { class: 'axes' });
    ['x', 'y', 'z'].forEach((name, axis) => {
      const set = () => {
        look.slice.axis = axis as 0 | 1 | 2;
        this.looks.changed();
      };
      axes.append(
        make(
          'button',
          { class: 'chip', 'aria-pressed': String(look.slice.axis === axis), onClick: set },
          name,
        ),
      );
    });
    const slider = make('input', {
      type: 'range',
      id: 'slice-at',
      min: 0,
      max: 1,
      step: 0.002,
      value: look.slice.at,
      'aria-label': 'Place of the slice',
    });
    slider.addEventListener('input', () => {
      this.looks.all[body]!.slice.at = Number(slider.value);
      this.looks.changed();
    });
    return make('div', { class: 'row' }, axes, slider);
  }

  // What acts on it in this frame.
  tick(): void {
    const body = this.looks.selected;
    if (body === null) return;
    const { mass, kind, shape, center, endless } = this.pack.bodies[body]!;
    const load = this.theatre.contacts.loads().get(body);
    const rows: [string, string][] = this.pack.pair ? [] : [['kind', kind]];
    if (mass !== null) rows.push(['mass', format(mass * 1000, 'g')]);
    if (shape !== null)
      rows.push(['triangles', String(this.pack.shapes[shape]!.triangles.length / 3)]);
    const middle = this.theatre.contacts.centerOf(body, new Vector3());
    if (!endless) rows.push(['position', middle.toArray().map(metres).join(', ') + ' m']);
    // The motion of a pair has no seconds.
    if (!this.pack.pair && kind !== 'static')
      rows.push(['speed', format(this.theatre.speed(body, center), 'm/s')]);
    rows.push(['contact force', format(load?.force.length() ?? 0, 'N')]);
    rows.push(['contact torque', format(load?.torque.length() ?? 0, 'N m')]);
    this.facts.replaceChildren(...rows.flatMap(([k, v]) => [make('dt', {}, k), make('dd', {}, v)]));
  }
}

// Millimetres of a place in the world, without -0.
function metres(x: number): string {
  return String(Number((Math.round(x * 1000) / 1000 + 0).toFixed(3)));
}

function describeLevel(shape: Shape, mode: 'points' | 'spheres' | 'boxes', level: number): string {
  if (mode === 'boxes') {
    const { side, corners } = shape.bricks!.levels[level]!;
    return `${corners.length / 3} of ${format(side, 'm')}`;
  }
  const { levels, positions } = shape.shell!;
  if (level >= levels.length) return `all ${positions.length / 3}`;
  return `level ${level}: ${levels[level]!.points.length}`;
}
