import { expect, test, vi } from 'vitest';

import { counted, useLibraryTexts } from './text';

// The texts of both languages, without a browser that has one of them.
vi.mock('../../text/language', () => ({ texts: (en: object, de: object) => ({ en, de }) }));
type Texts = ReturnType<typeof useLibraryTexts>;
const { en, de } = useLibraryTexts as unknown as Record<'en' | 'de', Texts>;

test('the number of a list is a phrase of its own, apart from the filter', () => {
  expect(counted(en, 'story', { all: 6, shown: 6, deleted: 0 })).toBe('6 stories');
  expect(counted(en, 'story', { all: 6, shown: 6, deleted: 2 })).toBe('6 stories, 2 of them deleted');
  expect(counted(en, 'act', { all: 1, shown: 0, deleted: 0 })).toBe('0 of 1 act shown');
  expect(counted(de, 'activity', { all: 6, shown: 3, deleted: 1 })).toBe(
    '3 von 6 Aktivitäten gezeigt, davon 1 gelöscht',
  );
  for (const kind of ['act', 'story', 'activity'] as const)
    for (const t of [en, de]) expect(t.showDeleted[kind]).not.toMatch(/\d|zu$|too$/);
});
