// The page put together: the picture, the bar, the charts, the panel, and the loop that draws.

import type { Pack } from './pack/format';
import type { HandMode } from './pair/hand';
import { Inspector } from './pair/inspector';
import { Looks, kModes } from './run/looks';
import { fittingSpeed, Playback } from './run/playback';
import { watchPointer } from './scene/pointer';
import { Theatre } from './scene/theatre';
import { Charts } from './ui/charts';
import { format, iconButton, make } from './ui/dom';
import { Help, Key, watchKeys } from './ui/help';
import { PairPanel } from './ui/pair_panel';
import { Panel } from './ui/panel';
import { Theme } from './ui/theme';
import { Transport } from './ui/transport';

const kTimeKeys = [' ', 'ArrowLeft', 'ArrowRight', 'Home', 'End', '[', ']'];
const kPhone = '(max-width: 720px)';

export class App {
  readonly playback: Playback;
  readonly looks: Looks;
  readonly theatre: Theatre;
  readonly inspector: Inspector | null; // of two bodies; a run has none
  private readonly transport: Transport;
  private readonly charts: Charts;
  private readonly panel: Panel;
  private readonly theme = new Theme();
  private readonly help: Help;
  private readonly canvas = make('canvas', {
    class: 'stage',
    tabindex: 0,
    'aria-label': 'The run',
  });
  private readonly foot = make('footer');
  private readonly note = make('p', { class: 'note' });

  constructor(
    private readonly root: HTMLElement,
    private readonly pack: Pack,
  ) {
    this.playback = new Playback(pack.frames.times);
    this.playback.setSpeed(fittingSpeed(this.playback.end - this.playback.begin));
    this.looks = new Looks(pack.bodies, pack.shapes);
    if (pack.pair) this.looks.layers.normals = this.looks.layers.paths = true;
    root.append(this.canvas);
    this.theatre = new Theatre(this.canvas, pack, this.looks, this.playback);
    this.inspector = pack.pair ? new Inspector(pack, this.theatre, this.playback) : null;
    this.transport = new Transport(this.playback, pack.pair ? '' : 's');
    this.charts = new Charts(pack.log, this.playback);
    this.theatre.frameAll();
    this.panel = new Panel(pack, this.looks, this.theatre, this.pairPanel());
    const keys = this.keys();
    this.help = new Help(keys);
    this.layOut();
    this.theatre.frameAll();
    watchKeys(keys);
    watchPointer(this.theatre, this.looks);
    this.playback.onChange = () => this.onTime();
    this.theme.onChange = (dark) => {
      this.theatre.stage.setDark(dark);
      this.charts.invalidate();
    };
    this.theme.apply();
    if (this.inspector) this.beginPair(this.inspector);
    this.onTime();
    this.run();
  }

  private pairPanel(): PairPanel | null {
    return this.inspector && new PairPanel(this.inspector, this.theatre, this.playback);
  }

  // The moment of the first contact is what one wants to see first.
  private beginPair(inspector: Inspector): void {
    const { time_of_contact: moment, intervals } = this.pack.pair!.report;
    inspector.onChange = () => this.tell();
    this.root.classList.add('pair');
    this.foot.hidden = !inspector.moves;
    if (!inspector.moves) return;
    this.transport.mark(intervals ?? [], moment);
    if (moment !== null) this.playback.seek(moment);
  }

  private layOut(): void {
    const { scene } = this.pack;
    document.title = scene.name ? `${scene.name} · Isotact` : 'Isotact';
    const heading = make(
      'header',
      {},
      make('h1', {}, scene.name || 'A run'),
      scene.about ? make('p', { class: 'about', title: scene.about }, scene.about) : null,
      this.note,
    );
    const tools = make(
      'nav',
      { 'aria-label': 'View' },
      iconButton('fit', 'Look at everything (A)', () => this.theatre.frameAll()),
      iconButton('theme', 'Light or dark (D)', () => this.theme.toggle()),
      this.charts.isEmpty
        ? null
        : iconButton('chart', 'Charts (G)', () => this.toggle('no-charts')),
      iconButton('panel', 'Panel (B)', () => this.toggle('no-panel')),
      iconButton('help', 'Keys (?)', () => this.help.toggle()),
    );
    this.root.classList.toggle('plain', this.theatre.stage.quality.software);
    if (window.matchMedia(kPhone).matches) this.root.classList.add('no-panel');
    if (this.charts.isEmpty) this.root.classList.add('no-charts');
    this.foot.append(this.charts.element, this.transport.element);
    this.root.append(heading, tools, this.panel.element, this.foot, this.help.element);
    new ResizeObserver(() => this.setMargins()).observe(this.foot);
    this.setMargins();
  }

  private setMargins(): void {
    const beside = !window.matchMedia(kPhone).matches;
    const panel = beside ? this.panel.element.offsetWidth : 0;
    this.theatre.stage.setMargins(panel, this.foot.offsetHeight);
  }

  private toggle(name: string): void {
    this.root.classList.toggle(name);
    this.charts.invalidate();
    this.setMargins();
  }

