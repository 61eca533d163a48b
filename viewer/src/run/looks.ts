// What is shown of each body, and which one is selected. Views listen; panels change.

import type { Body, Shape } from '../pack/format';

export type Mode = 'surface' | 'points' | 'spheres' | 'slice' | 'boxes';
export const kModes: Mode[] = ['surface', 'points', 'spheres', 'slice', 'boxes'];

export interface Look {
  visible: boolean;
  shown: Record<Mode, boolean>;
  level: { points: number; spheres: number; boxes: number };
  slice: { axis: 0 | 1 | 2; at: number }; // at: 0 to 1 of the field's box
}

export type Layer = 'contacts' | 'normals' | 'forces' | 'torques' | 'paths';
export const kLayers: Layer[] = ['contacts', 'normals', 'forces', 'torques', 'paths'];

export function offers(shape: Shape | null, mode: Mode): boolean {
  if (!shape) return false;
  if (mode === 'points' || mode === 'spheres') return shape.shell !== null;
  if (mode === 'slice') return shape.field !== null;
  if (mode === 'boxes') return shape.bricks !== null;
  return shape.triangles.length > 0;
}

export function levelCount(shape: Shape, mode: Mode): number {
  if (mode === 'points') return (shape.shell?.levels.length ?? 0) + 1; // the last: all points
  if (mode === 'spheres') return shape.shell?.levels.length ?? 0;
  if (mode === 'boxes') return shape.bricks?.levels.length ?? 0;
  return 0;
}

// Nothing else of it can be seen.
function isPointsOnly(shape: Shape): boolean {
  return !offers(shape, 'surface') && offers(shape, 'points');
}

function firstLook(shape: Shape | null): Look {
  const last = (mode: Mode) => (shape ? Math.max(levelCount(shape, mode) - 1, 0) : 0);
  return {
    visible: true,
    shown: { surface: true, points: shape !== null && isPointsOnly(shape), spheres: false, slice: false, boxes: false },
    level: {
      points: last('points'),
      spheres: Math.max(last('spheres') - 1, 0),
      boxes: last('boxes'),
    },
    slice: { axis: 2, at: 0.5 },
  };
}

export class Looks {
  readonly all: Look[];
  readonly layers: Record<Layer, boolean> = {
    contacts: true,
    normals: false,
    forces: false,
    torques: false,
    paths: false,
  };
  arrowScale = 1;
  seeThrough = false; // all surfaces are glass
  private selected_: number | null = null;
  private readonly listeners: (() => void)[] = [];

  constructor(
    readonly bodies: Body[],
    private readonly shapes: Shape[],
  ) {
    this.all = bodies.map((b) => firstLook(b.shape === null ? null : shapes[b.shape]!));
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  changed(): void {
    for (const listener of this.listeners) listener();
  }

  shapeOf(body: number): Shape | null {
    const shape = this.bodies[body]!.shape;
    return shape === null ? null : this.shapes[shape]!;
  }

  get selected(): number | null {
    return this.selected_;
  }
  select(body: number | null): void {
    this.selected_ = body;
    this.changed();
  }
  setVisible(body: number, visible: boolean): void {
    this.all[body]!.visible = visible;
    this.changed();
  }
  showAll(): void {
    for (const look of this.all) look.visible = true;
    this.changed();
  }
  toggleMode(body: number, mode: Mode): void {
    if (!offers(this.shapeOf(body), mode)) return;
    const { shown } = this.all[body]!;
    shown[mode] = !shown[mode];
    this.changed();
  }
  toggleLayer(layer: Layer): void {
    this.layers[layer] = !this.layers[layer];
    this.changed();
  }
  toggleSeeThrough(): void {
    this.seeThrough = !this.seeThrough;
    this.changed();
  }
  // Every body that can shows what this one shows.
  copyToAll(from: number): void {
    const look = this.all[from]!;
    this.all.forEach((other, body) => {
      const shape = this.shapeOf(body);
      for (const mode of kModes) if (offers(shape, mode)) other.shown[mode] = look.shown[mode];
      other.slice = { ...look.slice };
      if (shape && shape === this.shapeOf(from)) other.level = { ...look.level };
    });
    this.changed();
  }

  // The surface is glass where something inside of it is to be seen.
  isGlass(body: number): boolean {
    const { shown } = this.all[body]!;
    if (this.seeThrough) return true;
    return shown.points || shown.spheres || shown.slice || shown.boxes;
  }
}
