import { expect, test } from 'vitest';

import { axis, find, frozenAfter, ofAxes, PadWatch } from './gamepad';

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

const still = { vx: 0, wz: 0 };
const pressed = { pressed: true, touched: true, value: 1 };
const free = { pressed: false, touched: false, value: 0 };

/** A gamepad that was seen at rest at time 0. */
function rested(): PadWatch {
  const w = new PadWatch();
  w.read([0.05, -0.05], [], 0);
  return w;
}

test('an axis that is deflected before the first touch drives nothing until it was at rest', () => {
  const w = new PadWatch();
  for (let at = 0; at < 60_000; at += 50) {
    expect(w.read([0.99, -0.99 + (at % 100) / 1e4], [], at).velocity).toEqual(still);
    expect(w.awaitsRest).toBe(true);
  }
  expect(w.read([0, -0.99], [], 60_000).velocity).toEqual(still); // one axis at rest is not enough
  w.read([0, 0.1], [], 60_050);
  expect(w.awaitsRest).toBe(false);
  expect(w.read([0, -1], [], 60_100).velocity.vx).toBe(1);
});

test('after what may hide a release the stick must be at rest again', () => {
  const w = rested();
  expect(w.read([0, -1], [], 50).velocity.vx).toBe(1);
  w.awaitRest();
  expect(w.read([0, -1], [], 100).velocity).toEqual(still);
  w.read([0, 0], [], 150);
  expect(w.read([0, -1], [], 200).velocity.vx).toBe(1);
});

test('an axis that is no number is not at rest', () => {
  const w = rested();
  w.read([0, -1], [], 50);
  expect(w.read([Number.NaN, 0], [], 100).velocity).toEqual(still);
  expect(w.awaitsRest).toBe(true);
  expect(w.read([0, -1], [], 150).velocity).toEqual(still);
});

test('a deflection that does not change at all ends after 10 s, and the stick must be at rest again', () => {
  const w = rested();
  for (let at = 1000; at < 1000 + frozenAfter; at += 50)
    expect(w.read([0, -1], [free], at)).toMatchObject({ velocity: { vx: 1 }, frozen: false });
  expect(w.read([0, -1], [free], 1000 + frozenAfter)).toMatchObject({ velocity: still, frozen: true });
  expect(w.awaitsRest).toBe(true);
  expect(w.read([0, -0.9], [free], 1100 + frozenAfter)).toMatchObject({ velocity: still, frozen: false });
});

test('the least change of any axis or button shows that the gamepad is alive', () => {
  const w = rested();
  for (let n = 0; n < 100; n++) {
    const axes = [0, -1, 0, n % 2 ? 1e-5 : 0];
    expect(w.read(axes, [free], 5000 * n)).toMatchObject({ velocity: { vx: 1 }, frozen: false });
  }
  for (let n = 100; n < 200; n++)
    expect(w.read([0, -1, 0, 0], [n % 2 ? pressed : free], 5000 * n)).toMatchObject({ frozen: false });
});

test('a stick at rest may rest for ever', () => {
  const w = rested();
  expect(w.read([0.05, -0.05], [], 99_000)).toMatchObject({ frozen: false });
  expect(w.awaitsRest).toBe(false);
  expect(w.read([0, -1], [], 99_050).velocity.vx).toBe(1);
});

test('a person is there when the stick or a button moves, not when the stick trembles or stays', () => {
  const w = rested();
  expect(w.read([0, -1], [free], 50).moved).toBe(true);
  for (let n = 1; n < 50; n++) expect(w.read([0, -1 + (n % 2) * 0.02], [free], 50 + n * 50).moved).toBe(false);
  expect(w.read([0, -0.9], [free], 5000).moved).toBe(true);
  expect(w.read([0, -0.9], [pressed], 5050).moved).toBe(true);
  expect(w.read([0, -0.9], [pressed], 5100).moved).toBe(false);
});

test('what the gamepad said when it was chosen is no movement', () => {
  expect(new PadWatch().read([0.99, -0.99], [], 0).moved).toBe(false);
});
