import { expect, test } from 'vitest';

import { DeadMan, type Source } from './deadman';

const ahead = { vx: 1, wz: 0 };
const still = { vx: 0, wz: 0 };

test('the velocity is zero unless something is deflected', () => {
  const d = new DeadMan();
  expect(d.velocity()).toEqual(still);
  d.push('stick', { vx: 0.5, wz: -0.25 });
  expect(d.velocity()).toEqual({ vx: 0.5, wz: -0.25 });
  d.release('stick');
  expect(d.velocity()).toEqual(still);
  d.push('keys', ahead);
  d.push('keys', still);
  expect(d.velocity()).toEqual(still);
});

test('the source that moved last counts, and its release gives the other back', () => {
  const d = new DeadMan();
  d.push('keys', ahead);
  d.push('stick', { vx: 0.1, wz: 0 });
  expect(d.velocity().vx).toBe(0.1);
  d.push('keys', ahead); // a key that is held does not move
  expect(d.velocity().vx).toBe(0.1);
  d.release('stick');
  expect(d.velocity()).toEqual(ahead);
});

test('after zero each deflected source must be released before it counts', () => {
  for (const source of ['stick', 'buttons', 'keys', 'gamepad'] as Source[]) {
    const d = new DeadMan();
    d.push(source, ahead);
    expect(d.zero()).toBe(true);
    expect(d.velocity()).toEqual(still);
    d.push(source, ahead);
    d.push(source, { vx: 0.3, wz: 0 });
    expect(d.velocity()).toEqual(still);
    d.push(source, still);
    d.push(source, ahead);
    expect(d.velocity()).toEqual(ahead);
  }
});

test('zero at rest stops nothing and bars nothing', () => {
  const d = new DeadMan();
  expect(d.zero()).toBe(false);
  d.push('stick', ahead);
  expect(d.velocity()).toEqual(ahead);
});

test('values beyond what a stick can be are limited, and what is no number is at rest', () => {
  const d = new DeadMan();
  d.push('gamepad', { vx: 7, wz: -7 });
  expect(d.velocity()).toEqual({ vx: 1, wz: -1 });
  d.push('gamepad', { vx: Number.NaN, wz: Number.NaN });
  expect(d.velocity()).toEqual(still);
});
