// Everything that is drawn in space, put together.

import { Vector3 } from 'three';

import type { Pack, Pair, Paths } from '../pack/format';
import type { Looks } from '../run/looks';
import type { Playback } from '../run/playback';
import { Poses } from '../run/poses';
import { ContactViews } from './contacts';
import { boxOfBody, boxOfRun } from './extent';
import { Insides, Marker } from './insides';
import { PathView } from './paths';
import { Quality } from './quality';
import { SoftBodies } from './soft';
import { Stage } from './stage';
import { Surfaces } from './surfaces';

const kPathStretch = 8;

// Those of a pair are the whole ways, the same at all times.
function pathsOfPair({ paths }: Pair): Paths {
  return { first: Uint32Array.of(0, paths.length / 8), rows: paths };
}

export class Theatre {
  readonly stage: Stage;
  readonly poses: Poses;
  readonly contacts: ContactViews;
  readonly soft: SoftBodies;
  readonly insides: Insides;
  readonly surfaces: Surfaces;
  private readonly paths: PathView;
  private readonly marker: Marker;
  private waysHold = true;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly pack: Pack,
    private readonly looks: Looks,
    private readonly playback: Playback,
  ) {
    const quality = new Quality(pack.bodies.length);
    this.stage = new Stage(canvas, pack.scene.up, pack.scene.view, quality);
    this.poses = new Poses(pack.frames);
    this.surfaces = new Surfaces(pack, looks, this.poses);
    this.insides = new Insides(looks, this.poses, () => 4 * this.stage.renderer.getPixelRatio());
    this.contacts = new ContactViews(pack, looks, this.poses, this.stage);
    this.soft = new SoftBodies(pack);
    this.paths = new PathView(pack.pair ? pathsOfPair(pack.pair) : pack.paths);
    this.marker = new Marker(looks, this.poses);
    const { scene } = this.stage;
    scene.add(this.surfaces.group, this.insides.group, this.contacts.group, this.soft.group);
    scene.add(this.paths.object, this.marker.object);
    looks.onChange(() => this.changeLooks());
    const fit = () => {
      quality.apply(this.stage.renderer);
      this.surfaces.setSimple(quality.simple);
    };
    quality.onChange = fit;
    fit();
    this.changeLooks();
  }

  frameAll(): void {
    this.stage.frame(boxOfRun(this.pack, this.poses));
    for (const ground of this.surfaces.grounds) ground.fit(this.stage.center, this.stage.radius);
    this.setTime();
  }

  frameSelected(): void {
    const body = this.looks.selected;
    if (body === null) return;
    const box = boxOfBody(this.pack, this.poses, body);
    if (!box.isEmpty())
      this.stage.lookAt(box.getCenter(new Vector3()), box.getSize(new Vector3()).length() / 2);
  }

  // Bodies go to where they are at the clock's time.
  setTime(): void {
    const { frame, time } = this.playback;
    this.poses.setTime(frame, time);
    this.soft.setTime(frame, time);
    this.contacts.setFrame(frame);
    if (this.pack.pair) this.paths.setFrame(0, 1);
    else this.paths.setFrame(frame, kPathStretch);
    this.bodiesMoved();
  }

  // Metres per second of a place in a body's frame, at the clock's time.
  speed(body: number, place: readonly number[]): number {
    return this.poses.speed(body, place, this.playback.frame);
  }

  // Poses are others now.
  bodiesMoved(): void {
    this.surfaces.move();
    this.insides.move();
    this.marker.update();
    this.stage.invalidate();
  }

  // Ways of a motion, while bodies are on it.
  showWays(hold: boolean): void {
    this.waysHold = hold;
    this.paths.object.visible = this.looks.layers.paths && hold;
  }

  private changeLooks(): void {
    this.surfaces.update();
    this.insides.update();
    this.soft.setTime(this.playback.frame, this.playback.time);
    this.paths.object.visible = this.looks.layers.paths && this.waysHold;
    this.marker.update();
    this.stage.invalidate();
  }

  draw(): boolean {
    return this.stage.draw(() => this.contacts.draw());
  }
}
