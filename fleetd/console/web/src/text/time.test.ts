import { expect, test, vi } from 'vitest';

import { clock, dateTime, locale, timeOrDate } from './time';

const chosen = vi.hoisted(() => ({ language: 'en' }));
vi.mock('./language', () => ({ useLanguage: { getState: () => chosen } }));

test.each(['en', 'de'])('the hour after midnight is 00 in %s', (language) => {
  chosen.language = language;
  // The plain language: English as in the US, where hour12: false made it 24.
  vi.stubGlobal('navigator', { languages: [language] });
  const at = new Date(2026, 10, 28, 0, 5, 10).getTime();
  expect(locale()).toBe(language);
  expect(clock(at)).toBe('00:05:10');
  expect(dateTime(at)).toContain('00:05:10');
  vi.unstubAllGlobals();
});

test('an instant of another day has its date', () => {
  vi.useFakeTimers({ now: new Date(2026, 10, 28, 12) });
  vi.stubGlobal('navigator', { languages: ['en'] });
  const today = new Date(2026, 10, 28, 9).getTime();
  const before = new Date(2026, 10, 27, 9).getTime();
  expect(timeOrDate(today)).toBe(clock(today));
  expect(timeOrDate(before)).toBe(dateTime(before));
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
