import { expect, test } from 'vitest';

import { length } from './length';

test.each([
  [0, '0.0'],
  [59_949, '59.9'],
  [59_950, '1:00 min'],
  [59_960, '1:00 min'],
  [60_400, '1:00 min'],
  [119_400, '1:59 min'],
  [119_600, '2:00 min'],
])('%i ms last %s', (ms, said) => {
  expect(length(ms)).toBe(said);
});
