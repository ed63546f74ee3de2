import { beforeEach, expect, test, vi } from 'vitest';

import { Problem } from '../api/problem';
import { giveUpAfter, secondWayAfter, stop } from './stopWays';

const post = vi.hoisted(() => vi.fn());
vi.mock('../api/client', () => ({ api: { POST: post } }));

const body = { selector: { ids: ['r1'] } };
const problem = (status: number, kind: string) => new Problem(status, kind, 'no', '', []);

class FakeSocket {
  static all: FakeSocket[] = [];
  onopen?: () => void;
  onmessage?: (e: { data: string }) => void;
  onclose?: () => void;
  sent: string[] = [];
  constructor(readonly url: URL) {
    FakeSocket.all.push(this);
  }
  send(text: string) {
    this.sent.push(text);
  }
  close() {
    this.onclose?.();
  }
  answer(status: number, answered: object) {
    this.onopen?.();
    this.onmessage?.({ data: JSON.stringify({ status, body: answered }) });
  }
}

beforeEach(() => {
  post.mockReset();
  vi.useFakeTimers();
  FakeSocket.all = [];
  vi.stubGlobal('window', { location: { href: 'https://fleet.example/robots/r1' } });
  vi.stubGlobal('WebSocket', FakeSocket);
});

test('a stop that is answered is sent once, and waits for no robot', async () => {
  post.mockResolvedValue({ data: { latch: 's1' } });
  expect(await stop(body)).toEqual({ latch: 's1' });
  await vi.advanceTimersByTimeAsync(giveUpAfter);
  expect(FakeSocket.all).toEqual([]);
  expect(Object.keys(post.mock.lastCall![1].params.header)).toEqual(['Idempotency-Key']); // no Prefer
});

test('a request that the browser keeps back is followed by a WebSocket, and then is never sent', async () => {
  post.mockReturnValue(new Promise(() => undefined));
  const answered = stop(body);
  await vi.advanceTimersByTimeAsync(secondWayAfter);
  const [socket] = FakeSocket.all;
  const key = post.mock.lastCall![1].params.header['Idempotency-Key'];
  expect(key).toMatch(/^[0-9a-f-]{36}$/);
  expect(String(socket!.url)).toBe(`wss://fleet.example/api/v1/stops/socket?key=${key}`); // one stop, if both arrive
  socket!.answer(202, { latch: 's2' });
  expect(socket!.sent).toEqual([JSON.stringify(body)]);
  expect(await answered).toEqual({ latch: 's2' });
  expect(post.mock.lastCall![1].signal.aborted).toBe(true);
  void stop(body);
  expect(post.mock.lastCall![1].params.header['Idempotency-Key']).not.toBe(key); // each press is a stop
});

test('a proxy that answers in the place of fleetd is no answer, and a refusal of fleetd is one', async () => {
  post.mockRejectedValue(problem(502, ''));
  const answered = stop(body);
  await vi.advanceTimersByTimeAsync(0);
  FakeSocket.all[0]!.answer(202, { latch: 's3' });
  expect(await answered).toEqual({ latch: 's3' });
  for (const refusal of [problem(403, 'not-allowed'), problem(503, 'broker')]) {
    FakeSocket.all = [];
    post.mockRejectedValue(refusal);
    await expect(stop(body)).rejects.toBe(refusal);
    expect(FakeSocket.all).toEqual([]);
  }
});

test('a stop without an answer on either way ends', async () => {
  post.mockReturnValue(new Promise(() => undefined));
  const answered = expect(stop(body)).rejects.toMatchObject({ kind: 'unreachable' });
  await vi.advanceTimersByTimeAsync(giveUpAfter);
  await answered;
  expect(post.mock.lastCall![1].signal.aborted).toBe(true);
});
