import { expect, test } from 'vitest';

import { refusalOf } from './refusal';

test('only reasons that are known are shown', () => {
  const known = { 'no-role': 'Ask an administrator.' };
  expect(refusalOf(known, '?refused=no-role&next=%2F')).toBe('Ask an administrator.');
  expect(refusalOf(known, '')).toBeUndefined();
  expect(refusalOf(known, '?refused=%3Cb%3Ehello')).toBeUndefined();
  expect(refusalOf(known, '?refused=constructor')).toBeUndefined();
});
