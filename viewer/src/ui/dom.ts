// Elements. Text only ever becomes a text node: names from files cannot become markup.

type Child = Node | string | null;

interface Attributes {
  class?: string;
  title?: string;
  onClick?: () => void;
  [name: string]: unknown;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'onClick') element.addEventListener('click', value as () => void);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null));
  return element;
}

// Line drawings of 24 x 24, by their paths.
const kIcons = {
  play: 'M8 5.5v13l11-6.5z',
  pause: 'M8 5.5v13M16 5.5v13',
  back: 'M15 6l-6 6 6 6',
  forward: 'M9 6l6 6-6 6',
  loop: 'M17 4l3 3-3 3M4 11V10a3 3 0 0 1 3-3h13M7 20l-3-3 3-3M20 13v1a3 3 0 0 1-3 3H4',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  hidden:
    'M4 4l16 16M9.9 5.8A9 9 0 0 1 12 5.5c6 0 9.5 6.5 9.5 6.5a16 16 0 0 1-3 3.8M6 7.6A16 16 0 0 0 2.5 12S6 18.5 12 18.5a9 9 0 0 0 4-.9',
  panel: 'M4 5h16v14H4zM14 5v14',
  chart: 'M4 19V5M4 19h16M8 15l3-5 3 3 5-7',
  theme: 'M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z',
  help: 'M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1 1-1.1 1.8M12 17h.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  close: 'M6 6l12 12M18 6L6 18',
};
export type IconName = keyof typeof kIcons;

const kSvg = 'http://www.w3.org/2000/svg';

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(kSvg, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(kSvg, 'path');
  path.setAttribute('d', kIcons[name]);
  svg.append(path);
  return svg;
}

export function setIcon(button: HTMLElement, name: IconName): void {
  button.replaceChildren(icon(name));
}

export function iconButton(name: IconName, label: string, onClick: () => void): HTMLButtonElement {
  const button = make('button', { class: 'icon', title: label, 'aria-label': label, onClick });
  button.append(icon(name));
  return button;
}

// Numbers for people: three or four digits, and a prefix for the unit.
export function format(value: number, unit: string): string {
  if (value === 0) return `0 ${unit}`;
  const prefixes: [number, string][] = [
    [1e6, 'M'],
    [1e3, 'k'],
    [1, ''],
    [1e-3, 'm'],
    [1e-6, 'µ'],
    [1e-9, 'n'],
  ];
  const size = Math.abs(value);
  const [factor, prefix] =
    prefixes.find(([f]) => size >= f * 0.9995) ?? prefixes[prefixes.length - 1]!;
  if (size < 5e-13) return `0 ${unit}`; // of rounding: neither -0 nor 0.00 n
  return `${(value / factor).toPrecision(size / factor >= 1000 ? 4 : 3)} ${prefix}${unit}`;
}
