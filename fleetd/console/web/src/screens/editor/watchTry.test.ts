import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Problem } from '../../api/problem';
import { watchTry, whileAway } from './watchTry';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Command = Awaited<ReturnType<typeof watchTry>>;
const running = { id: 'c1', state: 'RUNNING' } as Command;
const done = { id: 'c1', state: 'SUCCEEDED', ended: '2026-11-28T10:00:00Z' } as Command;
const unavailable = () => new Problem(503, '', 'busy', '', []);

function aTry(poll: () => Promise<Command>, renew: () => Promise<unknown> = async () => undefined) {
  return { poll, renew, hasBegun: async () => false, onBegun: vi.fn(), closed: () => false };
}

test('a try is followed to its end although requests about it fail for a moment', async () => {
  const poll = vi.fn<() => Promise<Command>>();
  poll.mockRejectedValueOnce(Problem.unreachable()).mockResolvedValueOnce(running);
  poll.mockRejectedValueOnce(unavailable()).mockResolvedValueOnce(done);
  const t = aTry(poll);
  const end = watchTry(t);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await end).toBe(done);
  expect(t.onBegun).toHaveBeenCalledTimes(1);
});

test('a renewal of control that fails is tried again within its lease, and the try goes on', async () => {
  let ended = false;
  const renew = vi.fn(async () => undefined).mockRejectedValueOnce(unavailable());
  const end = watchTry(aTry(async () => (ended ? done : running), renew));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(renew).toHaveBeenCalledTimes(2);
  ended = true;
  await vi.advanceTimersByTimeAsync(2000);
  expect(await end).toBe(done);
});

test('a refusal ends the watch', async () => {
  const poll = () => Promise.reject(new Problem(404, '', 'there is no such batch', '', []));
  const end = expect(watchTry(aTry(poll))).rejects.toThrow('no such batch');
  await vi.advanceTimersByTimeAsync(1000);
  await end;
});

test('ending a try is repeated while fleetd is away, for a minute', async () => {
  const stop = vi.fn(async () => undefined).mockRejectedValueOnce(unavailable());
  const sent = whileAway(stop);
  await vi.advanceTimersByTimeAsync(1500);
  await sent;
  expect(stop).toHaveBeenCalledTimes(2);
  const never = vi.fn(() => Promise.reject(Problem.unreachable()));
  const given = expect(whileAway(never)).rejects.toThrow('does not answer');
  await vi.advanceTimersByTimeAsync(65_000);
  await given;
});
