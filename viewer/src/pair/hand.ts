// A hand on B: arrows and rings in the picture, and steps by keys.

import { Matrix4, Object3D, Quaternion, Vector3 } from 'three';
import { TransformControls } from 'three/addons/controls/TransformControls.js';

import type { Stage } from '../scene/stage';
import type { PlainPose } from './answer';

export type HandMode = 'translate' | 'rotate';

const kStep = 0.01; // of the scene's radius
const kTurn = (2 * Math.PI) / 180;

export class Hand {
  readonly object = new Object3D();
  onMove: () => void = () => {};
  onDone: () => void = () => {};
  private readonly gizmo: TransformControls;

  // `pivot`: what is held, in the body's frame: origins may lie far from their bodies.
  constructor(
    private readonly stage: Stage,
    private readonly pivot: Vector3,
  ) {
    this.gizmo = new TransformControls(stage.camera, stage.canvas);
    this.gizmo.setSize(0.8);
    this.gizmo.attach(this.object);
    stage.scene.add(this.object, this.gizmo.getHelper());
    this.gizmo.addEventListener('change', () => stage.invalidate());
    this.gizmo.addEventListener('objectChange', () => this.onMove());
    this.gizmo.addEventListener('dragging-changed', (event) => {
      stage.controls.enabled = !event.value;
      if (!event.value) this.onDone();
    });
  }

  // The arrow or ring at a place of the page, or null: for those who have no eyes.
  axisAt(x: number, y: number): string | null {
    const box = this.stage.canvas.getBoundingClientRect();
    this.gizmo.pointerHover({
      x: ((x - box.left) / box.width) * 2 - 1,
      y: 1 - ((y - box.top) / box.height) * 2,
      button: -1,
    } as unknown as PointerEvent);
    return this.gizmo.axis;
  }

  get mode(): HandMode {
    return this.gizmo.mode as HandMode;
  }
  set mode(mode: HandMode) {
    this.gizmo.setMode(mode);
    this.stage.invalidate();
  }

  // Of the body.
  get pose(): PlainPose {
    const { position, quaternion: q } = this.object;
    const p = this.pivot.clone().applyQuaternion(q).negate().add(position);
    return { place: [p.x, p.y, p.z], turn: [q.w, q.x, q.y, q.z] };
  }
  set pose({ place, turn }: PlainPose) {
    const { position, quaternion } = this.object;
    quaternion.set(turn[1], turn[2], turn[3], turn[0]).normalize();
    position.copy(this.pivot).applyQuaternion(quaternion).add(new Vector3(...place));
    this.object.updateMatrixWorld();
    this.stage.invalidate();
  }

  get matrix(): Matrix4 {
    const { place } = this.pose;
    return new Matrix4().makeRotationFromQuaternion(this.object.quaternion).setPosition(...place);
  }

  // A step along an axis of the world, or round it.
  step(axis: 0 | 1 | 2, sign: number): void {
    const along = new Vector3().setComponent(axis, sign);
    if (this.mode === 'translate')
      this.object.position.addScaledVector(along, kStep * this.stage.radius);
    else this.object.quaternion.premultiply(new Quaternion().setFromAxisAngle(along, kTurn));
    this.object.updateMatrixWorld();
    this.onMove();
    this.onDone();
  }
}
