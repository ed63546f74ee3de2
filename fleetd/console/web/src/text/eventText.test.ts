import { expect, test, vi } from 'vitest';

import { useAlertWords } from './alerts';
import { useCauseWords } from './causes';
import { causeText, detailsText, type EventTables, eventText } from './eventText';

vi.mock('./language', () => ({ texts: (en: object) => Object.assign(() => en, { now: () => en }) }));

const tables: EventTables = {
  events: { act_ended: 'an act ended', booted: 'the program has started' },
  reasons: { stopped: 'it was stopped' },
  alerts: useAlertWords(),
  causes: useCauseWords(),
  states: { auto: { idle: 'the story runs', paused: 'the story is paused' } },
};

const ended = {
  type: 'act_ended',
  source: 'act',
  data: { act: 'hello', lane: 'story', outcome: 'completed', ms: 1200, reason: '' },
};

test('an event of an act names the act, and its details are no JSON', () => {
  expect(eventText(tables.events, ended)).toBe('an act ended: hello');
  expect(detailsText(tables, ended)).toBe('act: hello, queue: story, outcome: completed, time: 1.2 s');
  expect(detailsText(tables, { source: 'act', data: { waited_ms: 38_000, heading_rad: -1.5708 } })).toBe(
    'waited: 0:38, heading: -90°',
  );
  expect(eventText(tables.events, { type: 'booted', data: undefined })).toBe('the program has started');
  const dropped = { events_dropped: '`count` events were not sent' };
  expect(eventText(dropped, { type: 'events_dropped', data: { count: 3 } })).toBe('3 events were not sent');
  expect(eventText(dropped, { type: 'events_dropped', data: undefined })).toBe('count events were not sent');
  expect(detailsText(tables, { source: 'robotd', data: undefined })).toBe('');
});

test('codes in details have words', () => {
  const data = { from: 'idle', to: 'paused', reason: 'stopped', ms: [1] };
  expect(detailsText(tables, { source: 'auto', data })).toBe(
    'from: the story runs, to: the story is paused, reason: it was stopped, time: [1]',
  );
  expect(detailsText(tables, { source: 'elsewhere', data: { to: 'idle' } })).toBe('to: idle');
});

test.each([
  ['auto_changed', 'auto', 'token-acquired', 'somebody or something paused it'],
  ['act_ended', 'act', 'stopped', 'it was stopped'],
  ['alert_raised', 'power', 'battery_low', 'battery low'],
  ['safety_changed', 'safety', 'operator by nina: a child', 'operator by nina: a child'],
  ['booted', 'robotd', undefined, ''],
])('the cause of %s of %s, %s, is said in words', (type, source, cause, says) => {
  expect(causeText(tables, { type, source, cause })).toBe(says);
});
