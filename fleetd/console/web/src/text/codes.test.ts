import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';

import { type AlertWords, useAlertWords } from './alerts';
import { useEventWords } from './events';
import { useReasonTexts } from './reasons';
import { useTermWords, withTerm } from './terms';
import { useVerbWords } from './verbs';

// The texts of both languages, without a browser that has one of them.
vi.mock('./language', () => ({ texts: (en: object, de: object) => ({ en, de }) }));
type Both = Record<'en' | 'de', Record<string, string | object>>;

// topics.md is generated from the lists in Go.
const contract = readFileSync(new URL('../../../../../topics.md', import.meta.url), 'utf8');

/** The codes in the first column of a generated table. */
function table(name: string): string[] {
  const part = contract.split(`<!-- gen:${name} -->`)[1]?.split('<!-- /gen')[0] ?? '';
  return [...part.matchAll(/^\| `([^`]+)`/gm)].map((m) => m[1]!);
}

/** The values of an enum in the generated table of words. */
function enumOf(name: string): string[] {
  const row = contract.split('\n').find((l) => l.startsWith(`| ${name} |`)) ?? '';
  return [...row.replace(/\([^)]*\)/g, '').matchAll(/`([^`]+)`/g)].map((m) => m[1]!);
}

const unique = (codes: string[]) => [...new Set(codes)].sort();

test.each([
  ['reasons', useReasonTexts],
  ['events', useEventWords],
  ['alerts', useAlertWords],
  ['verbs', useVerbWords],
])('each code of the table of %s has words', (name, words) => {
  const codes = unique(table(name));
  expect(codes.length).toBeGreaterThan(20);
  for (const of of Object.values(words as unknown as Both)) expect(Object.keys(of).sort()).toEqual(codes);
});

test('each alert has a name, what it means and a way out, in both languages', () => {
  const { en, de } = useAlertWords as unknown as Record<'en' | 'de', Record<string, AlertWords>>;
  for (const [type, words] of Object.entries(en))
    for (const part of ['title', 'means', 'wayOut'] as const) {
      expect(words[part], type).not.toBe('');
      expect(de[type]![part], type).not.toBe(words[part]);
    }
});

test('each value of an enum has words', () => {
  for (const of of Object.values(useTermWords as unknown as Both))
    for (const [name, words] of Object.entries(of))
      expect(Object.keys(words).sort(), name).toEqual(unique(enumOf(name)));
});

test('a code stands beside its words, and one that is new is readable', () => {
  expect(withTerm({ E_STOP: 'stopped until it is reset' }, 'E_STOP')).toBe('stopped until it is reset (E_STOP)');
  expect(withTerm({}, 'brand_new')).toBe('brand new');
});
