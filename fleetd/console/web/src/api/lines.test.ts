import { describe, expect, it } from 'vitest';

import { bodiesOf } from '../screens/assign/bodies';
import { requestOf } from '../screens/robots/bulkRequest';
import { lineOf, type Request } from './lines';
import type { operations } from './schema';

const museum = { labels: [{ key: 'site', value: 'museum' }] };
const r1 = { ids: ['r1'] };
const id = { id: 'welcome' };
const why = 'the evening’s show';
const agreed = { expected: 2, why };

const rows: object[] = [];
/** A request of the console. files are those that its line reads, with their text. */
function row<O extends keyof operations>(operation: O, request: Request<O>, files?: Record<string, string>) {
  const { file, of: _of, over: _over, ...asked } = request;
  rows.push({
    operation,
    request: asked,
    line: lineOf(operation, request),
    files: files ?? (file ? { [file]: '' } : undefined),
  });
}
const command = (verb: string, args: object = {}) => row('command', { body: { verb, args, selector: r1 } });

// Stops, labels, alerts and what else concerns robots.
row('stop', { body: { selector: { ids: ['r1', 'r2'] }, why } });
row('stop', { body: { selector: { doing: ['paused', 'disabled'], text: 'a b', modes: ['ato'] } } });
row('stop', { body: { selector: { all: true }, why: "don't; $(rm)" } });
row('release-stops', { body: { ids: ['stop-260517-093000-1f0c', 'stop-2'], why } });
row('ack-alert', { path: { id: 'r1', alert: 'a1' }, body: { note: 'the wheel is "cleaned"' } });
row('set-labels', { path: { id: 'r1' }, body: { labels: { site: 'museum', floor: '2' }, why } });
row('adopt-robot', { path: { id: 'r1' }, body: {} });
row('ask-record', { path: { id: 'r1' }, body: { last_ms: 600_000, why } });
row('cancel-command', { path: { id: '0198c0de' }, body: { why } });
row('delete-orphan', { path: { id: 'r9' } });
row('make-enrolment-token', { path: { id: 'r7' }, body: { serial: 'B 7' } });

// Commands to a selection, with the number that a person agreed to, and to one robot.
for (const name of ['pause', 'continue', 'enable'] as const) bulk({ kind: 'verb', name });
bulk({ kind: 'verb', name: 'mode', mode: 'ato' });
bulk({ kind: 'label', set: { floor: '2' }, unset: ['hall'] });
function bulk(action: Parameters<typeof requestOf>[0]) {
  for (const selector of [museum, { ids: ['r1', 'r2'] }]) {
    const { operation, body } = requestOf(action, selector, agreed);
    if (operation === 'command') row('command', { body });
    else row('label-robots', { body });
  }
}
for (const verb of ['auto/start', 'auto/stop', 'auto/pause', 'safety/enable', 'safety/reset', 'control/acquire'])
  command(verb);
command('mode/set', { mode: 'mnl' });
command('mode/param', { mode: 'ato', name: 'loop', value: [1, 'a'] });
command('mode/param', { mode: 'follow', name: 'distance', value: 1.5 });
command('auto/skip', { act: 'welcome' });
command('auto/continue', { token: 'operator:fleetd/ann/2' });
command('control/takeover', { ttl_ms: 30_000 });
command('control/renew', { lease: 'l1', ttl_ms: 30_000 });
command('control/release', { lease: 'l1' });
command('interrupt/request', { handler: 'greeting', interrupter: 'face' });
command('interrupt/cancel', { id: 'i1' });
command('interrupter/run', { interrupter: 'face' });
command('interrupter/stop', { interrupter: 'face' });
command('life/focus', { activity: 'greet' });
command('life/set', { state: 'solitary' });
command('life/stop-focus');
command('life/stop-all');
command('life/set', { state: 'disabled' });
command('life/launchpad', { on: false });
command('life/plugin', { name: 'people', enabled: false });
command('life/safeguard', { name: 'pushed', enabled: true });
command('mode/param', { mode: 'follow', name: 'distance' });
command('life/explain', { condition: "people.present && mode == 'ato'" });
command('sys/ack-fault', { source: 'battery' });
command('manual/goto', { x_m: 1.5, y_m: -0.25, speed_mps: 0.2 });
command('manual/goto', { point: 'door' });
command('manual/stop');
command('manual/point-save', { point: 'door' });
command('manual/point-delete', { point: 'door' });
command('manual/head', { yaw_rad: 0.4, pitch_rad: -0.1 });
command('manual/head-motion', { motion: 'nod' });
command('manual/face', { face: 'smile' });
command('manual/led', { colour: '#ff8800', pattern: 'pulse' });
command('manual/volume', { volume: 0.4 });
command('manual/sound', { sound: 'gong' });
command('manual/say', { text: 'שלום, Anna', language: 'he' });
command('manual/act', { act: 'wave' });
command('manual/act-record', { act: 'wave', do: 'start' });

