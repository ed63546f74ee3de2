import { describe, expect, it } from 'vitest';

import { actionForm, actionOf, firstAction } from './actionForm';
import { days, type Times } from './types';
import { missingOf, siteForm, siteOf } from './siteForm';
import { cronOf, everyTime, formOf, minuteOf, mondayOf, plusDays, spansIn, timesOf, weekOf } from './times';

describe('times of a schedule', () => {
  it('are a cron expression for days of the week, and back', () => {
    expect(cronOf('09:05', ['mon', 'fri'])).toBe('5 9 * * 1,5');
    expect(cronOf('18:00', [...days])).toBe('0 18 * * *');
    expect(weekOf('30 8 * * 1-5')).toEqual({ time: '08:30', days: ['mon', 'tue', 'wed', 'thu', 'fri'] });
    expect(weekOf('0 20 * * 6,7')).toEqual({ time: '20:00', days: ['sat', 'sun'] });
    for (const more of ['*/5 * * * *', '0 9 1 * *', '0 9 * 12 1', '61 9 * * 1', '0 9 * * mon', ''])
      expect(weekOf(more)).toBeUndefined();
  });
  it('come back as they were written', () => {
    const written: Times[] = [
      { cron: '0 9 * * 1,2', zone: 'Europe/Berlin' },
      { cron: '*/10 8-18 * * *', zone: 'UTC' },
      { at: '2026-12-24T18:00', zone: 'Asia/Tokyo' },
      { event: 'closing', site: 'lobby', offset_s: -900 },
      { event: 'opening', site: 'lobby', offset_s: undefined },
    ];
    for (const t of written) expect(timesOf(formOf(t))).toEqual(t);
  });
  it('are not sent while something is missing', () => {
    const f = everyTime();
    expect(timesOf(f)).toBeDefined();
    expect(timesOf({ ...f, days: [] })).toBeUndefined();
    expect(timesOf({ ...f, by: 'once' })).toBeUndefined();
    expect(timesOf({ ...f, by: 'site' })).toBeUndefined();
    expect(timesOf({ ...f, by: 'site', site: 'lobby', offset: '-1,5' })).toMatchObject({ offset_s: -90 });
    expect(timesOf({ ...f, by: 'site', site: 'lobby', offset: 'soon' })).toBeUndefined();
    expect(timesOf({ ...f, by: 'cron', cron: ' ' })).toBeUndefined();
  });
});

describe('hours', () => {
  it('are read as people write them', () => {
    expect(spansIn('9:00 – 12:00, 13:00-18:00 ;')).toEqual(['09:00-12:00', '13:00-18:00']);
    expect(spansIn(' ')).toEqual([]);
    expect(minuteOf('24:00')).toBe(1440);
  });
  it('belong to weeks from Monday', () => {
    expect(mondayOf('2026-11-29')).toBe('2026-11-23');
    expect(mondayOf('2026-11-23')).toBe('2026-11-23');
    expect(plusDays('2026-12-28', 7)).toBe('2027-01-04');
  });
  it('of a site come back as they were written', () => {
    const site = {
      zone: 'Europe/Berlin',
      hours: { mon: ['09:00-12:00', '13:00-18:00'], sat: ['20:00-02:00'] },
      exceptions: [{ date: '2026-12-24', until: undefined, hours: ['10:00-14:00'], name: 'Christmas Eve' }],
      windows: [
        { days: ['mon' as const], span: '22:00-05:00' },
        { days: undefined, span: '02:00-03:00' },
      ],
      open: { performance: 'start' as const },
      close: undefined,
    };
    expect(siteOf(siteForm(site))).toEqual(site);
    expect(siteForm(undefined).hours.mon).toBe('');
  });
  it('of a window may be several spans', () => {
    const f = { ...siteForm(undefined), windows: [{ days: ['mon' as const], span: '1:00-2:00, 22:00-23:00' }] };
    expect(siteOf(f).windows).toEqual([
      { days: ['mon'], span: '01:00-02:00' },
      { days: ['mon'], span: '22:00-23:00' },
    ]);
  });
  it('are not sent while an action is not complete or a window has no day', () => {
    const f = siteForm(undefined);
    expect(missingOf(f)).toBeUndefined();
    expect(missingOf({ ...f, open: firstAction, windows: [{ days: [...days], span: '' }] })).toBeUndefined();
    expect(missingOf({ ...f, close: { ...firstAction, kind: 'rollout' } })).toBe('noAction');
    expect(missingOf({ ...f, windows: [{ days: [], span: '22:00-05:00' }] })).toBe('noDays');
  });
});

describe('what happens', () => {
  it('comes back as it was written', () => {
    const actions = [
      { performance: 'pause' as const },
      { mode: 'ato' },
      { rollout: '0198c0de' },
      { assign: { activities: { pins: [{ id: 'hum', rev: 4 }] } } },
    ];
    for (const a of actions) expect(actionOf(actionForm(a))).toEqual(a);
  });
  it('is not sent while something is missing', () => {
    expect(actionOf({ ...firstAction, kind: 'rollout' })).toBeUndefined();
    expect(actionOf({ ...firstAction, kind: 'assign' })).toBeUndefined();
  });
});
