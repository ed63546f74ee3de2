import { readdirSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';

import { useAlertWords } from './alerts';
import { useEventWords } from './events';
import { useReasonTexts } from './reasons';

vi.mock('./language', () => ({ texts: (en: object) => Object.assign(() => en, { now: () => en }) }));

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
    (f) => /\.tsx?$/.test(f) && !/\.test\.|api\/|contract\.ts/.test(f),
  );
  expect(files.length).toBeGreaterThan(200);
  const ofContract = JSON.stringify([useReasonTexts(), useEventWords(), useAlertWords()], null, 1);
  const texts = [ofContract, ...files.map((f) => readFileSync(new URL(f, sources), 'utf8'))].flatMap(textsIn);
  expect(texts.length).toBeGreaterThan(2000);
  expect(texts.filter((text) => /\bpoints?\b/i.test(text))).toEqual([]);
});