// What robots shall have.
const [story, activities, mode, config, places] = [
  bodiesOf({ kind: 'story', story: 'tour', rev: 3, apply: 'now' }),
  bodiesOf({ kind: 'activities', ids: ['greet', 'wave'] }),
  bodiesOf({ kind: 'mode', mode: 'ato', now: true }),
  bodiesOf({ kind: 'settings', key: 'low_battery', value: '0.3' }),
  bodiesOf({ kind: 'places', id: 'hall', text: '{"schema":1,"points":{}}' }),
];
const rest = { selector: museum, expected_count: 2, why };
row('assign', { body: { ...rest, ...story.story! } });
row('assign', {
  body: { selector: r1, ...bodiesOf({ kind: 'story', story: '', rev: 0, apply: 'next_act', none: true }).story! },
});
row('create-rollout', {
  body: {
    ...rest,
    content: { story: { id: 'museum', rev: 3, apply: 'now' } },
    digest: 'ab',
    supersede: 4,
    start: true,
  },
});
const waves = [{ name: 'canary', count: 1 }, { percent: 12.5 }, { percent: 100 }];
row('create-rollout', { body: { selector: r1, name: 'Summer 2', content: { story: { id: '' } }, spec: { waves } } });
row('create-rollout', {
  body: {
    selector: r1,
    content: { activities: { pins: [{ id: 'greet', rev: 2 }, { id: 'look' }] } },
    spec: { all_at_once: true },
  },
});
const soaking = { waves: [{ percent: 5, soak_s: 60 }], only_idle: true };
row(
  'create-rollout',
  {
    body: { selector: r1, content: { config: { set: { boot_mode: 'ato', name: '7' }, unset: ['b'] } }, spec: soaking },
  },
  { 'plan.json': JSON.stringify(soaking) },
);
row('create-rollout', {
  body: {
    selector: r1,
    content: { mode: { mode: 'ato', apply: 'now' } },
    spec: { offers_per_min: 30, offline: 'skip' },
  },
});
row(
  'create-rollout',
  {
    body: {
      selector: r1,
      content: { places: { id: 'hall', body: { schema: 1, points: {} } } },
      not_before: '2026-12-24T22:00:00.000Z',
    },
  },
  { 'hall.json': '{"schema":1,"points":{}}' },
);
const going = { id: '0198c0de' };
row('start-rollout', { path: going, body: { why } });
row('start-rollout', { path: going, body: { not_before: '2026-12-24T22:00:00.000Z' } });
row('pause-rollout', { path: going, body: { why } });
row('resume-rollout', { path: going, body: { why } });
row('retry-rollout', { path: going, body: { why, expected_count: 2 } });
row('abort-rollout', { path: going, body: { why } });
row('rollback-rollout', { path: going, body: { why, expected_count: 5 } });
row('approve-rollout', { path: going, body: { digest: '9f86d081884c', why } });
row('set-pin', { path: { id: 'r1', kind: 'story' }, body: { why } });
row('remove-pin', { path: { id: 'r1', kind: 'story' }, query: { why } });
const lobby = { id: 'lobby' };
row('put-policy', {
  path: lobby,
  body: { ...rest, place: 10, content: { story: { id: 'tour', rev: 3, apply: 'now' } } },
});
row('put-policy', {
  path: lobby,
  body: { selector: { all: true }, enabled: false, content: { mode: { mode: 'ato', apply: 'boot' } } },
});
row('delete-policy', { path: lobby, query: { expected_count: 2, why } });
row('revert-assignment', { body: rest });
row('assign-activities', { body: { ...rest, ...activities.activities! } });
row('assign-activities', { body: { selector: r1, activities: [] } });
row('desired', { body: { ...rest, ...mode.desired! } });
row('desired', { body: { ...rest, ...config.desired! } });
row('desired', { body: { selector: r1, config: { set: { boot_mode: 'ato', name: '7', a: [1] }, unset: ['b'] } } });
row('desired', { body: { ...rest, ...places.desired! } }, { 'hall.json': '{"schema":1,"points":{}}' });
row('desired', { body: { selector: r1, places: { id: 'hall', sha256: 'ab' } } });
row('desired', { body: { selector: r1, ...bodiesOf({ kind: 'places', id: '', text: '', none: true }).desired! } });
row('desired', { body: { selector: r1, ...bodiesOf({ kind: 'back', of: 'places' }).desired! } });
row('desired', {
  body: {
    selector: museum,
    points: {
      points: { door: { x_m: -3.5, y_m: 2, theta_rad: 1.57 }, hall: { x_m: 0, y_m: 1 } },
      replace: true,
      map_sha256: 'ab',
    },
  },
});

