// The side panel: what is drawn of contacts, the bodies, and the selected one.

import type { Pack } from '../pack/format';
import type { Layer, Looks } from '../run/looks';
import { kLayers } from '../run/looks';
import { kColours, kDepthGradient } from '../scene/colours';
import type { Theatre } from '../scene/theatre';
import { BodyCard } from './body_card';
import { BodyList } from './body_list';
import { format, make } from './dom';
import type { PairPanel } from './pair_panel';

const kLayerNames: Record<Layer, [name: string, colour: string, key: string, title: string]> = {
  contacts: ['Contacts', kColours.contact, 'C', 'Where pairs touch, at the deepest place'],
  normals: ['Normals', kColours.normal, 'N', 'Towards the first body of a pair'],
  forces: ['Contact forces', kColours.force, 'F', 'On the first body of a pair that moves freely'],
  torques: [
    'Body force, torque',
    kColours.torque,
    'T',
    'What contacts come to, at the centre of mass',
  ],
  paths: [
    'Swept intervals',
    kColours.contact,
    'P',
    'Ways of points in the last step, 8 times as long; strong where inside',
  ],
};

const kPairTitles: Partial<Record<Layer, string>> = {
  contacts: 'Where they touch',
  normals: 'Towards A',
  torques: 'At the origin of each',
  paths: 'Ways of points that touch at some time; strong where inside',
};

export class Panel {
  readonly element: HTMLElement;
  private readonly chips = new Map<Layer, HTMLButtonElement>();
  private readonly list: BodyList;
  private readonly card: BodyCard;
  private readonly deepest = make('span');
  private readonly glass = make(
    'button',
    { class: 'chip', id: 'see-through', title: 'Surfaces of glass (V)' },
    'See through',
  );

  constructor(
    pack: Pack,
    looks: Looks,
    private readonly theatre: Theatre,
    private readonly pair: PairPanel | null,
  ) {
    this.list = new BodyList(pack, looks, theatre);
    this.card = new BodyCard(pack, looks, theatre);
    const chips = make('div', { class: 'chips' });
    for (const layer of kLayers) {
      const [name, colour, key, plain] = kLayerNames[layer];
      const title = (pack.pair && kPairTitles[layer]) || plain;
      if (!has(pack, layer)) continue;
      const dot = make('i', { style: `background:${colour}` });
      const chip = make(
        'button',
        {
          class: 'chip',
          title: `${title} (${key})`,
          'data-layer': layer,
          onClick: () => looks.toggleLayer(layer),
        },
        dot,
        name,
      );
      this.chips.set(layer, chip);
      chips.append(chip);
    }
    if (pair) chips.append(this.glass);
    this.glass.addEventListener('click', () => looks.toggleSeeThrough());
    this.element = make(
      'aside',
      { class: 'panel', 'aria-label': 'What is shown' },
      pair?.answer ?? null,
      make('h2', {}, 'Contacts'),
      chips,
      this.legend(),
      pair?.table ?? null,
      this.arrowSize(looks),
      this.card.element,
      this.list.element,
    );
    looks.onChange(() => this.update(looks));
    this.update(looks);
    this.tell();
  }

  // What the last colour stands for.
  private tell(): void {
    const { deepest } = this.theatre.contacts;
    this.deepest.textContent = deepest > 0 ? format(deepest, 'm') : 'deep';
  }

  private legend(): HTMLElement {
    return make(
      'div',
      { class: 'depths', title: 'Colours of contacts by depth' },
      make('span', {}, '0'),
      make('i', { style: `background:${kDepthGradient}` }),
      this.deepest,
    );
  }

  private arrowSize(looks: Looks): HTMLElement {
    const slider = make('input', {
      type: 'range',
      min: -2,
      max: 2,
      step: 0.05,
      value: 0,
      'aria-label': 'Length of arrows',
    });
    slider.addEventListener('input', () => {
      looks.arrowScale = 10 ** Number(slider.value);
      looks.changed();
    });
    return make('label', { class: 'row arrow-size' }, make('span', {}, 'Arrows'), slider);
  }

  private update(looks: Looks): void {
    for (const [layer, chip] of this.chips)
      chip.setAttribute('aria-pressed', String(looks.layers[layer]));
    this.glass.setAttribute('aria-pressed', String(looks.seeThrough));
    const arrows = looks.layers.forces || looks.layers.torques;
    this.element.classList.toggle('with-arrows', arrows);
  }

  // As the clock goes: numbers of the selected body.
  tick(): void {
    this.card.tick();
    if (!this.pair) return;
    this.pair.update();
    this.tell();
  }
}

// Contacts of a pair have no forces of their own, and only the whole may have one.
function has({ pair, paths }: Pack, layer: Layer): boolean {
  if (layer === 'paths') return (pair?.paths ?? paths.rows).length > 0;
  if (layer === 'forces') return pair === null;
  if (layer === 'torques') return pair === null || pair.report.force !== null || pair.query !== null;
  return true;
}
