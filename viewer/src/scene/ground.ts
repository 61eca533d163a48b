// An endless plane: a calm floor with a grid that fades out.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  Group,
  LineSegments,
  Mesh,
  ShaderMaterial,
  ShadowMaterial,
  Vector3,
} from 'three';

import type { Shape } from '../pack/format';

const kVertex = /* glsl */ `
  varying vec3 at;
  varying vec3 place;
  void main() {
    at = position;
    vec4 world = modelMatrix * vec4(position, 1.0);
    place = world.xyz;
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;

// Lines one unit apart along two directions of the plane, and stronger ones ten units apart.
const kFragment = /* glsl */ `
  uniform vec3 colour, along, across, middle;
  uniform float unit, reach;
  varying vec3 at;
  varying vec3 place;
  float lines(vec2 p) {
    vec2 width = fwidth(p);
    vec2 near = abs(fract(p - 0.5) - 0.5) / max(width, 1e-6);
    vec2 calm = 1.0 - smoothstep(0.2, 0.6, width);
    return max((1.0 - min(near.x, 1.0)) * calm.x, (1.0 - min(near.y, 1.0)) * calm.y);
  }
  void main() {
    vec2 p = vec2(dot(at, along), dot(at, across)) / unit;
    float line = max(lines(p) * 0.35, lines(p / 10.0) * 0.6);
    float fade = 1.0 - smoothstep(0.25, 1.0, length(place - middle) / reach);
    gl_FragColor = vec4(colour, (0.1 + 0.36 * line) * fade);
    #include <colorspace_fragment>
  }`;

// The same lines, drawn as such: a hundredth of the work where the processor draws.
const kLineFragment = /* glsl */ `
  uniform vec3 colour, middle;
  uniform float reach;
  varying vec3 place;
  void main() {
    float fade = 1.0 - smoothstep(0.25, 1.0, length(place - middle) / reach);
    gl_FragColor = vec4(colour, 0.3 * fade);
    #include <colorspace_fragment>
  }`;

// A step of 1, 2 or 5 times a power of ten, at most so long.
export function roundStep(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  const share = length / power;
  return power * (share >= 5 ? 5 : share >= 2 ? 2 : 1);
}

const kReach = 7; // radii of the scene
const kLines = 28; // to either side

export class Ground {
  readonly group = new Group();
  private readonly fine = new Group();
  private readonly lines: LineSegments<BufferGeometry, ShaderMaterial>;
  private readonly uniforms;
  private readonly corner: Vector3;

  constructor(
    shape: Shape,
    readonly body: number,
    colour: string,
  ) {
    const at = (k: number) => new Vector3().fromArray(shape.positions, 3 * k);
    this.corner = at(0);
    this.uniforms = {
      colour: { value: new Color(colour) },
      along: { value: at(1).sub(at(0)).normalize() },
      across: { value: at(2).sub(at(1)).normalize() },
      middle: { value: new Vector3() },
      unit: { value: 1 },
      reach: { value: 1 },
    };
    this.fine.add(...this.makePlanes(shape));
    this.lines = new LineSegments(new BufferGeometry(), this.material(kLineFragment));
    this.lines.frustumCulled = false;
    this.lines.renderOrder = -2;
    this.group.add(this.fine, this.lines);
    this.group.matrixAutoUpdate = false;
  }

  private material(fragmentShader: string): ShaderMaterial {
    return new ShaderMaterial({
      vertexShader: kVertex,
      fragmentShader,
      uniforms: this.uniforms,
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
    });
  }

  private makePlanes(shape: Shape): Mesh[] {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(shape.positions, 3));
    geometry.setIndex(new BufferAttribute(shape.triangles, 1));
    geometry.computeVertexNormals();
    const grid = new Mesh(geometry, this.material(kFragment));
    grid.renderOrder = -2;
    const shade = new Mesh(geometry, new ShadowMaterial({ opacity: 0.2, depthWrite: false }));
    shade.receiveShadow = true;
    shade.renderOrder = -1;
    return [grid, shade];
  }

  setSimple(simple: boolean): void {
    this.fine.visible = !simple;
    this.lines.visible = simple;
  }

  // To the size of the scene.
  fit(center: Vector3, radius: number): void {
    const { middle, reach, unit, along, across } = this.uniforms;
    middle.value.copy(center);
    reach.value = kReach * radius;
    unit.value = roundStep(radius / 4);
    const places: number[] = [];
    const step = roundStep((kReach * radius) / kLines);
    const normal = new Vector3().crossVectors(along.value, across.value);
    const origin = normal.multiplyScalar(normal.dot(this.corner));
    // In pieces: the fade is even over each.
    const put = (u: number, v: number) => {
      const p = origin.clone().addScaledVector(along.value, u * step);
      places.push(...p.addScaledVector(across.value, v * step).toArray());
    };
    for (let k = -2 * kLines; k <= 2 * kLines; ++k) {
      put(k, -2 * kLines);
      put(k, 2 * kLines);
      put(-2 * kLines, k);
      put(2 * kLines, k);
    }
    this.lines.geometry.dispose();
    this.lines.geometry = new BufferGeometry();
    this.lines.geometry.setAttribute('position', new BufferAttribute(new Float32Array(places), 3));
  }
}
