import { expect, test } from 'vitest';

import type { Schemas } from '../../api/client';
import { elapsed } from './elapsed';

const at = (s: number) => new Date(Date.UTC(2026, 0, 1, 10, 0, s)).toISOString();
const event = (seq: number, s: number, type: string, data: object) =>
  ({ seq, boot: 'b', received: at(s), type, data }) as unknown as Schemas['Event'];
const now = (s: number) => Date.parse(at(s));
const started = event(1, 0, 'act_started', { lane: 'story' });

test('an act that runs has run since it began', () => expect(elapsed([started], false, now(7))).toBe(7000));

test('an act that has just begun is at its start until its event arrives', () => {
  const hello = event(1, 0, 'act_started', { lane: 'story', act: 'hello' });
  expect(elapsed([hello], false, now(7), 'dance')).toBe(0);
  expect(elapsed([hello], false, now(7), 'hello')).toBe(7000);
});

test('pauses do not count, and the cursor stands while one lasts', () => {
  const paused = event(2, 4, 'auto_changed', { to: 'paused' });
  const again = event(3, 10, 'auto_changed', { to: 'idle' });
  expect(elapsed([paused, started], true, now(9))).toBe(4000);
  expect(elapsed([again, paused, started], false, now(12))).toBe(6000);
});

test('acts of other lanes, and pauses before the act, are left out', () => {
  const other = event(5, 8, 'act_started', { lane: 'activity' });
  const earlier = event(0, 0, 'auto_changed', { to: 'paused' });
  expect(elapsed([other, started, earlier], false, now(9))).toBe(9000);
  expect(elapsed([other], false, now(9))).toBeUndefined();
});
