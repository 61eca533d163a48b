// Round dots of a size on the screen, in front of everything: contacts lie inside of bodies.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  Points,
  ShaderMaterial,
} from 'three';

const kVertex = /* glsl */ `
  attribute vec3 colour;
  uniform float size;
  varying vec3 tint;
  void main() {
    tint = colour;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    gl_PointSize = size;
  }`;
const kFragment = /* glsl */ `
  uniform float size;
  varying vec3 tint;
  void main() {
    float edge = (0.5 - length(gl_PointCoord - 0.5)) * size;
    if (edge < 0.0) discard;
    vec3 colour = mix(tint * 0.45, tint, smoothstep(0.6, 1.8, edge));
    gl_FragColor = vec4(colour, min(edge, 1.0));
    #include <colorspace_fragment>
  }`;

export class Dots {
  readonly object: Points<BufferGeometry, ShaderMaterial>;
  private readonly places: BufferAttribute;
  private readonly colours: BufferAttribute;
  private count = 0;

  constructor(most: number) {
    this.places = new BufferAttribute(new Float32Array(3 * most), 3);
    this.colours = new BufferAttribute(new Float32Array(3 * most), 3);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', this.places.setUsage(DynamicDrawUsage));
    geometry.setAttribute('colour', this.colours.setUsage(DynamicDrawUsage));
    const material = new ShaderMaterial({
      vertexShader: kVertex,
      fragmentShader: kFragment,
      uniforms: { size: { value: 10 } },
      transparent: true,
      depthTest: false,
    });
    this.object = new Points(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 5;
  }

  // Pixels of the canvas across.
  clear(size: number): void {
    this.count = 0;
    this.object.material.uniforms.size!.value = size;
  }
  add(x: number, y: number, z: number, colour: Color): void {
    this.places.setXYZ(this.count, x, y, z);
    this.colours.setXYZ(this.count++, colour.r, colour.g, colour.b);
  }
  finish(): void {
    this.object.visible = this.count > 0;
    this.object.geometry.setDrawRange(0, this.count);
    this.places.needsUpdate = this.colours.needsUpdate = true;
  }
}
