import { expect, test } from 'vitest';

import { detailsText, eventText } from './eventText';

const words = { act_ended: 'an act ended', booted: 'the program has started' };

const ended = { type: 'act_ended', data: { act: 'hello', lane: 'story', outcome: 'completed', ms: 1200, reason: '' } };

test('an event of an act names the act, and its details are no JSON', () => {
  expect(eventText(words, ended)).toBe('an act ended: hello');
  expect(detailsText(ended)).toBe('act: hello, lane: story, outcome: completed, ms: 1200');
  expect(eventText(words, { type: 'booted', data: undefined })).toBe('the program has started');
  expect(detailsText({ type: 'booted', data: undefined })).toBe('');
});
