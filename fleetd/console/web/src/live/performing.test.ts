import { expect, test } from 'vitest';

import type { Robot } from '../api/client';
import { performing, type Performing, waitsForContinue } from './performing';

const base = {
  id: 'r1',
  adopted: true,
  labels: {},
  alerts: [],
  latches: [],
  interrupts: [],
  pause_holders: [],
  presence: { status: 'online' },
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
  ['performs its story', {}, 'ModeID ato, AutoStatus idle', { story: 'show', act: 'hello' }],
  ['is not connected', { doing: 'not_connected', presence: { status: 'lost' } }, 'presence lost', undefined],
  [
    'needs a reset',
    { doing: 'needs_reset', safety: 'E_STOP', cause: 'link_lost' },
    'SafetyState E_STOP',
    { reason: 'link_lost' },
  ],
  [
    'is driven',
    { doing: 'manual', mode: 'mnl', control: { holder: 'tablet', by: 'nina' } as Robot['control'] },
    'ModeID mnl',
    'nina',
  ],
  [
    'performs an activity',
    { doing: 'activity', auto: 'paused', life: { state: 'solitary', focused: 'greet' } },
    'ModeID ato, AutoStatus paused',
    'greet',
  ],
  [
    'is paused by a person',
    { doing: 'paused', auto: 'paused', pause_holders: [{ token: 'operator', by: 'nina', since: '' }] },
    'ModeID ato, AutoStatus paused',
    'nina',
  ],
  [
    'waits after a stop',
    { doing: 'paused', auto: 'paused', pause_holders: [{ token: 'safety', why: 'needs_continue', since: '' }] },
    'ModeID ato, AutoStatus paused',
    { reason: 'needs_continue' },
  ],
  [
    'fails in every act',
    { doing: 'failing', failed_rounds: 3, alerts: [{ type: 'story_failing', detail: 'no voice' }] as Robot['alerts'] },
    'ModeID ato, AutoStatus idle',
    { alert: { type: 'story_failing', detail: 'no voice' } as Robot['alerts'][number] },
  ],
  [
    'is stopped',
    {
      doing: 'waiting_for_release',
      safety: 'DISABLED',
      latches: [{ id: 's', level: 'stop', by: 'nora', why: 'a child', since: '' }],
    },
    'SafetyState DISABLED, mark latched',
    'nora: a child',
  ],
  [
    'is kept stopped, though its stop was released',
    { doing: 'disabled', safety: 'DISABLED', cause: 'latched' },
    'SafetyState DISABLED',
    { reason: 'stop_released' },
  ],
  [
    'is kept stopped by a unit',
    { doing: 'disabled', safety: 'DISABLED', latched_by: 'unit head' },
    'SafetyState DISABLED',
    { by: 'unit head' },
  ],
  ['needs a reset, and nothing says why', { doing: 'needs_reset', safety: 'E_STOP' }, 'SafetyState E_STOP', { by: '' }],
  [
    'changes its mode',
    { doing: 'switching', mode_phase: 'switching', intended: 'mnl' },
    'ModeID ato, ModePhase switching',
    'mnl',
  ],
];

test.each(cases)('a robot that %s', (_, more, terms, of) => {
  const p = performing({ ...base, ...more });
  expect(p.of).toEqual(of);
  expect(p.terms.map((t) => t.join(' ')).join(', ')).toBe(terms);
});

test('a pause whose cause is over waits for a person to continue it', () => {
  const paused = (why: string) =>
    waitsForContinue({ doing: 'paused_by_safety', pause_holders: [{ token: 'safety', why, since: '' }] });
  expect(paused('needs_continue')).toBe(true);
  expect(paused('needs_reset')).toBe(false);
});
