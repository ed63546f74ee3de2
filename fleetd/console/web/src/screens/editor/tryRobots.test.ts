import { describe, expect, it } from 'vitest';

import type { Robot } from '../../api/client';
import { fitness, onlyReady } from './tryRobots';

const robot = (id: string, is: Partial<Robot>): Robot => ({ id, doing: 'manual', latches: [], ...is }) as Robot;
const ready = (id: string) => robot(id, { mode: 'mnl', safety: 'ENABLED' });

describe('a robot to try a draft on', () => {
  it.each([
    [ready('r1'), 'ready'],
    [robot('r1', { mode: 'ato', safety: 'ENABLED', doing: 'performing' }), 'step'],
    [robot('r1', { mode: 'mnl', safety: 'DISABLED', doing: 'disabled' }), 'step'],
    [
      robot('r1', { mode: 'mnl', safety: 'ENABLED', control: { holder: 'fleetd', by: 'ann' } as Robot['control'] }),
      'cannot',
    ],
    [robot('r1', { mode: 'mnl', safety: 'ENABLED', latches: ['stop-1'] as unknown as Robot['latches'] }), 'cannot'],
    [robot('r1', { mode: 'ato', safety: 'ENABLED', doing: 'not_connected' }), 'cannot'],
    [robot('r1', { mode: 'mnl', safety: 'E_STOP', doing: 'needs_reset' }), 'cannot'],
  ])('%j is %s', (r, is) => {
    expect(fitness(r)).toBe(is);
  });

  it('is preselected only if it is the only one that is ready', () => {
    const away = robot('r9', { mode: 'mnl', safety: 'ENABLED', doing: 'not_connected' });
    expect(onlyReady([away, ready('r1')])).toBe('r1');
    expect(onlyReady([ready('r1'), ready('r2')])).toBe('');
    expect(onlyReady([robot('r1', { mode: 'ato', doing: 'performing' })])).toBe('');
  });
});
