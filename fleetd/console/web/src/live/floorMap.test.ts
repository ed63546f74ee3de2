import { expect, test } from 'vitest';

import { cornersOf, rosMapOf } from './floorMap';

const map = { resolution_m: 0.5, x_m: -1, y_m: 2, width: 4, height: 2 };

test('the lower left corner of an image lies at its origin, and the image turns around it', () => {
  expect(cornersOf(map)).toEqual([
    { x: -1, y: 2 },
    { x: 1, y: 2 },
    { x: 1, y: 3 },
    { x: -1, y: 3 },
  ]);
  const turned = cornersOf({ ...map, theta_rad: Math.PI / 2 });
  expect(turned[1]!.x).toBeCloseTo(-1);
  expect(turned[1]!.y).toBeCloseTo(4);
  expect(turned[2]!.x).toBeCloseTo(-2);
});

test('a map of ROS is known by its fields', () => {
  const ros = { image: 'map.pgm', mode: 'trinary', resolution: 0.05, origin: [-10, -5, 0], negate: 1 };
  expect(rosMapOf(ros)).toEqual({ image: 'map.pgm', resolution: 0.05, origin: [-10, -5, 0], negate: true });
  expect(rosMapOf({ ...ros, origin: ['a', 'b'] })).toBeUndefined();
  expect(rosMapOf({ points: {} })).toBeUndefined();
  expect(rosMapOf(null)).toBeUndefined();
});
