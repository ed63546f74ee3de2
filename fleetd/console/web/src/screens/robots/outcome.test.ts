import { expect, test, vi } from 'vitest';

import type { Batch } from '../../api/client';
import { progressOf, settled } from './outcome';

vi.mock('../../text/language', () => ({ texts: (en: object) => Object.assign(() => en, { now: () => en }) }));

const latched = 'a drive of nora is too hot';
const batch = (outcome: Batch['outcome'], commands: [robot: string, state: string, because?: string][]) =>
  ({
    verb: 'safety/enable',
    total: commands.length,
    outcome,
    commands: commands.map(([robot, state, because]) => ({ robot, state, because })),
    skipped: [{ robot: 'r9', reason: 'no_right', detail: 'not your site' }],
  }) as unknown as Batch;

test('robots that refused are grouped by their reason, the most frequent first', () => {
  const b = batch('partial', [
    ['r1', 'SUCCEEDED'],
    ['r2', 'FAILED', 'too hot'],
    ['r3', 'REJECTED', latched],
    ['r4', 'REJECTED', latched],
  ]);
  expect(settled(b)).toBe(true);
  expect(progressOf(b)).toEqual({
    total: 4,
    done: 1,
    open: 0,
    not: [
      { state: 'REJECTED', because: latched, robots: ['r3', 'r4'] },
      { state: 'FAILED', because: 'too hot', robots: ['r2'] },
      { state: 'SKIPPED', because: 'not your site', robots: ['r9'] },
    ],
  });
});

test('a batch is followed until every robot has answered', () => {
  const b = batch('running', [
    ['r1', 'SENT'],
    ['r2', 'SUCCEEDED'],
  ]);
  expect(settled(b)).toBe(false);
  expect(progressOf(b)).toMatchObject({ done: 1, open: 1 });
});
