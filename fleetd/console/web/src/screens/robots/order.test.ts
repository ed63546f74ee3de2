import { expect, test } from 'vitest';

import type { Robot } from '../../api/client';
import { moved, Order, type Sorting } from './order';

const robot = (id: string, doing: string, more: Partial<Robot> = {}) =>
  ({
    id,
    doing,
    alerts: [],
    interrupts: [],
    labels: {},
    presence: { status: 'online' },
    desired: {},
    ...more,
  }) as unknown as Robot;

const fleet = [
  robot('r10', 'performing'),
  robot('r2', 'performing', { labels: { site: 'b' } }),
  robot('r1', 'not_connected', { labels: { site: 'a' } }),
  robot('r3', 'paused'),
  robot('r4', 'waiting_for_release'),
  robot('r5', 'performing', { alerts: [{}] as Robot['alerts'] }),
  robot('r6', 'no_story'),
];
const all = () => true;
const ids = (sorting: Sorting) => new Order().of(fleet, all, sorting).ids.join(' ');

test('problems come first, and names as people count them', () => {
  expect(ids({ column: 'problems', desc: false })).toBe('r4 r6 r1 r5 r3 r2 r10');
});

test('names are sorted in both directions', () => {
  expect(ids({ column: 'name', desc: false })).toBe('r1 r2 r3 r4 r5 r6 r10');
  expect(ids({ column: 'name', desc: true })).toBe('r10 r6 r5 r4 r3 r2 r1');
});

test('those without a value come last', () => {
  expect(ids({ column: 'site', desc: false })).toBe('r1 r2 r3 r4 r5 r6 r10');
});

test('a robot that is new finds its place', () => {
  const order = new Order();
  order.of(fleet, all, { column: 'name', desc: false });
  expect(order.of([...fleet, robot('r7', 'paused')], all, { column: 'name', desc: false }).ids.join(' ')).toBe(
    'r1 r2 r3 r4 r5 r6 r7 r10',
  );
});

test('rows that would move are those with another rank, that come, or that go', () => {
  const shown = new Map([
    ['r1', 1],
    ['r2', 2],
    ['r3', 3],
  ]);
  expect(moved(shown, new Map(shown))).toBe(0);
  expect(
    moved(
      shown,
      new Map([
        ['r1', 1],
        ['r2', 0],
        ['r4', 3],
      ]),
    ),
  ).toBe(3);
});
