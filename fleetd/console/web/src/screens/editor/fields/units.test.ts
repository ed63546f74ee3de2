import { describe, expect, it } from 'vitest';

import { beyond, shown, stored, withoutUnit, withUnit } from './units';

describe('a number with a unit', () => {
  it.each([
    ['start_ms', 500, 0.5, '0.5 s'],
    ['timeout_ms', 60_000, 60, '60 s'],
    ['yaw_rad', 0.4, 22.9, '22.9°'],
    ['wz_radps', -0.5236, -30, '-30°/s'],
    ['vx_mps', 0.2, 0.2, '0.2 m/s'],
    ['height_m', 1.1, 1.1, '1.1 m'],
    ['volume', 0.8, 0.8, '0.8'],
  ])('%s: %d is shown as %d', (field, value, seen, words) => {
    expect(shown(field, value)).toBe(seen);
    expect(withUnit(field, value)).toBe(words);
  });

  it.each([
    ['start_ms', 0.5, 500],
    ['start_ms', 0.0004, 0],
    ['end_ms', 1.2345, 1235],
    ['yaw_rad', 90, 1.5708],
    ['x_m', 1.5, 1.5],
    ['rate', 1.5, 1.5],
  ])('%s: %d is stored as %d', (field, typed, value) => {
    expect(stored(field, typed)).toBe(value);
  });

  it('is described without the unit of the file', () => {
    expect(withoutUnit('Its end, after start_ms. In milliseconds.')).toBe('Its end, after start_ms.');
    expect(withoutUnit('Up. In radians. Default: as it is.')).toBe('Up. Default: as it is.');
    expect(withoutUnit('Forward. In metres per second. Default: 0.')).toBe('Forward. Default: 0.');
    expect(withoutUnit('#rrggbb, in quotes; every pattern needs it.')).toBe('#rrggbb; every pattern needs it.');
    expect(withoutUnit('An asset.')).toBe('An asset.');
  });

  it('is outside of its limits in the unit that people read', () => {
    const limits = { minimum: -3.2, maximum: 3.2 };
    expect(beyond('yaw_rad', 3.4907, limits)).toEqual(['200°', '-183.3°', '183.3°']);
    expect(beyond('yaw_rad', 0.4, limits)).toBeUndefined();
    expect(beyond('volume', 3, { minimum: 0, maximum: 1 })).toBeUndefined();
  });
});
