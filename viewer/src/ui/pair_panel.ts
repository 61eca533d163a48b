// What a query said about two bodies: facts, contacts, and what a hand may do.

import type { PairContact, PairReport, Vec3 } from '../pack/format';
import type { Hand, HandMode } from '../pair/hand';
import type { Inspector } from '../pair/inspector';
import type { Playback } from '../run/playback';
import { kColours } from '../scene/colours';
import type { Theatre } from '../scene/theatre';
import { format, make } from './dom';

const kMostRows = 64;
const kMethods: Record<string, string> = {
  vps: 'points in fields (vps)',
  swept: 'swept points',
  idf: 'an intersection field',
  depth: 'depth maps',
};

const lengthOf = (v: Vec3) => Math.hypot(...v);

export class PairPanel {
  readonly answer: HTMLElement;
  readonly table: HTMLElement;
  private readonly facts = make('dl', { class: 'facts' });
  private readonly buttons = make('div', { class: 'chips' });
  private readonly back = make(
    'button',
    { class: 'chip', id: 'put-back', title: 'Where the tool was given it (0)' },
    'Put back',
  );
  private readonly words = make('p', { class: 'still' });
  private rowsOf: { list: PairContact[] | null; shown: number; marked: number | null } = {
    list: null,
    shown: 0,
    marked: null,
  };
  private readonly rows = make('tbody');
  private readonly more = make('p', { class: 'more' });
  private readonly unit: { name: string; metres: number };

  constructor(
    private readonly inspector: Inspector,
    private readonly theatre: Theatre,
    private readonly playback: Playback,
  ) {
    this.unit = unitOf(theatre.stage.radius);
    this.answer = make(
      'section',
      { class: 'answer', 'aria-label': 'Answer', 'aria-live': 'off' },
      this.facts,
      make('div', { class: 'hand' }, this.buttons, this.words),
    );
    const columns = ['depth', 'x', 'y', 'z', ...(inspector.moves ? ['at'] : [])];
    this.table = make(
      'section',
      { class: 'contact-table' },
      make(
        'table',
        {},
        make('caption', {}, `${inspector.moves ? 'the earliest first, ' : ''}in ${this.unit.name}`),
        make('thead', {}, make('tr', {}, ...columns.map((c) => make('th', { scope: 'col' }, c)))),
        this.rows,
      ),
      this.more,
    );
    this.update();
  }

  update(): void {
    const { inspector } = this;
    const { answer } = inspector;
    this.facts.replaceChildren(
      ...this.factsOf(answer).flatMap(([k, v]) => {
        const style = k === 'warning' ? { style: `color:${kColours.warning}` } : {};
        return [make('dt', style, k), make('dd', style, v)];
      }),
    );
    this.fillHand();
    this.fillRows();
  }

  private factsOf(answer: PairReport): [string, string][] {
    const { inspector } = this;
    const status = answer.inside ? 'contact: A lies within B' : answer.status.replace('_', ' ');
    const rows: [string, string][] = [['status', status]];
    rows.push(['by', kMethods[answer.method] ?? answer.method]);
    const moves = inspector.moves && !inspector.moved;
    if (moves && answer.time_of_contact !== null)
      rows.push(['first contact at', answer.time_of_contact.toFixed(4)]);
    if (answer.min_distance !== null)
      rows.push([moves ? 'closest approach' : 'distance', format(answer.min_distance, 'm')]);
    else if (answer.lower_bound != null)
      rows.push(['distance above', format(answer.lower_bound, 'm')]);
    const deepest = answer.contacts.reduce((most, c) => Math.max(most, c.depth), -Infinity);
    if (Number.isFinite(deepest) && !moves) rows.push(['deepest contact', format(deepest, 'm')]);
    if (answer.touching_points) rows.push(['points that touch', String(answer.touching_points)]);
    if (answer.force && answer.torque && answer.contacts.length > 0) {
      rows.push(['force on A', format(lengthOf(answer.force), 'N')]);
      rows.push(['torque on A', format(lengthOf(answer.torque), 'N m')]);
    }
    if (answer.blind_depth !== null)
      rows.push(['unseen at most', format(answer.blind_depth, 'm')]);
    if (inspector.moved) rows.push(['asked here in', format(inspector.milliseconds / 1e3, 's')]);
    else rows.push(['time', format(answer.seconds, 's')]);
    for (const warning of answer.warnings ?? []) rows.push(['warning', warning]);
    return rows;
  }

