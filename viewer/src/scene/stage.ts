// Camera, lights and the drawing of frames, only where something has changed.

import {
  AmbientLight,
  Box3,
  DirectionalLight,
  HemisphereLight,
  NeutralToneMapping,
  PCFShadowMap,
  PerspectiveCamera,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

import type { Vec3, View } from '../pack/format';
import { Quality } from './quality';

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(38, 1, 0.01, 100);
  readonly renderer: WebGLRenderer;
  readonly controls: OrbitControls;
  readonly center = new Vector3();
  radius = 1;
  rendered = 0; // frames, for tests and the frame rate
  private dirty = true;
  private margins = { right: 0, bottom: 0 }; // CSS pixels
  private readonly sun = new DirectionalLight(0xfff4e2, 2.6);
  private readonly sky = new HemisphereLight(0xffffff, 0x8a8478, 1.5);

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly up: Vec3,
    private readonly view: View,
    readonly quality: Quality,
  ) {
    this.renderer = new WebGLRenderer({
      canvas,
      antialias: quality.antialias,
      alpha: true,
      powerPreference: 'high-performance',
    });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.type = PCFShadowMap;
    quality.apply(this.renderer);
    this.camera.up.set(...up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener('change', () => this.invalidate());
    this.sky.position.set(...up);
    this.scene.add(this.sky, this.sun, this.sun.target, new AmbientLight(0xffffff, 0.25));
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  invalidate(): void {
    this.dirty = true;
  }

  setDark(dark: boolean): void {
    this.sky.intensity = dark ? 1.0 : 1.5;
    this.sky.groundColor.set(dark ? 0x3a3c44 : 0x8a8478);
    this.sun.intensity = dark ? 2.2 : 2.6;
    this.invalidate();
  }

  // Looks at all of a box from where the scene says.
  frame(box: Box3, aim = true): void {
    box.getCenter(this.center);
    this.radius = Math.max(box.getSize(new Vector3()).length() / 2, 1e-6);
    this.placeSun();
    const direction = aim
      ? this.viewDirection()
      : this.camera.position.clone().sub(this.controls.target).normalize();
    this.lookAt(this.center, this.radius / this.view.zoom, direction);
    this.controls.minDistance = this.radius * 0.02;
    this.controls.maxDistance = this.radius * 30;
    this.camera.near = this.radius * 0.004;
    this.camera.far = this.radius * 80;
    this.camera.updateProjectionMatrix();
  }

  lookAt(center: Vector3, radius: number, direction?: Vector3): void {
    const way = direction ?? this.camera.position.clone().sub(this.controls.target).normalize();
    const half = (this.camera.fov * Math.PI) / 360;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const free = Math.min(width - this.margins.right, height - this.margins.bottom) / (height || 1);
    const narrow = Math.min(1, Math.max(free, 0.3));
    this.controls.target.copy(center);
    this.camera.position
      .copy(center)
      .addScaledVector(way, (0.96 * radius) / Math.sin(half) / narrow);
    this.controls.update();
    this.invalidate();
  }

  private viewDirection(): Vector3 {
    const yaw = (this.view.yaw * Math.PI) / 180;
    const pitch = (this.view.pitch * Math.PI) / 180;
    const up = new Vector3(...this.up);
    const other = Math.abs(up.z) < 0.9 ? new Vector3(0, 0, 1) : new Vector3(0, -1, 0);
    const front = other.addScaledVector(up, -other.dot(up)).normalize();
    const right = new Vector3().crossVectors(up, front);
    return front
      .multiplyScalar(Math.cos(yaw) * Math.cos(pitch))
      .addScaledVector(right, Math.sin(yaw) * Math.cos(pitch))
      .addScaledVector(up, Math.sin(pitch));
  }

  private placeSun(): void {
    const up = new Vector3(...this.up);
    const view = this.viewDirection();
    const side = new Vector3().crossVectors(view, up).normalize();
    this.sun.target.position.copy(this.center);
    this.sun.position
      .copy(this.center)
      .addScaledVector(up, 3 * this.radius)
      .addScaledVector(side, -1.6 * this.radius)
      .addScaledVector(view, 1.2 * this.radius);
    const { shadow } = this.sun;
    shadow.mapSize.set(2048, 2048);
    const reach = 1.6 * this.radius;
    Object.assign(shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach });
    shadow.camera.near = 0.1 * this.radius;
    shadow.camera.far = 8 * this.radius;
    shadow.normalBias = this.radius * 0.007;
    shadow.radius = 4;
    shadow.camera.updateProjectionMatrix();
  }

  // Panels cover the canvas there: the middle of the picture is the middle of what is left.
  setMargins(right: number, bottom: number): void {
    if (right === this.margins.right && bottom === this.margins.bottom) return;
    this.margins = { right, bottom };
    this.resize();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    const { right, bottom } = this.margins;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.setViewOffset(width, height, right / 2, bottom / 2, width, height);
    this.invalidate();
  }

  // A ray through a place of the canvas, in CSS pixels of the page.
  rayAt(x: number, y: number): Raycaster {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(
      ((x - box.left) / box.width) * 2 - 1,
      1 - ((y - box.top) / box.height) * 2,
    );
    const ray = new Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  // Metres that a pixel is wide, at a distance of one.
  get pixel(): number {
    return (
      (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(this.canvas.clientHeight, 1)
    );
  }

  // Draws if something changed; says whether it did.
  draw(before: () => void): boolean {
    this.controls.update();
    if (!this.dirty) return false;
    this.dirty = false;
    before();
    this.sun.castShadow = this.quality.shadows;
    this.renderer.render(this.scene, this.camera);
    ++this.rendered;
    return true;
  }
}
