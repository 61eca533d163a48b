// An endless plane: a calm floor with a grid that fades out.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  Group,
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

// Lines one unit apart along two directions of the plane, a tenth of the scene or so.
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
    gl_FragColor = vec4(colour, (0.13 + 0.5 * line) * fade);
    #include <colorspace_fragment>
  }`;

// A step of 1, 2 or 5 times a power of ten, at most so long.
export function roundStep(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  const share = length / power;
  return power * (share >= 5 ? 5 : share >= 2 ? 2 : 1);
}

const kMaterials: ShaderMaterial[] = [];

// Tells all floors how large the scene is.
export function fitGrounds(center: Vector3, radius: number): void {
  for (const { uniforms } of kMaterials) {
    uniforms.middle!.value = center.clone();
    uniforms.reach!.value = 7 * radius;
    uniforms.unit!.value = roundStep(radius / 4);
  }
}

export function makeGround(shape: Shape, colour: string): Group {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(shape.positions, 3));
  geometry.setIndex(new BufferAttribute(shape.triangles, 1));
  geometry.computeVertexNormals();
  const corner = (k: number) => new Vector3().fromArray(shape.positions, 3 * k);
  const along = corner(1).sub(corner(0)).normalize();
  const across = corner(2).sub(corner(1)).normalize();
  const grid = new Mesh(
    geometry,
    new ShaderMaterial({
      vertexShader: kVertex,
      fragmentShader: kFragment,
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
      uniforms: {
        colour: { value: new Color(colour) },
        along: { value: along },
        across: { value: across },
        middle: { value: new Vector3() },
        unit: { value: 1 },
        reach: { value: 1 },
      },
    }),
  );
  grid.renderOrder = -2;
  kMaterials.push(grid.material);
  const shade = new Mesh(geometry, new ShadowMaterial({ opacity: 0.2, depthWrite: false }));
  shade.receiveShadow = true;
  shade.renderOrder = -1;
  const group = new Group();
  group.add(grid, shade);
  return group;
}
