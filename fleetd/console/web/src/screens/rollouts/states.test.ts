import { describe, expect, it, vi } from 'vitest';

import type { Plan, RobotState } from './types';
import {
  affected,
  gateCount,
  groupsBy,
  inParts,
  isOpen,
  lengthOf,
  openFirst,
  partOf,
  segments,
  stairs,
  wavesText,
} from './states';
import { useRolloutsTexts } from './text';

vi.mock('../../text/language', () => ({ texts: (en: object) => Object.assign(() => en, { now: () => en }) }));

const units = { s: 's', min: 'min', h: 'h', d: 'd' };
const all = Object.keys(partOf) as RobotState[];

describe('the gate of a wave', () => {
  it('counts reachable robots that have the content or still get it', () => {
    const gate = { success_percent: 90, max_failure_percent: 5, min_decided: 5, soak_s: 0 };
    const counts = { ACTIVE: 2, CONFIRMED: 3, UNCHANGED: 4, WAITING_OFFLINE: 5, PINNED: 6, FAILED: 1, PLANNED: 4 };
    expect(gateCount({ counts, total: 25, gate })).toEqual({ done: 5, needed: 9 });
    expect(gateCount({ counts, total: 25, gate: { ...gate, accepted_failures: 1 } })).toEqual({ done: 5, needed: 9 });
    expect(gateCount({ counts: { PINNED: 2 }, total: 2, gate })).toEqual({ done: 0, needed: 1 });
    expect(gateCount({ counts, total: 25, gate: { ...gate, success_percent: 0 } }).needed).toBe(0);
  });
});

describe('a bar', () => {
  it('has every robot in exactly one part, in one order', () => {
    const counts = Object.fromEntries(all.map((s, n) => [s, n + 1]));
    const got = segments(counts);
    expect(got.map((s) => s.part)).toEqual(['has', 'back', 'watched', 'underway', 'failed', 'out', 'waiting']);
    expect(got.flatMap((s) => s.states.map(([state]) => state)).sort()).toEqual([...all].sort());
    expect(got.reduce((n, s) => n + s.count, 0)).toBe(Object.values(counts).reduce((n, c) => n + c, 0));
  });
  it('leaves out parts without a robot', () => {
    expect(segments({ CONFIRMED: 2, FAILED: 0 })).toEqual([{ part: 'has', count: 2, states: [['CONFIRMED', 2]] }]);
    expect(segments({})).toEqual([]);
  });
  it('counts the robots of some parts', () => {
    expect(inParts({ CONFIRMED: 2, UNCHANGED: 1, SILENT: 4, PLANNED: 7 }, 'has', 'failed')).toBe(7);
  });
  it('has words for every state', () => {
    const t = useRolloutsTexts();
    expect(all.filter((s) => !t.robotStates[s])).toEqual([]);
  });
});

describe('a decision', () => {
  const counts = {
    PLANNED: 5,
    DEFERRED: 1,
    WAITING_OFFLINE: 2,
    OFFERED: 3,
    ACTIVE: 1,
    CONFIRMED: 4,
    FAILED: 2,
    SILENT: 1,
  };
  it('names the robots that it is about', () => {
    expect(affected('pause', counts)).toBe(8);
    expect(affected('abort', counts)).toBe(8);
    expect(affected('retry', counts)).toBe(3);
    expect(affected('rollback', counts)).toBe(11);
  });
});

describe('the list', () => {
  it('has open rollouts first, each in the order of fleetd', () => {
    const rows = (['SUCCEEDED', 'PAUSED', 'ABORTED', 'RUNNING'] as const).map((state, id) => ({ id, state }));
    expect(openFirst(rows).map((r) => r.id)).toEqual([1, 3, 0, 2]);
    expect(isOpen('ROLLING_BACK')).toBe(true);
    expect(isOpen('ROLLBACK_INCOMPLETE')).toBe(false);
  });
  it('says the wave only while it goes on', () => {
    const t = useRolloutsTexts();
    const r = { wave: 1, wave_count: 4, started_at: '2026-11-23T10:42:00Z' };
    expect(wavesText({ ...r, state: 'RUNNING' }, t)).toBe('wave 2 of 4');
    expect(wavesText({ ...r, state: 'ROLLED_BACK' }, t)).toBe('4 waves');
    expect(wavesText({ ...r, state: 'READY', started_at: undefined }, t)).toBe('4 waves');
    expect(wavesText({ ...r, state: 'RUNNING', wave_count: 1 }, t)).toBe('all at once');
  });
});

describe('a length of time', () => {
  it('is in the units that matter', () => {
    const cases: [number, string][] = [
      [-3, '0 s'],
      [90, '90 s'],
      [600, '10 min'],
      [11_100, '3 h 5 min'],
      [7200, '2 h'],
      [3 * 86_400, '3 d'],
      [2 * 86_400 + 7200, '2 d 2 h'],
    ];
    for (const [s, text] of cases) expect(lengthOf(s, units)).toBe(text);
  });
});

describe('the picture of a plan', () => {
  const wave = (total: number, refused = 0) => ({ total, refused }) as Plan['waves'][number];
  it('has stairs that end at all robots', () => {
    const steps = stairs([wave(2), wave(18, 3), wave(80), wave(100)]);
    expect(steps.map((s) => s.before)).toEqual([0, 1, 10, 50]);
    expect(steps[1]).toEqual({ before: 1, here: 7.5, refused: 1.5 });
    const last = steps.at(-1)!;
    expect(last.before + last.here + last.refused).toBe(100);
    expect(stairs([wave(0)])).toEqual([{ before: 0, here: 0, refused: 0 }]);
  });
  it('groups refusals by reason, the most first', () => {
    const rows = [{ r: 'a' }, { r: 'b' }, { r: 'b' }];
    expect(groupsBy(rows, (x) => x.r).map(([k, g]) => [k, g.length])).toEqual([
      ['b', 2],
      ['a', 1],
    ]);
  });
});
