import { expect, test } from 'vitest';

import { extend, inView, moved, toFloor, toScreen, type Track, viewOf } from './floor';

test('a place of the floor is found again where it is drawn', () => {
  const v = viewOf(
    [
      { x: -2, y: 1 },
      { x: 4, y: 3 },
    ],
    600,
    400,
  );
  const p = { x: 1.5, y: -0.5 };
  const back = toFloor(v, toScreen(v, p));
  expect(back.x).toBeCloseTo(p.x);
  expect(back.y).toBeCloseTo(p.y);
});

test('everything is within the view, and forwards is upwards', () => {
  const all = [
    { x: -20, y: 0 },
    { x: 5, y: 9 },
  ];
  const v = viewOf(all, 300, 300);
  for (const p of all) {
    const s = toScreen(v, p);
    expect(s.x).toBeGreaterThan(0);
    expect(s.x).toBeLessThan(300);
    expect(s.y).toBeGreaterThan(0);
    expect(s.y).toBeLessThan(300);
  }
  expect(toScreen(v, { x: 0, y: 9 }).y).toBeLessThan(toScreen(v, { x: 0, y: 0 }).y);
});

test('a key moves a target up to the edge of the view, and a target out of sight to it', () => {
  const v = viewOf([], 450, 350); // 100 pixels per metre: 2.25 m to the left and right, 1.75 m up and down
  expect(moved(v, { x: 1, y: 1 }, { x: 0.1, y: 0 })).toEqual({ x: 1.1, y: 1 });
  expect(moved(v, { x: 2.2, y: 0 }, { x: 0.1, y: 0 })).toEqual({ x: 2.25, y: 0 });
  expect(moved(v, { x: 0, y: -9 }, { x: 0, y: -0.1 })).toEqual({ x: 0, y: -1.75 });
  expect(inView(v, toScreen(v, { x: 50, y: 0 }))).toEqual({ x: 450, y: 175 });
});

test('the path grows only while the robot moves, up to its greatest length; what it drove grows on', () => {
  let track: Track = extend({ path: [], drove: 0 }, { x: 0, y: 0 });
  expect(track).toEqual({ path: [{ x: 0, y: 0 }], drove: 0 });
  expect(extend(track, { x: 0.001, y: 0 }).path).toBe(track.path);
  for (let i = 1; i < 10; i++) track = extend(track, { x: i, y: 0 }, 5);
  track = extend(track, { x: 9, y: -0.5 }, 5);
  expect(track.path.map((p) => p.x)).toEqual([6, 7, 8, 9, 9]);
  expect(track.drove).toBeCloseTo(9.5);
});
