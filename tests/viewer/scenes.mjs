// Scenes of the tests.

// Two links and a cup fall onto the ground; contacts, forces, a field, points: all there is to see.
export const kFew = {
  isotact_scene: 1,
  name: 'few',
  about: 'Three bodies fall.',
  world: { step: 0.002 },
  run: { seconds: 0.6, frames_per_second: 50 },
  shapes: {
    link: {
      make: 'link',
      with: {
        straight: 0.04,
        bend_radius: 0.022,
        wire_radius: 0.01,
        segments: 24,
        wire_segments: 8,
      },
      resolution: 32,
      points: 200,
    },
    cup: {
      make: 'bowl',
      with: { radius: 0.038, thickness: 0.01, foot_radius: 0.01, segments: 24 },
      resolution: 32,
      points: 200,
    },
  },
  bodies: [
    { name: 'ground', kind: 'static', shape: { field: 'plane' } },
    {
      name: 'link',
      shape: 'link',
      position: [0, 0.2, 0],
      rotation: { axis: [1, 0, 0], degrees: 40 },
    },
    { name: 'other', shape: 'link', position: [0.03, 0.3, 0.02] },
    { name: 'cup', shape: 'cup', position: [-0.08, 0.25, 0] },
  ],
};

// Names that would like to be markup.
export const kHostile = {
  ...kFew,
  name: '</script><script>window.hacked = 1</script>',
  about: '<img src=x onerror="window.hacked = 2">',
  run: { steps: 5, frames_per_second: 50 },
  bodies: [
    { name: '"><b onclick=alert(1)>', kind: 'static', shape: { field: 'plane' } },
    { name: '</script><script>window.hacked = 3</script>', shape: 'cup', position: [0, 0.2, 0] },
    { name: '<!--<script>&amp;', shape: 'link', position: [0.2, 0.2, 0] },
  ],
};

// A thousand bodies, apart from each other: for the rate of frames.
export const kThousand = {
  isotact_scene: 1,
  name: 'a thousand',
  world: { step: 0.01 },
  run: { seconds: 0.3, frames_per_second: 50 },
  shapes: { block: { make: 'box', size: 0.05, resolution: 16, points: 26 } },
  bodies: [
    { name: 'ground', kind: 'static', shape: { field: 'plane' } },
    {
      name: 'block',
      shape: 'block',
      position: [0, 1.2, 0],
      repeat: { count: [10, 10, 10], spacing: [0.12, 0.12, 0.12], turned: true, seed: 7 },
    },
  ],
};
