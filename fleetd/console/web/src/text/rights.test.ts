import { expect, test, vi } from 'vitest';

import { useRightTexts } from './rights';

vi.mock('./language', () => ({ texts: (en: object) => en }));
const t = useRightTexts as unknown as ReturnType<typeof useRightTexts>;

test('what a person lacks is said with the roles that have it', () => {
  expect(t.lacks('release stops', 'release_stops')).toMatch(/release stops\. The roles operator and admin have it\.$/);
  expect(t.lacks('stop robots', 'stop')).toMatch(/The roles operator, author, releaser and admin have it\.$/);
  expect(t.lacks('change labels', 'administer')).toMatch(/The role admin has it\.$/);
});
