import { expect, it } from 'vitest';

import { position } from './position';

it('a time is written as on a clock, with tenths only where there are some', () => {
  expect([0, 38_000, 1500, 61_240, 59_960, 3_600_000, -3].map(position)).toEqual([
    '0:00',
    '0:38',
    '0:01.5',
    '1:01.2',
    '1:00',
    '60:00',
    '0:00',
  ]);
});
