import { describe, expect, it, vi } from 'vitest';

import { givenText, type Last, outcomeOf, rolloutOf, whatOf } from './last';

vi.mock('../../text/language', () => ({ texts: (en: object) => ({ now: () => en }) }));

const last = (kind: Last['kind'], ...groups: Last['groups']): Last => ({
  id: `${kind}-1`,
  kind,
  at: '2026-11-23T10:42:00Z',
  total: groups.reduce((n, g) => n + g.robots.length, 0),
  groups,
  accepted: 0,
  refused: 0,
  undecided: 0,
});

describe('a last assignment', () => {
  it('says what robots were given and had', () => {
    expect(givenText('story', { id: 'tour', rev: 2 })).toBe('tour 2');
    expect(givenText('story', {})).toBe('–');
    expect(givenText('activities', [{ id: 'hum', rev: 1 }])).toBe('hum 1');
    expect(givenText('activities', undefined)).toBe('–');
    expect(givenText('config', { low_battery: 0.3, boot_mode: null })).toBe('low_battery = 0.3, boot_mode not set');
    expect(givenText('mode', { mode: 'mnl', apply: 'boot' })).toBe('mnl');
    expect(givenText('places', { places: null })).toBe('–');
  });
  it('leads each robot of a story back by one request, or one robot alone', () => {
    const a = last(
      'story',
      { now: { id: 'tour', rev: 2 }, before: { id: 'tour', rev: 1 }, robots: ['r1'] },
      { now: { id: 'tour', rev: 2 }, before: {}, robots: ['r3'] },
    );
    const all = outcomeOf(a);
    expect(all.back).toEqual([{ what: { kind: 'back' }, robots: ['r1', 'r3'] }]);
    expect(all.lines.map((l) => [l.robot, l.now, l.then])).toEqual([
      ['r1', 'tour 1', 'tour 2'],
      ['r3', '–', 'tour 2'],
    ]);
    expect(outcomeOf(a, 'r3').back).toEqual([{ what: { kind: 'back' }, robots: ['r3'] }]);
    expect(whatOf(a).kind).toBe('story');
  });
  it('leads the robots of settings back, but for those without a way back', () => {
    const a = last(
      'config',
      { now: { low_battery: 0.3 }, before: { low_battery: null }, robots: ['r1'] },
      { no_way_back: 'nothing is known', robots: ['r2'] },
    );
    expect(outcomeOf(a).back).toEqual([{ what: { kind: 'back', of: 'config' }, robots: ['r1'] }]);
    expect(whatOf(a)).toEqual({ kind: 'back', of: 'config' });
  });
  it('leads to its rollout, unless several may be it', () => {
    const a = last('story', { now: { id: 'tour', rev: 2 }, before: {}, robots: ['r1'] });
    const r = { id: 'a', kind: 'story', wave_count: 1, total: 1, created_at: '2026-11-23T10:42:00.4Z' } as const;
    const tour = { ...r, content: 'story tour revision 2' };
    const others = [
      { ...tour, kind: 'mode' as const },
      { ...tour, content: 'story tour revision 1' },
      { ...tour, created_at: '2026-11-23T10:43:00Z' },
      { ...tour, wave_count: 3 },
    ];
    expect(rolloutOf(a, [...others, tour])?.id).toBe('a');
    expect(rolloutOf(a, others)).toBeUndefined();
    expect(rolloutOf(a, [tour, { ...tour, id: 'b' }])).toBeUndefined();
  });
  it('gives each robot the activities that it had', () => {
    const a = last(
      'activities',
      { now: [], before: [{ id: 'hum', rev: 1 }], robots: ['r1'] },
      { now: [], before: [], robots: ['r2'] },
    );
    expect(outcomeOf(a).back?.map((b) => b.what)).toEqual([
      { kind: 'activities', ids: ['hum'], none: false },
      { kind: 'activities', ids: [], none: true },
    ]);
  });
});
