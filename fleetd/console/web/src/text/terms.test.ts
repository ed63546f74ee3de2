import { expect, test, vi } from 'vitest';

import { type AlertWords, useAlertWords } from './alerts';
import { inWords, withTerm } from './terms';

// The texts of both languages, without a browser that has one of them.
vi.mock('./language', () => ({ texts: (en: object, de: object) => ({ en, de }) }));

test('each alert has a name, what it means and a way out, in both languages', () => {
  const { en, de } = useAlertWords as unknown as Record<'en' | 'de', Record<string, AlertWords>>;
  for (const [type, words] of Object.entries(en))
    for (const part of ['title', 'means', 'wayOut'] as const) {
      expect(words[part], type).not.toBe('');
      expect(de[type]![part], type).not.toBe(words[part]);
    }
  expect(en.battery_low!.means).toBe('The battery is below the setting low_battery.');
  expect(en.stop_not_held!.means).toMatch(/^fleetd raises it: /);
});

test('a page has the words for a code, a tooltip the code beside them, and one that is new is readable', () => {
  expect(inWords({ E_STOP: 'stopped until it is reset' }, 'E_STOP')).toBe('stopped until it is reset');
  expect(inWords({}, 'brand_new')).toBe('brand new');
  expect(withTerm({ E_STOP: 'stopped until it is reset' }, 'E_STOP')).toBe('stopped until it is reset (E_STOP)');
  expect(withTerm({}, 'brand_new')).toBe('brand new');
});
