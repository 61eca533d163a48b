// The side panel: what is drawn of contacts, the bodies, and the selected one.

import type { Pack } from '../pack/format';
import type { Layer, Looks } from '../run/looks';
import { kLayers } from '../run/looks';
import { kDepthGradient, kForceColour, kPathColour, kTorqueColour } from '../scene/colours';
import type { Theatre } from '../scene/theatre';
import { BodyCard } from './body_card';
import { BodyList } from './body_list';
import { format, make } from './dom';

const kLayerNames: Record<Layer, [name: string, colour: string, key: string, title: string]> = {
  contacts: ['Contacts', '#f0943f', 'C', 'Where pairs touch, at the deepest place'],
  normals: ['Normals', '#d8453f', 'N', 'Towards the first body of a pair'],
  forces: ['Contact forces', kForceColour, 'F', 'On the first body of a pair that moves freely'],
  torques: [
    'Body force, torque',
    kTorqueColour,
    'T',
    'What contacts come to, at the centre of mass',
  ],
  paths: [
    'Swept intervals',
    kPathColour,
    'P',
    'Ways of points in the last step, 8 times as long; strong where inside',
  ],
};

export class Panel {
  readonly element: HTMLElement;
  private readonly chips = new Map<Layer, HTMLButtonElement>();
  private readonly list: BodyList;
  private readonly card: BodyCard;

  constructor(pack: Pack, looks: Looks, theatre: Theatre) {
    this.list = new BodyList(pack, looks, theatre);
    this.card = new BodyCard(pack, looks, theatre);
    const chips = make('div', { class: 'chips' });
    for (const layer of kLayers) {
      const [name, colour, key, title] = kLayerNames[layer];
      if (layer === 'paths' && pack.paths.rows.length === 0) continue;
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
    this.element = make(
      'aside',
      { class: 'panel', 'aria-label': 'What is shown' },
      make('h2', {}, 'Contacts'),
      chips,
      this.legend(theatre),
      this.arrowSize(looks),
      this.card.element,
      this.list.element,
    );
    looks.onChange(() => this.update(looks));
    this.update(looks);
  }

  private legend(theatre: Theatre): HTMLElement {
    const { deepest } = theatre.contacts;
    return make(
      'div',
      { class: 'depths', title: 'Colours of contacts by depth' },
      make('span', {}, '0'),
      make('i', { style: `background:${kDepthGradient}` }),
      make('span', {}, deepest > 0 ? format(deepest, 'm') : 'deep'),
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
    const arrows = looks.layers.forces || looks.layers.torques;
    this.element.classList.toggle('with-arrows', arrows);
  }

  // As the clock goes: numbers of the selected body.
  tick(): void {
    this.card.tick();
  }
}
