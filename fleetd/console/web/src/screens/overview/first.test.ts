import { expect, test } from 'vitest';

import type { Robot } from '../../api/client';
import { doingOf } from '../../live/performing';
import { count } from './counts';
import { lookFirst } from './first';

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
  robot('r4', { doing: 'manual' }),
  robot('r3', { doing: 'needs_reset' }),
];

test('a robot in manual mode that nobody drives needs a look, and is counted', () => {
  expect(lookFirst(fleet).map((r) => r.id)).toEqual(['r3', 'r4']);
  expect(count(fleet).tones).toEqual({ good: 1, waiting: 1, attention: 1, stopped: 1, away: 0 });
});

test('the links of both numbers find robots in manual mode', () => {
  expect(doingOf('attention')).toContain('manual');
  expect(doingOf('waiting')).toContain('manual');
  expect(doingOf('good')).not.toContain('manual');
});
