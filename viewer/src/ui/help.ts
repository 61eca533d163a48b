// The keys, in one place: what they do and what the help says about them.

import { iconButton, make } from './dom';

export interface Key {
  keys: string[]; // as events name them; letters in lower case
  label: string;
  what: string;
  run: (event: KeyboardEvent) => void;
}

export class Help {
  readonly element: HTMLDialogElement;

  constructor(keys: Key[]) {
    const rows = keys.flatMap(({ label, what }) => [
      make('dt', {}, ...label.split(' ').map((k) => make('kbd', {}, k))),
      make('dd', {}, what),
    ]);
    this.element = make(
      'dialog',
      { class: 'help', 'aria-label': 'Help' },
      make(
        'h2',
        {},
        make('span', {}, 'Keys'),
        iconButton('close', 'Close', () => this.element.close()),
      ),
      make('dl', {}, ...rows),
      make(
        'p',
        {},
        'Drag to turn, with the right button (or two fingers) to move, wheel or pinch to come nearer. Click a body to select it; drag a slice to move it. Click or drag in a chart to go to that time.',
      ),
    );
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close(); // beside the box
    });
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}

// Keys do nothing while somebody writes, and sliders keep their arrows.
export function watchKeys(keys: Key[]): void {
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const writes = target.matches('input[type=search], select');
    const slides = target.matches('input[type=range]') && /^(Arrow|Home|End)/.test(event.key);
    if (writes || (slides && target.id !== 'scrub')) return;
    if (event.key === ' ' && target.matches('button')) target.blur();
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const key = keys.find((k) => k.keys.includes(name));
    // An open dialog has the keys to itself, but for the one that closes it, too.
    const help = document.querySelector('dialog[open]') !== null;
    if (!key || (help && !key.keys.includes('?'))) return;
    event.preventDefault();
    key.run(event);
  });
}
