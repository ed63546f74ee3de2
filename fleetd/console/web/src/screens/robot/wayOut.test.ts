import { expect, test } from 'vitest';

import type { Robot } from '../../api/client';
import type { Detail } from './page';
import { wayOut } from './wayOut';

const well = {
  id: 'r1',
  adopted: true,
  presence: { view: 'online' },
  safety: 'ENABLED',
  mode: 'ato',
  auto: 'idle',
  story: { id: 's', rev: 1 },
  latches: [],
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

test('a pressed stop input comes before the reset', () => {
  expect(keys(robot({ safety: 'E_STOP', estop_input: true, mode: 'mnl', auto: 'halt' }))).toEqual([
    'stopInput',
    'reset',
    'enable',
    'mode',
  ]);
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
    { token: 'link', since: '' },
  ];
  expect(wayOut(robot({ auto: 'paused', pause_holders }))).toEqual([
    { key: 'continue', token: 'operator:op/ann/1', by: 'ann', why: '' },
    { key: 'continue', token: 'link', by: '', why: '' },
  ]);
});

test('a critical unit that is broken is acknowledged before the robot is enabled', () => {
  const diagnosis = [{ id: 'battery', effect: 'rest', fault: 'cell', unacknowledged: true }];
  const d = { ...well, state: { diagnosis } } as unknown as Detail;
  expect(keys(robot({ safety: 'DISABLED' }), d)).toEqual(['repair', 'enable']);
});

test('nothing can be done about a robot that is away but to bring it back', () => {
  expect(keys(robot({ presence: { view: 'lost' }, safety: 'E_STOP' }))).toEqual(['connect']);
});
