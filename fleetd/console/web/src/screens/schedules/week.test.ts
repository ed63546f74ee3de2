import { describe, expect, it } from 'vitest';

import type { WeekDay } from './types';
import { blocksOf, inZone, isOfSite, marksOf } from './week';

const day = (date: string, some: Partial<WeekDay> = {}): WeekDay => ({
  date,
  day: 'mon',
  open: [],
  windows: [],
  ...some,
});

describe('the week of a site', () => {
  it('shows a span over midnight in both days', () => {
    const days = [
      day('2026-11-28', {
        open: [{ text: '20:00-02:00', from: '2026-11-28T20:00:00+01:00', to: '2026-11-29T02:00:00+01:00' }],
      }),
      day('2026-11-29', {
        open: [{ text: '10:00-24:00', from: '2026-11-29T10:00:00+01:00', to: '2026-11-30T00:00:00+01:00' }],
      }),
    ];
    expect(blocksOf(days, 'open')).toEqual([
      [{ from: 1200, to: 1440, text: '20:00-02:00' }],
      [
        { from: 0, to: 120, text: '20:00-02:00' },
        { from: 600, to: 1440, text: '10:00-24:00' },
      ],
    ]);
    expect(blocksOf(days, 'windows')).toEqual([[], []]);
  });
  it('has what ran and what comes on the dates of its zone', () => {
    const zone = 'Asia/Tokyo';
    expect(inZone('2026-11-28T15:30:00Z', zone)).toEqual({ date: '2026-11-29', time: '00:30' });
    const days = [day('2026-11-28'), day('2026-11-29')];
    const ran = [{ schedule: 'open', instant: '2026-11-28T00:00:00Z', outcome: 'done' as const }];
    const coming = [
      {
        id: 'night',
        next: [
          { at: '2026-11-28T15:30:00Z', local: '' },
          { at: '2026-12-28T15:30:00Z', local: '' },
        ],
      },
      { id: 'open', next: [{ at: '2026-11-28T00:00:00Z', local: '' }] },
    ];
    expect(marksOf(days, zone, ran, coming)).toEqual([
      [{ at: '09:00', minute: 540, schedule: 'open', outcome: 'done' }],
      [{ at: '00:30', minute: 30, schedule: 'night', outcome: undefined }],
    ]);
  });
  it('has the schedules of its robots', () => {
    expect(isOfSite({ of_site: 'lobby' }, 'lobby')).toBe(true);
    expect(isOfSite({ site: 'lobby' }, 'lobby')).toBe(true);
    expect(isOfSite({ selector: { labels: [{ key: 'site', value: 'lobby' }] } }, 'lobby')).toBe(true);
    expect(isOfSite({ selector: { all: true } }, 'lobby')).toBe(false);
  });
});
