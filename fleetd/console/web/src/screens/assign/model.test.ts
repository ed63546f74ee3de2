import { describe, expect, it } from 'vitest';

import type { Robot } from '../../api/client';
import { complete, reasonsOf, stepOf, valueOf } from './model';

const robot = (id: string, view: string, desired: object) =>
  ({
    id,
    presence: { view },
    desired: { desired_rev: 2, reported_rev: 2, converged: false, ...desired },
  }) as unknown as Robot;

describe('progress of an assignment', () => {
  it('tells robots that have it, refused it, or are not there', () => {
    expect(stepOf(robot('r1', 'online', { converged: true }))).toBe('has');
    expect(stepOf(robot('r2', 'online', { phase: 'rejected' }))).toBe('refused');
    expect(stepOf(robot('r3', 'online', { phase: 'rejected', reported_rev: 1 }))).toBe('waiting');
    expect(stepOf(robot('r4', 'offline', { phase: 'fetching' }))).toBe('away');
    expect(stepOf(undefined)).toBe('away');
  });

  it('groups refusals by their reason', () => {
    const refused = (id: string, detail: string) => robot(id, 'online', { phase: 'rejected', detail });
    expect(reasonsOf([refused('r1', 'no arm'), refused('r2', 'no arm'), refused('r3', 'too big'), undefined])).toEqual([
      ['no arm', ['r1', 'r2']],
      ['too big', ['r3']],
    ]);
  });
});

describe('values of settings', () => {
  it('are JSON if they can be, otherwise texts', () => {
    expect([valueOf('0.3'), valueOf('true'), valueOf('["de"]'), valueOf('ato')]).toEqual([0.3, true, ['de'], 'ato']);
  });

  it('are needed before fleetd is asked', () => {
    expect(complete({ kind: 'settings', key: 'boot_mode', value: ' ' })).toBe(false);
    expect(complete({ kind: 'places', id: 'hall', text: '{"schema":' })).toBe(false);
    expect(complete({ kind: 'back' })).toBe(true);
  });
});
