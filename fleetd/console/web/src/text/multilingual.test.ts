import { describe, expect, it } from 'vitest';

import { languageName, textIn } from './multilingual';

describe('a text in several languages', () => {
  it.each([
    [{ de: 'Guten Tag', en: 'Hello' }, 'de', 'Guten Tag', 'de'],
    [{ de: 'Guten Tag', en: 'Hello' }, 'en', 'Hello', 'en'],
    [{ 'de-AT': 'Servus', en: 'Hello' }, 'de', 'Servus', 'de-AT'],
    [{ it: 'Ciao', fr: 'Salut', en: 'Hello' }, 'de', 'Hello', 'en'],
    [{ it: 'Ciao', fr: 'Salut' }, 'de', 'Salut', 'fr'],
    [{ de: '', en: 'Hello' }, 'de', '', 'de'],
  ])('%j is shown to a reader of %s as %s', (all, reader, text, lang) => {
    expect(textIn(all, reader)).toEqual({ text, lang });
  });

  it('is absent if it has no language', () => {
    expect(textIn({}, 'de')).toBeUndefined();
    expect(textIn(undefined, 'de')).toBeUndefined();
  });

  it('names its language for the reader', () => {
    expect(languageName('de', 'en')).toBe('German');
    expect(languageName('de', 'de')).toBe('Deutsch');
    expect(languageName('not a tag', 'en')).toBe('not a tag');
  });
});
