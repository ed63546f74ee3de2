import { describe, expect, it } from 'vitest';

import type { Robot } from '../../api/client';
import { lineFor } from './lines';
import { complete, grouped, namedIn, reportOf, stepOf, valueOf, stepText } from './model';

const robot = (id: string, status: string, desired: object, activities?: object) =>
  ({
    id,
    presence: { status },
    desired: { desired_rev: 2, reported_rev: 2, converged: false, story: { id: 'tour', rev: 4 }, ...desired },
    activities,
  }) as unknown as Robot;
const story = (r: Robot) => stepOf(reportOf('story', r), false, r);

describe('progress of an assignment', () => {
  it('tells robots that have it, refused it, or are not there', () => {
    expect(story(robot('r1', 'online', { converged: true }))).toBe('has');
    expect(story(robot('r2', 'online', { phase: 'rejected' }))).toBe('refused');
    expect(story(robot('r3', 'online', { phase: 'rejected', reported_rev: 1 }))).toBe('waiting');
    expect(story(robot('r4', 'offline', { phase: 'fetching' }))).toBe('away');
    expect(story(robot('r6', 'online', { phase: 'active', reason: 'wrong_fleet' }))).toBe('refused');
    expect(stepOf(undefined, false, undefined)).toBe('away');
    const r = robot('r5', 'online', { converged: true });
    expect(stepOf(reportOf('story', r), true, r)).toBe('replaced');
  });

  it('tells a robot that has accepted a story from one that performs it', () => {
    expect(story(robot('r1', 'online', { phase: 'waiting' }))).toBe('accepted');
    expect(story(robot('r2', 'online', { phase: 'staged' }))).toBe('accepted');
    expect(story(robot('r3', 'online', { phase: 'waiting', reported_rev: 1 }))).toBe('waiting');
    const words = {
      steps: { accepted: 'after the act', has: '', refused: '', waiting: '', away: '', replaced: '' },
      acceptedNextStart: 'at the next start',
    };
    expect(stepText(words, 'accepted')).toBe('after the act');
    const next = { kind: 'story', story: 'tour', rev: 4, apply: 'next_start' } as const;
    expect(stepText(words, 'accepted', next)).toBe('at the next start');
  });

  it('names stories and activities for people', () => {
    const name = (id: string) => ({ tour: 'The tour', hum: 'Hum' })[id] ?? id;
    expect(namedIn('tour 4', name)).toBe('The tour 4');
    expect(namedIn('hum 1, greet 2', name)).toBe('Hum 1, greet 2');
    expect(namedIn('–', name)).toBe('–');
  });

  it('shows what is requested beside what is reported', () => {
    const r = robot('r1', 'online', { phase: 'rejected', reason: 'no_unit', detail: 'no arm' });
    expect(reportOf('story', r)).toEqual({
      requested: 'tour 4',
      phase: 'rejected',
      outcome: 'refused',
      detail: 'no_unit: no arm',
    });
    const a = robot('r2', 'online', {}, { assigned: [{ id: 'greet', rev: 2 }], converged: true, refused: [] });
    expect(reportOf('activities', a)).toEqual({
      requested: 'greet 2',
      phase: 'active',
      outcome: 'accepted',
      detail: '',
    });
    const part = { assigned: [], converged: true, refused: [{ id: 'wave', reason: 'no_unit', detail: 'no arm' }] };
    expect(reportOf('activities', robot('r3', 'online', {}, part))).toMatchObject({
      outcome: 'refused',
      detail: 'wave: no arm',
    });
  });

  it('groups robots by their reason', () => {
    const all = [
      ['no arm', 'r1'],
      ['no arm', 'r2'],
      ['too big', 'r3'],
      [undefined, 'r4'],
    ] as const;
    expect(grouped(all)).toEqual([
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
    expect(complete({ kind: 'settings', key: 'boot_mode', value: '', none: true })).toBe(true);
    expect(complete({ kind: 'places', id: 'hall', text: '{"schema":' })).toBe(false);
    expect(complete({ kind: 'activities', ids: [] })).toBe(false);
    expect(complete({ kind: 'back' })).toBe(true);
  });
});

it('the command line says the same', () => {
  const museum = { labels: [{ key: 'site', value: 'museum' }] };
  expect([
    lineFor({ kind: 'story', story: 'tour', rev: 3, apply: 'now' }, museum, 2, 'a visit'),
    lineFor({ kind: 'activities', ids: ['greet', 'wave'] }, { ids: ['r1'] }, undefined, ''),
    lineFor({ kind: 'settings', key: 'low_battery', value: '0.3' }, { all: true }, 3, ''),
    lineFor({ kind: 'back', of: 'config' }, { ids: ['r1'] }, 1, ''),
    lineFor({ kind: 'places', id: 'hall', text: '{}' }, { ids: ['r1'] }, 1, ''),
  ]).toEqual([
    `fleetd story assign tour --rev=3 --apply=now -l site=museum --expect=2 '--why=a visit'`,
    'fleetd activity assign greet,wave r1',
    'fleetd desired config low_battery=0.3 --all --expect=3',
    'fleetd desired revert config r1 --expect=1',
    'fleetd desired places -f hall.json --id=hall r1 --expect=1',
  ]);
});
