// All bodies by name, with an eye each.

import type { Pack } from '../pack/format';
import type { Looks } from '../run/looks';
import type { Theatre } from '../scene/theatre';
import { iconButton, make, setIcon } from './dom';

const kMostRows = 400; // what is further down is found by its name

interface Row {
  element: HTMLElement;
  eye: HTMLElement;
  body: number;
  visible: boolean;
}

export class BodyList {
  readonly element: HTMLElement;
  private readonly list = make('ul', { class: 'bodies' });
  private readonly more = make('p', { class: 'more' });
  private readonly filter: HTMLInputElement;
  private rows: Row[] = [];

  constructor(
    private readonly pack: Pack,
    private readonly looks: Looks,
    private readonly theatre: Theatre,
  ) {
    this.filter = make('input', {
      type: 'search',
      placeholder: 'Find a body',
      'aria-label': 'Find a body by name',
    });
    this.filter.addEventListener('input', () => this.fill());
    const { bodies, softBodies } = pack;
    const count = bodies.length + softBodies.length;
    this.element = make(
      'section',
      { class: 'body-list' },
      make(
        'h2',
        {},
        `Bodies `,
        make('small', {}, String(count)),
        make('button', { class: 'link', onClick: () => looks.showAll() }, 'show all'),
      ),
      count > 12 ? this.filter : null,
      this.list,
      this.more,
    );
    this.fill();
    looks.onChange(() => this.update());
  }

  private fill(): void {
    const wanted = this.filter.value.trim().toLowerCase();
    const found = this.pack.bodies
      .map((_, k) => k)
      .filter((k) => this.pack.bodies[k]!.name.toLowerCase().includes(wanted));
    this.rows = found.slice(0, kMostRows).map((k) => this.makeRow(k));
    this.list.replaceChildren(...this.rows.map((r) => r.element), ...this.softRows(wanted));
    this.more.textContent =
      found.length > kMostRows ? `${found.length - kMostRows} more: find them by name` : '';
    this.update();
  }

  private makeRow(body: number): Row {
    const { name, colour, kind } = this.pack.bodies[body]!;
    const note = this.pack.pair ? 'AB'[body]! : kind === 'dynamic' ? '' : kind;
    const eye = iconButton('eye', 'Show or hide (H)', () =>
      this.looks.setVisible(body, !this.looks.all[body]!.visible),
    );
    const pick = make(
      'button',
      {
        class: 'name',
        onClick: () => this.looks.select(this.looks.selected === body ? null : body),
      },
      make('i', { style: `background:${colour}` }),
      make('span', {}, name || `body ${body}`),
      note === '' ? null : make('small', {}, note),
    );
    return { element: make('li', {}, pick, eye), eye, body, visible: true };
  }

  private softRows(wanted: string): HTMLElement[] {
    const { soft } = this.theatre;
    return this.pack.softBodies.flatMap(({ name, colour }, k) => {
      if (!name.toLowerCase().includes(wanted)) return [];
      const eye = iconButton('eye', 'Show or hide', () => {
        soft.visible[k] = !soft.visible[k];
        setIcon(eye, soft.visible[k] ? 'eye' : 'hidden');
        this.looks.changed();
      });
      const label = make(
        'span',
        { class: 'name' },
        make('i', { style: `background:${colour}` }),
        make('span', {}, name || `soft body ${k}`),
        make('small', {}, 'soft'),
      );
      return [make('li', {}, label, eye)];
    });
  }

  private update(): void {
    for (const row of this.rows) {
      const { visible } = this.looks.all[row.body]!;
      row.element.classList.toggle('selected', row.body === this.looks.selected);
      row.element.classList.toggle('off', !visible);
      if (row.visible !== visible) setIcon(row.eye, visible ? 'eye' : 'hidden');
      row.visible = visible;
    }
  }
}
