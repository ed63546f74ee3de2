import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const sources = new URL('..', import.meta.url);
const literal = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** The texts of a source for people: of several words, or with a capital. */
const textsIn = (source: string) =>
  source
    .split('\n')
    .filter((line) => !/^\s*(\/?\*|\/\/|import )/.test(line))
    .flatMap((line) => line.match(literal) ?? [])
    .filter((text) => /\s|^.[A-Z]/.test(text) && !/^.\{"/.test(text)); // JSON has the names of the contract

test('no text for people calls a place a point', () => {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
    (f) => /\.tsx?$/.test(f) && !/\.test\.|api\//.test(f),
  );
  expect(files.length).toBeGreaterThan(200);
  const texts = files.flatMap((f) => textsIn(readFileSync(new URL(f, sources), 'utf8')));
  expect(texts.length).toBeGreaterThan(2000);
  expect(texts.filter((text) => /\bpoints?\b/i.test(text))).toEqual([]);
});
