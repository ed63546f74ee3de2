import { expect, test } from 'vitest';

import type { Robot } from '../api/client';
import { performing } from './performing';

const base = {
  id: 'r1',
  adopted: true,
  labels: {},
  alerts: [],
  latches: [],
  interrupts: [],
  pause_holders: [],
  presence: { view: 'online' },
  doing: 'performing',
  desired: { converged: true },
  mode: 'ato',
  mode_phase: 'running',
  safety: 'ENABLED',
  auto: 'idle',
  story: { id: 'show', rev: 1, sha256: '' },
  act: 'hello',
} as unknown as Robot;

const cases: [string, Partial<Robot>, string, string | undefined][] = [
  ['performs its story', {}, 'ato, idle', 'show, hello'],
  ['is not connected', { doing: 'not_connected', presence: { view: 'lost' } }, 'lost', undefined],
  ['needs a reset', { doing: 'needs_reset', safety: 'E_STOP', cause: 'link_lost' }, 'E_STOP', 'link_lost'],
  ['is driven', { doing: 'manual', control: { holder: 'tablet', by: 'nina' } as Robot['control'] }, 'mnl', 'nina'],
  [
    'performs an activity',
    { doing: 'activity', auto: 'paused', life: { state: 'solitary', focused: 'greet' } },
    'ato, paused',
    'greet',
  ],
  [
    'is paused by a person',
    { doing: 'paused', auto: 'paused', pause_holders: [{ token: 'operator', by: 'nina', since: '' }] },
    'ato, paused',
    'nina',
  ],
  ['changes its mode', { doing: 'switching', mode_phase: 'switching', intended: 'mnl' }, 'ato switching', 'mnl'],
];

test.each(cases)('a robot that %s', (_, more, term, of) => {
  expect(performing({ ...base, ...more })).toMatchObject({ term, of });
});
