import { describe, expect, it } from 'vitest';

import type { Timeline } from '../library/api';
import { otherLanguages, tick } from './timeline';

const drawn = (...langs: (string | undefined)[]) =>
  ({ lanes: [{ bars: langs.map((lang) => ({ lang })) }, { bars: [{}] }] }) as unknown as Timeline;

describe('a timeline', () => {
  it('names the languages of texts that the wanted one lacks', () => {
    expect(otherLanguages(drawn('de', 'de-AT', undefined), 'de')).toEqual([]);
    expect(otherLanguages(drawn('it', 'de', 'fr', 'it'), 'de')).toEqual(['fr', 'it']);
  });

  it('has about ten marks', () => {
    expect([3000, 60_000, 3_600_000].map((l) => Math.floor(l / tick(l)))).toEqual([6, 12, 12]);
  });
});
