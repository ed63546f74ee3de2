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
  desired: { converged: true },
  mode: 'ato',
  mode_phase: 'running',
  safety: 'ENABLED',
  auto: 'idle',
  story: { id: 'show', rev: 1, sha256: '' },
  act: 'hello',
} as unknown as Robot;

const cases: [string, Partial<Robot>, string, string][] = [
  ['performs its story', {}, 'performing', 'good'],
  ['is not connected, whatever it did last', { presence: { view: 'lost' } }, 'notConnected', 'away'],
  [
    'is held by a stop',
    { safety: 'DISABLED', latches: [{ id: 'stop-1' } as Robot['latches'][0]] },
    'waitingForRelease',
    'stopped',
  ],
  ['needs a reset', { safety: 'E_STOP' }, 'needsReset', 'stopped'],
  ['has its stop input pressed', { safety: 'E_STOP', estop_input: true }, 'stopInput', 'stopped'],
  ['waits to be enabled', { safety: 'DISABLED' }, 'disabled', 'attention'],
  ['is driven', { mode: 'mnl', auto: 'halt' }, 'manual', 'waiting'],
  ['has no story', { auto: 'stopped', story: undefined }, 'noStory', 'attention'],
  ['has ended its story', { auto: 'stopped' }, 'storyEnded', 'attention'],
  [
    'performs an activity',
    {
      auto: 'paused',
      life: { state: 'solitary', focused: 'greet' },
      pause_holders: [{ token: 'activity:greet', since: '' }],
    },
    'activity',
    'good',
  ],
  [
    'is paused by a person',
    { auto: 'paused', pause_holders: [{ token: 'operator', by: 'nina', since: '' }] },
    'paused',
    'waiting',
  ],
  ['changes its mode', { mode_phase: 'switching', intended: 'mnl' }, 'switching', 'waiting'],
];

test.each(cases)('a robot that %s', (_, more, key, tone) => {
  expect(performing({ ...base, ...more })).toMatchObject({ key, tone });
});