  // Of a run. Pairs have others for what they lack.
  private runKeys(): Key[] {
    const { playback, looks, theatre } = this;
    const selected = (act: (body: number) => void) => () => {
      if (looks.selected !== null) act(looks.selected);
    };
    return [
      { keys: [' '], label: 'Space', what: 'play or pause', run: () => playback.toggle() },
      {
        keys: ['ArrowLeft'],
        label: '←',
        what: 'a frame back, with Shift ten',
        run: (e) => playback.stepFrames(e.shiftKey ? -10 : -1),
      },
      {
        keys: ['ArrowRight'],
        label: '→',
        what: 'a frame on, with Shift ten',
        run: (e) => playback.stepFrames(e.shiftKey ? 10 : 1),
      },
      {
        keys: ['Home'],
        label: 'Home',
        what: 'to the start',
        run: () => playback.seek(playback.begin),
      },
      { keys: ['End'], label: 'End', what: 'to the end', run: () => playback.seek(playback.end) },
      { keys: ['[', ','], label: '[', what: 'slower', run: () => playback.changeSpeed(-1) },
      { keys: [']', '.'], label: ']', what: 'faster', run: () => playback.changeSpeed(1) },
      { keys: ['l'], label: 'L', what: 'play in a loop', run: () => this.transport.toggleLoop() },
      {
        keys: ['c'],
        label: 'C',
        what: 'contacts, coloured by depth',
        run: () => looks.toggleLayer('contacts'),
      },
      { keys: ['n'], label: 'N', what: 'normals', run: () => looks.toggleLayer('normals') },
      {
        keys: ['f'],
        label: 'F',
        what: 'forces of contacts',
        run: () => looks.toggleLayer('forces'),
      },
      {
        keys: ['t'],
        label: 'T',
        what: 'forces and torques on bodies',
        run: () => looks.toggleLayer('torques'),
      },
      {
        keys: ['p'],
        label: 'P',
        what: 'swept intervals along paths',
        run: () => looks.toggleLayer('paths'),
      },
      {
        keys: ['1', '2', '3', '4', '5'],
        label: '1 – 5',
        what: 'surface, points, spheres, slice, bricks of the selected body',
        run: (e) => selected((body) => looks.toggleMode(body, kModes[Number(e.key) - 1]!))(),
      },
      {
        keys: ['h'],
        label: 'H',
        what: 'hide or show the selected body',
        run: selected((body) => looks.setVisible(body, !looks.all[body]!.visible)),
      },
      {
        keys: ['z'],
        label: 'Z',
        what: 'look at the selected body',
        run: () => theatre.frameSelected(),
      },
      { keys: ['a'], label: 'A', what: 'look at everything', run: () => theatre.frameAll() },
      { keys: ['d'], label: 'D', what: 'light or dark', run: () => this.theme.toggle() },
      { keys: ['g'], label: 'G', what: 'charts', run: () => this.toggle('no-charts') },
      {
        keys: ['b'],
        label: 'B',
        what: 'panel with all bodies',
        run: () => this.toggle('no-panel'),
      },
      { keys: ['?', '/'], label: '?', what: 'this list', run: () => this.help.toggle() },
      { keys: ['Escape'], label: 'Esc', what: 'select nothing', run: () => looks.select(null) },
    ];
  }

  private keys(): Key[] {
    const { inspector, playback } = this;
    const all = this.runKeys();
    if (!inspector) return all;
    const gone = ['l', 'f', 'g', 'z', ...(inspector.moves ? [] : kTimeKeys)];
    const kept = all.filter(({ keys }) => !keys.some((k) => gone.includes(k)));
    const moment = this.pack.pair!.report.time_of_contact;
    kept.push({
      keys: ['v'],
      label: 'V',
      what: 'see through surfaces',
      run: () => this.looks.toggleSeeThrough(),
    });
    if (inspector.moves && moment !== null)
      kept.push({
        keys: ['j'],
        label: 'J',
        what: 'to the first contact',
        run: () => playback.seek(moment),
      });
    return this.pack.pair!.query ? [...kept, ...this.handKeys(inspector)] : kept;
  }

  private handKeys(inspector: Inspector): Key[] {
    const mode = (mode: HandMode) => () => {
      if (!inspector.hand) return;
      inspector.hand.mode = mode;
      this.tell();
    };
    return [
      { keys: ['m'], label: 'M', what: 'move B', run: mode('translate') },
      { keys: ['r'], label: 'R', what: 'turn B', run: mode('rotate') },
      {
        keys: ['x', 'y', 'z'],
        label: 'X Y Z',
        what: 'a step of B along that axis, or round it; with Shift the other way',
        run: (e) => {
          const axis = ['x', 'y', 'z'].indexOf(e.key.toLowerCase()) as 0 | 1 | 2;
          inspector.hand?.step(axis, e.shiftKey ? -1 : 1);
        },
      },
      { keys: ['0'], label: '0', what: 'put B back', run: () => inspector.showGiven() },
    ];
  }

  private onTime(): void {
    this.theatre.setTime();
    this.inspector?.onTime();
    this.transport.update();
    this.charts.update();
    this.tell();
  }

  // Numbers that follow the picture.
  private tell(): void {
    this.panel.tick();
    const { softBodies, bodies, scene } = this.pack;
    const count = bodies.length + softBodies.length;
    const contacts = this.theatre.contacts.count;
    const all = this.inspector?.answer.contacts.length ?? contacts;
    this.note.textContent = [
      this.inspector
        ? this.inspector.answer.status.replace('_', ' ')
        : `${count} ${count === 1 ? 'body' : 'bodies'}`,
      `${contacts === all ? '' : `${contacts} of `}${all} ${all === 1 ? 'contact' : 'contacts'}`,
      this.inspector ? `by ${this.inspector.answer.method}` : `step ${format(scene.step, 's')}`,
    ].join(' · ');
  }

  private run(): void {
    let last = performance.now();
    let drew = false;
    const frame = (now: number) => {
      const interval = now - last;
      last = now;
      // A page that slept does not leap.
      this.playback.advance(Math.min(interval, 250) / 1000);
      const drawn = this.theatre.draw();
      if (drawn && drew) this.theatre.stage.quality.note(interval);
      drew = drawn;
      this.charts.draw();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}
