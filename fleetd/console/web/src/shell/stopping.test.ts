import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { LatchedStop, Robot } from '../api/client';
import { meansOnly, offersRelease, release, stands, useReleasing } from './stopping';

const POST = vi.hoisted(() => vi.fn());
vi.mock('../api/client', () => ({ api: { POST } }));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
});

test('a stop is being released once fleetd has accepted it, and is offered again if it is still latched on robots', async () => {
  POST.mockResolvedValue({});
  await release(['s1', 's2'], 'clear');
  expect(useReleasing.getState().ids).toEqual(['s1', 's2']);
  vi.advanceTimersByTime(10_000);
  expect(useReleasing.getState().ids).toEqual([]);
});

test('a release that was refused leaves the stop as it is', async () => {
  POST.mockRejectedValue(new Error('no database'));
  await expect(release(['s1'], 'clear')).rejects.toThrow('no database');
  expect(useReleasing.getState().ids).toEqual([]);
});

const robot = (status: string, safety = 'DISABLED', ...latches: string[]) =>
  ({ id: 'r1', presence: { status }, safety, latches: latches.map((id) => ({ id })) }) as unknown as Robot;

test('the page of a robot offers the release of what the robot reports; the banner has every other stop', () => {
  const since = '2026-01-01T12:00:00Z';
  const later = (ms: number) => Date.parse(since) + ms;
  const stop = { id: 's1', count: 1, robots: ['r1'], since } as LatchedStop;
  expect(offersRelease(robot('online', 'DISABLED', 's1'), stop, [], later(60_000))).toBe(true);
  expect(offersRelease(robot('online'), stop, [], later(1000))).toBe(true); // its report is on its way
  expect(offersRelease(robot('online'), stop, [], later(6000))).toBe(false);
  expect(offersRelease(robot('offline', 'DISABLED', 's1'), stop, [], later(1000))).toBe(false);
  expect(offersRelease(robot('online', 'DISABLED', 's1'), { ...stop, all: true }, [], later(1000))).toBe(false);
  const other = { ...robot('online', 'DISABLED', 's1'), id: 'r2' };
  expect(offersRelease(robot('online'), { ...stop, robots: undefined } as never, [other], later(1000))).toBe(false);
  expect(offersRelease(robot('online', 'DISABLED', 's1'), { ...stop, robots: ['r2'] }, [], later(1000))).toBe(false);
});

test('a stop that is being released is left to the page of its own robot only', () => {
  const stop = { id: 's1', count: 0, robots: [] as string[] } as LatchedStop;
  const other = { ...robot('online', 'DISABLED', 's1'), id: 'r2' };
  expect(meansOnly(robot('online', 'DISABLED', 's1'), stop, [])).toBe(true);
  expect(meansOnly(robot('online'), stop, [other])).toBe(false);
  expect(meansOnly(robot('online'), { ...stop, count: 1, robots: ['r2'] }, [])).toBe(false);
  expect(meansOnly(robot('online'), { ...stop, count: 1, robots: ['r1'] }, [])).toBe(true);
  expect(meansOnly(robot('online'), { ...stop, all: true }, [])).toBe(false);
});

test('a robot stands with a stop once it reports both', () => {
  expect(stands(robot('online', 'DISABLED', 's1'), 's1')).toBe(true);
  expect(stands(robot('online', 'STOP', 's1'), 's1')).toBe(false); // it brakes
  expect(stands(robot('online', 'HALT', 's1'), 's1')).toBe(false); // a unit did not come to rest in time
  expect(stands(robot('online', 'E_STOP', 's1'), 's1')).toBe(true);
  expect(stands(robot('online', 'DISABLED', 's0'), 's1')).toBe(false);
  expect(stands(undefined, 's1')).toBe(false);
});
