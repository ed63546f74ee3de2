import { describe, expect, test } from 'vitest';

import { beside, curveOf, longestGap, nearest, shown, summary } from './curve';

const at = (minutes: number) => new Date(Date.UTC(2026, 2, 14, 12, minutes)).toISOString();
const noon = Date.UTC(2026, 2, 14, 12) / 1000;
const point = (minutes: number, mean: number) => ({ at: at(minutes), min: mean - 1, mean, max: mean + 2 });
const points = [point(0, 80), point(1, 79), point(5, 60), point(6, 59)];

describe('the curve of measurements', () => {
  test('has each point, and a gap where nothing was measured', () => {
    const c = curveOf(points, 60);
    expect(c.at).toEqual([0, 60, 120, 300, 360].map((s) => noon + s));
    expect(c.mean).toEqual([80, 79, null, 60, 59]);
    expect(c.min).toEqual([79, 78, null, 59, 58]);
    expect(c.max).toEqual([82, 81, null, 62, 61]);
    expect(curveOf([], 60).at).toEqual([]);
  });
  test('has no gap between points of longer steps', () => {
    expect(curveOf([point(0, 1), point(15, 2), point(30, 3)], 900).mean).toEqual([1, 2, 3]);
  });
  test('is said in numbers', () => {
    expect(summary(points)).toEqual({ least: 58, mean: 69.5, most: 82, newest: 59 });
    expect(summary([])).toBeUndefined();
    expect(longestGap(points, 60)).toBe(3 * 60_000);
    expect(longestGap(points.slice(0, 2), 60)).toBe(0);
  });
  test('is walked along from point to point, over gaps', () => {
    const c = curveOf(points, 60);
    expect(nearest(c, noon + 130)).toBe(1);
    expect(nearest(curveOf([], 60), noon)).toBeUndefined();
    expect(beside(c, 1, 1)).toBe(3);
    expect(beside(c, 3, -1)).toBe(1);
    expect(beside(c, 0, -1)).toBe(0);
    expect(beside(c, 4, 1)).toBe(4);
  });
});

test('a value has the digits that help', () => {
  expect([2034.4, 99.96, 7.25, 0.123, 0].map(shown)).toEqual(['2034', '100', '7.3', '0.12', '0']);
});
