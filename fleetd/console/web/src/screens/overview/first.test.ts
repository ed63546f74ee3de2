import { expect, test } from 'vitest';

import type { Robot } from '../../api/client';
import { doingOf, type Tone } from '../../live/performing';
import { everything, matcher } from '../robots/filter';
import { count } from './counts';
import { lookFirst, pausedByPeople } from './first';

const robot = (id: string, more: object) =>
  ({
    id,
    presence: { status: 'online' },
    alerts: [],
    desired: {},
    labels: {},
    mode: 'mnl',
    ...more,
  }) as unknown as Robot;
const fleet = [
  robot('r1', { doing: 'performing', mode: 'ato' }),
  robot('r2', { doing: 'manual', control: { holder: 'tablet', by: 'nina' } }),
  robot('r4', { doing: 'undriven' }),
  robot('r3', { doing: 'needs_reset' }),
];

test('a robot in manual mode that nobody drives needs a look, and is counted', () => {
  expect(lookFirst(fleet).map((r) => r.id)).toEqual(['r3', 'r4']);
  expect(count(fleet).tones).toEqual({ good: 1, waiting: 1, attention: 1, stopped: 1, away: 0 });
});

test('a pause of a person is named with its person and time, one that ends by itself is not', () => {
  const since = '2026-01-01T12:00:00Z';
  const paused = (id: string, token: string) =>
    robot(id, { doing: 'paused', pause_holders: [{ token, by: 'op1', since }] });
  expect(pausedByPeople([paused('r5', 'operator:op1'), paused('r6', 'interrupt:1')])).toEqual([
    { id: 'r5', by: 'op1', since },
  ]);
});

test('the link of each number finds the robots that it counts', () => {
  for (const tone of Object.keys(count([]).tones) as Tone[]) {
    const found = fleet.filter(matcher({ ...everything, doing: doingOf(tone) }));
    expect(found).toHaveLength(count(fleet).tones[tone]);
  }
});
