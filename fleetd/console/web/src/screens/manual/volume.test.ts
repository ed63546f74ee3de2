import { expect, test } from 'vitest';

import { hasVolume } from './volume';

test.each([
  [[], false],
  [[{ kind: 'face' }], false],
  [[{ kind: 'speaker' }], true],
  [[{ kind: 'speaker', fixed_volume: true }], false],
  [[{ kind: 'speaker', fixed_volume: true }, { kind: 'speaker' }], true],
])('the volume of %j can be set: %s', (units, want) => {
  expect(hasVolume(units)).toBe(want);
});
