import { expect, test, vi } from 'vitest';

vi.mock('../../api/client', () => ({}));

import { actsOf } from './stories';

test('the number of acts is that of the newest revision, and unknown while its draft differs', () => {
  const acts = actsOf([
    { id: 'show', rev: 3, steps: 1, draft_changed: false },
    { id: 'tour', rev: 2, steps: 4, draft_changed: true },
    { id: 'new', rev: 0, steps: 2, draft_changed: false },
  ]);
  expect([...acts]).toEqual([['show 3', 1]]);
});
