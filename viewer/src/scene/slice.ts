// A cut through a field: orange inside, blue outside, with isolines, and a stronger one at zero.

import {
  ClampToEdgeWrapping,
  Data3DTexture,
  DataUtils,
  DoubleSide,
  HalfFloatType,
  LinearFilter,
  Matrix4,
  Mesh,
  PlaneGeometry,
  Ray,
  RedFormat,
  ShaderMaterial,
  Vector3,
} from 'three';

import type { FieldSamples } from '../pack/format';
import { glslColour, kColours } from './colours';
import { roundStep } from './ground';

const kVertex = /* glsl */ `
  uniform vec3 lower, size, nodes;
  varying vec3 texel;
  void main() {
    vec3 share = (position - lower) / size;
    texel = (share * (nodes - 1.0) + 0.5) / nodes;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;

const kFragment = /* glsl */ `
  precision highp sampler3D;
  uniform sampler3D field;
  uniform float range, unit;
  varying vec3 texel;
  vec3 ramp(float d) {
    float s = 2.0 * clamp(abs(d) / range, 0.0, 1.0);
    vec3 near = d < 0.0 ? ${glslColour(kColours.insideNear)} : ${glslColour(kColours.outsideNear)};
    vec3 middle = d < 0.0 ? ${glslColour(kColours.inside)} : ${glslColour(kColours.outside)};
    vec3 far = d < 0.0 ? ${glslColour(kColours.insideFar)} : ${glslColour(kColours.outsideFar)};
    return s < 1.0 ? mix(near, middle, s) : mix(middle, far, s - 1.0);
  }
  void main() {
    float d = texture(field, texel).r;
    vec3 colour = ramp(d);
    float at = d / unit, width = fwidth(at);
    float line = 1.0 - smoothstep(0.6, 1.4, abs(fract(at - 0.5) - 0.5) / max(width, 1e-6));
    colour = mix(colour, colour * 0.62, line * (1.0 - smoothstep(0.15, 0.5, width)));
    float zero = 1.0 - smoothstep(1.0, 2.2, abs(d) / max(fwidth(d), 1e-12));
    colour = mix(colour, ${glslColour(kColours.zero)}, zero);
    gl_FragColor = vec4(pow(colour, vec3(2.2)), 0.94);
    #include <colorspace_fragment>
  }`;

const kTextures = new WeakMap<FieldSamples, Data3DTexture>();

function textureOf(field: FieldSamples): Data3DTexture {
  const known = kTextures.get(field);
  if (known) return known;
  const halves = new Uint16Array(field.values.length);
  field.values.forEach((v, i) => (halves[i] = DataUtils.toHalfFloat(v * field.scale)));
  const texture = new Data3DTexture(halves, ...field.nodes);
  texture.format = RedFormat;
  texture.type = HalfFloatType;
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.wrapS = texture.wrapT = texture.wrapR = ClampToEdgeWrapping;
  texture.unpackAlignment = 2;
  texture.needsUpdate = true;
  kTextures.set(field, texture);
  return texture;
}

export class Slice {
  readonly object: Mesh;
  private readonly lower: Vector3;
  private readonly size: Vector3;
  private axis = 2;

  constructor(field: FieldSamples) {
    this.lower = new Vector3(...field.origin);
    this.size = new Vector3(...field.nodes).addScalar(-1).multiplyScalar(field.spacing);
    let deepest = 0;
    for (const v of field.values) deepest = Math.min(deepest, v);
    const longest = Math.max(this.size.x, this.size.y, this.size.z);
    this.object = new Mesh(
      new PlaneGeometry(1, 1),
      new ShaderMaterial({
        vertexShader: kVertex,
        fragmentShader: kFragment,
        side: DoubleSide,
        transparent: true,
        uniforms: {
          field: { value: textureOf(field) },
          lower: { value: this.lower },
          size: { value: this.size },
          nodes: { value: new Vector3(...field.nodes) },
          range: { value: Math.max(-deepest * field.scale, longest * 0.2) },
          unit: { value: roundStep(longest / 24) },
        },
      }),
    );
    this.object.frustumCulled = false;
    this.object.renderOrder = 1;
  }

  // `at`: 0 to 1 along the axis.
  set(axis: number, at: number): void {
    this.axis = axis;
    const { lower, size } = this;
    const normal = [0, 0, 0];
    normal[axis] = lower.getComponent(axis) + size.getComponent(axis) * at;
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    const corners = [0, 1, 2, 3].flatMap((k) => {
      const p = [...normal];
      p[u] = lower.getComponent(u) + (k % 2) * size.getComponent(u);
      p[v] = lower.getComponent(v) + Math.floor(k / 2) * size.getComponent(v);
      return p;
    });
    const place = this.object.geometry.getAttribute('position');
    (place.array as Float32Array).set(corners);
    place.needsUpdate = true;
    this.object.geometry.computeBoundingSphere();
  }

  // Where along the axis a ray passes closest: 0 to 1.
  nearestTo(ray: Ray): number {
    const local = ray.clone().applyMatrix4(new Matrix4().copy(this.object.matrixWorld).invert());
    const along = new Vector3().setComponent(this.axis, 1);
    const start = this.lower.clone().addScaledVector(this.size, 0.5);
    start.setComponent(this.axis, this.lower.getComponent(this.axis));
    const w = start.clone().sub(local.origin);
    const d = local.direction.clone().normalize();
    const b = along.dot(d);
    const bottom = 1 - b * b;
    if (bottom < 1e-4) return 0.5; // the axis points at the eye
    const way = (b * d.dot(w) - along.dot(w)) / bottom;
    return Math.min(Math.max(way / this.size.getComponent(this.axis), 0), 1);
  }
}
