import { describe, expect, it } from 'vitest';

import type { Timeline } from '../library/api';
import { beside, colorIn, gridOf, least, otherLanguages, rowsOf, tick, wordsOf } from './timeline';
import type { TurnTexts } from './turnText';

const drawn = (...langs: (string | undefined)[]) =>
  ({ lanes: [{ bars: langs.map((lang) => ({ lang })) }, { bars: [{}] }] }) as unknown as Timeline;

describe('a timeline', () => {
  it('puts bars that would lie on each other below each other, however short they are', () => {
    const bars = (...of: number[][]) => of.map(([start, end]) => ({ start: start!, end: end! }));
    expect(rowsOf(bars([0, 5000], [5000, 5000], [5000, 5000], [9000, 9500]), 0.01)).toEqual([0, 0, 1, 0]);
    expect(rowsOf(bars([0, 9000], [1000, 2000], [9000, 9500]), 0.01)).toEqual([0, 1, 0]);
    expect(rowsOf([], 1)).toEqual([]);
  });

  it('writes beside a narrow bar where its row has room', () => {
    const bars = [
      [0, 0], // up to the next bar of its row
      [0, 1000], // below the first one, up to the end
      [10_000, 10_500], // no room before the next one
      [14_000, 40_000], // wide enough for words
      [59_000, 59_000], // at the end
    ].map(([start, end]) => ({ start: start!, end: end! }));
    expect(beside(bars, 60_000, 0.01)).toEqual([
      { from: 28, room: 68 },
      { from: 28, room: 568 },
      undefined,
      undefined,
      undefined,
    ]);
    expect(beside(bars, 60_000, 0.05)).toEqual([
      { from: 28, room: 468 },
      undefined, // it has become wide enough
      { from: 29, room: 167 },
      undefined,
      undefined,
    ]);
  });

  it('names the languages of texts that the wanted one lacks', () => {
    expect(otherLanguages(drawn('de', 'de-AT', undefined), 'de')).toEqual([]);
    expect(otherLanguages(drawn('it', 'de', 'fr', 'it'), 'de')).toEqual(['fr', 'it']);
  });

  it('has marks with room for their numbers, and a finer grid where it is wider', () => {
    expect([0.2, 0.05, 0.009].map(tick)).toEqual([500, 2000, 10_000]);
    expect([0.2, 0.05, 0.009].map(gridOf)).toEqual([100, 250, 500]);
  });
});

it('a bar says what it does in words for people', () => {
  const after = (what: string) => (n: string) => `${n} ${what}`;
  const turns = { left: after('left'), right: after('right'), down: after('down') } as unknown as TurnTexts;
  const bar = (type: string, text?: string) => ({ type, text }) as Parameters<typeof wordsOf>[0];
  expect(wordsOf(bar('say', '"Come \\"here\\""'), turns)).toBe('Come "here"');
  expect(wordsOf(bar('screen', '"More?" [Yes] [No]'), turns)).toBe('"More?" [Yes] [No]');
  expect(wordsOf(bar('pose', 'yaw 10°, height 1.1 m'), turns)).toBe('10° left, height 1.1 m');
  expect(wordsOf(bar('led', 'ears #ff9040 breathe'), turns)).toBe('ears breathe');
  expect(wordsOf(bar('head', 'yaw -34.4°, pitch -5.7°'), turns)).toBe('34° right, 6° down');
  expect(wordsOf(bar('wait'), turns)).toBe('wait');
  expect(wordsOf(bar('face', 'smile'), turns)).toBe('smile');
  expect([bar('led', 'ears #ff9040 breathe'), bar('led', 'off'), bar('say', '#ff9040')].map(colorIn)).toEqual([
    '#ff9040',
    '',
    '',
  ]);
});

it('a long timeline is wider than the screen, so that its bars can be read', () => {
  expect([1000, 146_000].map(least)).toEqual([420, 1314]);
});
