import { beforeEach, expect, test, vi } from 'vitest';

import type { Batch, Robot } from '../api/client';
import { Problem } from '../api/problem';
import { robots } from '../live/robots';
import { noteStop, sendStop, tellAfter } from './sendStop';

const shown = vi.hoisted(() => vi.fn());
const stopped = vi.hoisted(() => vi.fn());
vi.mock('./toast', () => ({ toast: shown, makeRoom: () => undefined }));
vi.mock('./stopWays', () => ({ stop: stopped }));
vi.mock('../api/client', () => ({ api: {} }));
vi.mock('../live/stream', () => ({ fleetdNow: () => 0 }));
vi.mock('../text/time', () => ({ clock: () => '12:00:00' }));
vi.mock('../text/language', () => ({ texts: (en: object) => ({ now: () => en }) }));

const row = (id: string, safety: string, ...latches: string[]) =>
  ({ id, safety, latches: latches.map((l) => ({ id: l })), presence: { status: 'online' } }) as unknown as Robot;
const offline = (id: string) => ({ ...row(id, 'ENABLED'), presence: { status: 'offline' } }) as unknown as Robot;
const titles = () => shown.mock.calls.map(([note]) => note.title);

beforeEach(() => {
  shown.mockReset();
  vi.useFakeTimers();
});

test('the notice of a stop names the robots, and says when all of them stand', () => {
  robots.reset([row('r1', 'ENABLED'), row('r2', 'ENABLED')]);
  noteStop({ latch: 's1', total: 2 } as Batch, ['r1', 'r2']);
  robots.apply([row('r1', 'DISABLED', 's1'), row('r2', 'STOP', 's1')]);
  expect(titles()).toEqual(['Stop accepted for r1, r2']);
  robots.apply([row('r2', 'DISABLED', 's1')]);
  robots.apply([row('r2', 'DISABLED', 's1')]);
  expect(titles()).toEqual(['Stop accepted for r1, r2', 'r1, r2 stand']);
  expect(shown.mock.lastCall![0].message).toMatch(/^Stopped by you at 12:00:00/);
});

test('many robots are counted', () => {
  const all = Array.from({ length: 9 }, (_, i) => `r${i}`);
  robots.reset(all.map((id) => row(id, 'DISABLED', 's2')));
  noteStop({ latch: 's2', total: 9 } as Batch, all);
  expect(titles()).toEqual(['Stop accepted for 9 robots', 'All 9 robots stand']);
});

test('robots that do not report that they stand are named in a note that stays, until they do', () => {
  robots.reset([row('r1', 'ENABLED'), offline('r3'), row('r4', 'ENABLED')]);
  noteStop({ latch: 's3', total: 3 } as Batch, ['r1', 'r3', 'r4']);
  robots.apply([row('r1', 'DISABLED', 's3')]);
  vi.advanceTimersByTime(8000);
  expect(titles().at(-1)).toBe('Not confirmed to stand: r3 (not connected), r4');
  expect(shown.mock.lastCall![0]).toMatchObject({ message: 'Stop the robots at the robots.', autoClose: false });
  robots.apply([row('r3', 'DISABLED', 's3'), row('r4', 'HALT', 's3')]); // r4 still brakes
  expect(titles().at(-1)).toBe('Not confirmed to stand: r3 (not connected), r4');
  robots.apply([row('r4', 'E_STOP', 's3')]);
  expect(titles().at(-1)).toBe('r1, r3, r4 stand');
  expect(shown.mock.lastCall![0].autoClose).not.toBe(false);
});

test('a stop of a filter is about the robots that it was sent to', () => {
  robots.reset([row('r1', 'ENABLED'), row('r2', 'ENABLED')]);
  noteStop({ latch: 's4', total: 2, commands: [{ robot: 'r1' }, { robot: 'r2' }] } as Batch, []);
  robots.apply([row('r1', 'DISABLED', 's4'), row('r2', 'DISABLED', 's4')]);
  expect(titles()).toEqual(['Stop accepted for r1, r2', 'r1, r2 stand']);
});

test('a stop is shown at once, is shown as unanswered after 2 s, and can be sent again', async () => {
  robots.reset([row('r1', 'ENABLED')]);
  let answer!: (b: Batch) => void;
  stopped.mockReturnValue(new Promise<Batch>((resolve) => (answer = resolve)));
  void sendStop({ selector: { ids: ['r1'] } }, ['r1']);
  expect(titles()).toEqual(['Sending the stop for r1…']);
  await vi.advanceTimersByTimeAsync(tellAfter);
  expect(titles().at(-1)).toBe('NO ANSWER: the stop may not have been sent');
  expect(shown.mock.lastCall![0]).toMatchObject({ autoClose: false, loading: false });
  expect(shown.mock.lastCall![0].message.props.text).toMatch(/^Stop the robots at the robots/);
  shown.mock.lastCall![0].message.props.again();
  expect(titles().at(-1)).toBe('Sending the stop for r1…');
  answer({ latch: 's5', total: 1 } as Batch);
  await vi.advanceTimersByTimeAsync(0);
  expect(titles().at(-1)).toBe('Stop accepted for r1');
  await vi.advanceTimersByTimeAsync(tellAfter);
  expect(titles().at(-1)).toBe('Stop accepted for r1');
});

test('a stop that is refused says so, and can be sent again', async () => {
  stopped.mockRejectedValue(new Problem(403, 'not-allowed', 'you may not', '', []));
  await sendStop({ selector: { ids: ['r1'] } }, ['r1']);
  expect(titles().at(-1)).toBe('The stop was not accepted');
  expect(shown.mock.lastCall![0].message.props.text).toBe('you may not. Stop the robots at the robots.');
});
