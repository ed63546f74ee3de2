import { expect, test } from 'vitest';

import { gives, nextSchedule, queues, surelyMeans } from './coming';

const r1 = { id: 'r1', labels: { site: 'berlin', floor: '2' } };

test('a selector means a robot for sure by its id, its labels or as one of all', () => {
  expect(surelyMeans({ ids: ['r2', 'r1'] }, r1)).toBe(true);
  expect(surelyMeans({ ids: ['r2'] }, r1)).toBe(false);
  expect(surelyMeans({ labels: [{ key: 'site', value: 'berlin' }] }, r1)).toBe(true);
  expect(
    surelyMeans(
      {
        labels: [
          { key: 'site', value: 'berlin' },
          { key: 'floor', value: '3' },
        ],
      },
      r1,
    ),
  ).toBe(false);
  expect(surelyMeans({ all: true }, r1)).toBe(true);
  expect(surelyMeans({ all: true, modes: ['ato'] }, r1)).toBe(false);
  expect(surelyMeans({ all: true, modes: [], doing: [] }, r1)).toBe(true);
  expect(surelyMeans({}, r1)).toBe(false);
  expect(surelyMeans(undefined, r1)).toBe(false);
});

test('of the schedules that mean a robot the earliest comes next', () => {
  const all = [
    { id: 'close', next_at: '2036-01-01T18:00:00Z', selector: { all: true } },
    { id: 'open', next_at: '2036-01-01T09:00:00Z', selector: { labels: [{ key: 'site', value: 'berlin' }] } },
    { id: 'paris', next_at: '2036-01-01T08:00:00Z', selector: { labels: [{ key: 'site', value: 'paris' }] } },
    { id: 'never', selector: { all: true } },
  ];
  expect(nextSchedule(all, r1)?.id).toBe('open');
  expect(nextSchedule([], r1)).toBeUndefined();
});

test('a robot has a queue of the rollouts that have not reached it', () => {
  const all = queues([
    { id: 'a', name: 'Summer', not_before: '2036-01-01T20:00:00Z', robots: [{ robot: 'r1', state: 'PLANNED' }] },
    {
      id: 'b',
      robots: [
        { robot: 'r1', state: 'OFFERED' },
        { robot: 'r2', state: 'CONFIRMED' },
        { robot: 'r3', state: 'WAITING_OFFLINE' },
        { robot: 'r4', state: 'RESTORING' },
      ],
    },
    { id: 'c', name: 'Autumn', robots: [{ robot: 'r1', state: 'DEFERRED' }] },
  ]);
  expect(all.get('r1')?.map((q) => [q.name, q.underway])).toEqual([
    ['b', true],
    ['Autumn', false],
    ['Summer', false],
  ]);
  expect([...all.keys()]).toEqual(['r1', 'r3']);
});

test('a robot waits for no rollout that nobody has started, or that takes back what it gave', () => {
  expect((['RUNNING', 'SCHEDULED', 'PAUSED'] as const).filter(gives)).toHaveLength(3);
  expect((['DRAFT', 'WAITING_FOR_APPROVAL', 'READY', 'ROLLING_BACK', 'SUCCEEDED'] as const).filter(gives)).toEqual([]);
});
