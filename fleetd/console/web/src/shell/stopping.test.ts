import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { release, useReleasing } from './stopping';

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
