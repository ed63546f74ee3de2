import { expect, test } from 'vitest';

import { axis, find, ofAxes } from './gamepad';

test('a stick near its middle is at rest, and its edge is the greatest speed', () => {
  expect(axis(0.1)).toBe(0);
  expect(axis(-0.15)).toBe(0);
  expect(axis(1)).toBe(1);
  expect(axis(-1.2)).toBe(-1);
  expect(axis(undefined)).toBe(0);
  expect(axis(0.5)).toBeGreaterThan(0.3);
});

test('up is forwards and left turns to the left', () => {
  expect(ofAxes([0, -1])).toEqual({ vx: 1, wz: -0 });
  expect(ofAxes([-1, 0]).wz).toBe(1);
});

test('a gamepad that is disconnected is lost', () => {
  const pad = { index: 1, connected: true } as Gamepad;
  expect(find([null, pad], 1)).toBe(pad);
  expect(find([null, { ...pad, connected: false }], 1)).toBeUndefined();
  expect(find([], 1)).toBeUndefined();
});
