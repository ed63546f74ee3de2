import { expect, test } from 'vitest';

import type { Detail, Robot } from '../../api/client';
import { blocker, stepID, wayOut } from './wayOut';

const well = {
  id: 'r1',
  adopted: true,
  presence: { status: 'online' },
  safety: 'ENABLED',
  mode: 'ato',
  auto: 'idle',
  story: { id: 's', rev: 1 },
  latches: [],
  alerts: [],
  pause_holders: [],
} as unknown as Robot;
const robot = (more: object): Robot => ({ ...well, ...more });
const keys = (r: Robot, d?: Detail) => wayOut(r, d).map((s) => s.key);

test('a robot that performs needs nothing', () => expect(keys(well)).toEqual([]));

test('a stop that a person latched is released, then the robot is enabled', () => {
  const latches = [{ id: 'stop-1', level: 'stop', since: '' }];
  const pause_holders = [{ token: 'safety', since: '' }];
  expect(keys(robot({ safety: 'DISABLED', auto: 'paused', latches, pause_holders }))).toEqual(['release', 'enable']);
});

test('the way out of a robot in E_STOP is complete, and says what has to come first', () => {
  const latches = [{ id: 'stop-1', level: 'estop', since: '' }];
  const pause_holders = [{ token: 'safety', why: 'needs_reset', since: '', needs_continue: true }];
  const r = robot({ safety: 'E_STOP', auto: 'paused', latches, pause_holders });
  expect(keys(r)).toEqual(['release', 'reset', 'enable', 'continue']);
  const steps = wayOut(r);
  expect(steps.map((_, n) => blocker(steps, n)?.key)).toEqual([undefined, 'release', 'release', 'enable']);
});

test('a step is the same one when more becomes known of it: its dialog stays open', () => {
  const stopped = (latch: object) =>
    wayOut(robot({ safety: 'DISABLED', latches: [{ id: 'stop-1', level: 'stop', since: '', ...latch }] }))[0]!;
  expect(stepID(stopped({ unpersisted: true }))).toBe(stepID(stopped({ why: 'a child', by: 'ann' })));
});

test('a pause of a person outlasts manual control, and is continued in automatic', () => {
  const pause_holders = [{ token: 'operator:op/otto/1', by: 'otto', since: '' }];
  const steps = wayOut(robot({ mode: 'mnl', auto: 'halt', pause_holders }));
  expect(steps.map((s) => s.key)).toEqual(['mode', 'continue']);
  expect(blocker(steps, 1)?.key).toBe('mode');
});

test('a robot of which every act fails says how often and why', () => {
  const alerts = [{ type: 'story_failing', detail: 'the last error is of hello', hint: 'repair it' }];
  expect(wayOut(robot({ doing: 'failing', failed_rounds: 3, alerts }))).toEqual([
    { key: 'failing', rounds: 3, error: 'the last error is of hello', hint: 'repair it' },
  ]);
});

test('a pressed stop input comes before the reset', () => {
  expect(keys(robot({ safety: 'E_STOP', estop_input: true, mode: 'mnl', auto: 'halt' }))).toEqual([
    'stopInput',
    'reset',
    'enable',
    'mode',
  ]);
});

test('a robot whose stop input was pressed is reset at its body', () => {
  const state = { safety: { state: 'E_STOP', estop_input: false, local_reset: true } } as unknown as Detail['state'];
  const steps = wayOut(robot({ safety: 'E_STOP' }), { ...well, state } as Detail);
  expect(steps.map((s) => s.key)).toEqual(['resetAtRobot', 'enable']);
  expect(blocker(steps, 1)?.key).toBe('resetAtRobot');
});

test('a robot without a story gets one before its mode', () => {
  const modes = {
    modes: [{ id: 'ato', selectable: false, why_not: [{ reason: 'no_default_story' }] }],
  } as unknown as Detail['modes'];
  expect(keys(robot({ mode: 'mnl', auto: 'halt' }), { ...well, modes } as Detail)).toEqual(['story', 'mode']);
});

test('each pause of a person is continued, and those of handlers are not', () => {
  const pause_holders = [
    { token: 'operator:op/ann/1', by: 'ann', since: '' },
    { token: 'interrupt:7', since: '' },
    { token: 'link', since: '', needs_continue: true },
    { token: 'safeguard', why: 'safeguard', since: '' },
  ];
  const alerts = [{ type: 'safeguard', detail: 'somebody pushes the robot' }] as Robot['alerts'];
  expect(wayOut(robot({ auto: 'paused', pause_holders, alerts }))).toEqual([
    { key: 'continue', token: 'operator:op/ann/1', by: 'ann', why: '' },
    { key: 'continue', token: 'link', by: '', why: '' },
    { key: 'endsByItself', why: 'safeguard', detail: 'somebody pushes the robot' },
  ]);
});

test('a critical unit that is broken is acknowledged before the robot is enabled', () => {
  const diagnosis = [{ id: 'battery', effect: 'rest', fault: 'cell', unacknowledged: true }];
  const d = { ...well, state: { diagnosis } } as unknown as Detail;
  expect(keys(robot({ safety: 'DISABLED' }), d)).toEqual(['repair', 'enable']);
});

test('the text of a fault that its unit no longer reports comes from the alert', () => {
  const diagnosis = [{ id: 'battery', effect: 'rest', unacknowledged: true }];
  const d = { ...well, state: { diagnosis } } as unknown as Detail;
  const alerts = [{ type: 'device_critical', source: 'battery', detail: 'unit battery: it was damaged (cell)' }];
  expect(wayOut(robot({ safety: 'DISABLED', alerts }), d)[0]).toEqual({
    key: 'repair',
    unit: 'battery',
    fault: 'it was damaged (cell)',
    rests: true,
    acknowledge: true,
  });
});

test('a unit that nobody uses until it is acknowledged is why acts fail', () => {
  const diagnosis = [
    { id: 'head', effect: 'disabled', fault: 'it has not answered a command', unacknowledged: true },
    { id: 'face', effect: 'disabled', fault: 'display' },
  ];
  const d = { ...well, state: { diagnosis } } as unknown as Detail;
  const steps = wayOut(robot({ doing: 'failing' }), d);
  expect(steps.map((s) => s.key)).toEqual(['repair', 'failing']);
  expect(steps[0]).toMatchObject({ unit: 'head', rests: false, acknowledge: true });
});

test('nothing can be done about a robot that is away but to bring it back', () => {
  expect(keys(robot({ presence: { status: 'lost' }, safety: 'E_STOP' }))).toEqual(['connect']);
});