  // Made once B can be held; after that only words and states change, so that focus stays.
  private fillHand(): void {
    const { inspector } = this;
    const { hand } = inspector;
    if (!hand) {
      const why = inspector.still;
      this.words.textContent = why ? `B cannot be dragged: ${why}.` : '';
      return;
    }
    if (this.buttons.childElementCount === 0) this.makeButtons(hand);
    for (const chip of this.buttons.querySelectorAll<HTMLElement>('[data-hand]'))
      chip.setAttribute('aria-pressed', String(hand.mode === chip.dataset.hand));
    this.back.disabled = !inspector.moved;
    this.words.textContent = inspector.trouble
      ? `The query failed: ${inspector.trouble}.`
      : inspector.moved
        ? 'B was moved: contacts are asked for here.'
        : 'Drag B by the arrows: contacts follow.';
  }

  private makeButtons(hand: Hand): void {
    const chip = (mode: HandMode, name: string, key: string) =>
      make(
        'button',
        {
          class: 'chip',
          'data-hand': mode,
          title: `${name} B: drag the arrows, or X, Y, Z (${key})`,
          onClick: () => {
            hand.mode = mode;
            this.update();
          },
        },
        `${name} B`,
      );
    this.buttons.append(
      chip('translate', 'Move', 'M'),
      chip('rotate', 'Turn', 'R'),
      this.back,
    );
    this.back.addEventListener('click', () => this.inspector.showGiven());
  }

  // Only where rows are others now: a row that is being clicked stays.
  private fillRows(): void {
    const list = this.inspector.answer.contacts;
    const shown = new Set(this.inspector.shown);
    const { marked } = this.theatre.contacts;
    const { rowsOf } = this;
    if (rowsOf.list === list && rowsOf.shown === shown.size && rowsOf.marked === marked) return;
    this.rowsOf = { list, shown: shown.size, marked };
    this.rows.replaceChildren(...list.slice(0, kMostRows).map((c, k) => this.row(c, k, shown)));
    this.more.textContent =
      list.length > kMostRows
        ? `${list.length - kMostRows} more`
        : list.length === 0
          ? 'none'
          : '';
  }

  private row(contact: PairContact, number: number, shown: Set<PairContact>): HTMLElement {
    const { metres } = this.unit;
    const place = (x: number) => (Math.abs(x) < 1e-6 ? '0' : significant(x, 4)); // of rounding
    const cells = [
      significant(contact.depth / metres, 3),
      ...contact.position.map((x) => place(x / metres)),
    ];
    if (this.inspector.moves) cells.push(contact.time_of_contact?.toFixed(3) ?? '');
    const { contacts, stage } = this.theatre;
    const row = make(
      'tr',
      {
        tabindex: 0,
        class: shown.has(contact) ? '' : 'off',
        title: `found by a point of ${contact.sampled_by.toUpperCase()}`,
        'aria-selected': String(contacts.marked === number),
        onClick: () => {
          contacts.marked = contacts.marked === number ? null : number;
          const time = contact.time_of_contact;
          if (time != null && !shown.has(contact)) this.playback.seek(time);
          this.update();
          stage.invalidate();
        },
      },
      ...cells.map((cell) => make('td', {}, cell)),
    );
    row.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') row.click();
    });
    return row;
  }
}

function significant(x: number, digits: number): string {
  if (x === 0) return '0';
  return Math.abs(x) >= 10 ** digits ? x.toFixed(0) : x.toPrecision(digits);
}

// Numbers of the scene's size have few zeros in it.
function unitOf(radius: number): { name: string; metres: number } {
  if (radius < 5e-4) return { name: 'µm', metres: 1e-6 };
  if (radius < 0.5) return { name: 'mm', metres: 1e-3 };
  return { name: 'm', metres: 1 };
}