// The library.
for (const kind of ['act', 'story', 'activity'] as const) {
  row(`publish-${kind}`, { path: id, body: { why } });
  row(`publish-${kind}`, { path: id, body: { acts: ['bow', 'nod'], why } });
  row(`restore-${kind}`, { path: { ...id, rev: 2 }, body: {} });
  row(`duplicate-${kind}`, { path: id, body: { id: 'hello' } });
  row(`recover-${kind}`, { path: id, body: {} });
  row(`delete-${kind}`, { path: id, query: { expected_stories: 0, expected_activities: 0, expected_robots: 0 } });
  row(`delete-${kind}`, { path: id, query: { expected_stories: 1, expected_robots: 2, clear: ['tour'], why } });
}
const texts = {
  act: 'act: welcome\nactions:\n- {type: wait, start_ms: 0, end_ms: 500}\n',
  story: 'story: welcome\nname: {en: Welcome}\nrepeat: once\nacts:\n- {act: wave}\n',
  activity: 'activity: welcome\nname: {en: Welcome}\nnature: interactive\nrepeat: once\nacts:\n- {act: wave}\n',
};
for (const kind of ['act', 'story', 'activity'] as const)
  for (const over of [undefined, 7])
    row(`save-${kind}`, { path: id, file: 'welcome.yaml', over }, { 'welcome.yaml': texts[kind] });
row('export-library', { query: { kind: 'story', id: ['welcome', 'tour'], format: 'zip' }, file: 'welcome.zip' });
row('export-library', { query: { kind: 'act', format: 'csv' }, file: 'acts.csv' });
row('import-library', {
  query: { format: 'csv', skip_wrong: true, map: ['Geschichte=story', 'Notiz='] },
  file: 'list.csv',
});
row(
  'try-text',
  {
    path: { id: 'r1' },
    body: { kind: 'act', text: texts.act, only: ['/actions/0'], lang: 'de' },
    file: 'welcome.yaml',
  },
  { 'welcome.yaml': texts.act },
);
row('try-text', {
  path: { id: 'r1' },
  body: { kind: 'story', text: '', only: ['/acts/1'], lang: 'en' },
  of: 'welcome',
});
row('put-asset', { path: { name: 'gong' }, file: 'gong.wav' });
const hours = {
  zone: 'Europe/Berlin',
  hours: { mon: ['09:00-18:00'] },
  open: { performance: 'start' as const },
  why: 'a new season',
};
row(
  'put-site',
  { path: { id: 'berlin' }, body: hours },
  { 'berlin.json': JSON.stringify({ site: 'berlin', ...hours }) },
);
row('delete-site', { path: { id: 'berlin' }, query: { why: 'closed' } });
row('put-site-map', {
  path: { id: 'berlin' },
  query: {
    resolution_m: 0.05,
    x_m: -1.5,
    y_m: -2,
    theta_rad: 0.1,
    negate: true,
    map_sha256: 'ab'.repeat(32),
    why: 'new',
  },
  file: 'map.pgm',
});
row('delete-site-map', { path: { id: 'berlin' }, query: { why: 'closed' } });
const morning = { cron: '0 9 * * 1-5', zone: 'Europe/Berlin', action: { mode: 'ato' }, selector: { all: true } };
row(
  'put-schedule',
  { path: { id: 'morning' }, body: morning },
  { 'morning.json': JSON.stringify({ schedule: 'morning', ...morning }) },
);
row('delete-schedule', { path: { id: 'morning' } });
const phones = { kind: 'ntfy' as const, url: 'https://ntfy.example', topic: 'robots' };
row(
  'put-receiver',
  { path: { id: 'phones' }, body: phones },
  { 'phones.json': JSON.stringify({ receiver: 'phones', ...phones }) },
);
row('test-receiver', { path: { id: 'phones' }, body: {} });
row('delete-receiver', { path: { id: 'phones' } });
const night = { receiver: 'phones', alerts: ['robot_lost'] };
row(
  'put-route',
  { path: { id: 'night' }, body: night },
  { 'night.json': JSON.stringify({ route: 'night', ...night }) },
);
row('delete-route', { path: { id: 'night' } });
row('resend-notification', { path: { id: '7f9c5f0e' }, body: {} });
row('ack-fleet-alert', { path: { alert: 'schedule-morning' }, body: { note: why } });
row('delete-asset', { path: { name: 'gong' }, query: { why } });

// People and programs.
row('add-user', { body: { name: 'anna', display: 'Anna B', roles: ['operator', 'author'], sites: ['museum'] } });
row('change-user', { path: { name: 'anna' }, body: { display: '', roles: ['viewer'], sites: [], disabled: false } });
row('change-user', { path: { name: 'anna' }, body: { disabled: true } });
row('set-password', { path: { name: 'anna' }, body: { password: 'a long password' } });
row('make-access-token', { body: { name: 'nightly', user: 'anna', days: 90, roles: ['viewer'] } });
row('revoke-access-token', { path: { id: '17e1b81f' } });
row('end-session', { path: { id: '5d41402abc4b' } });
row('end-sessions', {});
row('end-sessions', { query: { user: 'anna' } });

describe('the command line', () => {
  // fleetd/cli types each line and compares the request.
  it('has a line for each request of the console', async () => {
    await expect(JSON.stringify(rows, undefined, 1) + '\n').toMatchFileSnapshot(
      '../../../../cli/testdata/console-lines.json',
    );
  });

  it('refuses to make up a line', () => {
    expect(() => lineOf('enrol', {} as Request<'enrol'>)).toThrow('no command');
  });
});
