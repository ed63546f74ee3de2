import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { beat, eachBeat, toBeat } from './beats';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('all that moves is moved at the same beats by one timer, and without any there is none', () => {
  const times: number[][] = [[], [], []];
  vi.advanceTimersByTime(30);
  const first = eachBeat((ms) => times[0]!.push(ms));
  vi.advanceTimersByTime(40);
  const others = [eachBeat((ms) => times[1]!.push(ms)), eachBeat((ms) => times[2]!.push(ms), 10)];
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(20 * beat);
  expect(times[0]!.length).toBe(20);
  expect(times[0]!.every((ms) => ms % beat === 0)).toBe(true);
  expect(times[1]).toEqual(times[0]);
  expect(times[2]).toEqual(times[0]!.filter((ms) => ms % (10 * beat) === 0));
  expect(times[2]!.length).toBe(2);

  first();
  others.forEach((end) => end());
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(times[0]!.length).toBe(20);
});

test('what moves only at each tenth beat wakes the page only then', () => {
  const end = eachBeat(() => {}, 10);
  vi.advanceTimersToNextTimer();
  expect(performance.now() % (10 * beat)).toBeCloseTo(0);
  end();
});

test('a change that is so far away is drawn at the first beat after it', () => {
  vi.advanceTimersByTime(beat - (performance.now() % beat) + 30);
  expect(toBeat(50)).toBeCloseTo(70);
  expect(toBeat(80)).toBeCloseTo(170);
});

test('a page that was busy over a beat draws it as soon as it can', () => {
  vi.advanceTimersByTime(10 * beat - (performance.now() % (10 * beat)));
  const times: number[] = [];
  const ends = [eachBeat(() => {}), eachBeat((ms) => times.push(ms), 10)];
  vi.advanceTimersByTime(9.9 * beat);
  const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3.2 * beat);
  vi.advanceTimersToNextTimer();
  now.mockRestore();
  expect(times.length).toBe(1);
  ends.forEach((end) => end());
});

test('what is drawn anew all the time does not keep others from their beat, and one timer is left', () => {
  let [beats, end] = [0, () => {}];
  const others = eachBeat(() => {
    beats++;
    end();
    end = eachBeat(() => {}, 10);
  });
  vi.advanceTimersByTime(beat + 10);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(9 * beat);
  expect(beats).toBe(10);
  others();
  end();
  expect(vi.getTimerCount()).toBe(0);
});
