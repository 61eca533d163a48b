// What a hand does in the picture: clicks select bodies, drags on a slice move it. The rest is the
// camera's.

import type { Looks } from '../run/looks';
import type { Slice } from './slice';
import type { Theatre } from './theatre';

const kClickPixels = 5;

export function watchPointer(theatre: Theatre, looks: Looks): void {
  const { canvas, controls } = theatre.stage;
  let held: { body: number; slice: Slice; offset: number } | null = null;
  let start: { x: number; y: number } | null = null;

  const sliceUnder = (event: PointerEvent) => {
    const ray = theatre.stage.rayAt(event.clientX, event.clientY);
    for (const [body, slice] of theatre.insides.slices())
      if (ray.intersectObject(slice.object).length > 0)
        return { body, slice, offset: looks.all[body]!.slice.at - slice.nearestTo(ray.ray) };
    return null;
  };

  // Before the camera's own listener, which must not see drags of a slice.
  canvas.addEventListener(
    'pointerdown',
    (event) => {
      start = { x: event.clientX, y: event.clientY };
      held = event.button === 0 && !event.shiftKey ? sliceUnder(event) : null;
      controls.enabled = held === null;
      if (held) canvas.setPointerCapture(event.pointerId);
    },
    { capture: true },
  );
  canvas.addEventListener('pointermove', (event) => {
    if (!held) return;
    const ray = theatre.stage.rayAt(event.clientX, event.clientY);
    const at = held.slice.nearestTo(ray.ray) + held.offset;
    looks.all[held.body]!.slice.at = Math.min(Math.max(at, 0), 1);
    looks.changed();
  });
  canvas.addEventListener('pointerup', (event) => {
    const moved = start
      ? Math.hypot(event.clientX - start.x, event.clientY - start.y) > kClickPixels
      : true;
    if (!moved && event.button === 0)
      looks.select(theatre.surfaces.pick(theatre.stage.rayAt(event.clientX, event.clientY)));
    held = null;
    controls.enabled = true;
  });
}
