// Round dots of a size on the screen. Those behind bodies are dim; contacts lie a little inside of
// bodies, so that what is within a dot's size of a surface counts as in front of it.

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
  uniform float nearer;
  varying vec3 tint;
  void main() {
    tint = colour;
    vec4 place = modelViewMatrix * vec4(position, 1.0);
    place.xyz *= 1.0 - nearer;
    gl_Position = projectionMatrix * place;
    gl_PointSize = size;
  }`;
const kFragment = /* glsl */ `
  uniform float size;
  uniform float opacity;
  varying vec3 tint;
  void main() {
    float edge = (0.5 - length(gl_PointCoord - 0.5)) * size;
    if (edge < 0.0) discard;
    vec3 colour = mix(tint * 0.45, tint, smoothstep(0.6, 1.8, edge));
    gl_FragColor = vec4(colour, opacity * min(edge, 1.0));
    #include <colorspace_fragment>
  }`;

export const kDim = 0.3; // opacity of what is behind a body

export class Dots {
  readonly object: Points<BufferGeometry, ShaderMaterial>;
  private readonly front: Points<BufferGeometry, ShaderMaterial>;
  private readonly places: BufferAttribute;
  private readonly colours: BufferAttribute;
  private count = 0;

  constructor(most: number) {
    this.places = new BufferAttribute(new Float32Array(3 * most), 3);
    this.colours = new BufferAttribute(new Float32Array(3 * most), 3);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', this.places.setUsage(DynamicDrawUsage));
    geometry.setAttribute('colour', this.colours.setUsage(DynamicDrawUsage));
    const make = (opacity: number, depthTest: boolean) => {
      const material = new ShaderMaterial({
        vertexShader: kVertex,
        fragmentShader: kFragment,
        uniforms: { size: { value: 10 }, nearer: { value: 0 }, opacity: { value: opacity } },
        transparent: true,
        depthTest,
        depthWrite: false,
      });
      const points = new Points(geometry, material);
      points.frustumCulled = false;
      points.renderOrder = depthTest ? 6 : 5;
      return points;
    };
    this.object = make(kDim, false);
    this.front = make(1, true);
    this.object.add(this.front);
  }

  // Pixels of the canvas across.
  // `nearer`: a share of the distance to the camera, by which dots may be inside of a body.
  clear(size: number, nearer: number): void {
    this.count = 0;
    for (const { material } of [this.object, this.front]) material.uniforms.size!.value = size;
    this.front.material.uniforms.nearer!.value = nearer;
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
