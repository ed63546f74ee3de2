import { expect, test } from 'vitest';

import { asInForm } from './asInForm';

test('a problem names another action as the list does, and times in seconds', () => {
  const names: Record<string, string> = { '/actions/0': 'face: smile', '/actions/1/actions/2': 'led: red' };
  const name = (pointer: string) => names[pointer] ?? '?';
  expect(asInForm('face would perform at the same time as /actions/0, which lasts until 3000 ms', name)).toBe(
    'face would perform at the same time as “face: smile”, which lasts until 3 s',
  );
  expect(asInForm('is exclusive, but /actions/1/actions/2 of its group still performs at 1250 ms', name)).toBe(
    'is exclusive, but “led: red” of its group still performs at 1.25 s',
  );
});
