import { expect, test, vi } from 'vitest';

import type { Robot } from '../api/client';
import { Census, RobotMap } from './robots';

const robot = (id: string, more: Partial<Robot> = {}) => ({ id, ...more }) as Robot;

test('a change notifies only listeners to that robot, and those to all', () => {
  const map = new RobotMap();
  map.reset([robot('r1'), robot('r2')]);
  const [one, other, all] = [vi.fn(), vi.fn(), vi.fn()];
  map.subscribe('r1', one);
  map.subscribe('r2', other);
  map.subscribe(undefined, all);
  map.apply([robot('r1', { mode: 'mnl' })]);
  expect(one).toHaveBeenCalledTimes(1);
  expect(other).not.toHaveBeenCalled();
  expect(all).toHaveBeenCalledTimes(1);
  expect(map.get('r1')?.mode).toBe('mnl');
});

test('a removed robot leaves the list, and the screens that show it are notified', () => {
  const map = new RobotMap();
  map.reset([robot('r1'), robot('r2')]);
  const notify = vi.fn();
  map.subscribe('r2', notify);
  map.apply([robot('r2', { gone: true })]);
  expect(notify).toHaveBeenCalled();
  expect(map.everything().map((r) => r.id)).toEqual(['r1']);
  map.reset([]);
  expect(map.get('r1')).toBeUndefined();
});

test('the list is the same array until something changes', () => {
  const map = new RobotMap();
  map.reset([robot('r1')]);
  expect(map.everything()).toBe(map.everything());
  const before = map.everything();
  map.apply([robot('r1')]);
  expect(map.everything()).not.toBe(before);
});

test('in a large fleet, counters are notified once a second', () => {
  vi.useFakeTimers();
  const map = new RobotMap();
  const census = new Census(map);
  const notify = vi.fn();
  census.subscribe(notify);
  const all = Array.from({ length: 1000 }, (_, i) => robot(`r${i}`));
  map.reset(all);
  expect(notify).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 4; i++) map.apply([robot(`r${i}`, { mode: 'mnl' })]);
  expect(notify).toHaveBeenCalledTimes(1);
  expect(census.now()[0]?.mode).toBeUndefined();
  vi.advanceTimersByTime(1000);
  expect(notify).toHaveBeenCalledTimes(2);
  expect(census.now()[0]?.mode).toBe('mnl');
  map.reset(all.slice(0, 5));
  vi.advanceTimersByTime(1000);
  expect(census.now()).toHaveLength(5);
  map.apply([robot('r1', { mode: 'ato' })]);
  expect(census.now().find((r) => r.id === 'r1')?.mode).toBe('ato');
  vi.useRealTimers();
});
