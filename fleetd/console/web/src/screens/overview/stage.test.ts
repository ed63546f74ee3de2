import { expect, test } from 'vitest';

import type { Robot } from '../../api/client';
import { byMap, bySite, multiples } from './stage';

const robot = (id: string, site: string | undefined, doing: Robot['doing'], at?: object) =>
  ({ id, labels: site ? { site } : {}, doing, body: { at } }) as unknown as Robot;

test('robots stand by their site, in the order of names, with how many of them do what', () => {
  const groups = bySite([
    robot('r1', 'hall 10', 'performing'),
    robot('r2', undefined, 'performing'),
    robot('r3', 'hall 2', 'stop_input'),
    robot('r4', 'hall 10', 'not_connected'),
  ]);
  expect(groups.map((g) => [g.site, g.robots.map((r) => r.id)])).toEqual([
    ['hall 2', ['r3']],
    ['hall 10', ['r1', 'r4']],
    ['', ['r2']],
  ]);
  expect(groups[1]!.tones).toEqual({ good: 1, waiting: 0, attention: 0, stopped: 0, away: 1 });
});

test('ten thousand robots are grouped in one pass', () => {
  const fleet = Array.from({ length: 10_000 }, (_, i) => robot(`r${i}`, `s${i % 20}`, 'performing'));
  const groups = bySite(fleet);
  expect(groups).toHaveLength(20);
  expect(groups.reduce((sum, g) => sum + g.tones.good, 0)).toBe(10_000);
});

test('a plan has the robots of one map, and none that does not say where it is', () => {
  const plans = byMap([
    robot('r1', 'a', 'performing', { x_m: 1, y_m: 2, theta_rad: 0, map_sha256: 'ab' }),
    robot('r2', 'a', 'performing'),
    robot('r3', 'a', 'performing', { x_m: 0, y_m: 0, theta_rad: 0 }),
    robot('r4', 'a', 'performing', { x_m: 5, y_m: 2, theta_rad: 0, map_sha256: 'ab' }),
    robot('r5', 'a', 'performing', { x_m: 0, y_m: 1e12, theta_rad: 0, map_sha256: 'ab' }), // nobody has such a hall
  ]);
  expect(plans.map(([map, robots]) => [map, robots.map((r) => r.id)])).toEqual([
    ['ab', ['r1', 'r4']],
    ['', ['r3']],
  ]);
});

test('the squares of a floor are as many as fit, however large it is', () => {
  expect(multiples(-2.5, 3.1, 1)).toEqual([-2, -1, 0, 1, 2, 3]);
  expect(multiples(-7, 7, 5)).toEqual([-5, 0, 5]);
  expect(multiples(-10_000, 10_000, 1000)).toHaveLength(21);
  expect(multiples(0.2, 0.8, 1)).toEqual([]);
});
