import { expect, test } from 'vitest';

import type { Robot } from '../api/client';
import { performing, type Performing } from './performing';

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

const cases: [string, Partial<Robot>, string, Performing['of']][] = [
  ['performs its story', {}, 'mode: ato, auto: idle', 'show, hello'],
  ['is not connected', { doing: 'not_connected', presence: { view: 'lost' } }, 'presence: lost', undefined],
  [
    'needs a reset',
    { doing: 'needs_reset', safety: 'E_STOP', cause: 'link_lost' },
    'safety: E_STOP',
    { reason: 'link_lost' },
  ],
  [
    'is driven',
    { doing: 'manual', control: { holder: 'tablet', by: 'nina' } as Robot['control'] },
    'mode: mnl',
    'nina',
  ],
  [
    'performs an activity',
    { doing: 'activity', auto: 'paused', life: { state: 'solitary', focused: 'greet' } },
    'mode: ato, auto: paused',
    'greet',
  ],
  [
    'is paused by a person',
    { doing: 'paused', auto: 'paused', pause_holders: [{ token: 'operator', by: 'nina', since: '' }] },
    'mode: ato, auto: paused',
    'nina',
  ],
  [
    'waits after a stop',
    { doing: 'paused', auto: 'paused', pause_holders: [{ token: 'safety', why: 'needs_continue', since: '' }] },
    'mode: ato, auto: paused',
    { reason: 'needs_continue' },
  ],
  [
    'fails in every act',
    { doing: 'failing', failed_rounds: 3, alerts: [{ type: 'story_failing', detail: 'no voice' }] as Robot['alerts'] },
    'mode: ato, auto: idle',
    'no voice',
  ],
  [
    'is stopped',
    {
      doing: 'waiting_for_release',
      safety: 'DISABLED',
      latches: [{ id: 's', level: 'stop', by: 'nora', why: 'a child', since: '' }],
    },
    'safety: DISABLED, latched',
    'nora: a child',
  ],
  ['changes its mode', { doing: 'switching', mode_phase: 'switching', intended: 'mnl' }, 'mode: ato switching', 'mnl'],
];

test.each(cases)('a robot that %s', (_, more, term, of) => {
  expect(performing({ ...base, ...more })).toMatchObject({ term, of });
});
