import { expect, test } from 'vitest';

import { stopperOf } from './stopper';

const at = (s: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, s)).toISOString();
const left = (s: number, req_id?: string) => ({ type: 'safety_changed', ts: at(s), req_id, data: { from: 'ENABLED' } });
const latched = (s: number, by: string) => ({ type: 'stop_latched', ts: at(s), data: { by, why: 'a child' } });

test('the latched stop names its person, and its event does so after the release', () => {
  expect(stopperOf([{ id: 'l', level: 'stop', by: 'nora', since: at(3) }], [])).toEqual({
    who: 'nora',
    at: at(3),
    why: '',
  });
  expect(stopperOf([], [left(3, 'fleetd-b/1'), latched(3, 'nora')])).toEqual({
    who: 'nora',
    at: at(3),
    why: 'a child',
  });
});

test('a stop without a latch has the client that sent it, and not the person of an earlier stop', () => {
  expect(stopperOf([], [left(50, 'op1/7'), latched(3, 'nora')])).toEqual({ who: 'op1', at: at(50), why: '' });
  for (const fleetd of ['fleetd', 'fleetd-b'])
    expect(stopperOf([], [left(50, `${fleetd}/7`)])).toEqual({ who: '', at: at(50), why: '' });
  expect(stopperOf([], [])).toBeUndefined();
});

test('a robot that is shut down was stopped by nobody', () => {
  expect(stopperOf([], [{ ...left(50), cause: 'mode' }])).toEqual({ who: '', at: at(50), why: '', mode: true });
});
