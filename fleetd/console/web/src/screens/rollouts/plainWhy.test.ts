import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { inPlainEnglish, withStateWords } from './plainWhy';

test.each([
  [
    'it waits for 2 robots: 1 offered the content, 1 watched for the soak; and for the soak of wave "half"',
    'it waits for 2 robots: 1 getting it, 1 being watched; then wave "half" is watched for a while',
  ],
  [
    'it did not report the content active again, a soak later, within 2m0s online',
    'it did not say again, after it was watched, that it has it in use, within 2m0s online',
  ],
  [
    'it reports the content active, also after a failure, and is watched for the soak',
    'it has it in use, and is watched',
  ],
  ['summer season', 'summer season'],
])('in plain English: %s', (why, plain) => expect(inPlainEnglish(why)).toBe(plain));

test.each([
  ['wave "canary" passed: 2 CONFIRMED, 1 TIMED_OUT', 'wave "canary" passed: has it (2), took too long (1)'],
  ['too many failed: timeout_active (2), SILENT (1)', 'too many failed: timeout_active (2), fell silent (1)'],
  ['NASA (1) and 3 TV', 'NASA (1) and 3 TV'],
])('states of robots are in words: %s', (why, said) =>
  expect(withStateWords(why, { CONFIRMED: 'has it', TIMED_OUT: 'took too long', SILENT: 'fell silent' })).toBe(said),
);

test('no reason in the state tables of rollouts says soak or gate to a person', () => {
  const source = readFileSync('../../rollout/state.go', 'utf8');
  const reasons = [...source.matchAll(/Why:\s+"([^"]+)"/g)].map((m) => m[1]!);
  expect(reasons.filter((why) => /\b(soak|gate)\b/.test(inPlainEnglish(why)))).toEqual([]);
});

test.each(['judge.go', 'wave.go', 'waits.go'])('no sentence of %s says soak or gate to a person', (file) => {
  const source = readFileSync(`../../rollout/${file}`, 'utf8');
  const sentences = [...source.matchAll(/"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"/g)].map((m) =>
    m[1]!.replace('%q', '"w"'),
  );
  const own = sentences.filter((why) => /\b(soak|gate)\b/.test(why));
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter((why) => /\b(soak|gate)\b/.test(inPlainEnglish(why)))).toEqual([]);
});
