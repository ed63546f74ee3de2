import { expect, test, vi } from 'vitest';

import { whatText } from './what';

vi.mock('../../text/language', () => ({ texts: () => () => ({}) }));

test('a command in the audit is said in words, with its verb; other entries stay as they are', () => {
  const verbs = { 'auto/pause': 'pause the story' };
  expect(whatText(verbs, 'command auto/pause')).toBe('pause the story (auto/pause)');
  expect(whatText(verbs, 'command later/verb')).toBe('later/verb');
  expect(whatText(verbs, 'make a token')).toBe('make a token');
});
