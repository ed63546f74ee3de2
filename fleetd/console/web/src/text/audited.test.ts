import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { useAuditedWords } from './audited';

vi.mock('./language', () => ({ texts: (en: object, de: object) => ({ en, de }) }));

const fleetd = new URL('../../../../', import.meta.url).pathname;
const files = readdirSync(fleetd, { recursive: true, encoding: 'utf8' })
  .filter((f) => f.endsWith('.go') && !f.endsWith('_test.go') && !f.startsWith('console/'))
  .map((f) => readFileSync(join(fleetd, f), 'utf8'));
const all = (texts: string[], pattern: RegExp) => texts.flatMap((t) => [...t.matchAll(pattern)].map((m) => m[1]!));

/** How fleetd gives an entry of the audit its what. */
const written = [
  ...all(files, /\bWhat: "([^"]+)"/g),
  ...all(files, /\bnote(?:Effect)?\(by, "([^"]+)"/g),
  ...all(files, /\bChangeUser\(ctx, p, name, "([^"]+)"/g),
  ...all(files, /\bPrune = "([^"]+)"/g),
  ...all(
    files.filter((f) => /\bnote(Effect)?\(by, what,/.test(f)),
    /\bwhat(?:, target)? :?= "([^"]+)"/g,
  ),
];

test('each entry that fleetd writes to the audit has words', () => {
  const names = /operationNames = map\[string\]string\{(.*?)\n\}/s.exec(files.join('\n'))![1]!;
  const codes = new Set([...written, ...all([names], /: "([^"]+)"/g)]);
  // A command has its verb behind it, and the words of the verb.
  const expected = [...codes].filter((c) => !c.startsWith('command ')).sort();
  expect(expected.length).toBeGreaterThan(30);
  const { en, de } = useAuditedWords as unknown as Record<'en' | 'de', Record<string, string>>;
  expect(Object.keys(en).sort()).toEqual(expected);
  expect(Object.keys(de).sort()).toEqual(expected);
});
