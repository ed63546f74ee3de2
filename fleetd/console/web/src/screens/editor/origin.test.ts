import { expect, it } from 'vitest';

import { originOf, pathFrom } from './origin';

it('an act that was opened from a story leads back to it', () => {
  const path = pathFrom('bow', { kind: 'story', id: 'museum-2' });
  expect(path).toBe('/acts/bow?from=stories/museum-2');
  expect(originOf(path.split('?')[1]!)).toEqual({ kind: 'story', id: 'museum-2' });
});

it.each(['', 'from=', 'from=stories', 'from=stories/', 'from=admin/x', 'from=stories/..%2Fx', 'from=https://x/y'])(
  'an address with %j leads nowhere else',
  (query) => {
    expect(originOf(query)).toBeUndefined();
  },
);
