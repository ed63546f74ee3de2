import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { shownAgain, startStream, stopStream, useLive } from './stream';

vi.mock('../api/client', () => ({ api: {} }));

class FakeSource {
  static open = new Set<FakeSource>();
  private readonly on = new Map<string, (e: { data: string }) => void>();
  constructor() {
    FakeSource.open.add(this);
  }
  addEventListener(name: string, take: (e: { data: string }) => void) {
    this.on.set(name, take);
  }
  send(name: string, body: object) {
    this.on.get(name)!({ data: JSON.stringify(body) });
  }
  close() {
    FakeSource.open.delete(this);
  }
}

const page = Object.assign(new EventTarget(), { hidden: false });
const show = (shown: boolean) => {
  page.hidden = !shown;
  page.dispatchEvent(new Event('visibilitychange'));
};
const theOne = () => [...FakeSource.open][0]!;

beforeEach(() => {
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('document', page);
  vi.stubGlobal('EventSource', FakeSource);
});
afterEach(() => {
  stopStream();
  vi.useRealTimers();
  page.hidden = false;
});

test('a hidden tab gives its stream up, and has it again when it is shown', () => {
  startStream();
  theOne().send('robots', { robots: [] });
  expect(useLive.getState().connection).toBe('live');
  show(false);
  expect(FakeSource.open.size).toBe(0);
  expect(useLive.getState().connection).toBe('connecting');
  show(true);
  show(true);
  expect(FakeSource.open.size).toBe(1);
  theOne().send('robots', { robots: [] });
  expect(useLive.getState().connection).toBe('live');
});

test('what a hidden tab shows counts as old until robots arrive, and soon after it is shown again as lost', () => {
  vi.useFakeTimers();
  startStream();
  theOne().send('robots', { robots: [] });
  show(false);
  const hiddenAt = Date.now();
  vi.advanceTimersByTime(3_600_000);
  expect(useLive.getState()).toMatchObject({ connection: 'connecting', lostAt: hiddenAt });
  show(true);
  theOne().send('fleetd', { ts: new Date().toISOString() }); // the status comes before the robots
  vi.advanceTimersByTime(shownAgain - 1);
  expect(useLive.getState().connection).toBe('connecting');
  vi.advanceTimersByTime(1);
  expect(useLive.getState()).toMatchObject({ connection: 'lost', lostAt: hiddenAt });
  show(false);
  show(true);
  expect(useLive.getState().connection).toBe('lost');
  theOne().send('robots', { robots: [] });
  expect(useLive.getState()).toMatchObject({ connection: 'live', lostAt: 0 });
  vi.advanceTimersByTime(shownAgain);
  expect(useLive.getState().connection).toBe('live');
});

test('a page that was just opened is not lost while it connects', () => {
  vi.useFakeTimers();
  startStream();
  vi.advanceTimersByTime(shownAgain);
  expect(useLive.getState().connection).toBe('connecting');
});

test('a tab that begins hidden has no stream until it is shown, and none after the sign-out', () => {
  page.hidden = true;
  startStream();
  expect(FakeSource.open.size).toBe(0);
  show(true);
  expect(FakeSource.open.size).toBe(1);
  stopStream();
  show(false);
  show(true);
  expect(FakeSource.open.size).toBe(0);
});
